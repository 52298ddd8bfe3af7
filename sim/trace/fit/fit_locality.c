/* What is measured is compared with a twin without locality: units near each other and heads of a layer are
 * also wanted together because attention falls off with distance. A twin whose units share their properties
 * with probability p wants a unit's neighbour with that much more probability, so the excess over the first
 * twin is a first estimate of p. It is then corrected by the errors of further twins. */
#include "trace/fit/fit_locality.h"

#include "core/array.h"
#include "core/parallel.h"
#include "trace/generate/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 32, ROUNDS = 4 };

/* Less than this is chance. */
#define LEAST 0.02
#define GAIN 1.2 /* of a correction */

/* Of a layer. */
struct locality_sums {
    double wanted;
    double near[PROFILE_WIDTHS];
    double pairs, alike; /* of a wanted unit and another head */
};

struct locality_scratch {
    struct trace_frame frame;
    struct demand_buffer buffer;
    uint8_t *wanted; /* [KV heads][units] */
};

struct locality_measurement {
    const struct trace *trace;
    const struct trace_header *header;
    struct demand_shape shape;
    uint32_t every;             /* of the tiles, one in so many */
    struct locality_sums *sums; /* [layers] */
};

/* The first unit outside the window of neighbourhood `index` of `blocks`, or of those beyond. */
static uint32_t first_of(const struct locality_measurement *all, uint64_t index, uint32_t blocks)
{
    uint64_t unit = (index * all->header->units + blocks - 1) / blocks;
    unit = unit < all->shape.end_unit ? unit : all->shape.end_unit;
    return (uint32_t)(unit > all->shape.first_unit ? unit : all->shape.first_unit);
}

static void add_head(const struct locality_measurement *all, const uint8_t *wanted, uint32_t head,
                     struct locality_sums *sums)
{
    const struct trace_header *header = all->header;
    const uint8_t *own = wanted + (size_t)head * header->units;
    uint32_t count = 0;
    for (uint32_t u = 0; u < header->units; u++) {
        count += own[u];
    }
    sums->wanted += count;
    sums->pairs += (double)count * (header->kv_heads - 1);
    for (uint32_t other = 0; other < header->kv_heads; other++) {
        const uint8_t *its = wanted + (size_t)other * header->units;
        uint32_t both = 0;
        for (uint32_t u = 0; other != head && u < header->units; u++) {
            both += own[u] & its[u];
        }
        sums->alike += both;
    }
    for (int width = 0; width < PROFILE_WIDTHS; width++) {
        uint32_t blocks = profile_blocks[width];
        double sum = 0;
        for (uint32_t b = 0; b < blocks; b++) { /* of the other units of each wanted one's */
            uint32_t first = first_of(all, b, blocks), end = first_of(all, b + 1, blocks);
            double near = 0;
            for (uint32_t u = first; u < end; u++) {
                near += own[u];
            }
            sum += end > first + 1 ? near * (near - 1) / (end - first - 1) : 0;
        }
        sums->near[width] += sum;
    }
}

static bool fit_locality_add_step(const struct locality_measurement *all,
                                  struct locality_scratch *scratch, uint32_t step,
                                  struct locality_sums *sums, struct error *why)
{
    const struct trace_header *header = all->header;
    memset(scratch->wanted, 0, (size_t)header->kv_heads * header->units);
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        struct demand demand;
        if (!demand_from_frame(header, &scratch->frame, head, step, &all->shape, &scratch->buffer,
                               &demand, why)) {
            return false;
        }
        for (uint32_t i = 0; i < demand.wanted; i++) {
            scratch->wanted[(size_t)head * header->units + demand.units[i]] = 1;
        }
    }
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        add_head(all, scratch->wanted, head, sums);
    }
    return true;
}

