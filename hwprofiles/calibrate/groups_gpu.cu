// What is measured of the GPU and its link.
#include "calibrate/group.h"

const struct group gpu_groups[] = {
    {nullptr, nullptr, 0, nullptr},
};
