/* What every command has that asks for runs: a scenario, a context that the runs share, a database,
 * and an end to all work on Ctrl-C or SIGTERM.
 *
 *     struct question question = {.store = NULL};
 *     bool good = question_read(arguments, &question, why) && ... other options ... &&
 *                 question_begin(arguments, &question, false, why) && ... the study ...;
 *     question_end(&question);
 */
#pragma once

#include "cli/frame/arguments.h"
#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"
#include "store/store.h"

struct question {
    struct scenario scenario; /* [FILE...] --set --from */
    struct run_context runs;
    struct store *store; /* --db; NULL: none */
    uint32_t jobs;       /* --jobs; 0: one a processor */
};

#define JOBS_OPTION                                                                                \
    {                                                                                              \
        .name = "--jobs", .argument = "N",                                                         \
        .summary = "threads to use (default: one per processor); does not change the results"      \
    }

#define NO_CACHE_OPTION                                                                            \
    {                                                                                              \
        .name = "--no-cache",                                                                      \
        .summary = "replay everything anew, and keep nothing in ~/.cache/spillway; does not "      \
                   "change the results"                                                            \
    }

/* Read --jobs, 1 or more. */
bool question_jobs(const struct arguments *arguments, uint32_t *jobs, struct error *why);

/* Read --jobs and the scenario. */
bool question_read(const struct arguments *arguments, struct question *out, struct error *why);

/* Open --db, unless there is a store already, and set up the runs: of sweeps of the scenario, whose
 * runs are replicated or not. Without --no-cache replays are kept on disk, up to 1 GiB in the
 * folder that disk_cache_folder() names, if it can be used.
 *
 * From here to question_end() the first Ctrl-C or SIGTERM raises `runs.stop`, which ends the
 * reading of the scenario's traces, and the second kills; a signal that was ignored stays ignored.
 * One question at a time. */
bool question_begin(const struct arguments *arguments, struct question *question, bool replicated,
                    struct error *why);

/* The flag that Ctrl-C and SIGTERM raise during a question. */
const struct stop_flag *question_stop(void);

/* The signal that ended the last question; 0 if none did. */
int question_signal(void);

/* Release everything, after a failure, too. */
void question_end(struct question *question);
