/* Two surfaces of the decode pipeline, with a whole and half a link; and what prompts add. */
#include "predict/server/step_cost.h"

#include "decode/cost/attention.h"
#include "decode/mechanism_values.h"
#include "decode/time/engine_step.h"
#include "model/sharding.h"
#include "predict/server/serving_memory.h"

#include <assert.h>
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
    bool prompts_launched;           /* one by one, in a step with prompts */
    struct decode_surface *whole, *half; /* the link; half NULL if no step fetches */
    struct decode_step least;            /* the cost of a step without decoding sequences */
    struct surface *products;            /* of prompts, by the rows of a rank */
    struct surface *shared; /* by the rows of all ranks that share experts; NULL: they do not */
    bool one_call;          /* attends to prompts and decodes */
    uint64_t *rows;         /* [passes] of prompts, in the step under way; owned */
    uint32_t *first;        /* by layer: the first one that is like it; owned */
    struct kernel *kernels; /* [2] of each first layer, scratch; owned */
};

/* A time, and how much of it rests on which basis; in ns. */
struct added {
    double ns, basis_ns[BASIS_COUNT];
};

static void added_time(struct added *added, double ns, enum basis basis)
{
    added->ns += ns;
    added->basis_ns[basis] += ns;
}

/* ---- the products of prompts --------------------------------------------------------------------
 *
 * The time that prompts add to a step by the matrix products of the model's layers and by what its GPUs
 * exchange, read off surfaces (server/surface.h) whose second axis has one point. One is by the rows of a
 * pass. Where ranks share experts there are two: what a rank's own rows determine, and what the rows of all
 * ranks add. The time is the sum of these, because no operator depends on both. */

/* A tenth of that of decode surfaces: products are computed fast, and bend with every point of
 * gpu.flops_share, so that a cell that looks straight in its middle may hide a bend. */
static const double products_tolerance = 0.00025;

enum { MOST_ROWS = 1 << 21 };

/* Values of the surface of products. */
enum { TIME, UNUSED, BASES /* ns of it, by what it rests on */, VALUES = BASES + BASIS_COUNT };
static_assert(VALUES <= (int)SURFACE_VALUES, "a surface has room for all");

static void add_kernel(struct step_cost *cost, struct kernel kernel, double values[SURFACE_VALUES])
{
    values[TIME] += kernel.ns;
    values[BASES + kernel.trust.basis] += kernel.ns;
    trust_add(&cost->trust, kernel.trust);
}

/* The time of the layers' products and exchanges for the rows of a pass; layers that are alike count once. */
static void add_layers(struct step_cost *cost, struct model_rows rows,
                       double values[SURFACE_VALUES])
{
    const struct setup *setup = cost->setup;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        uint64_t kernels;
        struct kernel *products = &cost->kernels[2 * (size_t)cost->first[layer]];
        if (cost->first[layer] == layer) {
            products[0] = cost_row_stage(setup, layer, MODEL_PRE, rows, 0, 1);
            products[1] = cost_row_stage(setup, layer, MODEL_POST, rows, 0, 1);
        }
        add_kernel(cost, products[0], values);
        add_kernel(cost, products[1], values);
        add_kernel(cost, cost_exchanges(setup, layer, rows, &kernels), values);
    }
}

/* With ranks that share experts, the part that a rank's own rows determine: no other rows. */
static bool compute_products(void *context, uint64_t rows, uint64_t unused,
                             double values[SURFACE_VALUES], struct error *why)
{
    struct step_cost *cost = context;
    (void)unused;
    (void)why;
    add_layers(cost, (struct model_rows){.own = rows, .all = cost->ranks > 1 ? 0 : rows}, values);
    return true;
}

/* What the experts, and the exchanges of their tokens, add for the rows of all ranks. */
static bool compute_shared(void *context, uint64_t rows, uint64_t unused,
                           double values[SURFACE_VALUES], struct error *why)
{
    struct step_cost *cost = context;
    double none[SURFACE_VALUES] = {0};
    (void)unused;
    (void)why;
    add_layers(cost, (struct model_rows){.own = 1, .all = rows}, values);
    add_layers(cost, (struct model_rows){.own = 1}, none);
    for (int i = 0; i < VALUES; i++) {
        values[i] = fmax(0, values[i] - none[i]);
    }
    return true;
}

