/* Two surfaces of the decode pipeline, with a whole and half a link; and what prompts add. */
#include "serving/step_cost.h"

#include "base/array.h"
#include "decode/cost/cost.h"
#include "serve/server_engine.h"
#include "serving/step_products.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct step_cost {
    const struct setup *setup;
    const struct server_path *path;  /* the engine's */
    uint32_t passes;                 /* of a step: one for each rank and stage of the server */
    uint64_t *chunk_rows;            /* [passes] of prompts, in the step under way; owned */
    struct trust trust, load_trust;  /* of prompts so far, and of loads */
    double basis_ns[BASIS_COUNT];    /* of steps so far, by basis */
    double decoding_ns, resident_ns; /* of steps so far that decode; weighted by resident_share */
    struct way_shares shares;        /* of a GPU's link to its host */
    double start_ns;                 /* of a transfer over it */
    double fetch_rate;               /* bytes a second, alone on it; 0 if half is NULL */
    struct decode_surface *whole, *half; /* the link; half NULL if no step fetches */
    struct decode_step least;            /* the cost of a step without decoding sequences */
    struct step_products *products;
};

/* ---- create, destroy -------------------------------------------------------------------- */

/* One GPU's part of the link; worsens the trust in loads. Several GPUs below one uplink all copy at
 * the same time. A server of a machine without a link must load nothing (pipeline_curves()). */
static bool join_host(struct step_cost *cost, struct error *why)
{
    const struct profile *profile = &cost->setup->profile;
    struct trust *trust = &cost->load_trust;
    bool said = profile_states(profile, CURVE_LINK_GPUS_PER_UPLINK);
    double sharers = said ? cost_uplink_sharers(cost->setup, trust) : 1;
    const struct place_servers server = {profile, .count = 1, .gpus = 1, .sharers = sharers};
    int gpu = places_gpu(&server, 0, 0), host = places_host(&server, 0);
    struct places places = {.count = 0};
    places_add_servers(&places, &server, trust);
    cost->start_ns =
        way_stated(profile, WAY_IN) ? way_start_ns(profile, WAY_IN, BY_ENGINE, trust) : 0;
    struct engine_route in = places_route(&places, host, gpu, false),
                        out = places_route(&places, gpu, host, false);
    struct engine_route routes[SERVER_FLOWS] = {[FLOW_FETCHED] = in};
    routes[flow_loaded(1)] = in;
    routes[flow_saved(1)] = out;
    return way_shares_init(&cost->shares, &places, routes, SERVER_FLOWS, why);
}

