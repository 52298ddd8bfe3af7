/* Two surfaces of the decode pipeline, with a whole and half a link, and one of products. */
#include "serving/step_cost.h"

#include "base/array.h"
#include "decode/cost/cost.h"
#include "serve/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

static const double tolerance = 0.0025; /* as that of decode surfaces */

enum { MOST_ROWS = 1 << 21 };

/* Values of the surface of products. */
enum { TIME, UNUSED, BASES /* ns of it, by what it rests on */, VALUES = BASES + BASIS_COUNT };
static_assert(VALUES <= (int)SURFACE_VALUES, "a surface has room for all");

struct step_cost {
    const struct setup *setup;
    struct trust trust, load_trust;  /* of prompts so far, and of loads */
    double basis_ns[BASIS_COUNT];    /* of steps so far, by basis */
    double decoding_ns, resident_ns; /* of steps so far that decode; weighted by resident_share */
    struct link link;
    double copy_start_ns;
    struct decode_surface *whole, *half; /* the link; half NULL if no step fetches */
    struct decode_step least;            /* the cost of a step without decoding sequences */
    struct surface *products;
};

static void add_kernel(struct step_cost *cost, struct kernel kernel, double values[SURFACE_VALUES])
{
    values[TIME] += kernel.ns;
    values[BASES + kernel.trust.basis] += kernel.ns;
    trust_add(&cost->trust, kernel.trust);
}

/* The time of the layers' products for `rows` rows, and of what the GPUs exchange for them. */
static bool compute_products(void *context, uint64_t rows, uint64_t unused,
                             double values[SURFACE_VALUES], struct error *why)
{
    struct step_cost *cost = context;
    const struct setup *setup = cost->setup;
    (void)unused, (void)why;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        uint64_t kernels;
        add_kernel(cost, cost_stage(setup, layer, MODEL_PRE, rows, 0, 1), values);
        add_kernel(cost, cost_stage(setup, layer, MODEL_POST, rows, 0, 1), values);
        add_kernel(cost, cost_exchanges(setup, layer, rows, &kernels), values);
    }
    return true;
}

/* ---- create, destroy -------------------------------------------------------------------- */

/* A figure of the link; worsens the trust in loads. 0 if the machine does not state it: then the
 * server must load nothing (pipeline_curves()). */
static double link_value(struct step_cost *cost, enum curve_id id)
{
    const struct profile *profile = &cost->setup->profile;
    return profile_states(profile, id) ? profile_value(profile, id, 0, &cost->load_trust) : 0;
}

/* One GPU's part of the link. Several GPUs below one uplink all copy at the same time. */
static struct link link_of_gpu(struct step_cost *cost)
{
    bool said = profile_states(&cost->setup->profile, CURVE_LINK_GPUS_PER_UPLINK);
    double sharers = said ? cost_uplink_sharers(cost->setup, &cost->load_trust) : 1;
    return (struct link){
        .in = link_value(cost, CURVE_LINK_H2D) / sharers,
        .out = link_value(cost, CURVE_LINK_D2H) / sharers,
        .both = link_value(cost, CURVE_LINK_DUPLEX) / sharers,
    };
}

