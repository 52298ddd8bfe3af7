/* The command that starts a system's server as a run has it, where the system exists in a serving
 * engine: its preset's `command`, in which {NAME} stands for what the run says.
 *
 *     gpus             GPUs that share the model
 *     sequences        of a step at most
 *     longest          tokens of a sequence at its end
 *     hbm_usable       share of HBM that may be used
 *     kv_dtype         storage type of the KV cache, as engines write it
 *     selected_tokens  that a head attends to
 *     cache_tokens     that a head's cache holds of a sequence, and those selected at least
 *     host_gib         GiB of host memory
 *     host_gib_each    of it, for each GPU
 *     host_gb_each     the same in units of 10^9 bytes
 *     batched_tokens   of a server's step
 *     block_tokens     of a block of KV
 *     pool_blocks      that vLLM needs to have as many for sequences as the run had
 *     pool_tokens      that sequences had room for
 *
 * What stands in [ ] is left out where one of its values does not apply: the last four of a run of
 * steps, which no requests come to. So are the last two where the scenario gives no
 * `kv_pool_tokens`: a pool that is computed leaves out what a server's graphs and workspace take,
 * and a server that is told to take more than it finds free stops as it starts.
 */
#ifndef STUDY_PLAN_SERVER_COMMAND_H
#define STUDY_PLAN_SERVER_COMMAND_H

#include "result/result.h"
#include "scenario/scenario.h"

enum { SERVER_COMMAND = 1024 };

/* Write the command of `result`, the run of a scenario of one point, into `text`; "" where the
 * system has none. A name that is none of these is an error of the preset. `pool`: tokens of a pool
 * that was computed, and that the command leaves out for it; 0: none. */
bool server_command(const struct scenario *scenario, const struct result *result,
                    char text[SERVER_COMMAND], uint64_t *pool, struct error *why);

#endif
