/* Layers are verified in parallel. Each thread counts for itself; sums of integers do not depend on
 * the order. */
#include "trace/format/verify.h"

#include "core/array.h"
#include "core/parallel.h"

#include <stdlib.h>

struct verifier {
    struct trace_frame frame;
    struct trace_summary counted;
};

struct verification {
    const struct trace *trace;
    struct verifier *verifiers; /* one per thread */
};

static bool verify_layer(uint32_t layer, uint32_t thread, void *context, struct error *why)
{
    const struct verification *all = context;
    const struct trace_header *header = trace_header(all->trace);
    struct verifier *verifier = &all->verifiers[thread];
    for (uint32_t sequence = 0; sequence < header->sequences; sequence++) {
        for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
            if (!trace_read(all->trace, sequence, tile, layer, &verifier->frame, why)) {
                return false;
            }
            uint32_t rows = header->kv_heads * verifier->frame.steps;
            verifier->counted.frames++;
            verifier->counted.rows += rows;
            verifier->counted.units += verifier->frame.rows.start[rows];
            if (header->has_approximate) {
                verifier->counted.approximate_units += verifier->frame.approximate.start[rows];
            }
        }
    }
    return true;
}

bool trace_verify(const struct trace *trace, uint32_t threads, struct trace_summary *summary,
                  struct error *why)
{
    threads = parallel_threads(threads);
    struct verification all = {trace, array_zeroed(threads, sizeof *all.verifiers, why)};
    if (all.verifiers == NULL) {
        return false;
    }
    bool ok = parallel_for(trace_header(trace)->layers, threads, verify_layer, &all, why);
    struct trace_summary sum = {.bytes = trace_bytes(trace)};
    for (uint32_t i = 0; i < threads; i++) {
        const struct trace_summary *counted = &all.verifiers[i].counted;
        sum.frames += counted->frames;
        sum.rows += counted->rows;
        sum.units += counted->units;
        sum.approximate_units += counted->approximate_units;
        trace_frame_release(&all.verifiers[i].frame);
    }
    free(all.verifiers);
    if (ok) {
        *summary = sum;
    }
    return ok;
}
