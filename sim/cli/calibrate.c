/* `spillway calibrate`: measures this machine by running the harness. */
#include "cli/frame/harness.h"

/* Reading other tools' files needs no GPU. */
static bool calibrate_run(const struct arguments *arguments, struct error *why)
{
    bool host = arguments_shared(arguments, "--host") != NULL ||
                arguments_shared(arguments, "--from") != NULL;
    return harness_become(arguments, host, why);
}

static void calibrate_print_more(FILE *out)
{
    fputs("In the profile, 'provenance' says what was measured, on which machine and when;\n"
          "'observed' lists all points with their spread, or why a figure or group is absent.\n"
          "Each group runs in a process of its own; if one fails, the profile holds the others.\n"
          "Run the same command again to measure what is absent, or, after an interruption, to\n"
          "continue from FILE.part. 'make calibrate' builds the harness that measures GPU and\n"
          "link.\n",
          out);
}

static const struct command_option options[] = {
    {"--host", NULL, .summary = "measure only the processor and host memory; needs no GPU"},
    {"--disk", "FOLDER",
     .summary = "measure the drive of this folder, too: a scratch file there "
                "of at most 512 MiB and a quarter of what is free"},
    {"--quick", NULL, .summary = "take fewer samples: at most 90 seconds instead of 8 minutes"},
    {"--within", "TIME",
     .summary = "end after this time, such as 240s: each group has a budget, "
                "which ends it; restless groups are measured again"},
    {"--base", "NAME",
     .summary = "the profile, by name or file, that supplies what is not "
                "measured (default: that of the GPU, or h100-sxm)"},
    {"--from", "FILE,...",
     .summary = "read link and launches from the output of nvbandwidth -j or "
                "an Nsight Systems export (SQLite); measures no GPU",
     .list = true},
    {"--group", "NAME,...", .summary = "measure only these groups of figures", .list = true},
    {"--output", "FILE", .summary = "the profile to write, YAML", .letter = 'o', .required = true},
    {.name = NULL},
};

const struct command command_calibrate = {
    .name = "calibrate",
    .operands = "",
    .summary = "measure this machine (GPU, link, launches, host, drive) and write its profile",
    .example = "spillway calibrate --host --quick -o here.yaml",
    .options = options,
    .more = calibrate_print_more,
    .run = calibrate_run,
};
