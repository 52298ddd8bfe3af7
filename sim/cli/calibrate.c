/* `spillway calibrate`: measure this machine, by the harness. */
#include "cli/calibrate.h"

#include "cli/frame/commands.h"
#include "cli/frame/harness.h"

/* Files of other tools need no GPU to be read. */
static bool run(const struct arguments *arguments, struct error *why)
{
    bool host =
        arguments_given(arguments, CALIBRATE_HOST) || arguments_given(arguments, CALIBRATE_FROM);
    return harness_become(arguments, host, why);
}

static void print_more(FILE *out)
{
    fputs(
        "A profile says under 'provenance' what was measured, on what and when, and under\n"
        "'observed' all points with their spread. Cut short, it goes on from FILE.part when it\n"
        "is called again. GPU and link are measured by the harness that 'make calibrate' builds.\n",
        out);
}

static const struct command_option options[] = {
    [CALIBRATE_HOST] = {.name = "--host",
                        .summary = "measure processor and memory alone; needs no GPU"},
    [CALIBRATE_QUICK] = {.name = "--quick",
                         .summary = "fewer samples: 90 seconds at most instead of 8 minutes"},
    [CALIBRATE_BASE] = {.name = "--base",
                        .argument = "NAME",
                        .summary = "the profile, or its file, that states what is not measured "
                                   "(default: h100-sxm)"},
    [CALIBRATE_FROM] = {.name = "--from",
                        .argument = "FILE",
                        .repeats = true,
                        .summary = "take link and launches from nvbandwidth -j, or from an Nsight "
                                   "Systems export (SQLite), and measure no GPU"},
    [CALIBRATE_GROUP] = {.name = "--group",
                         .argument = "NAME",
                         .repeats = true,
                         .summary = "measure this group of figures alone"},
    [CALIBRATE_OUTPUT] = {.name = "--output",
                          .letter = 'o',
                          .argument = "FILE",
                          .required = true,
                          .summary = "the profile to write, YAML"},
    {.name = NULL},
};

const struct command command_calibrate = {
    .name = "calibrate",
    .operands = "",
    .summary = "measure this machine: GPU, link, launches and host, into a profile",
    .example = "spillway calibrate --host --quick -o here.yaml",
    .options = options,
    .more = print_more,
    .run = run,
};