static bool create_products(struct step_cost *cost, struct error *why)
{
    const struct surface_domain own = {1, MOST_ROWS, 1, 1};
    const struct surface_domain all = {1, (uint64_t)MOST_ROWS * cost->ranks, 1, 1};
    cost->products = surface_create(&own, products_tolerance, compute_products, cost, why);
    if (cost->products != NULL && cost->ranks > 1) {
        cost->shared = surface_create(&all, products_tolerance, compute_shared, cost, why);
    }
    return cost->products != NULL && (cost->ranks == 1 || cost->shared != NULL);
}

static bool read_products(struct step_cost *cost, struct model_rows rows,
                          double values[SURFACE_VALUES], struct error *why)
{
    double shared[SURFACE_VALUES] = {0};
    if (!surface_read(cost->products, rows.own, 1, values, why) ||
        (cost->shared != NULL && !surface_read(cost->shared, rows.all, 1, shared, why))) {
        return false;
    }
    for (int i = 0; i < VALUES; i++) {
        values[i] += shared[i];
    }
    return true;
}

/* Add the time by which the products of `rows` exceed those of `already`. */
static bool add_products(struct step_cost *cost, struct model_rows rows, struct model_rows already,
                         struct added *added, struct error *why)
{
    double with[SURFACE_VALUES], without[SURFACE_VALUES];
    if (!read_products(cost, rows, with, why) || !read_products(cost, already, without, why)) {
        return false;
    }
    /* With more rows a product may rest on other figures: the difference is split by where it grows. */
    double more = fmax(0, with[TIME] - without[TIME]), grown = 0;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        grown += fmax(0, with[BASES + basis] - without[BASES + basis]);
    }
    for (int basis = 0; grown > 0 && basis < BASIS_COUNT; basis++) {
        double grows = fmax(0, with[BASES + basis] - without[BASES + basis]);
        added_time(added, more * (grows / grown), (enum basis)basis);
    }
    return true;
}

/* ---- the attention of prompts -------------------------------------------------------------------
 *
 * Each chunk goes to the pass that has fewest rows so far; the pass with most decides. An engine that attends
 * to prompts and decodes in one call (server_engine.h) takes, on a GPU with such a kernel, longer for its
 * decodes as well: what that call takes beyond decodes alone is added. */

/* Returns the pass with most rows; if `work` is not NULL, adds the chunks of pass `of` to it. */
static uint32_t spread_chunks(struct step_cost *cost, const struct step_load *load, uint32_t of,
                              uint32_t layer, struct prompt_attention *work)
{
    uint32_t fullest = 0;
    memset(cost->rows, 0, cost->passes * sizeof *cost->rows);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        const struct step_chunk *chunk = &load->chunks[i];
        uint32_t pass = 0;
        for (uint32_t other = 1; other < cost->passes; other++) {
            pass = cost->rows[other] < cost->rows[pass] ? other : pass;
        }
        cost->rows[pass] += chunk->tokens;
        fullest = cost->rows[pass] > cost->rows[fullest] ? pass : fullest;
        if (work != NULL && pass == of) {
            prompt_attention_add(work, &cost->setup->model, layer, chunk->start, chunk->tokens);
        }
    }
    return fullest;
}

/* Decode attention alone, as the pipeline counts it, and in the call of the prompts. */
static struct kernel beside_decodes(const struct step_cost *cost, uint32_t layer,
                                    const struct step_load *pass, struct prompt_attention *work)
{
    const struct setup *setup = cost->setup;
    uint64_t mean = (pass->decode_tokens + pass->decodes - 1) / pass->decodes;
    uint64_t tokens = model_layer_tokens(&setup->model, layer, mean) * pass->decodes;
    struct kernel alone = cost_stage(setup, layer, MODEL_ATTEND, pass->decodes, tokens, 1);
    work->decodes = pass->decodes;
    work->decode_tokens = (double)tokens;
    struct kernel kernel = kernel_prompt_attention(&setup->profile, work);
    kernel.ns = fmax(0, kernel.ns - alone.ns);
    return kernel;
}

/* Add the attention of the chunks in `load`, which has some, of the pass with most rows; returns these rows.
 * `pass` is the part of the load that decodes in that pass. */
