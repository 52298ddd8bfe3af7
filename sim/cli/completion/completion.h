/* The words that are valid under the cursor of a shell, given those before it. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "cli/frame/command.h"

/* Print them, a word a line; none where a file's name or anything else is wanted.
 *   commands  the program's, which end with NULL
 *   words     [count] behind the program's name; the last one, maybe empty, is under the cursor */
void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out);

/* What is offered for the word under the cursor: names that begin as it does. */

struct offer {
    FILE *out;
    const char *word; /* as far as it is typed */
    size_t kept;      /* its bytes before the part that is completed: "model=", "vllm," */
};

/* The part that is completed. */
const char *offer_part(const struct offer *offer);

/* Print the whole word with this name in place of the part, on a line, if the part begins it.
 * `ending` follows the name; an ending of "=", "." or "," says that the word goes on. */
void offer_name(const struct offer *offer, const char *name, const char *ending);

/* The same for each of a list that ends with NULL. */
void offer_names(const struct offer *offer, const char *const *names);

/* The same offer behind the last of these characters in its part. */
struct offer offer_behind(const struct offer *offer, const char *separators);

/* The names that can be offered: files that ship, words of the program, keys of scenarios with their
 * values. They are those of the tables that reading a scenario walks. Where the data is missing,
 * fewer are offered. */

/* Offer all names of one kind. */
typedef void names_source(const struct offer *offer);

names_source names_models, names_machines, names_systems, names_traces, names_trace_profiles,
    names_workloads, names_policies, names_dtypes;

/* KEY=VALUE of a scenario: keys, and behind the "=" the values that the key can have, also in a list
 * ("sweep.system=[vllm,retro"). */
names_source names_settings;

/* Keys and mechanisms that can be an axis; behind a "=" as above. */
names_source names_axes;
