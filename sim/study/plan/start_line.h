/* The command that starts the server of a run, for systems that exist in a serving engine.
 *
 * It comes from the preset's `command`, in which {NAME} stands for a value of the run (list_values() in
 * server_command.c has them), {?NAME} for nothing, but its part for the value's being there, and MODEL for
 * the model's id. A part in [ ] is left out if one of its values does not apply.
 *
 * {options} stands for all options of the program that have a value of the run, as
 * engines/commands/NAME.yaml says. Those of a server's steps do not apply to a run without requests, and a
 * pool only if the scenario states `kv_pool_tokens`: a computed pool does not count what a server's graphs
 * and workspace take, and a server that is told to take more memory than is free stops at its start. */
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
 * has none, or none for the way in which GPUs share the model. An unknown {NAME} is an error of
 * the preset, and so is a command that is too long. */
bool server_command(const struct scenario *scenario, const struct result *result,
                    struct server_command *out, struct error *why);
