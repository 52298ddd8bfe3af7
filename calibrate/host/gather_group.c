/* The group host-gather: gathers by threads, row size and passes. host.gather is one pass over rows
 * of 256 bytes: keys or values of one token of one head of 128 bf16 numbers.
 *
 * A sample gathers 32 MiB, about the misses of a layer of a long context, so that the hand-off to
 * the threads counts as little as it does there. The rows of a head are in one range, and heads are
 * gathered one after the other: a sample takes an eighth of each of eight ranges of 32 MiB, the
 * keys of 128 Ki tokens, in shuffled order. No row is used again before all others were. The
 * destination is the same buffer each time, like a pinned staging buffer.
 *
 * In shorter contexts the pages of a head's rows fit the TLB, and a gather is a fifth faster.
 * host.gather_span is that factor, by the size of the range that holds a head's rows; the two rates
 * are sampled together. (The order of a head's rows makes no difference, neighbours or not.)
 */
#include "core/array.h"
#include "core/random.h"
#include "calibrate/host/bench.h"
#include "calibrate/host/gather.h"
#include "calibrate/host/groups.h"

#include <gsl/gsl_randist.h>
#include <stdio.h>
#include <stdlib.h>

enum { CACHES = 16, PAYLOAD = 2 * BENCH_STEP, PASSES = 2, RANGE = 2 * BENCH_STEP, SHARES = 8 };

/* Keys of contexts of 8 Ki to 512 Ki tokens. */
static const uint32_t spans[] = {RANGE / 16, RANGE / 4, RANGE, RANGE * 4};
enum { SPANS = sizeof spans / sizeof spans[0] };

static const uint32_t row_sizes[] = {128, 256, 512, 2048, 16384};
enum { ROW_SIZES = sizeof row_sizes / sizeof row_sizes[0], CURVE_ROW = 256 };

/* All rows of one size in shuffled order, and the position of the next sample. */
struct deck {
    uint32_t row_bytes;
    uint32_t *rows;
    size_t count, next;
};

struct gather_group_buffers {
    struct deck *deck;
    struct pool *pool;
    const struct buffer *data;
    char *between, *to;
    char figure[64];
};

/* Rows of one span beside those of RANGE. */
struct spanning {
    struct deck deck;
    struct gather_group_buffers scattered, usual;
};

struct gather_ground {
    struct bench bench; /* first */
    struct deck decks[ROW_SIZES];
    struct buffer to, between;
    struct gather_group_buffers samples[ROW_SIZES * PASSES * TOPOLOGY_MOST_COUNTS];
    struct spanning spans[SPANS];
};

/* Shuffle the rows of each range. The deck is the first eighth of every range, then the second
 * eighth of every range, and so on. */
static void gather_group_deal(struct deck *deck, size_t range, const uint32_t *shuffled)
{
    size_t share = range / SHARES, ranges = deck->count / range;
    for (size_t i = 0; i < ranges * range; i++) {
        size_t turn = i / (ranges * share), at = i % (ranges * share);
        deck->rows[i] = shuffled[at / share * range + turn * share + at % share];
    }
    deck->count = ranges * range;
}

static bool deck_shuffle(struct deck *deck, uint32_t row_bytes, size_t span, size_t bytes,
                         gsl_rng *random, struct error *why)
{
    size_t range = span / row_bytes;
    *deck = (struct deck){.row_bytes = row_bytes, .count = bytes / row_bytes};
    deck->rows = array_zeroed(deck->count, sizeof *deck->rows, why);
    uint32_t *shuffled = deck->rows ? array_zeroed(deck->count, sizeof *shuffled, why) : NULL;
    if (shuffled == NULL) {
        return false;
    }
    for (size_t i = 0; i < deck->count; i++) {
        shuffled[i] = (uint32_t)i;
    }
    for (size_t first = 0; first + range <= deck->count; first += range) {
        gsl_ran_shuffle(random, shuffled + first, range, sizeof *shuffled);
    }
    gather_group_deal(deck, range, shuffled);
    free(shuffled);
    return true;
}

static bool gather_group_sample_gather(void *state, double *value, struct error *why)
{
    (void)why;
    struct gather_group_buffers *gathering = state;
    struct deck *deck = gathering->deck;
    uint32_t rows = PAYLOAD / deck->row_bytes;
    if (deck->next + rows > deck->count) {
        deck->next = 0;
    }
    const struct gather gather = {
        .from = gathering->data->bytes,
        .rows = deck->rows + deck->next,
        .count = rows,
        .row_bytes = deck->row_bytes,
        .stride = deck->row_bytes,
        .between = gathering->between,
        .to = gathering->to,
    };
    deck->next += rows;
    double start = clock_ns();
    gather_run(gathering->pool, &gather);
    *value = PAYLOAD * 1e9 / (clock_ns() - start);
    return true;
}

/* The factor by which rows of the span are gathered faster than rows of RANGE. */
static bool sample_span(void *state, double *value, struct error *why)
{
    struct spanning *spanning = state;
    double scattered, usual;
    bool ok = gather_group_sample_gather(&spanning->scattered, &scattered, why) &&
              gather_group_sample_gather(&spanning->usual, &usual, why);
    *value = ok ? scattered / usual : 0;
    return ok;
}

