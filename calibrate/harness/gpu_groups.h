/* What is measured of the GPU and its link. */
#ifndef CALIBRATE_HARNESS_GPU_GROUPS_H
#define CALIBRATE_HARNESS_GPU_GROUPS_H

#ifdef __cplusplus
extern "C" {
#endif

#include "calibrate/measure/group.h"

/* Ends with name NULL. In a harness built without CUDA it has only that row. */
extern const struct group gpu_groups[];

#ifdef __cplusplus
}
#endif
#endif
