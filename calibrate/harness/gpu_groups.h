/* The table of the groups that measure the GPU and its link. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/group.h"

/* Ends with name NULL. A harness built without CUDA has only that row. */
extern const struct group gpu_groups[];

#ifdef __cplusplus
}
#endif
