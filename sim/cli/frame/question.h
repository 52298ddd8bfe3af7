/* What a command needs that asks for runs: a context that all of them share, and an end to them on
 * Ctrl-C or SIGTERM.
 */
#ifndef CLI_FRAME_QUESTION_H
#define CLI_FRAME_QUESTION_H

#include "run/context.h"

/* Set up `runs` for sweeps with `jobs` threads (0: one a processor), whose runs are replicated or
 * not. From here to question_end() the first Ctrl-C or SIGTERM raises `runs->stop` and the second
 * kills; a signal that was ignored stays ignored. One question at a time. */
bool question_begin(struct run_context *runs, uint32_t jobs, bool replicated, struct error *why);
void question_end(struct run_context *runs); /* of a zeroed struct is fine */

#endif
