/* The options that commands with a scenario share: [FILE...] [--set KEY=VALUE]... [--from FILE] */
#pragma once

#include "cli/frame/arguments.h"
#include "predict/scenario/scenario.h"

#define SCENARIO_SET_OPTION                                                                        \
    {                                                                                              \
        .name = "--set", .argument = "KEY=VALUE", .repeats = true,                                 \
        .summary = "set a key of the scenario, overriding its files, such as context=32K"          \
    }

#define SCENARIO_FROM_OPTION                                                                       \
    {                                                                                              \
        .name = "--from", .argument = "FILE",                                                      \
        .summary = "take model, parallelism, limits, KV pool and dtypes from a server's start-up " \
                   "log, its command line or its /metrics (vLLM, SGLang); --set overrides them"    \
    }

/* Load the scenario of the command's files and --set. What the file of --from says, for a command
 * that has it, overrides the scenario's files, --set overrides both, and each key of that file is
 * printed on standard error with its line. */
bool scenario_from_arguments(const struct arguments *arguments, struct scenario *out,
                             struct error *why);

/* Print the keys of a scenario, for help. */
void scenario_print_keys(FILE *out);
