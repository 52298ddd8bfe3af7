/* What a command needs that asks for runs: a context that all of them share, and an end to all work
 * on Ctrl-C or SIGTERM.
 */
#ifndef CLI_FRAME_QUESTION_H
#define CLI_FRAME_QUESTION_H

#include "cli/frame/arguments.h"
#include "run/context.h"
#include "scenario/scenario.h"

/* Set up `runs` for sweeps of `scenario` with `jobs` threads (0: one a processor), whose runs are
 * replicated or not. From here to question_end() the first Ctrl-C or SIGTERM raises `runs->stop`,
 * which ends the reading of the scenario's traces, and the second kills; a signal that was ignored
 * stays ignored. One question at a time. */
bool question_begin(struct run_context *runs, const struct scenario *scenario, uint32_t jobs,
                    bool replicated, struct error *why);

#define NO_CACHE_OPTION                                                                            \
    {                                                                                              \
        .name = "--no-cache",                                                                      \
        .summary = "replay everything anew, and keep nothing in ~/.cache/spillway; does not "      \
                   "change the results"                                                            \
    }

/* Between question_begin() and question_end(): from now on replays are kept on disk, up to 1 GiB in
 * the folder that disk_cache_folder() names, unless option number `no_cache` was given or the
 * folder cannot be used. Always true. */
bool question_cache(struct run_context *runs, const struct arguments *arguments, int no_cache);

/* The flag that Ctrl-C and SIGTERM raise during a question. */
const struct stop_flag *question_stop(void);

/* The signal that ended the last question; 0 if none did. */
int question_signal(void);

/* After a failed question_begin(), too. */
void question_end(struct run_context *runs, const struct scenario *scenario);

#endif