/* Bytes a second of fetches that have the link to themselves; streamed weights use all of it. */
static double find_fetch_rate(struct step_cost *cost)
{
    struct trust ignored = {.basis = BASIS_MEASURED}; /* the surfaces report it */
    bool streams = cost->setup->mechanisms.weights < 1;
    double usable = streams ? INFINITY : cost_transfer_rate(cost->setup, &ignored);
    double most[SERVER_FLOWS] = {[FLOW_FETCHED] = usable}, rate[SERVER_FLOWS];
    way_shares_find(&cost->shares, most, rate);
    return rate[FLOW_FETCHED];
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
    cost->path = &server_engines[point->workload.engine].path;
    cost->passes = point_passes(point);
    cost->chunk_rows = array_zeroed(cost->passes, sizeof *cost->chunk_rows, why);
    cost->trust = cost->load_trust = (struct trust){.basis = BASIS_MEASURED};
    cost->products = step_products_create(point, why);
    cost->whole = decode_surface_create(point, range, 1, context, why);
    bool ok = join_host(cost, why) && cost->chunk_rows != NULL && cost->products != NULL &&
              cost->whole != NULL && decode_surface_least(cost->whole, &cost->least, why);
    if (ok && fetches) {
        cost->fetch_rate = find_fetch_rate(cost);
        cost->half = decode_surface_create(point, range, 0.5, context, why);
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
    way_shares_release(&cost->shares);
    free(cost->chunk_rows);
    free(cost);
}

struct trust step_cost_trust(const struct step_cost *cost, bool loaded)
{
    struct trust trust = cost->trust;
    trust_add(&trust, decode_surface_trust(cost->whole));
    trust_add(&trust, step_products_trust(cost->products));
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

/* The attention of a chunk in a layer: its part of the attention of the whole prompt. */
static struct kernel chunk_attention(const struct setup *setup, const struct step_chunk *chunk,
                                     uint32_t layer)
{
    const struct model *model = &setup->model;
    double flops = model_prefill_attention_flops(model, layer, chunk->start + chunk->tokens) -
                   model_prefill_attention_flops(model, layer, chunk->start);
    double bytes = (double)model_kv_entry_bytes(model, layer) *
                       (double)model_layer_tokens(model, layer, chunk->start + chunk->tokens) +
                   model_prefill_state_bytes(model, layer, chunk->tokens);
    return kernel_product(&setup->profile, flops, chunk->tokens, bytes, DTYPE_BF16);
}

static void add_attention(struct step_cost *cost, const struct step_chunk *chunk,
                          struct added *added)
{
    const struct model *model = &cost->setup->model;
    struct kernel kernel = {.ns = 0};
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        if (!model_layer_repeats(model, layer)) {
            kernel = chunk_attention(cost->setup, chunk, layer);
            trust_add(&cost->trust, kernel.trust);
        }
        added_time(added, kernel.ns, kernel.trust.basis);
    }
}

/* Give each chunk to the pass that has fewest rows of prompts so far. Returns the pass with most;
 * if `added` is not NULL, adds the attention of the chunks of pass `of`. */
static uint32_t spread_chunks(struct step_cost *cost, const struct step_load *load, uint32_t of,
                              struct added *added)
{
    uint32_t fullest = 0;
    memset(cost->chunk_rows, 0, cost->passes * sizeof *cost->chunk_rows);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        uint32_t pass = 0;
        for (uint32_t other = 1; other < cost->passes; other++) {
            pass = cost->chunk_rows[other] < cost->chunk_rows[pass] ? other : pass;
        }
        cost->chunk_rows[pass] += load->chunks[i].tokens;
        fullest = cost->chunk_rows[pass] > cost->chunk_rows[fullest] ? pass : fullest;
        if (added != NULL && pass == of) {
            add_attention(cost, &load->chunks[i], added);
        }
    }
    return fullest;
}

/* The rows of a pass with `own`, if those of all passes are `total`: the ranks in the same stage
 * have as many together as those of any other. */
static struct model_rows rows_of_pass(const struct step_cost *cost, uint64_t own, uint64_t total)
{
    uint64_t stages = cost->setup->model.parallel.pipeline;
    uint64_t all = (total + stages - 1) / stages;
    return (struct model_rows){own, all > own ? all : own};
}

