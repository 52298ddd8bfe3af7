/* What the commands that read a scenario have in common: [FILE...] [--set KEY=VALUE]... */
#ifndef CLI_RUNS_SCENARIO_OPTIONS_H
#define CLI_RUNS_SCENARIO_OPTIONS_H

#include "cli/frame/arguments.h"
#include "scenario/scenario.h"

#define SCENARIO_SET_OPTION                                                                        \
    {                                                                                              \
        .name = "--set", .argument = "KEY=VALUE", .repeats = true,                                 \
        .summary = "a key of the scenario, over what the files say, or sweep"                      \
    }

/* Load the scenario of the command's files and its option number `set`. */
bool scenario_from_arguments(const struct arguments *arguments, int set, struct scenario *out,
                             struct error *why);

/* The keys that a scenario has, for help. */
void scenario_print_keys(FILE *out);

#endif
