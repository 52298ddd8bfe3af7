/* Checks that the kernels of the link groups do the work that they are timed for. Need a GPU. */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

struct link_check {
    const char *claim; /* "a gather's rows are those asked for" */
    /* To be called after gpu_find(). Returns false, with the difference, if the claim fails. */
    bool (*run)(struct error *why);
};

/* Ends with claim NULL. */
extern const struct link_check link_checks[];

#ifdef __cplusplus
}
#endif
