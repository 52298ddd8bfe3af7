/* Surfaces of the decode pipeline with a whole link and with half of one, and one of products. */
#include "study/step_cost.h"

#include "base/array.h"
#include "decode/cost.h"
#include "serve/surface.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cells of a surface are cut until they miss by less at their middle and sides: a quarter of what
 * is promised everywhere. */
static const double tolerance = 0.0025;

static const double ample = 4096; /* times the memory there is */

enum { MOST_ROWS = 1 << 21 };

/* Values of a surface: the first two of decode's, and the first of products, are held to the
 * tolerance. */
enum {
    TIME,                        /* ns */
    FETCHED,                     /* bytes */
    STALLS,                      /* ns of it, by part */
    BASES = STALLS + PART_COUNT, /* ns of it, by what it rests on */
    VALUES = BASES + BASIS_COUNT
};
static_assert(VALUES <= (int)SURFACE_VALUES, "a surface has room for all");

/* A pipeline whose link has a share of its bandwidth. */
struct decode_view {
    struct step_cost *cost;
    struct setup setup; /* a view: curves of its own, the rest is the caller's */
    double *scaled[CURVE_COUNT]; /* values of the curves that it has of its own */
    struct surface *surface;
};

struct step_cost {
    const struct setup *setup;
    uint32_t threads;
    struct shared *shared;
    struct trust trust, load_trust; /* in steps so far, and in loads beside them */
    double basis_ns[BASIS_COUNT];   /* of steps so far, by what they rest on */
    char trace_source[256];         /* what their hits rest on; "": no trace */
    enum basis trace_basis;
    double link_rate, load_start_ns; /* bytes a second, and before the first of them */
    struct decode_view whole, half;
    struct surface *products;
};

/* ---- what surfaces are made of --------------------------------------------------------- */

/* Sequences whose window is all they have are taken for ones that have a token more: a system that
 * offloads says nothing of them. */
static uint64_t mean_context(const struct setup *setup, uint64_t batch, uint64_t tokens)
{
    uint64_t window = setup->mechanisms.sinks + setup_recent(setup);
    uint64_t least = mechanisms_offload(&setup->mechanisms) ? window + 1 : 1;
    return tokens / batch > least ? tokens / batch : least;
}

/* In the order of enum part, and of enum basis (outcome.c). */
static void read_step(const struct result *result, double values[SURFACE_VALUES])
{
    values[TIME] = (double)result->cells[COLUMN_STEP].integer;
    values[FETCHED] = (double)result->cells[COLUMN_H2D_BYTES].integer;
    for (uint32_t i = 0; i < result->stall_count; i++) {
        values[STALLS + i] = (double)result->stalls[i].ns;
    }
    for (uint32_t i = 0; i < result->basis_count; i++) {
        values[BASES + i] = result->basis[i].share * values[TIME];
    }
}

/* What the hits rest on, without the one context of this point. */
static bool read_trace(struct step_cost *cost, const struct result *result, struct error *why)
{
    const struct cell *source = &result->cells[COLUMN_TRACE_SOURCE];
    const struct cell *basis = &result->cells[COLUMN_TRACE_BASIS];
    if (!source->set || !basis->set) {
        return true;
    }
    const char *to = strstr(source->text, "→");
    size_t length = to != NULL ? (size_t)(to - source->text) : strlen(source->text);
    snprintf(cost->trace_source, sizeof cost->trace_source, "%.*s%s", (int)length, source->text,
             to != NULL ? " tokens" : "");
    return basis_find(basis->text, NULL, 0, &cost->trace_basis, why);
}