/* The fullest pass decides. `decodes` sequences of each pass decode. */
static bool step_cost_add_chunks(struct step_cost *cost, const struct step_load *load,
                                 uint32_t decodes, struct added *added, struct error *why)
{
    uint64_t total = load->decodes;
    if (load->chunk_count == 0) {
        return true;
    }
    uint32_t fullest = spread_chunks(cost, load, 0, NULL);
    spread_chunks(cost, load, fullest, added);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        total += load->chunks[i].tokens;
    }
    struct model_rows already = model_rows(&cost->setup->model, decodes > 0 ? decodes : 1);
    uint64_t own = decodes + cost->chunk_rows[fullest];
    return step_products_add(cost->products, rows_of_pass(cost, own, total), already, added, why);
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
    if (!decode_surface_read(cost->whole, load->decodes, load->decode_tokens, decode, why)) {
        return false;
    }
    if (cost->half == NULL || share >= 1) {
        return true;
    }
    if (!decode_surface_read(cost->half, load->decodes, load->decode_tokens, &half, why)) {
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

/* Add the time in which the GPU waits for the CPU: all of the step's CPU time, or the gap between
 * steps and what is left then. `load` is that of a pass. */
static void add_overhead(struct step_cost *cost, const struct step_load *load,
                         const struct added *added, struct decode_step *decode)
{
    double chunks = ceil((double)load->chunk_count / cost->passes);
    double ns = (double)cost->setup->mechanisms.step_overhead +
                (double)cost->path->sequence_ns * (load->decodes + chunks);
    if (cost->path->overlaps) {
        ns = fmax((double)cost->path->gap_ns, ns - decode->ns - added->ns);
    }
    if (ns > 0) {
        trust_add(&cost->trust, (struct trust){.basis = BASIS_ASSUMED});
        decode->ns += ns;
        decode->stall_ns[PART_OVERHEAD] += ns;
        decode->basis_ns[BASIS_ASSUMED] += ns;
    }
}

/* The share of that which they get beside other copies. `most` is of the others. */
static double fetch_share(struct step_cost *cost, double most[SERVER_FLOWS])
{
    if (cost->half == NULL) {
        return 1;
    }
    double rate[SERVER_FLOWS];
    most[FLOW_FETCHED] = cost->fetch_rate;
    way_shares_find(&cost->shares, most, rate);
    return rate[FLOW_FETCHED] / cost->fetch_rate;
}

/* The time of a step's decoding sequences, beside its chunks, and of the CPU. */
static bool read_beside(struct step_cost *cost, const struct step_load *load,
                        const struct added *added, double most[SERVER_FLOWS],
                        struct decode_step *decode, struct error *why)
{
    if (!read_decode(cost, load, fetch_share(cost, most), decode, why)) {
        return false;
    }
    add_overhead(cost, load, added, decode);
    if (load->written_bytes <= 0 || load->decodes == 0) {
        return true;
    }
    double *saved = &most[flow_saved(1)];
    *saved = fmax(*saved, load->written_bytes * 1e9 / (decode->ns + added->ns));
    if (!read_decode(cost, load, fetch_share(cost, most), decode, why)) {
        return false;
    }
    add_overhead(cost, load, added, decode);
    return true;
}

/* The decoding sequences of the fullest pass, which attend to as many tokens each as all do. */
static struct step_load load_of_pass(const struct step_cost *cost, const struct step_load *load)
{
    struct step_load pass = *load;
    pass.decodes = (load->decodes + cost->passes - 1) / cost->passes;
    if (load->decodes > 0) {
        double each = (double)load->decode_tokens / load->decodes;
        pass.decode_tokens =
            cost->passes == 1 ? load->decode_tokens : (uint64_t)llround(each * pass.decodes);
    }
    return pass;
}

static bool step(void *context, const struct step_load *load, struct step_time *time,
                 struct error *why)
{
    struct step_cost *cost = context;
    struct decode_step decode;
    struct added added = {.ns = 0};
    struct step_load pass = load_of_pass(cost, load);
    double most[SERVER_FLOWS];
    for (uint32_t flow = 0; flow < SERVER_FLOWS; flow++) {
        most[flow] = load->pending[flow] ? INFINITY : 0;
    }
    if (!step_cost_add_chunks(cost, load, pass.decodes, &added, why) ||
        !read_beside(cost, &pass, &added, most, &decode, why)) {
        return false;
    }
    bool leaves = load->pending[flow_saved(1)] || load->written_bytes > 0;
    most[flow_saved(1)] = leaves ? INFINITY : 0;
    split_step(cost, load, &decode, &added, time);
    time->fetched_bytes = load->decodes > 0 ? decode.fetched_bytes : 0;
    most[FLOW_FETCHED] = time->fetched_bytes * 1e9 / (double)time->ns;
    way_shares_find(&cost->shares, most, time->rate);
    return true;
}

struct step_clock step_cost_clock(struct step_cost *cost)
{
    return (struct step_clock){
        .step = step,
        .context = cost,
        .shares = &cost->shares,
        .start_ns = {[1] = cost->start_ns},
    };
}
