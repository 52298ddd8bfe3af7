/* Speed of replay_run(), from the trace's file to the ledger: accesses (wanted units) a second,
 * compared with only reading the same demands. */
#include "decode/replay/replay.h"
#include "stream.h"
#include "trace/demand.h"

#include <math.h>
#include <unistd.h>

enum {
    LAYERS = 4, /* of the trace */
    HEADS = 8,
    TRACE_STEPS = 128,
};

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

/* The units that a head keeps at a step: twice the wanted number, ascending. */
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
    struct trace_frame frame = {0};
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

/* Seconds of reading all demands. */
static double read_demands(const struct trace *trace)
{
    struct error why;
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    struct demand demand;
    struct demand_shape shape = demand_shape(&header, WANTED, 0, 0);
    double start = seconds();
    for (uint32_t layer = 0; layer < LAYERS; layer++) {
        for (uint32_t tile = 0; tile < trace_tiles(&header); tile++) {
            bool good = trace_read(trace, 0, tile, layer, &frame, &why);
            for (uint32_t i = 0; good && i < HEADS * frame.steps; i++) {
                good = demand_from_frame(&header, &frame, i / frame.steps, i % frame.steps, &shape,
                                         &buffer, &demand, &why);
            }
            if (!good) {
                die(&why);
            }
        }
    }
    double took = seconds() - start;
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
    return took;
}

/* Seconds of a whole replay on one thread. */
static double run_replay(const struct trace *trace, const char *name, uint32_t batch)
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
    ledger_release(&ledger);
    return took;
}

/* From the file to the ledger. */
static void bench_replay(gsl_rng *random)
{
    static const struct {
        const char *policy;
        uint32_t batch;
    } rows[] = {{"none", 1}, {"lru", 1}, {"lru", 64}, {"fifo", 1},
                {"arc", 1},  {"opt", 1}, {"qsac", 1}};
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
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double best = INFINITY, bare = INFINITY;
        for (uint32_t round = 0; round < 3; round++) {
            best = fmin(best, run_replay(trace, rows[r].policy, rows[r].batch));
            bare = fmin(bare, read_demands(trace));
        }
        char name[32];
        snprintf(name, sizeof name, "replay %s, %u sequences", rows[r].policy, rows[r].batch);
        print_row(name, (double)LAYERS * HEADS * TRACE_STEPS * WANTED, "accesses", best,
                  "reading alone", bare);
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
    bench_replay(random);
    gsl_rng_free(random);
    return 0;
}
