/* A command's row: how it is called and what it does. Parsing, --help and completion walk the rows. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "core/name.h"

struct command_option {
    const char *name;          /* "--db" */
    const char *argument;      /* "FILE"; NULL: a switch */
    const char *summary;       /* with its default and unit, if it has any */
    char letter;               /* 'o' for -o; 0: none */
    const char *const *values; /* the valid arguments, ends with NULL; NULL: anything */
    bool repeats;              /* may be given several times, a value each */
    bool list; /* takes several values, between commas or given several times; has no `values` */
    bool required;
};

/* An option of another command, or a key, that is asked for here, and what is meant. */
struct command_hint {
    const char *name, *expected; /* "from", what error_expect() takes */
};

struct arguments;

struct command {
    const char *name; /* "simulate"; "trace info" is a command of the group "trace" */
    /* "[FILE...]": words that usage shows behind the kinds; the last may be left out or repeated. */
    const char *operands;
    struct names kinds;               /* valid first operands; `first` NULL: anything is valid */
    const char *summary;              /* one sentence, without its full stop */
    const char *example;              /* one that works; several have a line each */
    const struct command_hint *hints; /* ends with name NULL; NULL: none */
    const struct command_option *options; /* ends with name NULL; the command's enum counts them */
    void (*more)(FILE *out);              /* prints the rest of the help; NULL: nothing */
    bool (*run)(const struct arguments *arguments, struct error *why);
};

/* The valid name of this number; NULL after the last, and without `kinds`. */
const char *command_kind(const struct command *command, size_t index);

#define COMMAND_MOST_OPTIONS 24

/* The option that every command has in addition to its own. */
extern const struct command_option command_help;

/* The commands, each in the file of its name. */

extern const struct command command_advise;
extern const struct command command_simulate;
extern const struct command command_whatif;
extern const struct command command_ablate;
extern const struct command command_plan;
extern const struct command command_compare;
extern const struct command command_timeline;
extern const struct command command_validate;
extern const struct command command_trace_info;
extern const struct command command_trace_stats;
extern const struct command command_trace_verify;
extern const struct command command_trace_fit;
extern const struct command command_trace_generate;
extern const struct command command_curve;
extern const struct command command_merge;
extern const struct command command_plot;
extern const struct command command_report;
extern const struct command command_calibrate;
extern const struct command command_kernels;
extern const struct command command_list;
extern const struct command command_completion;

/* Print the words that are valid under the cursor of a shell, a word a line; none where a file's name or anything
 * else is wanted.
 *   commands  the program's, which end with NULL
 *   words     [count] behind the program's name; the last one, maybe empty, is under the cursor */
void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out);
