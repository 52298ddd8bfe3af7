/* Layers are verified in parallel; sums of integers do not depend on the order. */
#include "trace/format/verify.h"

#include "core/parallel.h"

#include <stdatomic.h>

struct verification {
    const struct trace *trace;
    atomic_uint_least64_t frames, rows, units;
};

static bool verify_layer(uint32_t layer, uint32_t thread, void *context, struct error *why)
{
    struct verification *all = context;
    const struct trace_header *header = trace_header(all->trace);
    struct trace_frame frame;
    bool good = true;
    (void)thread;
    trace_frame_init(&frame);
    for (uint64_t i = 0; good && i < (uint64_t)header->sequences * trace_tiles(header); i++) {
        uint32_t sequence = (uint32_t)(i / trace_tiles(header));
        good = trace_read(all->trace, sequence, (uint32_t)(i % trace_tiles(header)), layer, &frame,
                          why);
        if (good) {
            uint32_t rows = header->kv_heads * frame.steps;
            all->frames++;
            all->rows += rows;
            all->units += frame.rows.start[rows];
        }
    }
    trace_frame_release(&frame);
    return good;
}

bool trace_verify(const struct trace *trace, uint32_t threads, struct trace_summary *summary,
                  struct error *why)
{
    struct verification all = {.trace = trace};
    bool good = parallel_for(trace_header(trace)->layers, threads, verify_layer, &all, why);
    *summary = (struct trace_summary){trace_bytes(trace), all.frames, all.rows, all.units};
    return good;
}