static uint64_t add_prompts(struct step_cost *cost, const struct step_load *load,
                            const struct step_load *pass, struct added *added)
{
    const struct model *model = &cost->setup->model;
    uint32_t fullest = spread_chunks(cost, load, 0, 0, NULL);
    uint64_t rows = cost->rows[fullest];
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        struct kernel *kernel = &cost->kernels[2 * (size_t)cost->first[layer]];
        if (cost->first[layer] == layer) {
            struct prompt_attention work = {.waits = cost->setup->mechanisms->prompt_waits};
            spread_chunks(cost, load, fullest, layer, &work);
            *kernel = cost->one_call && pass->decodes > 0 && work.token_flops > 0
                          ? beside_decodes(cost, layer, pass, &work)
                          : kernel_prompt_attention(&cost->setup->profile, &work);
            trust_add(&cost->trust, kernel->trust);
        }
        added_time(added, kernel->ns, kernel->trust.basis);
    }
    return rows;
}

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
    bool fetches = mechanisms_offload(setup->mechanisms);
    struct step_cost *cost = array_zeroed(1, sizeof *cost, why);
    if (cost == NULL) {
        return NULL;
    }
    cost->setup = setup;
    cost->most_rows = range->sequences;
    cost->passes = point_passes(point);
    cost->ranks = point_joined_ranks(point);
    cost->trust = cost->load_trust = (struct trust){.basis = BASIS_MEASURED};
    cost->prompts_launched = point_launches_prompts(point);
    cost->launch_ns =
        engine_step_launch_ns(setup, TRUST_UNSEEN); /* add_overhead() counts it as assumed */
    /* The engine's kernel takes the decodes of a step in the call of its prompts only over KV of 16 bits that
     * stays whole in HBM: systems that select or offload, MLA, KV of fewer bits and sinks, which FlashAttention 2
     * does not know (vllm-project/vllm#40153), have kernels of their own. */
    cost->one_call = point->engine.path.one_call &&
                     profile_states(&setup->profile, CURVE_GPU_PROMPT_BLOCK) && !fetches &&
                     !mechanisms_select(setup->mechanisms) && setup->model.kv == DTYPE_BF16 &&
                     setup->model.kv_lora == 0 && !setup->model.attention_sinks;
    cost->rows = array_zeroed(cost->passes, sizeof *cost->rows, why);
    cost->first = array_zeroed(setup->model.layer_count, sizeof *cost->first, why);
    cost->kernels = array_zeroed(2 * (size_t)setup->model.layer_count, sizeof *cost->kernels, why);
    for (uint32_t layer = 0; cost->first != NULL && layer < setup->model.layer_count; layer++) {
        cost->first[layer] = model_layer_first(&setup->model, layer);
    }
    const struct decode_range in_rows = range_in_rows(setup, *range);
    cost->whole = decode_surface_create(point, &in_rows, 1, context, why);
    /* One GPU's part of the ways, below a shared uplink. Without a link nothing is loaded. */
    bool linked = profile_states(&setup->profile, CURVE_LINK_GPUS_PER_UPLINK);
    double sharers = linked ? cost_uplink_sharers(setup, &cost->load_trust) : 1;
    bool ok = serving_ways_init(&cost->ways, point, sharers, &cost->load_trust, why) &&
              cost->rows != NULL && cost->first != NULL && cost->kernels != NULL &&
              create_products(cost, why) && cost->whole != NULL &&
              decode_surface_least(cost->whole, &cost->least, why);
    if (ok && fetches) {
        /* Alone on the link, of which streamed weights use all. The surfaces report the trust. */
        bool streams = mechanisms_stream_weights(setup->mechanisms);
        double usable = streams ? INFINITY : cost_transfer_rate(setup, TRUST_UNSEEN);
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
    surface_destroy(cost->products);
    surface_destroy(cost->shared);
    serving_ways_release(&cost->ways);
    free(cost->rows);
    free(cost->first);
    free(cost->kernels);
    free(cost);
}

