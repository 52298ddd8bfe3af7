/* Two surfaces of the decode pipeline, with a whole and half a link; and what prompts add. */
#include "predict/server/step_cost.h"

#include "core/array.h"
#include "decode/cost/cost.h"
#include "decode/time/engine_step.h"
#include "model/sharding.h"
#include "predict/server/serving_memory.h"
#include "predict/server/step_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct step_cost {
    const struct setup *setup;
    uint32_t most_rows;              /* of a surface */
    uint32_t passes;                 /* of a step: one for each rank and stage of the server */
    uint32_t ranks;                  /* that step together */
    struct trust trust, load_trust;  /* of all but surfaces so far, and of loads */
    double basis_ns[BASIS_COUNT];    /* of steps so far, by basis */
    double decoding_ns, resident_ns; /* of steps so far that decode; weighted by resident_share */
    struct serving_ways ways;        /* of a GPU's copies */
    double fetch_rate;               /* bytes a second, alone on it; 0 if half is NULL */
    double launch_ns;                /* of the CPU, for all kernels of a step without graphs */
    bool launches[2];                /* of a step without and with prompts */
    struct decode_surface *whole, *half; /* the link; half NULL if no step fetches */
    struct decode_step least;            /* the cost of a step without decoding sequences */
    struct step_products *products;
    struct step_prompts *prompts;
};

/* ---- create, destroy -------------------------------------------------------------------- */

/* Tokens that are spread over the rows of a graph have a shorter mean than the sequences. */
static struct decode_range range_in_rows(const struct setup *setup, struct decode_range range)
{
    uint64_t least = range.least_context;
    for (uint32_t n = 1; n <= range.sequences; n++) {
        uint64_t mean = n * least / engine_step_rows(setup, n);
        range.least_context = mean < range.least_context ? mean : range.least_context;
    }
    range.least_context = range.least_context > 0 ? range.least_context : 1;
    return range;
}

struct step_cost *step_cost_create(const struct point *point, const struct decode_range *range,
                                   const struct run_context *context, struct error *why)
{
    const struct setup *setup = &point->setup;
    bool fetches = mechanisms_offload(&setup->mechanisms);
    struct step_cost *cost = array_zeroed(1, sizeof *cost, why);
    if (cost == NULL) {
        return NULL;
    }
    cost->setup = setup;
    cost->most_rows = range->sequences;
    cost->passes = point_passes(point);
    cost->ranks = point_joined_ranks(point);
    cost->trust = cost->load_trust = (struct trust){.basis = BASIS_MEASURED};
    cost->launches[false] = point_launches(point, false);
    cost->launches[true] = point_launches(point, true);
    if (cost->launches[true]) {
        struct trust ignored = {.basis = BASIS_MEASURED}; /* add_overhead() counts it as assumed */
        cost->launch_ns = engine_step_launch_ns(setup, &ignored);
    }
    cost->products = step_products_create(point, &cost->trust, why);
    cost->prompts =
        step_prompts_create(setup, &point->engine.path, cost->passes, &cost->trust, why);
    const struct decode_range in_rows = range_in_rows(setup, *range);
    cost->whole = decode_surface_create(point, &in_rows, 1, context, why);
    /* One GPU's part of the ways. Several GPUs below one uplink all copy at the same time. A server
     * of a machine without a link must load nothing (pipeline_curves()). */
    bool linked = profile_states(&setup->profile, CURVE_LINK_GPUS_PER_UPLINK);
    double sharers = linked ? cost_uplink_sharers(setup, &cost->load_trust) : 1;
    bool ok = serving_ways_init(&cost->ways, point, sharers, &cost->load_trust, why) &&
              cost->prompts != NULL && cost->products != NULL && cost->whole != NULL &&
              decode_surface_least(cost->whole, &cost->least, why);
    if (ok && fetches) {
        /* Alone on the link, of which streamed weights use all. The surfaces report the trust. */
        struct trust unused = {.basis = BASIS_MEASURED};
        bool streams = setup->mechanisms.weights < 1;
        double usable = streams ? INFINITY : cost_transfer_rate(setup, &unused);
        double most[SERVER_FLOWS] = {[FLOW_FETCHED] = usable}, rate[SERVER_FLOWS];
        way_shares_find(&cost->ways.shares, most, rate);
        cost->fetch_rate = rate[FLOW_FETCHED];
        cost->half = decode_surface_create(point, &in_rows, 0.5, context, why);
        ok = cost->half != NULL;
    }
    if (!ok) {
        step_cost_destroy(cost);
        return NULL;
    }
    return cost;
}

