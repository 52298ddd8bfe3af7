/* --jobs N, which commands that run points have in common. */
#ifndef CLI_FRAME_JOBS_H
#define CLI_FRAME_JOBS_H

#include "cli/frame/arguments.h"

#define JOBS_OPTION                                                                                \
    {                                                                                              \
        .name = "--jobs", .argument = "N",                                                         \
        .summary = "threads to use (default: one a processor); the results are the same"           \
    }

/* Read the command's option number `option`, 1 or more, into `jobs`; 0 where it is not given. */
bool jobs_read(const struct arguments *arguments, int option, uint32_t *jobs, struct error *why);

#endif
