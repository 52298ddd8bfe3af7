/* Do the kernels of the link groups do what they are measured for? To be run where a GPU is. */
#ifndef CALIBRATE_LINK_CHECKS_H
#define CALIBRATE_LINK_CHECKS_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"

struct link_check {
    const char *claim; /* "a gather's rows are those asked for" */
    /* Behind gpu_find(). False, with what differs, where the claim does not hold. */
    bool (*run)(struct error *why);
};

/* Ends with claim NULL. */
extern const struct link_check link_checks[];

#ifdef __cplusplus
}
#endif
#endif
