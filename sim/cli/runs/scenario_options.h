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

/* Shorthands for keys of a workload. */
#define SCENARIO_NO_TIME_OPTION                                                                    \
    {                                                                                              \
        .name = "--no-time",                                                                       \
        .summary = "of a workload: what prefixes are found, without a clock (timed=no)"            \
    }
#define SCENARIO_TIME_SCALE_OPTION                                                                 \
    {                                                                                              \
        .name = "--time-scale", .argument = "X",                                                   \
        .summary = "of a workload: arrivals X times as far apart (time_scale=X)"                   \
    }
#define SCENARIO_LIMIT_OPTION                                                                      \
    {                                                                                              \
        .name = "--limit", .argument = "N",                                                        \
        .summary = "of a workload: its first N requests (limit=N)"                                 \
    }

/* Load the scenario of the command's files and its option number `set`. */
bool scenario_from_arguments(const struct arguments *arguments, int set, struct scenario *out,
                             struct error *why);

/* An option that stands for an override, which ends with its argument where it has one. */
struct scenario_shorthand {
    int option;
    const char *override; /* "timed=no", "limit=" */
};

/* The same with options that come last. */
bool scenario_from_shorthands(const struct arguments *arguments, int set,
                              const struct scenario_shorthand *shorthands, uint32_t count,
                              struct scenario *out, struct error *why);

/* The keys that a scenario has, for help. */
void scenario_print_keys(FILE *out);

#endif
