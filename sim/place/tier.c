#include "place/tier.h"

const struct tier_kind tier_kinds[TIER_COUNT] = {
    [TIER_GPU] = {"hbm", "HBM", SHARED_BY_NOBODY, CURVE_GPU_HBM_CAPACITY, CURVE_GPU_HBM_BANDWIDTH},
    [TIER_HOST] = {"host", "host memory", SHARED_BY_GPUS, CURVE_HOST_DRAM_CAPACITY,
                   CURVE_HOST_DRAM_BANDWIDTH},
    [TIER_DISK] = {"disk", "disk", SHARED_BY_GPUS, CURVE_DISK_CAPACITY, CURVE_COUNT},
    [TIER_POOL] = {"pool", "pool", SHARED_BY_SERVERS, CURVE_POOL_CAPACITY, CURVE_COUNT},
};
