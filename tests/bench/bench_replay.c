/* How fast replay is: accesses (wanted units) a second of each policy over a stream of demands that
 * looks like decoding, LRU's beside a bare loop over the same arrays; then all of replay_run(),
 * from the trace's file to the ledger. */
#include "base/random.h"
#include "decode/replay.h"
#include "policy/policy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    UNITS = 4096,
    WANTED = UNITS / 10,
    CAPACITY = UNITS * 3 / 10,
    STEPS = 2000,
    ROUNDS = 15, /* taken in turns; the best counts, as others may use the machine too */
    DIM = 128,
    GROUP = 4,
    LAYERS = 4, /* of the trace */
    HEADS = 8,
    TRACE_STEPS = 128,
};

/* A stream of demands, best first. */
struct stream {
    uint32_t units[STEPS][WANTED];
    uint8_t mass[STEPS][WANTED];
    int8_t query[STEPS][GROUP][DIM];
};

static void die(const struct error *why)
{
    char text[1024];
    error_format(why, text, sizeof text);
    fprintf(stderr, "bench_replay: %s\n", text);
    exit(1);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t below(gsl_rng *random, uint32_t end)
{
    return (uint32_t)gsl_rng_uniform_int(random, end);
}

static void swap(uint32_t *a, uint32_t *b)
{
    uint32_t kept = *a;
    *a = *b;
    *b = kept;
}

/* One step of decoding. Of what is wanted 30 % is replaced, three in four by what was wanted
 * lately, and ranks are dealt anew. `order` holds what is wanted, then the rest, the latest first.
 * One in twenty numbers of the query changes. */
static void decode_step(gsl_rng *random, uint32_t *order, int8_t (*query)[DIM])
{
    for (uint32_t i = 0; i < WANTED * 3 / 10; i++) {
        uint32_t span = below(random, 4) ? WANTED : UNITS - WANTED;
        swap(&order[below(random, WANTED)], &order[WANTED + below(random, span)]);
    }
    for (uint32_t i = WANTED; i-- > 1;) {
        swap(&order[i], &order[below(random, i + 1)]);
    }
    for (uint32_t i = 0; i < GROUP * DIM / 20; i++) {
        query[below(random, GROUP)][below(random, DIM)] = (int8_t)((int)below(random, 255) - 127);
    }
}

static void decode_start(gsl_rng *random, uint32_t *order, int8_t (*query)[DIM])
{
    for (uint32_t i = 0; i < UNITS; i++) {
        order[i] = i;
    }
    for (uint32_t i = 0; i < GROUP * DIM; i++) {
        query[i / DIM][i % DIM] = (int8_t)((int)below(random, 255) - 127);
    }
}

static void stream_fill(struct stream *stream, gsl_rng *random)
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

/* LRU by hand: the arrays of sim/policy/lru.c and nothing around them. */
static uint64_t run_bare(const struct stream *stream)
{
    static uint32_t stamp[UNITS], log[4 * UNITS + 1];
    uint32_t oldest = 1, end = 1, held = 0;
    uint64_t hits = 0;
    memset(stamp, 0, sizeof stamp);
    for (uint32_t step = 0; step < STEPS; step++) {
        const uint32_t *units = stream->units[step];
        if (end + WANTED > 4 * UNITS + 1) {
            uint32_t kept = 1;
            for (uint32_t place = oldest; place < end; place++) {
                log[kept] = log[place];
                kept += stamp[log[place]] == place;
            }
            memset(stamp, 0, sizeof stamp);
            for (uint32_t place = 1; place < kept; place++) {
                stamp[log[place]] = place;
            }
            oldest = 1;
            end = kept;
        }
        uint32_t hit = 0;
        for (uint32_t i = 0; i < WANTED; i++) {
            uint32_t unit = units[i], place = end + WANTED - 1 - i;
            hit += stamp[unit] >= oldest;
            stamp[unit] = place;
            log[place] = unit;
        }
        end += WANTED;
        held += WANTED - hit;
        for (; held > CAPACITY; oldest++) {
            held -= stamp[log[oldest]] == oldest;
        }
        hits += hit;
    }
    return hits;
}

static uint64_t run_policy(const struct stream *stream, const char *name)
{
    struct error why;
    struct policy_env env = {.blocks = UNITS,
                             .capacity = CAPACITY,
                             .wanted = WANTED,
                             .query_heads = GROUP,
                             .head_dim = DIM};
    struct policy *policy = policy_create(policy_find(name, NULL, 0, &why), NULL, &env, &why);
    if (policy == NULL) {
        die(&why);
    }
    uint64_t hits = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = {.units = stream->units[step],
                                .mass = stream->mass[step],
                                .wanted = WANTED,
                                .recorded = WANTED,
                                .query = stream->query[step][0],
                                .query_heads = GROUP,
                                .head_dim = DIM,
                                .query_stride = 1};
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
        hits += outcome.hit;
    }
    policy_destroy(policy);
    return hits;
}

