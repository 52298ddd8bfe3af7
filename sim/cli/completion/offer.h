/* What is offered for the word under the cursor: names that begin as it does. */
#pragma once

#include <stddef.h>
#include <stdio.h>

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