static bool fit_locality_measure_layer(uint32_t layer, uint32_t thread, void *context,
                                       struct error *why)
{
    const struct locality_measurement *all = context;
    const struct trace_header *header = all->header;
    struct locality_scratch scratch = {
        .wanted = array_zeroed((size_t)header->kv_heads * header->units, 1, why)};
    bool ok = scratch.wanted != NULL;
    (void)thread;
    for (uint32_t tile = 0; ok && tile < trace_tiles(header); tile += all->every) {
        ok = trace_read(all->trace, 0, tile, layer, &scratch.frame, why);
        for (uint32_t s = 0; ok && s < scratch.frame.steps; s++) {
            ok = fit_locality_add_step(all, &scratch, s, &all->sums[layer], why);
        }
    }
    trace_frame_release(&scratch.frame);
    demand_buffer_release(&scratch.buffer);
    free(scratch.wanted);
    return ok;
}

bool fit_locality_measure(const struct trace *trace, const struct trace_selection *selection,
                          uint32_t steps, uint32_t threads, struct fit_locality *out,
                          struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    uint32_t tiles = trace_tiles(header), read = steps / header->steps_per_tile;
    struct locality_measurement all = {
        .trace = trace,
        .header = header,
        .shape = demand_shape(header, (uint32_t)lround(selection->share * header->units),
                              selection->sinks, selection->recent),
        .every = read == 0 ? tiles : (tiles + read - 1) / read, /* of so many tiles one is read */
    };
    all.sums = array_zeroed(header->layers, sizeof *all.sums, why);
    bool ok = all.sums != NULL &&
              parallel_for(header->layers, threads, fit_locality_measure_layer, &all, why);
    struct locality_sums sum = {0};
    for (uint32_t layer = 0; ok && layer < header->layers; layer++) {
        sum.wanted += all.sums[layer].wanted;
        sum.pairs += all.sums[layer].pairs;
        sum.alike += all.sums[layer].alike;
        for (int width = 0; width < PROFILE_WIDTHS; width++) {
            sum.near[width] += all.sums[layer].near[width];
        }
    }
    *out = (struct fit_locality){.alike = sum.pairs > 0 ? sum.alike / sum.pairs : 0};
    for (int width = 0; width < PROFILE_WIDTHS; width++) {
        out->near[width] = sum.wanted > 0 ? sum.near[width] / sum.wanted : 0;
    }
    free(all.sums);
    return ok;
}

bool fit_locality_solve(const struct trace *recording, double share, uint32_t threads,
                        struct trace_profile *profile, struct error *why)
{
    struct fit_locality shown, found;
    struct profile_locality same = {{0}, 0};
    const struct trace_header *header = trace_header(recording);
    const struct trace_selection selection = {share, header->sinks, header->recent};
    struct trace_geometry geometry = trace_geometry_of(header);
    geometry.keep = share;
    profile->locality = (struct profile_locality){{0}, 0};
    bool ok = fit_locality_measure(recording, &selection, STEPS, threads, &shown, why);
    for (int round = 0; ok && round < ROUNDS; round++) {
        struct trace *twin = trace_open_generated(profile, "twin", &geometry, why);
        ok = twin != NULL && fit_locality_measure(twin, &selection, STEPS, threads, &found, why);
        trace_close(twin);
        for (int width = 0; ok && width < PROFILE_WIDTHS; width++) {
            double missing = shown.near[width] - found.near[width];
            same.near[width] = fmin(fmax(same.near[width] + GAIN * missing, 0), 0.98);
        }
        if (ok) {
            same.alike = fmin(fmax(same.alike + GAIN * (shown.alike - found.alike), 0), 0.98);
            /* From the probabilities that two units of a neighbourhood, or two heads at one unit, take the
             * same properties: each of the two takes them with the square root of that. A wider
             * neighbourhood is a further step: the product of all steps up to it. */
            struct profile_locality out = {.alike = same.alike < LEAST ? 0 : sqrt(same.alike)};
            double before = 1;
            for (int width = 0; width < PROFILE_WIDTHS && same.near[width] >= LEAST; width++) {
                out.near[width] = before > 0 ? sqrt(fmin(same.near[width] / before, 1)) : 0;
                before = fmin(before, same.near[width]);
            }
            profile->locality = out;
        }
    }
    return ok;
}