static const struct trace_header header = {
    .layers = LAYERS,
    .kv_heads = HEADS,
    .query_heads = HEADS * GROUP,
    .head_dim = DIM,
    .context = UNITS,
    .unit_tokens = 1,
    .units = UNITS,
    .keep = 2 * WANTED,
    .sequences = 1,
    .steps = TRACE_STEPS,
    .steps_per_tile = 16,
    .has_queries = true,
    .source = (char *)"{}",
};

/* What a head keeps at a step: twice what is wanted, ascending. */
static void put_row(struct trace_frame *frame, uint32_t row, const uint32_t *order)
{
    static uint8_t code[UNITS];
    memset(code, 0, sizeof code);
    for (uint32_t i = 0; i < header.keep; i++) {
        code[order[i]] = (uint8_t)(40 + i / 5);
    }
    uint32_t end = row * header.keep;
    frame->rows.start[row] = end;
    for (uint32_t unit = 0; unit < UNITS; unit++) {
        if (code[unit] > 0) {
            frame->rows.units[end] = unit;
            frame->rows.mass[end++] = code[unit];
        }
    }
    frame->rows.start[row + 1] = end;
    frame->born[row] = frame->tail[row] = 0;
}

static void put_head(struct trace_frame *frame, uint32_t head, gsl_rng *random)
{
    static uint32_t order[LAYERS][HEADS][UNITS];
    static int8_t query[LAYERS][HEADS][GROUP][DIM];
    uint32_t *own = order[frame->layer][head];
    int8_t(*own_query)[DIM] = query[frame->layer][head];
    if (frame->tile == 0) {
        decode_start(random, own, own_query);
    }
    for (uint32_t s = 0; s < frame->steps; s++) {
        decode_step(random, own, own_query);
        put_row(frame, head * frame->steps + s, own);
        for (uint32_t j = 0; j < GROUP; j++) {
            uint32_t at = (head * GROUP + j) * frame->steps + s;
            frame->scale[at] = 1;
            memcpy(frame->query + (size_t)at * DIM, own_query[j], DIM);
        }
    }
}

static void write_trace(const char *path, gsl_rng *random)
{
    struct error why;
    struct trace_frame frame;
    trace_frame_init(&frame);
    struct trace_writer *writer = trace_writer_open(path, &header, &why);
    bool good = writer != NULL;
    for (frame.tile = 0; good && frame.tile < trace_tiles(&header); frame.tile++) {
        frame.first_step = frame.tile * header.steps_per_tile;
        frame.steps = trace_tile_steps(&header, frame.tile);
        size_t units = (size_t)HEADS * frame.steps * header.keep;
        for (frame.layer = 0; good && frame.layer < LAYERS; frame.layer++) {
            good = trace_frame_reserve(&header, &frame, &why) &&
                   trace_rows_reserve(&frame.rows, units, &why);
            for (uint32_t head = 0; good && head < HEADS; head++) {
                put_head(&frame, head, random);
            }
            good = good && trace_writer_put(writer, &frame, &why);
        }
    }
    if (!good || !trace_writer_close(writer, &why)) {
        die(&why);
    }
    trace_frame_release(&frame);
}

