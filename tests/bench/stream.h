/* A stream of demands that resembles decoding, for the benchmarks of policies. */
#pragma once

#include "core/random.h"
#include "bench.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    UNITS = 4096,
    WANTED = UNITS / 10,
    CAPACITY = UNITS * 3 / 10,
    STEPS = 2000,
    DIM = 128,
    GROUP = 4,
};

/* The demands, best first. */
struct request_stream {
    uint32_t units[STEPS][WANTED];
    uint8_t mass[STEPS][WANTED];
    int8_t query[STEPS][GROUP][DIM];
};

static inline uint32_t below(gsl_rng *random, uint32_t end)
{
    return (uint32_t)gsl_rng_uniform_int(random, end);
}

static inline void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Of two random places in [first, end), the one whose unit has the smaller, or the larger, number.
 */
static inline uint32_t *draw(gsl_rng *random, uint32_t *order, uint32_t first, uint32_t end,
                             bool smaller)
{
    uint32_t *a = &order[first + below(random, end - first)];
    uint32_t *b = &order[first + below(random, end - first)];
    return (*a < *b) == smaller ? a : b;
}

/* One step of decoding. 30 % of the wanted units are replaced, three in four of them by units that
 * were wanted lately, and ranks are drawn anew. Units with small numbers come sooner and go later,
 * so that some are always wanted. `order` holds the wanted units, then the others, the latest
 * first. One in twenty numbers of the query changes. */
static inline void decode_step(gsl_rng *random, uint32_t *order, int8_t (*query)[DIM])
{
    for (uint32_t i = 0; i < WANTED * 3 / 10; i++) {
        uint32_t span = below(random, 4) ? WANTED : UNITS - WANTED;
        swap(draw(random, order, 0, WANTED, false),
             draw(random, order, WANTED, WANTED + span, true));
    }
    for (uint32_t i = WANTED; i-- > 1;) {
        swap(&order[i], &order[below(random, i + 1)]);
    }
    for (uint32_t i = 0; i < GROUP * DIM / 20; i++) {
        query[below(random, GROUP)][below(random, DIM)] = (int8_t)((int)below(random, 255) - 127);
    }
}

static inline void decode_start(gsl_rng *random, uint32_t *order, int8_t (*query)[DIM])
{
    for (uint32_t i = 0; i < UNITS; i++) {
        order[i] = i;
    }
    for (uint32_t i = 0; i < GROUP * DIM; i++) {
        query[i / DIM][i % DIM] = (int8_t)((int)below(random, 255) - 127);
    }
}

static inline void stream_fill(struct request_stream *stream, gsl_rng *random)
{
    static uint32_t order[UNITS];
    static int8_t query[GROUP][DIM];
    decode_start(random, order, query);
    for (uint32_t step = 0; step < STEPS; step++) {
        decode_step(random, order, query);
        memcpy(stream->units[step], order, sizeof stream->units[step]);
        memcpy(stream->query[step], query, sizeof query);
        for (uint32_t i = 0; i < WANTED; i++) {
            stream->mass[step][i] = (uint8_t)(40 + i / 4);
        }
    }
}
