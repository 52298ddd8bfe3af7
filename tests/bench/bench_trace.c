/* Speed of reading traces: frames decoded from the page cache, compared with zstd alone on the same
 * payloads; and rows turned into demands. With an argument it reads that trace; otherwise a random
 * trace that resembles a recording: a fifth of the context, geometric gaps, log-normal masses. */
#include "bench.h"
#include "trace/demand.h"
#include "unit/fixture/make_trace.h"

#include <gsl/gsl_randist.h>
#include <zstd.h>

enum { ROUNDS = 7 }; /* the best counts, as others may use the machine too */

/* Rows like those of a model, in place of the uniform ones of make_rows(). */
static void draw_rows(const struct trace_header *header, struct trace_frame *frame, gsl_rng *random)
{
    struct error why;
    uint32_t rows = header->kv_heads * frame->steps, total = 0;
    make_check(trace_rows_reserve(&frame->rows, (size_t)rows * header->units, &why), &why);
    for (uint32_t r = 0; r < rows; r++) {
        frame->rows.start[r] = total;
        uint32_t left = header->keep;
        for (uint32_t unit = 0; unit < header->units; unit++) {
            bool in_window = make_is_window(header, unit);
            if (in_window || (left > 0 && gsl_rng_uniform(random) < 0.2)) {
                double code = 100 + gsl_ran_gaussian(random, 20);
                left -= in_window ? 0 : 1;
                frame->rows.units[total] = unit;
                frame->rows.mass[total++] = (uint8_t)(code < 0 ? 0 : code > 255 ? 255 : code);
            }
        }
    }
    frame->rows.start[rows] = total;
}

static void draw_trace(const char *path)
{
    struct error why;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.layers = 8;
    header.kv_heads = 8;
    header.query_heads = 32;
    header.head_dim = 128;
    header.context = header.units = 8192;
    header.sinks = 4;
    header.recent = 64;
    header.keep = header.units / 5;
    header.sequences = 1;
    header.steps = 64;
    header.steps_per_tile = 16;
    gsl_rng *random = random_stream(1, "bench.trace", 0, &why);
    struct trace_writer *writer = trace_writer_open(path, &header, &why);
    make_check(random != NULL && writer != NULL, &why);
    for (frame.tile = 0; frame.tile < trace_tiles(&header); frame.tile++) {
        for (frame.layer = 0; frame.layer < header.layers; frame.layer++) {
            make_frame(&header, &frame, random);
            draw_rows(&header, &frame, random);
            make_check(trace_writer_put(writer, &frame, &why), &why);
        }
    }
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    gsl_rng_free(random);
}

/* The result of a pass over the trace. */
struct work {
    double read, decompress, sort; /* seconds */
    uint64_t raw_bytes, units;
};

static void time_decompress(struct trace_frame *frame, struct work *work)
{
    uint32_t raw_bytes, stored_bytes, codec;
    memcpy(&codec, frame->stored + 16, 4);
    memcpy(&raw_bytes, frame->stored + 20, 4);
    memcpy(&stored_bytes, frame->stored + 24, 4);
    double start = seconds();
    if (codec == 1 &&
        ZSTD_decompress(frame->raw, raw_bytes, frame->stored + 36, stored_bytes) != raw_bytes) {
        abort();
    }
    work->decompress += seconds() - start;
    work->raw_bytes += raw_bytes;
}

static void time_demands(const struct trace_header *header, const struct trace_frame *frame,
                         const struct demand_shape *shape, struct demand_buffer *buffer,
                         struct work *work)
{
    struct error why;
    double start = seconds();
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        for (uint32_t step = 0; step < frame->steps; step++) {
            struct demand demand;
            make_check(demand_from_frame(header, frame, head, step, shape, buffer, &demand, &why),
                       &why);
        }
    }
    work->sort += seconds() - start;
    work->units += frame->rows.start[header->kv_heads * frame->steps];
}

static struct work pass(const struct trace *trace, struct trace_frame *frame,
                        struct demand_buffer *buffer)
{
    struct work work = {0};
    const struct trace_header *header = trace_header(trace);
    struct demand_shape shape =
        demand_shape(header, header->units / 10, header->sinks, header->recent);
    for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
        for (uint32_t layer = 0; layer < header->layers; layer++) {
            struct error why;
            double start = seconds();
            make_check(trace_read(trace, 0, tile, layer, frame, &why), &why);
            work.read += seconds() - start;
            time_decompress(frame, &work);
            time_demands(header, frame, &shape, buffer, &work);
        }
    }
    return work;
}

int main(int argc, char **argv)
{
    char path[64], folder[32];
    struct error why;
    struct trace_frame frame = {0};
    struct demand_buffer buffer = {0};
    struct work best = {.read = 1e9, .decompress = 1e9, .sort = 1e9};
    make_path(make_folder(folder), "bench.swt", path);
    if (argc == 1) {
        draw_trace(path);
    }
    struct trace *trace = trace_open(argc == 1 ? path : argv[1], &why);
    make_check(trace != NULL, &why);
    for (int round = 0; round < ROUNDS; round++) {
        struct work work = pass(trace, &frame, &buffer);
        best.read = work.read < best.read ? work.read : best.read;
        best.decompress = work.decompress < best.decompress ? work.decompress : best.decompress;
        best.sort = work.sort < best.sort ? work.sort : best.sort;
        best.raw_bytes = work.raw_bytes;
        best.units = work.units;
    }
    double units = (double)best.units;
    print_row("trace_read", units, "units", best.read, "zstd alone", best.decompress);
    print_row("trace_read, in bytes", (double)best.raw_bytes, "bytes", best.read, NULL, 0);
    print_row("demand_from_frame", units, "units", best.sort, NULL, 0);
    demand_buffer_release(&buffer);
    trace_frame_release(&frame);
    trace_close(trace);
    unlink(path);
    return rmdir(folder);
}
