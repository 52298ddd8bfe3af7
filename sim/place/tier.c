#include "place/tier.h"

#include <string.h>

const struct tier_kind tier_kinds[TIER_COUNT] = {
    [TIER_GPU] = {"hbm", "HBM", NULL, SHARED_BY_NOBODY, CURVE_GPU_HBM_CAPACITY,
                  CURVE_GPU_HBM_BANDWIDTH, CURVE_COUNT},
    [TIER_HOST] = {"host", "host memory", "host_memory", SHARED_BY_GPUS, CURVE_HOST_DRAM_CAPACITY,
                   CURVE_HOST_DRAM_BANDWIDTH, CURVE_COUNT},
    [TIER_DISK] = {"disk", "disk", "disk_space", SHARED_BY_GPUS, CURVE_DISK_CAPACITY, CURVE_COUNT,
                   CURVE_DISK_READ_ONE},
    [TIER_POOL] = {"pool", "pool", "pool_space", SHARED_BY_SERVERS, CURVE_POOL_CAPACITY,
                   CURVE_POOL_TOTAL, CURVE_COUNT},
};

enum tier_id tier_of_room(const char *key)
{
    enum tier_id tier = 0;
    while (tier < TIER_COUNT &&
           (tier_kinds[tier].room == NULL || strcmp(tier_kinds[tier].room, key) != 0)) {
        tier++;
    }
    return tier;
}
