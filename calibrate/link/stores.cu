/* The group link-stores: CPU threads store scattered rows of 256 bytes directly into GPU memory.
 *
 *   link.cpu_store  by threads; absent if the memory cannot be mapped
 *   link.coherent   1 if the GPU uses the CPU's page tables, and both cache each other's memory
 */
#include "calibrate/device/device.h"
#include "calibrate/link/groups.h"

extern "C" {
#include "calibrate/host/buffer.h"
}
#include "calibrate/device/row_ids.h"
#include "calibrate/device/stored_memory.h"
#include "calibrate/host/store_rows.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW_BYTES (64 * MiB)
#define FROM_BYTES (512 * MiB)
#define ROW_BYTES 256
#define THREAD_BYTES (16 * MiB) /* stored by each thread in a sample */
#define MOST_THREADS 64
#define POOLS 7 /* 1, 2, ... 64 threads */

struct storing {
    struct buffer from = {};
    stored_memory memory;
    uint32_t *rows = nullptr;
    struct pool *pools[POOLS] = {};
    uint32_t pool_count = 0;

    ~storing();
    bool create(uint64_t seed, struct error *why);
};

storing::~storing()
{
    for (struct pool *pool : pools) {
        pool_destroy(pool);
    }
    buffer_release(&from);
    free(rows);
}

static uint32_t processors()
{
    cpu_set_t usable;
    return sched_getaffinity(0, sizeof usable, &usable) == 0 ? (uint32_t)CPU_COUNT(&usable) : 1;
}

bool storing::create(uint64_t seed, struct error *why)
{
    uint32_t most = processors();
    bool ok = true;
    for (uint32_t threads = 1; ok && threads <= most && threads <= MOST_THREADS; threads *= 2) {
        pools[pool_count] = pool_create(threads, NULL, why);
        ok = pools[pool_count++] != nullptr;
    }
    rows = ok ? row_ids_shuffled(FROM_BYTES / ROW_BYTES, seed, why) : nullptr;
    return rows != nullptr && buffer_init(&from, FROM_BYTES, seed, pools[pool_count - 1], why);
}

struct link_store {
    struct storing *all;
    struct pool *pool;
    uint32_t turn; /* which rows come next */
};

static bool stores_sample_rate(void *state, double *rate, struct error *why)
{
    struct link_store *store = (struct link_store *)state;
    struct storing *all = store->all;
    struct store_rows rows = {};
    uint32_t all_rows = FROM_BYTES / ROW_BYTES;
    rows.count = THREAD_BYTES / ROW_BYTES * pool_threads(store->pool);
    rows.count = rows.count < all_rows / 2 ? rows.count : all_rows / 2;
    rows.from = all->from.bytes;
    rows.rows = all->rows + store->turn;
    rows.row_bytes = ROW_BYTES;
    rows.to = all->memory.at();
    rows.to_rows = WINDOW_BYTES / ROW_BYTES;
    store->turn = (store->turn + rows.count) % (all_rows - rows.count + 1);
    double begin = clock_ns();
    store_rows_run(store->pool, &rows);
    *rate = (double)rows.count * ROW_BYTES * 1e9 / (clock_ns() - begin);
    (void)why;
    return true;
}

static bool measure_stores(struct storing *all, const struct effort *effort, uint64_t seed,
                           struct findings *findings, struct error *why)
{
    struct link_store stores[POOLS];
    struct probe probes[POOLS];
    for (uint32_t i = 0; i < all->pool_count; i++) {
        stores[i] = {all, all->pools[i], 0};
        probes[i] = {"link.cpu_store", (double)pool_threads(all->pools[i]), &stores[i],
                     stores_sample_rate};
    }
    return measure_probes(probes, all->pool_count, effort, seed, findings, why) &&
           findings_note(findings, "link.cpu_store",
                         all->memory.window.gdr != nullptr
                             ? "scattered rows of 256 bytes stored through GDRCopy, hand-off to "
                               "the threads and back included"
                             : "scattered rows of 256 bytes stored into the GPU's NUMA node, "
                               "hand-off to the threads and back included",
                         why);
}

static bool check_window(const struct storing *all, struct error *why)
{
    uint32_t count = WINDOW_BYTES / ROW_BYTES;
    struct store_rows rows = {all->from.bytes,  all->rows, count, ROW_BYTES,
                              all->memory.at(), count,     NULL};
    char *found = (char *)malloc(WINDOW_BYTES);
    if (found == nullptr) {
        return error_set(why, NULL, 0, "no memory for %zu bytes", WINDOW_BYTES);
    }
    store_rows_run(all->pools[all->pool_count - 1], &rows);
    bool ok = GPU_TRY(cudaMemcpy(found, all->memory.seen, WINDOW_BYTES, cudaMemcpyDefault), why);
    for (uint32_t i = 0; ok && i < count; i++) {
        const char *expected = all->from.bytes + (size_t)all->rows[i] * ROW_BYTES;
        ok = memcmp(found + (size_t)i * ROW_BYTES, expected, ROW_BYTES) == 0 ||
             error_set(why, NULL, 0, "stored row %u is another", i);
    }
    free(found);
    return ok;
}

bool stored_rows_arrive(struct error *why)
{
    struct storing all;
    struct error without;
    return !all.memory.take(WINDOW_BYTES, &without) ||
           (all.create(1, why) && check_window(&all, why));
}

bool link_stores(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    struct storing all;
    struct error without;
    bool coherent;
    if (!gpu_is_coherent(&coherent, why) ||
        !findings_state(findings, "link.coherent", coherent,
                        "cudaDevAttrPageableMemoryAccessUsesHostPageTables", why)) {
        return false;
    }
    if (!all.memory.take(WINDOW_BYTES, &without)) {
        return GPU_TRY(cudaDeviceSynchronize(), why) && /* or the GPU itself has failed */
               findings_note(findings, "link.cpu_store", without.found, why);
    }
    return all.create(seed, why) && measure_stores(&all, effort, seed, findings, why);
}