/* A whole run of the study, whose step and traffic are taken. */
static bool compute_decode(void *context, uint64_t batch, uint64_t tokens,
                           double values[SURFACE_VALUES], struct error *why)
{
    struct decode_view *view = context;
    struct result result;
    struct setup setup = view->setup;
    setup.batch = (uint32_t)batch;
    setup.context = mean_context(&setup, batch, tokens);
    setup.workload.path[0] = '\0';
    if (!run_setup(&setup, view->cost->threads, view->cost->shared, &result, why)) {
        return false;
    }
    bool ok = result.cells[COLUMN_STEP].set;
    if (ok) {
        read_step(&result, values);
        struct trust trust = {.extrapolated = result.cells[COLUMN_EXTRAPOLATED].integer != 0};
        ok = basis_find(result.cells[COLUMN_BASIS].text, NULL, 0, &trust.basis, why) &&
             read_trace(view->cost, &result, why);
        trust_add(&view->cost->trust, trust);
    } else {
        error_set(why, NULL, 0, "a step of %u sequences of %llu tokens: %.200s", setup.batch,
                  (unsigned long long)setup.context, result.message);
    }
    result_release(&result);
    return ok;
}

/* The layers' products over so many rows. */
static bool compute_products(void *context, uint64_t rows, uint64_t unused,
                             double values[SURFACE_VALUES], struct error *why)
{
    struct step_cost *cost = context;
    const struct setup *setup = cost->setup;
    (void)unused, (void)why;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        struct kernel pre = cost_stage(setup, layer, MODEL_PRE, rows, 0, 1);
        struct kernel post = cost_stage(setup, layer, MODEL_POST, rows, 0, 1);
        values[TIME] += pre.ns + post.ns;
        values[BASES + pre.trust.basis] += pre.ns;
        values[BASES + post.trust.basis] += post.ns;
        trust_add(&cost->trust, pre.trust);
        trust_add(&cost->trust, post.trust);
    }
    return true;
}

/* ---- the machine, changed --------------------------------------------------------------- */

static bool scale_curve(struct decode_view *view, enum curve_id id, double by, struct error *why)
{
    struct curve *curve = &view->setup.profile.curves[id];
    if (curve->count == 0) {
        return true;
    }
    double *values = array_zeroed(curve->count, sizeof *values, why);
    for (uint32_t i = 0; values != NULL && i < curve->count; i++) {
        values[i] = curve->value[i] * by;
    }
    view->scaled[id] = curve->value = values;
    return values != NULL;
}

/* Whether sequences fit is the server's affair: corners of the surface are of no server. */
static bool create_view(struct step_cost *cost, const struct surface_domain *domain,
                        double link_share, struct decode_view *view, struct error *why)
{
    static const enum curve_id link[] = {CURVE_LINK_H2D, CURVE_LINK_ZERO_COPY, CURVE_LINK_CPU_STORE,
                                         CURVE_LINK_DUPLEX};
    *view = (struct decode_view){.cost = cost, .setup = *cost->setup};
    view->setup.kv_pool_tokens = view->setup.host_memory = 0;
    bool ok = scale_curve(view, CURVE_GPU_HBM_CAPACITY, ample, why) &&
              scale_curve(view, CURVE_HOST_DRAM_CAPACITY, ample, why);
    for (size_t i = 0; ok && i < sizeof link / sizeof *link; i++) {
        ok = scale_curve(view, link[i], link_share, why);
    }
    view->surface = ok ? surface_create(domain, tolerance, compute_decode, view, why) : NULL;
    return view->surface != NULL;
}

static void release_view(struct decode_view *view)
{
    surface_destroy(view->surface);
    for (int i = 0; i < CURVE_COUNT; i++) {
        free(view->scaled[i]);
    }
}

/* What the link says, worsening the trust in loads; 0 where the machine does not say it, which only
 * one may whose server loads nothing (pipeline_curves()). */
static double link_value(struct step_cost *cost, enum curve_id id)
{
    const struct profile *profile = &cost->setup->profile;
    return profile->curves[id].count > 0 ? profile_value(profile, id, 0, &cost->load_trust) : 0;
}

