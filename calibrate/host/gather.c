#include "calibrate/host/gather.h"

#include <string.h>

/* Shares of a pass: several for each thread, so that a late thread delays the others little. */
enum { SHARES_PER_THREAD = 4 };

struct host_gather_pass {
    const struct gather *gather;
    uint32_t shares;
};

/* Rows before share `share`. */
static uint32_t host_gather_share_start(const struct host_gather_pass *pass, uint32_t share)
{
    return (uint32_t)((uint64_t)pass->gather->count * share / pass->shares);
}

static void gather_share(uint32_t share, uint32_t thread, void *context)
{
    (void)thread;
    const struct host_gather_pass *pass = context;
    const struct gather *gather = pass->gather;
    char *to = gather->between != NULL ? gather->between : gather->to;
    uint32_t end = host_gather_share_start(pass, share + 1);
    for (uint32_t i = host_gather_share_start(pass, share); i < end; i++) {
        memcpy(to + (size_t)i * gather->row_bytes, gather->from + gather->rows[i] * gather->stride,
               gather->row_bytes);
    }
}

static void host_gather_copy_share(uint32_t share, uint32_t thread, void *context)
{
    (void)thread;
    const struct host_gather_pass *pass = context;
    const struct gather *gather = pass->gather;
    size_t first = (size_t)host_gather_share_start(pass, share) * gather->row_bytes;
    size_t end = (size_t)host_gather_share_start(pass, share + 1) * gather->row_bytes;
    memcpy(gather->to + first, gather->between + first, end - first);
}

void gather_run(struct pool *pool, const struct gather *gather)
{
    struct host_gather_pass pass = {gather, pool_threads(pool) * SHARES_PER_THREAD};
    pool_run(pool, pass.shares, gather_share, &pass);
    if (gather->between != NULL) {
        pool_run(pool, pass.shares, host_gather_copy_share, &pass);
    }
}
