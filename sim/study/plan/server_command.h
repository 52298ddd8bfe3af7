/* The command that starts the server of a run, for systems that exist in a serving engine.
 *
 * It comes from the preset's `command`, in which {NAME} stands for a value of the run:
 *
 *     gpus             GPUs that split each layer
 *     data_ranks       data-parallel ranks, if there are several
 *     stages           stages of the pipeline, if there are several
 *     whole_experts    vLLM's flag for experts that are not split, if they are not
 *     sequences        most sequences of a step
 *     longest          tokens of the longest sequence at its end
 *     hbm_usable       share of HBM that may be used
 *     own_code         yes, if the model's files have code that the engine must run
 *     quantization     fp8, if the scenario has the weights in fp8 and the checkpoint has not
 *     kv_fp8           fp8, if the KV cache is in it
 *     kv_dtype         storage type of the KV cache, as engines write it
 *     selected_tokens  tokens that a head attends to
 *     cache_tokens     tokens of a sequence in a head's cache; at least selected_tokens
 *     host_gib         GiB of host memory
 *     host_gib_each    host_gib divided by the GPUs
 *     host_gb_each     the same in units of 10^9 bytes
 *     host_gb          bytes of host memory in units of 10^9
 *     disk_gib_each    GiB of the machine's drives, divided by the GPUs
 *     disk_gb          bytes of the drives in units of 10^9
 *     host_pool_gib    GiB of host memory that all KV needs
 *     batched_tokens   most tokens of a server's step
 *     block_tokens     tokens of a block of KV
 *     pool_blocks      blocks that vLLM needs so that sequences have as many as in the run
 *     pool_tokens      tokens that sequences had room for
 *     draft_config     vLLM's --speculative-config, if a step drafts
 *     draft_algorithm  SGLang's name of the method, if a step drafts
 *     draft_steps      passes of the network that drafts, if there is one
 *     draft_rows       drafts of a step, and the token that they follow
 *     draft_model      id of the network that drafts, if it has weights of its own
 *
 * {options} stands for all options of the program that have a value of the run, as
 * engines/commands/NAME.yaml says. MODEL stands for the model's id. A part in [ ] is left out if
 * one of its values does not apply. The four from batched_tokens on do not apply to a run without
 * requests. pool_blocks and pool_tokens also need the scenario's `kv_pool_tokens`: a computed pool
 * does not count what a server's graphs and workspace take, and a server that is told to take more
 * memory than is free stops at its start. */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

enum { SERVER_COMMAND = 2048, SERVER_MODEL = 1024, SERVER_LACKS = 512 };

struct server_command {
    char text[SERVER_COMMAND];
    char model[SERVER_MODEL]; /* as the engine finds it: the id that was typed, or the first of the
                                 shipped model; or a path */
    bool needs_checkpoint;    /* `model` stands for one whose id nobody stated */
    char lacks[SERVER_LACKS]; /* what the run has and the command does not say */
    uint64_t host;            /* bytes of host memory that it takes for KV; 0: none */
    uint64_t pool; /* tokens of the computed pool that the command does not mention; 0: none */
};

/* Write the command of `result`, the run of a scenario of one point, into `out`: "" if the system
 * has none, or none for the way in which GPUs share the model. `system`: another system that serves
 * the same model with the same limits; NULL: the scenario's own. An unknown {NAME} is an error of
 * the preset, and so is a command that is too long. */
bool server_command(const struct scenario *scenario, const struct result *result,
                    const char *system, struct server_command *out, struct error *why);