void step_cost_about(const struct step_cost *cost, bool loaded, struct step_about *out)
{
    double sum = 0;
    *out = (struct step_about){.trust = cost->trust};
    trust_add(&out->trust, decode_surface_sources(cost->whole)->trust);
    if (cost->half != NULL) {
        trust_add(&out->trust, decode_surface_sources(cost->half)->trust);
    }
    if (loaded) {
        trust_add(&out->trust, cost->load_trust);
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        sum += cost->basis_ns[basis];
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        out->basis[basis] = sum > 0 ? cost->basis_ns[basis] / sum : 0;
    }
    out->resident_share = cost->decoding_ns > 0 ? cost->resident_ns / cost->decoding_ns : 0;
    /* A step that the server never took may offload; the mean is rounded. */
    out->asks_trace =
        decode_surface_sources(cost->whole)->asks_trace && out->resident_share <= 1 - 1e-9;
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
    uint64_t own = decodes + add_prompts(cost, load, pass, added);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        total += load->chunks[i].tokens;
    }
    /* Ranks in the same stage have as many rows together as those of any other. */
    uint64_t stages = cost->setup->model.parallel.pipeline, all = (total + stages - 1) / stages;
    struct model_rows rows = {.own = own, .all = all > own ? all : own};
    struct model_rows already = model_rows(&cost->setup->model, decodes > 0 ? decodes : 1);
    return add_products(cost, rows, already, added, why);
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

/* A decode step with a share of the link: waiting takes time as 1 / share does, so steps lie on a line. */
static bool read_decode(struct step_cost *cost, const struct step_load *load, double share,
                        struct decode_step *decode, struct error *why)
{
    struct decode_step half;
    if (load->decodes == 0) {
        *decode = cost->least;
        return true;
    }
    /* One with prompts has no graph of all of it. */
    uint32_t rows =
        load->chunk_count == 0 ? engine_step_rows(cost->setup, load->decodes) : load->decodes;
    rows = rows < cost->most_rows ? rows : cost->most_rows;
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

/* Add the GPU's time of waiting for the CPU. `load` is a pass's. Returns what of it calls of copies take. */
static double add_overhead(struct step_cost *cost, const struct step_load *load,
                           const struct added *added, struct decode_step *decode)
{
    double chunks = ceil((double)load->chunk_count / cost->passes);
    bool launched = engine_step_launched(cost->setup, load->decodes) ||
                    (load->chunk_count > 0 && cost->prompts_launched);
    double launch_ns = launched ? cost->launch_ns : 0;
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
    bool writes = load->written_bytes > 0 && load->decodes > 0, good = true;
    double *saved = &most[flow_saved(1)];
    for (int time = 0; good && time <= writes; time++) {
        *saved =
            time == 0 ? *saved : fmax(*saved, load->written_bytes * 1e9 / (decode->ns + added->ns));
        good = read_decode(cost, load, fetch_share(cost, most), decode, why);
        *calls_ns = good ? add_overhead(cost, load, added, decode) : 0;
    }
    return good;
}

/* The decoding sequences of the fullest pass, in place: it is read at once. */
static void load_of_pass(const struct step_cost *cost, const struct step_load *load,
                         struct step_load *pass)
{
    *pass = (struct step_load){.decodes = (load->decodes + cost->passes - 1) / cost->passes,
                               .decode_tokens = load->decode_tokens,
                               .chunk_count = load->chunk_count,
                               .written_bytes = load->written_bytes,
                               .copies_ns = load->copies_ns,
                               .alone = load->alone};
    if (load->decodes > 0) {
        double mean = (double)load->decode_tokens / load->decodes, decodes = pass->decodes;
        /* What all ranks wait for: the one of them that has the longest of `decodes` sequences by chance. */
        double variance = fmax(0, load->decode_squares / load->decodes - mean * mean);
        double drawn = decodes * variance * (1 - 1.0 / cost->ranks);
        double tokens = engine_step_tokens(cost->setup, decodes, mean, (double)load->longest);
        double more = model_largest_of(cost->ranks) * sqrt(drawn);
        pass->decode_tokens = (uint64_t)llround(tokens + more);
    }
}

static bool step_cost_step(void *context, const struct step_load *load, struct step_time *time,
                           struct error *why)
{
    struct step_cost *cost = context;
    struct decode_step decode;
    struct added added = {.ns = 0};
    struct step_load pass;
    double most[SERVER_FLOWS], calls_ns;
    load_of_pass(cost, load, &pass);
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
    time->fetched_bytes = load->decodes > 0 ? decode.fetched : 0;
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
