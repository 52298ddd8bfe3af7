#include "decode/cost/disk_reads.h"

#include "model/parallel.h"
#include "place/drive.h"
#include "place/way.h"

#include <math.h>

double disk_block_bytes(const struct setup *setup)
{
    double tokens = (double)setup->mechanisms.disk_block;
    double bytes = tokens * (double)model_kv_head_bytes(&setup->model);
    return ceil(bytes / DISK_PAGE) * DISK_PAGE;
}

double disk_selection_bytes(const struct setup *setup, double missed, double all)
{
    const struct mechanisms *m = &setup->mechanisms;
    double entries = fmax(1, (double)m->disk_block / (double)m->retrieval_tokens);
    double share = all > 0 ? fmin(1, missed / all) : 0;
    double blocks = m->disk_kv * all / (double)m->disk_block;
    return blocks * (1 - pow(1 - share, entries)) * disk_block_bytes(setup);
}

double disk_read_rate(const struct setup *setup, double block, struct trust *trust)
{
    uint64_t depth = setup->mechanisms.disk_depth;
    uint32_t in_flight = depth < DRIVE_DEPTH ? (uint32_t)depth : DRIVE_DEPTH;
    return drive_read_rate(&setup->profile, TIER_DISK, block, in_flight, trust) /
           model_gpus(&setup->model);
}

double disk_write_rate(const struct setup *setup, double block, struct trust *trust)
{
    return way_rate(&setup->profile, WAY_DISK_OUT, BY_ENGINE, block, trust) /
           model_gpus(&setup->model);
}
