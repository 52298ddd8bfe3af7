/* The option --jobs N of commands that run points. */
#ifndef CLI_FRAME_JOBS_H
#define CLI_FRAME_JOBS_H

#include "cli/frame/arguments.h"

#define JOBS_OPTION                                                                                \
    {                                                                                              \
        .name = "--jobs", .argument = "N",                                                         \
        .summary = "threads to use (default: one per processor); does not change the results"      \
    }

/* Read the command's option number `option`, 1 or more, into `jobs`; 0 if it is not given. */
bool jobs_read(const struct arguments *arguments, int option, uint32_t *jobs, struct error *why);

#endif