struct step_cost *step_cost_create(const struct setup *setup, uint32_t sequences,
                                   uint64_t most_tokens, uint32_t threads, struct shared *shared,
                                   struct error *why)
{
    const struct surface_domain rows = {1, MOST_ROWS, 1, 1};
    const struct surface_domain domain = {1, sequences, 1, most_tokens};
    struct step_cost *cost = array_zeroed(1, sizeof *cost, why);
    if (cost == NULL) {
        return NULL;
    }
    cost->setup = setup;
    cost->threads = threads;
    cost->shared = shared;
    cost->trust = cost->load_trust = (struct trust){BASIS_MEASURED, false};
    cost->link_rate = link_value(cost, CURVE_LINK_H2D);
    cost->load_start_ns = link_value(cost, CURVE_LINK_COPY_LATENCY);
    cost->products = surface_create(&rows, tolerance, compute_products, cost, why);
    if (cost->products == NULL || !create_view(cost, &domain, 1, &cost->whole, why) ||
        !create_view(cost, &domain, 0.5, &cost->half, why)) {
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
    release_view(&cost->whole);
    release_view(&cost->half);
    surface_destroy(cost->products);
    free(cost);
}

struct trust step_cost_trust(const struct step_cost *cost, bool loaded)
{
    struct trust trust = cost->trust;
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

const char *step_cost_trace(const struct step_cost *cost, enum basis *basis)
{
    *basis = cost->trace_basis;
    return cost->trace_source;
}

/* ---- a step ---------------------------------------------------------------------------- */

/* What chunks add: time, by what it rests on. */
struct added {
    double ns, basis_ns[BASIS_COUNT];
};

static void add_time(struct added *added, double ns, enum basis basis)
{
    added->ns += ns;
    added->basis_ns[basis] += ns;
}

/* Attention of a chunk: its part of what the whole prompt's takes. */
static void add_attention(struct step_cost *cost, const struct step_chunk *chunk,
                          struct added *added)
{
    const struct setup *setup = cost->setup;
    const struct model *model = &setup->model;
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        double flops = model_prefill_attention_flops(model, layer, chunk->start + chunk->tokens) -
                       model_prefill_attention_flops(model, layer, chunk->start);
        double bytes = (double)model_kv_token_bytes(model, layer) *
                       (double)model_layer_tokens(model, layer, chunk->start + chunk->tokens);
        struct kernel kernel = cost_product_as(setup, flops, chunk->tokens, bytes, false);
        trust_add(&cost->trust, kernel.trust);
        add_time(added, kernel.ns, kernel.trust.basis);
    }
}

/* Products of `rows` rows, less those of `already`. */
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

/* Stalls are rounded down, so that they never come to more than the step. */
static void split_step(struct step_cost *cost, const double values[SURFACE_VALUES],
                       const struct added *added, struct step_time *time)
{
    time->ns = llround(values[TIME] + added->ns);
    time->others_ns = time->ns - llround(values[TIME]);
    for (int part = 0; part < PART_COUNT; part++) {
        time->stall_ns[part] = (int64_t)values[STALLS + part];
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        cost->basis_ns[basis] += values[BASES + basis] + added->basis_ns[basis];
    }
}

static bool step(void *context, const struct step_load *load, struct step_time *time,
                 struct error *why)
{
    struct step_cost *cost = context;
    double values[SURFACE_VALUES];
    struct added added = {.ns = 0};
    bool fetches = mechanisms_offload(&cost->setup->mechanisms);
    struct surface *surface =
        load->loads && fetches ? cost->half.surface : cost->whole.surface;
    if (!surface_read(surface, load->decodes, load->decode_tokens, values, why) ||
        !add_chunks(cost, load, &added, why)) {
        return false;
    }
    split_step(cost, values, &added, time);
    time->fetched_bytes = load->decodes > 0 ? values[FETCHED] : 0;
    double fetched = time->fetched_bytes * 1e9 / (double)time->ns;
    time->load_rate = fmax(cost->link_rate - fetched, cost->link_rate / 2);
    return true;
}

struct step_clock step_cost_clock(struct step_cost *cost)
{
    return (struct step_clock){
        .step = step,
        .context = cost,
        .load_rate = cost->link_rate,
        .load_start_ns = cost->load_start_ns,
    };
}