void step_cost_destroy(struct step_cost *cost)
{
    if (cost == NULL) {
        return;
    }
    decode_surface_destroy(cost->whole);
    decode_surface_destroy(cost->half);
    step_products_destroy(cost->products);
    serving_ways_release(&cost->ways);
    step_prompts_destroy(cost->prompts);
    free(cost);
}

struct trust step_cost_trust(const struct step_cost *cost, bool loaded)
{
    struct trust trust = cost->trust;
    trust_add(&trust, decode_surface_trust(cost->whole));
    if (cost->half != NULL) {
        trust_add(&trust, decode_surface_trust(cost->half));
    }
    if (loaded) {
        trust_add(&trust, cost->load_trust);
    }
    return trust;
}

void step_cost_basis(const struct step_cost *cost, double shares[BASIS_COUNT])
{
    double sum = 0;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        sum += cost->basis_ns[basis];
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        shares[basis] = sum > 0 ? cost->basis_ns[basis] / sum : 0;
    }
}

double step_cost_resident(const struct step_cost *cost)
{
    return cost->decoding_ns > 0 ? cost->resident_ns / cost->decoding_ns : 0;
}

const char *step_cost_trace(const struct step_cost *cost, enum basis *basis)
{
    return decode_surface_trace(cost->whole, basis);
}

/* ---- a step ---------------------------------------------------------------------------- */

/* The fullest pass decides; `pass` is what decodes in it. */
static bool step_cost_add_chunks(struct step_cost *cost, const struct step_load *load,
                                 const struct step_load *pass, struct added *added,
                                 struct error *why)
{
    uint64_t total = load->decodes, decodes = pass->decodes;
    if (load->chunk_count == 0) {
        return true;
    }
    uint64_t own = decodes + step_prompts_add(cost->prompts, load, pass, added);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        total += load->chunks[i].tokens;
    }
    /* Ranks in the same stage have as many rows together as those of any other. */
    uint64_t stages = cost->setup->model.parallel.pipeline, all = (total + stages - 1) / stages;
    struct model_rows rows = {.own = own, .all = all > own ? all : own};
    struct model_rows already = model_rows(&cost->setup->model, decodes > 0 ? decodes : 1);
    return step_products_add(cost->products, rows, already, added, why);
}

/* Stalls are rounded down, so that their sum never exceeds the step. */
static void split_step(struct step_cost *cost, const struct step_load *load,
                       const struct decode_step *decode, const struct added *added,
                       struct step_time *time)
{
    time->ns = llround(decode->ns + added->ns);
    time->others_ns = time->ns - llround(decode->ns);
    for (int part = 0; part < PART_COUNT; part++) {
        time->stall_ns[part] = (int64_t)decode->stall_ns[part];
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        cost->basis_ns[basis] += decode->basis_ns[basis] + added->basis_ns[basis];
    }
    if (load->decodes > 0) {
        cost->decoding_ns += decode->ns;
        cost->resident_ns += decode->resident_share * decode->ns;
    }
}

/* The rows that compute a step; one with prompts has no graph of all of it. */
static uint32_t step_rows(const struct step_cost *cost, const struct step_load *load)
{
    uint32_t rows =
        load->chunk_count == 0 ? engine_step_rows(cost->setup, load->decodes) : load->decodes;
    return rows < cost->most_rows ? rows : cost->most_rows;
}

/* A decode step whose fetches have a share of the link. Waiting for bytes takes time in proportion
 * to 1 / share, so steps lie on a line over 1 / share. */
static bool read_decode(struct step_cost *cost, const struct step_load *load, double share,
                        struct decode_step *decode, struct error *why)
{
    struct decode_step half;
    if (load->decodes == 0) {
        *decode = cost->least;
        return true;
    }
    uint32_t rows = step_rows(cost, load);
    if (!decode_surface_read(cost->whole, rows, load->decode_tokens, decode, why)) {
        return false;
    }
    if (cost->half == NULL || share >= 1) {
        return true;
    }
    if (!decode_surface_read(cost->half, rows, load->decode_tokens, &half, why)) {
        return false;
    }
    double towards_half = 1 / share - 1;
    decode->ns += towards_half * (half.ns - decode->ns);
    for (int part = 0; part < PART_COUNT; part++) {
        decode->stall_ns[part] += towards_half * (half.stall_ns[part] - decode->stall_ns[part]);
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        decode->basis_ns[basis] += towards_half * (half.basis_ns[basis] - decode->basis_ns[basis]);
    }
    return true;
}

/* Add the time in which the GPU waits for the CPU. `load` is that of a pass. Returns what of it is for the
 * calls of copies. */
