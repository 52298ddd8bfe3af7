/* What every command has that asks for runs: a scenario, a context that the runs share, a database,
 * and an end to all work on Ctrl-C or SIGTERM.
 *
 *     struct question question = {.store = NULL};
 *     bool good = question_read(arguments, &question, why) && ... other options ... &&
 *                 question_begin(arguments, &question, false, why) && ... the study ...;
 *     question_end(&question); */
#pragma once

#include "cli/frame/arguments.h"
#include "study/sweep/sweep.h"
#include "tables/frame.h"

struct question {
    struct scenario scenario; /* [FILE...] --set --from */
    struct run_context runs;
    struct store *store; /* --db; NULL: none */
    uint32_t jobs;       /* --jobs; 0: one a processor */
};

#define JOBS_OPTION                                                                                \
    .name = "--jobs", .argument = "N",                                                             \
    .summary = "threads to use (default: one per processor); does not change the results"

#define NO_CACHE_OPTION                                                                            \
    .name = "--no-cache",                                                                          \
    .summary = "replay everything anew, and keep nothing in ~/.cache/spillway; does not "          \
               "change the results"

/* Read --jobs, 1 or more. */
bool question_jobs(const struct arguments *arguments, uint32_t *jobs, struct error *why);

/* Read --jobs and the scenario. */
bool question_read(const struct arguments *arguments, struct question *out, struct error *why);

/* Open --db, unless there is a store already, and set up the runs: of sweeps of the scenario, whose runs are
 * replicated or not. Without --no-cache replays are kept on disk, up to 1 GiB in the folder that
 * disk_cache_folder() names, if it can be used. From here to question_end() the first Ctrl-C or SIGTERM
 * raises `runs.stop`, which ends the reading of the scenario's traces, and the second kills; a signal that
 * was ignored stays ignored. One question at a time. */
bool question_begin(const struct arguments *arguments, struct question *question, bool replicated,
                    struct error *why);

/* What the studies of a question share, from question_begin() on. Its progress is shown. */
struct study question_study(const struct question *question);

/* The signal that ended the last question; 0 if none did. */
int question_signal(void);

/* Release everything, after a failure, too. */
void question_end(struct question *question);

/* Open or create the file of --db. `*out` is NULL if there is none; the caller calls store_close(). */
bool database_open(const struct arguments *arguments, struct store **out, struct error *why);

/* Print the note of store_open_shown() on standard error, unless it is "". */
void database_print_note(const char *note);

/* The options that commands with a scenario share: [FILE...] [--set KEY=VALUE]... [--from FILE] */

#define SCENARIO_SET_OPTION                                                                        \
    .name = "--set", .argument = "KEY=VALUE", .repeats = true,                                     \
    .summary = "set a key of the scenario, overriding its files, such as context=32K"

#define SCENARIO_FROM_OPTION                                                                       \
    .name = "--from", .argument = "FILE",                                                          \
    .summary = "take model, parallelism, limits, KV pool and dtypes from a server's start-up "     \
               "log, its command line or its /metrics (vLLM, SGLang); --set overrides them"

/* Load the scenario of the command's files and --set. What the file of --from says overrides the scenario's
 * files, --set overrides both, and each key of that file is printed on standard error with its line. */
bool scenario_from_arguments(const struct arguments *arguments, struct scenario *out,
                             struct error *why);

/* What files state and --set, or an axis on the command line, contradicts gives way; a note says so: `rate`
 * beside clients, clients beside a rate, and what only another router reads. */
void scenario_replace_keys(const struct arguments *arguments, struct scenario *scenario);

void scenario_print_keys(FILE *out);

/* The options of commands that print a table: --columns NAME,..., --wide, --why. */

#define COLUMNS_OPTION                                                                             \
    .name = "--columns", .argument = "NAME,...", .list = true,                                     \
    .summary =                                                                                     \
        "show these columns, in this order: of the table, as below, or any of 'list columns'"

#define WIDE_OPTION                                                                                \
    .name = "--wide", .summary = "show all columns of the table, in lines as long as they need"

#define WHY_OPTION .name = "--why", .summary = "below the table, also say what its figures rest on"

/* Read the options into `out`. --columns and --wide exclude each other, and all three exclude
 * --json, which has everything. --columns names columns of these, or of results. */
bool view_read(const struct arguments *arguments, const struct frame_column *columns,
               uint32_t count, struct table_view *out, struct error *why);