static bool shuffle_decks(struct gather_ground *ground, uint64_t seed, struct error *why)
{
    size_t bytes = ground->bench.data.size;
    gsl_rng *random = random_stream(seed, "calibrate.gather", 0, why);
    bool ok = random != NULL;
    for (uint32_t i = 0; ok && i < ROW_SIZES; i++) {
        ok = deck_shuffle(&ground->decks[i], row_sizes[i], RANGE, bytes, random, why);
    }
    for (uint32_t i = 0; ok && i < SPANS && spans[i] <= bytes; i++) {
        ok = deck_shuffle(&ground->spans[i].deck, CURVE_ROW, spans[i], bytes, random, why);
    }
    gsl_rng_free(random);
    return ok;
}

static bool gather_group_ground_init(struct gather_ground *ground, uint64_t seed, struct error *why)
{
    struct bench *bench = &ground->bench;
    if (!bench_init(bench, CACHES, seed, why)) {
        return false;
    }
    if (bench->data.size < PAYLOAD) {
        return error_set(why, NULL, 0, "too little memory is free to gather %d MiB from",
                         PAYLOAD >> 20);
    }
    return buffer_init(&ground->to, PAYLOAD, seed, bench->pools[0], why) &&
           buffer_init(&ground->between, PAYLOAD, seed, bench->pools[0], why) &&
           shuffle_decks(ground, seed, why);
}

static void gather_group_destroy(struct bench *bench)
{
    struct gather_ground *ground = (struct gather_ground *)bench;
    for (uint32_t i = 0; i < ROW_SIZES; i++) {
        free(ground->decks[i].rows);
    }
    for (uint32_t i = 0; i < SPANS; i++) {
        free(ground->spans[i].deck.rows);
    }
    buffer_release(&ground->between);
    buffer_release(&ground->to);
    bench_release(&ground->bench);
    free(ground);
}

static struct gather_group_buffers gathering_of(struct gather_ground *ground, struct deck *deck,
                                                uint32_t pool, uint32_t passes)
{
    return (struct gather_group_buffers){
        .deck = deck,
        .pool = ground->bench.pools[pool],
        .data = &ground->bench.data,
        .between = passes == 1 ? NULL : ground->between.bytes,
        .to = ground->to.bytes,
    };
}

/* A row size and a number of passes, at each number of threads. */
static bool add_gathers(struct gather_ground *ground, uint32_t row, uint32_t passes,
                        struct findings *findings, struct error *why)
{
    struct bench *bench = &ground->bench;
    bool is_curve = row_sizes[row] == CURVE_ROW && passes == 1;
    char figure[64] = "host.gather";
    if (!is_curve) {
        snprintf(figure, sizeof figure, "host.gather.rows_%u.passes_%u", row_sizes[row], passes);
    }
    bool ok =
        findings_add(findings, figure, "threads", UNIT_BYTES_PER_S, why) != NULL &&
        bench_note(
            findings, figure, why,
            "rows of %u bytes, scattered over ranges of 32 of %zu MiB, %d MiB at a time, in %s",
            row_sizes[row], bench->data.size >> 20, PAYLOAD >> 20,
            passes == 1 ? "one pass" : "two passes");
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        struct gather_group_buffers *gathering = &ground->samples[bench->count];
        *gathering = gathering_of(ground, &ground->decks[row], i, passes);
        snprintf(gathering->figure, sizeof gathering->figure, "%s", figure);
        ok = bench_add(bench, gathering->figure, bench->threads[i], gather_group_sample_gather,
                       gathering, why);
    }
    return ok;
}

static bool add_spans(struct gather_ground *ground, struct findings *findings, struct error *why)
{
    struct bench *bench = &ground->bench;
    uint32_t row = 0, most = bench->sizes - 1;
    while (row_sizes[row] != CURVE_ROW) {
        row++;
    }
    bool ok = findings_add(findings, "host.gather_span", "", UNIT_TIMES, why) != NULL &&
              bench_note(findings, "host.gather_span", why,
                         "as host.gather, %u threads, beside ranges of %d MiB",
                         bench->threads[most], RANGE >> 20);
    for (uint32_t i = 0; ok && i < SPANS && ground->spans[i].deck.rows != NULL; i++) {
        struct spanning *spanning = &ground->spans[i];
        spanning->scattered = gathering_of(ground, &spanning->deck, most, 1);
        spanning->usual = gathering_of(ground, &ground->decks[row], most, 1);
        ok = bench_add(bench, "host.gather_span", spans[i], sample_span, spanning, why);
    }
    return ok;
}

static struct bench *gather_group_create(const struct host_scope *scope, struct findings *findings,
                                         struct error *why)
{
    struct gather_ground *ground = array_zeroed(1, sizeof *ground, why);
    bool ok = ground != NULL && gather_group_ground_init(ground, scope->seed, why);
    for (uint32_t i = 0; ok && i < ROW_SIZES * PASSES; i++) {
        bool is_curve = row_sizes[i / PASSES] == CURVE_ROW && i % PASSES == 0;
        ok = (scope->curves_alone && !is_curve) ||
             add_gathers(ground, i / PASSES, 1 + i % PASSES, findings, why);
    }
    ok = ok && add_spans(ground, findings, why);
    if (!ok && ground != NULL) {
        gather_group_destroy(&ground->bench);
    }
    return ok ? &ground->bench : NULL;
}

const struct host_curves host_gather_curves = {gather_group_create, NULL, gather_group_destroy};

bool host_gather_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    return host_curves_measure(&host_gather_curves, effort, seed, findings, why);
}