struct step_cost *step_cost_create(const struct point *point, const struct decode_range *range,
                                   const struct run_context *context, struct error *why)
{
    const struct surface_domain rows = {1, MOST_ROWS, 1, 1};
    const struct setup *setup = &point->setup;
    bool fetches = mechanisms_offload(&setup->mechanisms);
    struct step_cost *cost = array_zeroed(1, sizeof *cost, why);
    if (cost == NULL) {
        return NULL;
    }
    cost->setup = setup;
    cost->trust = cost->load_trust = (struct trust){BASIS_MEASURED, false};
    cost->link = link_of_gpu(cost);
    cost->copy_start_ns = link_value(cost, CURVE_LINK_COPY_LATENCY);
    cost->products = surface_create(&rows, tolerance, compute_products, cost, why);
    cost->whole = decode_surface_create(point, range, 1, context, why);
    bool ok = cost->products != NULL && cost->whole != NULL &&
              decode_surface_least(cost->whole, &cost->least, why);
    if (ok && fetches) {
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
    surface_destroy(cost->products);
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

/* The time that chunks add, by basis. */
struct added {
    double ns, basis_ns[BASIS_COUNT];
};

static void add_time(struct added *added, double ns, enum basis basis)
{
    added->ns += ns;
    added->basis_ns[basis] += ns;
}

/* Add the attention of a chunk: its part of the attention of the whole prompt. */
static void add_attention(struct step_cost *cost, const struct step_chunk *chunk,
                          struct added *added)
{
    const struct setup *setup = cost->setup;
    const struct model *model = &setup->model;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        double flops = model_prefill_attention_flops(model, layer, chunk->start + chunk->tokens) -
                       model_prefill_attention_flops(model, layer, chunk->start);
        double bytes = (double)model_kv_token_bytes(model, layer) *
                           (double)model_layer_tokens(model, layer, chunk->start + chunk->tokens) +
                       model_prefill_state_bytes(model, layer, chunk->tokens);
        struct kernel kernel =
            kernel_product(&setup->profile, flops, chunk->tokens, bytes, DTYPE_BF16);
        trust_add(&cost->trust, kernel.trust);
        add_time(added, kernel.ns, kernel.trust.basis);
    }
}

/* Add the products of `rows` rows, minus those of `already` rows. */
static bool add_products(struct step_cost *cost, uint64_t rows, uint64_t already,
                         struct added *added, struct error *why)
{
    double with[SURFACE_VALUES], without[SURFACE_VALUES];
    if (!surface_read(cost->products, rows, 1, with, why) ||
        !surface_read(cost->products, already, 1, without, why)) {
        return false;
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        add_time(added, fmax(0, with[BASES + basis] - without[BASES + basis]), (enum basis)basis);
    }
    return true;
}

static bool add_chunks(struct step_cost *cost, const struct step_load *load, struct added *added,
                       struct error *why)
{
    uint64_t decodes = load->decodes > 0 ? load->decodes : 1;
    uint64_t rows = load->decodes;
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        rows += load->chunks[i].tokens;
        add_attention(cost, &load->chunks[i], added);
    }
    return load->chunk_count == 0 || add_products(cost, rows, decodes, added, why);
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

/* The share of the link that fetches get if they could use all of it. */
static double fetch_share(const struct step_cost *cost, const double most[LINK_FLOWS])
{
    double rate[LINK_FLOWS], all[LINK_FLOWS] = {most[LINK_LOADED], INFINITY, most[LINK_SAVED]};
    if (cost->half == NULL) {
        return 1;
    }
    link_share(&cost->link, all, rate);
    return rate[LINK_FETCHED] / cost->link.in;
}

/* The time of a step's decoding sequences, beside its chunks. */
static bool read_beside(struct step_cost *cost, const struct step_load *load,
                        const struct added *added, double most[LINK_FLOWS],
                        struct decode_step *decode, struct error *why)
{
    if (!read_decode(cost, load, fetch_share(cost, most), decode, why)) {
        return false;
    }
    if (load->written_bytes <= 0 || load->decodes == 0) {
        return true;
    }
    most[LINK_SAVED] = fmax(most[LINK_SAVED], load->written_bytes * 1e9 / (decode->ns + added->ns));
    return read_decode(cost, load, fetch_share(cost, most), decode, why);
}

static bool step(void *context, const struct step_load *load, struct step_time *time,
                 struct error *why)
{
    struct step_cost *cost = context;
    struct decode_step decode;
    struct added added = {.ns = 0};
    bool leaves = load->saves || load->written_bytes > 0;
    double rate[LINK_FLOWS],
        most[LINK_FLOWS] = {
            [LINK_LOADED] = load->loads ? INFINITY : 0, [LINK_SAVED] = load->saves ? INFINITY : 0};
    if (!add_chunks(cost, load, &added, why) ||
        !read_beside(cost, load, &added, most, &decode, why)) {
        return false;
    }
    most[LINK_SAVED] = leaves ? INFINITY : 0;
    split_step(cost, load, &decode, &added, time);
    time->fetched_bytes = load->decodes > 0 ? decode.fetched_bytes : 0;
    most[LINK_FETCHED] = time->fetched_bytes * 1e9 / (double)time->ns;
    link_share(&cost->link, most, rate);
    time->load_rate = rate[LINK_LOADED];
    time->save_rate = rate[LINK_SAVED];
    return true;
}

struct step_clock step_cost_clock(struct step_cost *cost)
{
    return (struct step_clock){
        .step = step,
        .context = cost,
        .link = cost->link,
        .copy_start_ns = cost->copy_start_ns,
    };
}
