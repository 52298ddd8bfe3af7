#include "calibrate/host/buffer.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

/* Each chunk is filled from its own number, so that any thread may fill any chunk. */
enum { CHUNK = 1 << 21 };

struct filling {
    const struct buffer *buffer;
    uint64_t seed;
};

/* SplitMix64 (Steele, Lea and Flood, 2014): good bits from a counter. */
static uint64_t mixed(uint64_t value)
{
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
}

/* Of each 16 bits: any sign and fraction, exponents of 2^-7 to 2^-4. */
#define FREE_BITS UINT64_C(0x81ff81ff81ff81ff)
#define EXPONENTS UINT64_C(0x3c003c003c003c00)

static void fill_chunk(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct filling *filling = context;
    size_t first = (size_t)job * CHUNK, size = filling->buffer->size - first;
    size = size < CHUNK ? size : CHUNK;
    char *to = filling->buffer->bytes + first;
    for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
        uint64_t word = (mixed(filling->seed ^ (first + at)) & FREE_BITS) | EXPONENTS;
        memcpy(to + at, &word, size - at < sizeof word ? size - at : sizeof word);
    }
}

bool buffer_init(struct buffer *buffer, size_t size, uint64_t seed, struct pool *pool,
                 struct error *why)
{
    void *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) {
        return error_set(why, NULL, 0, "no memory for a buffer of %zu bytes: %s", size,
                         strerror(errno));
    }
    *buffer = (struct buffer){bytes, size};
    struct filling filling = {buffer, mixed(seed)};
    pool_run(pool, (uint32_t)((size + CHUNK - 1) / CHUNK), fill_chunk, &filling);
    return true;
}

enum { LINE_WORDS = 8, SHARES_PER_THREAD = 4 };

struct summing {
    const uint64_t *words;
    size_t lines;
    uint32_t shares;
    atomic_uint_fast64_t sum;
};

static void sum_share(uint32_t share, uint32_t thread, void *context)
{
    (void)thread;
    struct summing *summing = context;
    const uint64_t *line = summing->words + summing->lines * share / summing->shares * LINE_WORDS;
    const uint64_t *end =
        summing->words + summing->lines * (share + 1) / summing->shares * LINE_WORDS;
    uint64_t sums[LINE_WORDS] = {0};
    for (; line < end; line += LINE_WORDS) {
#pragma GCC unroll 8
        for (int i = 0; i < LINE_WORDS; i++) {
            sums[i] += line[i];
        }
    }
    for (int i = 0; i < LINE_WORDS; i++) {
        atomic_fetch_add(&summing->sum, sums[i]);
    }
}

uint64_t buffer_sum(const struct buffer *buffer, size_t first, size_t size, struct pool *pool)
{
    struct summing summing = {
        .words = (const uint64_t *)(const void *)(buffer->bytes + first),
        .lines = size / sizeof(uint64_t) / LINE_WORDS,
        .shares = pool_threads(pool) * SHARES_PER_THREAD,
    };
    pool_run(pool, summing.shares, sum_share, &summing);
    return atomic_load(&summing.sum);
}

void buffer_release(struct buffer *buffer)
{
    if (buffer->bytes != NULL) {
        munmap(buffer->bytes, buffer->size);
    }
    *buffer = (struct buffer){NULL, 0};
}
