#include "calibrate/host/store_rows.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

static void store_row(char *to, const char *from, uint32_t bytes)
{
    for (uint32_t at = 0; at < bytes; at += sizeof(__m128i)) {
        __m128i value = _mm_load_si128((const __m128i *)(const void *)(from + at));
        _mm_stream_si128((__m128i *)(void *)(to + at), value);
    }
}

static void let_go(void)
{
    _mm_sfence();
}
#else
static void store_row(char *to, const char *from, uint32_t bytes)
{
    memcpy(to, from, bytes);
}

static void let_go(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
#endif

struct job {
    const struct store_rows *store;
    uint32_t shares;
};

static uint32_t store_rows_share_start(const struct job *job, uint32_t share)
{
    return (uint32_t)((uint64_t)job->store->count * share / job->shares);
}

static void store_share(uint32_t share, uint32_t thread, void *context)
{
    (void)thread;
    const struct job *job = context;
    const struct store_rows *store = job->store;
    uint32_t end = store_rows_share_start(job, share + 1);
    for (uint32_t i = store_rows_share_start(job, share); i < end; i++) {
        size_t place = store->places != NULL ? store->places[i] : i % store->to_rows;
        store_row(store->to + place * store->row_bytes,
                  store->from + (size_t)store->rows[i] * store->row_bytes, store->row_bytes);
    }
    let_go();
}

void store_rows_run(struct pool *pool, const struct store_rows *store)
{
    struct job job = {store, pool_threads(pool)};
    pool_run(pool, job.shares, store_share, &job);
}