static double add_overhead(struct step_cost *cost, const struct step_load *load,
                           const struct added *added, struct decode_step *decode)
{
    double chunks = ceil((double)load->chunk_count / cost->passes);
    double launch_ns = cost->launches[load->chunk_count > 0] ? cost->launch_ns : 0;
    struct engine_step_cpu cpu = {load->decodes + chunks, launch_ns, load->copies_ns, load->alone};
    double gpu_ns = decode->ns + added->ns;
    double ns = engine_step_waits_ns(cost->setup, &cpu, gpu_ns);
    cpu.copies_ns = 0;
    double calls_ns = ns - engine_step_waits_ns(cost->setup, &cpu, gpu_ns);
    if (ns > 0) {
        trust_add(&cost->trust, (struct trust){.basis = BASIS_ASSUMED});
        decode->ns += ns;
        decode->stall_ns[PART_OVERHEAD] += ns;
        decode->basis_ns[BASIS_ASSUMED] += ns;
    }
    return calls_ns;
}

/* The share of that which they get beside other copies. `most` is of the others. */
static double fetch_share(struct step_cost *cost, double most[SERVER_FLOWS])
{
    if (cost->half == NULL) {
        return 1;
    }
    double rate[SERVER_FLOWS];
    most[FLOW_FETCHED] = cost->fetch_rate;
    way_shares_find(&cost->ways.shares, most, rate);
    return rate[FLOW_FETCHED] / cost->fetch_rate;
}

/* The time of a step's decoding sequences, beside its chunks, and of the CPU. */
static bool read_beside(struct step_cost *cost, const struct step_load *load,
                        const struct added *added, double most[SERVER_FLOWS],
                        struct decode_step *decode, double *calls_ns, struct error *why)
{
    if (!read_decode(cost, load, fetch_share(cost, most), decode, why)) {
        return false;
    }
    *calls_ns = add_overhead(cost, load, added, decode);
    if (load->written_bytes <= 0 || load->decodes == 0) {
        return true;
    }
    double *saved = &most[flow_saved(1)];
    *saved = fmax(*saved, load->written_bytes * 1e9 / (decode->ns + added->ns));
    if (!read_decode(cost, load, fetch_share(cost, most), decode, why)) {
        return false;
    }
    *calls_ns = add_overhead(cost, load, added, decode);
    return true;
}

/* The decoding sequences of the fullest pass. */
static struct step_load load_of_pass(const struct step_cost *cost, const struct step_load *load)
{
    struct step_load pass = *load;
    pass.decodes = (load->decodes + cost->passes - 1) / cost->passes;
    if (load->decodes > 0) {
        double mean = (double)load->decode_tokens / load->decodes;
        double decodes = pass.decodes;
        /* What a pass attends to beyond as many sequences of the mean length. All ranks wait for
         * the one that has the longest sequences by chance: each has `decodes` of them, drawn from
         * all. */
        double variance = fmax(0, load->decode_squares / load->decodes - mean * mean);
        double drawn = decodes * variance * (1 - 1.0 / cost->ranks);
        double tokens = engine_step_tokens(cost->setup, decodes, mean, (double)load->longest);
        double more = model_largest_of(cost->ranks) * sqrt(drawn);
        pass.decode_tokens = (uint64_t)llround(tokens + more);
    }
    return pass;
}

static bool step_cost_step(void *context, const struct step_load *load, struct step_time *time,
                           struct error *why)
{
    struct step_cost *cost = context;
    struct decode_step decode;
    struct added added = {.ns = 0};
    struct step_load pass = load_of_pass(cost, load);
    double most[SERVER_FLOWS], calls_ns;
    for (uint32_t flow = 0; flow < SERVER_FLOWS; flow++) {
        most[flow] = load->pending[flow] ? INFINITY : 0;
    }
    if (!step_cost_add_chunks(cost, load, &pass, &added, why) ||
        !read_beside(cost, &pass, &added, most, &decode, &calls_ns, why)) {
        return false;
    }
    bool leaves = load->pending[flow_saved(1)] || load->written_bytes > 0;
    most[flow_saved(1)] = leaves ? INFINITY : 0;
    split_step(cost, load, &decode, &added, time);
    time->calls_ns = (int64_t)calls_ns;
    time->fetched_bytes = load->decodes > 0 ? decode.fetched_bytes : 0;
    most[FLOW_FETCHED] = time->fetched_bytes * 1e9 / (double)time->ns;
    way_shares_find(&cost->ways.shares, most, time->rate);
    return true;
}

struct step_clock step_cost_clock(struct step_cost *cost)
{
    struct step_clock clock = {
        .step = step_cost_step, .context = cost, .shares = &cost->ways.shares};
    memcpy(clock.load, cost->ways.load, sizeof clock.load);
    memcpy(clock.save, cost->ways.save, sizeof clock.save);
    return clock;
}