/* Seconds of a whole replay on one thread, and the share of the demand that hit. */
static double run_replay(const struct trace *trace, const char *name, uint32_t batch, double *hit)
{
    static struct replay_head heads[LAYERS * HEADS];
    for (uint32_t i = 0; i < LAYERS * HEADS; i++) {
        heads[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    struct error why;
    struct replay_plan plan = {.layers = LAYERS,
                               .kv_heads = HEADS,
                               .batch = batch,
                               .context = UNITS * 32,
                               .heads = heads,
                               .policy = policy_find(name, NULL, 0, &why),
                               .selection = .1,
                               .capacity = .3,
                               .manager_unit = 16,
                               .warmup = TRACE_STEPS / 2,
                               .steps = TRACE_STEPS / 2};
    struct ledger ledger;
    ledger_init(&ledger);
    double start = seconds();
    if (!replay_run(trace, &plan, 1, &ledger, &why)) {
        die(&why);
    }
    double took = seconds() - start;
    *hit = (double)ledger.demand_hit / (double)ledger.demand_wanted;
    ledger_release(&ledger);
    return took;
}

static void print_head(const char *last)
{
    printf("%-18s %8s %14s %8s\n", "", "hit", "accesses/s", last);
}

/* Policies alone. Returns whether the bare loop does what LRU does. */
static bool bench_policies(gsl_rng *random)
{
    static const char *const rows[] = {"bare", "lru", "fifo", "qsac"};
    enum { ROWS = sizeof rows / sizeof *rows };
    static struct stream stream;
    double best[ROWS];
    uint64_t hits[ROWS];
    stream_fill(&stream, random);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t r = 0; r < ROWS; r++) {
            double start = seconds();
            hits[r] = r == 0 ? run_bare(&stream) : run_policy(&stream, rows[r]);
            double took = seconds() - start;
            best[r] = round == 0 || took < best[r] ? took : best[r];
        }
    }
    print_head("of bare");
    for (uint32_t r = 0; r < ROWS; r++) {
        double accesses = (double)STEPS * WANTED;
        printf("%-18s %7.1f%% %12.0f M %8.2f\n", rows[r], 100 * (double)hits[r] / accesses,
               1e-6 * accesses / best[r], best[0] / best[r]);
    }
    return hits[0] == hits[1];
}

/* From the file to the ledger. */
static void bench_replay(gsl_rng *random)
{
    static const struct {
        const char *policy;
        uint32_t batch;
    } rows[] = {{"none", 1}, {"lru", 1}, {"lru", 64}, {"fifo", 1}, {"qsac", 1}};
    char path[] = "/tmp/bench-replay-XXXXXX";
    int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    close(file);
    write_trace(path, random);
    struct error why;
    struct trace *trace = trace_open(path, &why);
    if (trace == NULL) {
        die(&why);
    }
    printf("\n");
    print_head("seconds");
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double best = 1e9, hit = 0;
        for (uint32_t round = 0; round < 3; round++) {
            double took = run_replay(trace, rows[r].policy, rows[r].batch, &hit);
            best = took < best ? took : best;
        }
        double accesses = (double)LAYERS * HEADS * TRACE_STEPS * WANTED;
        printf("replay %-5s x %-3u %7.1f%% %12.0f M %8.3f\n", rows[r].policy, rows[r].batch,
               100 * hit, 1e-6 * accesses / best, best);
    }
    trace_close(trace);
    unlink(path);
}

int main(void)
{
    struct error why;
    gsl_rng *random = random_stream(1, "bench.replay", 0, &why);
    if (random == NULL) {
        die(&why);
    }
    bool same = bench_policies(random);
    bench_replay(random);
    gsl_rng_free(random);
    return same ? 0 : 1;
}
