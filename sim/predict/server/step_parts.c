/* Surfaces of a value by the rows of a pass; their second axis has one point. */
#include "predict/server/step_parts.h"

#include "core/array.h"
#include "decode/cost/attention.h"
#include "decode/cost/cost.h"
#include "server/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tenth of that of decode surfaces: products are computed fast, and bend with every point of
 * gpu.flops_share, so that a cell that looks straight in its middle may hide a bend. */
static const double tolerance = 0.00025;

enum { MOST_ROWS = 1 << 21 };

/* Values of the surface of products. */
enum { TIME, UNUSED, BASES /* ns of it, by what it rests on */, VALUES = BASES + BASIS_COUNT };
static_assert(VALUES <= (int)SURFACE_VALUES, "a surface has room for all");

struct step_products {
    const struct setup *setup;
    struct trust *trust;    /* borrowed */
    struct surface *own;    /* by the rows of a rank */
    struct surface *shared; /* by the rows of all ranks that share experts, or NULL */
};

static void add_kernel(struct step_products *products, struct kernel kernel,
                       double values[SURFACE_VALUES])
{
    values[TIME] += kernel.ns;
    values[BASES + kernel.trust.basis] += kernel.ns;
    trust_add(products->trust, kernel.trust);
}

/* The time of the layers' products for the rows of a pass, and of their exchanges. Layers that are
 * alike have the same products; their exchanges differ where a stage of a pipeline ends. */
static void add_layers(struct step_products *products, struct model_rows rows,
                       double values[SURFACE_VALUES])
{
    const struct setup *setup = products->setup;
    struct kernel before = kernel_none, after = kernel_none;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        uint64_t kernels;
        if (!model_layer_repeats(&setup->model, layer)) {
            before = cost_row_stage(setup, layer, MODEL_PRE, rows, 0, 1);
            after = cost_row_stage(setup, layer, MODEL_POST, rows, 0, 1);
        }
        add_kernel(products, before, values);
        add_kernel(products, after, values);
        add_kernel(products, cost_exchanges(setup, layer, rows, &kernels), values);
    }
}

/* With ranks that share experts, the part that a rank's own rows determine: no other rows. */
static bool compute_products(void *context, uint64_t rows, uint64_t unused,
                             double values[SURFACE_VALUES], struct error *why)
{
    struct step_products *products = context;
    (void)unused, (void)why;
    add_layers(products,
               (struct model_rows){.own = rows, .all = products->shared != NULL ? 0 : rows},
               values);
    return true;
}

/* What the experts, and the exchanges of their tokens, add for the rows of all ranks. */
static bool compute_shared(void *context, uint64_t rows, uint64_t unused,
                           double values[SURFACE_VALUES], struct error *why)
{
    struct step_products *products = context;
    double none[SURFACE_VALUES] = {0};
    (void)unused, (void)why;
    add_layers(products, (struct model_rows){.own = 1, .all = rows}, values);
    add_layers(products, (struct model_rows){.own = 1}, none);
    for (int i = 0; i < VALUES; i++) {
        values[i] = fmax(0, values[i] - none[i]);
    }
    return true;
}

struct step_products *step_products_create(const struct point *point, struct trust *trust,
                                           struct error *why)
{
    uint32_t ranks = point_joined_ranks(point);
    const struct surface_domain own = {1, MOST_ROWS, 1, 1};
    const struct surface_domain all = {1, (uint64_t)MOST_ROWS * ranks, 1, 1};
    struct step_products *products = array_zeroed(1, sizeof *products, why);
    if (products == NULL) {
        return NULL;
    }
    products->setup = &point->setup;
    products->trust = trust;
    products->own = surface_create(&own, tolerance, compute_products, products, why);
    if (products->own != NULL && ranks > 1) {
        products->shared = surface_create(&all, tolerance, compute_shared, products, why);
    }
    if (products->own == NULL || (ranks > 1 && products->shared == NULL)) {
        step_products_destroy(products);
        return NULL;
    }
    return products;
}

void step_products_destroy(struct step_products *products)
{
    if (products == NULL) {
        return;
    }
    surface_destroy(products->own);
    surface_destroy(products->shared);
    free(products);
}

static void added_time(struct added *added, double ns, enum basis basis)
{
    added->ns += ns;
    added->basis_ns[basis] += ns;
}

static bool step_products_read_values(struct step_products *products, struct model_rows rows,
                                      double values[SURFACE_VALUES], struct error *why)
{
    double shared[SURFACE_VALUES];
    if (!surface_read(products->own, rows.own, 1, values, why)) {
        return false;
    }
    if (products->shared == NULL) {
        return true;
    }
    if (!surface_read(products->shared, rows.all, 1, shared, why)) {
        return false;
    }
    for (int i = 0; i < VALUES; i++) {
        values[i] += shared[i];
    }
    return true;
}

bool step_products_add(struct step_products *products, struct model_rows rows,
                       struct model_rows already, struct added *added, struct error *why)
{
    double with[SURFACE_VALUES], without[SURFACE_VALUES];
    if (!step_products_read_values(products, rows, with, why) ||
        !step_products_read_values(products, already, without, why)) {
        return false;
    }
    /* With more rows products may rest on other figures, so that their time on some basis shrinks;
     * the difference is split by where it grows. */
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

struct step_prompts {
    const struct setup *setup;
    uint32_t passes;
    bool one_call;       /* takes decodes, too */
    uint64_t *rows;      /* [passes] of prompts, in the step under way; owned */
    struct trust *trust; /* borrowed */
};

struct step_prompts *step_prompts_create(const struct setup *setup, const struct server_path *path,
                                         uint32_t passes, struct trust *trust, struct error *why)
{
    struct step_prompts *prompts = array_zeroed(1, sizeof *prompts, why);
    if (prompts == NULL) {
        return NULL;
    }
    prompts->setup = setup;
    prompts->passes = passes;
    /* Does the engine's kernel take the decodes of a step in the call of its prompts? Only over KV
     * of 16 bits that stays whole in HBM: systems that select or offload attend with kernels of
     * their own, and so do MLA and KV of fewer bits. */
    const struct mechanisms *m = &setup->mechanisms;
    prompts->one_call = path->one_call && profile_states(&setup->profile, CURVE_GPU_PROMPT_BLOCK) &&
                        !mechanisms_offload(m) && !mechanisms_select(m) &&
                        setup->model.kv == DTYPE_BF16 && setup->model.kv_lora == 0;
    prompts->rows = array_zeroed(passes, sizeof *prompts->rows, why);
    prompts->trust = trust;
    if (prompts->rows == NULL) {
        step_prompts_destroy(prompts);
        return NULL;
    }
    return prompts;
}

void step_prompts_destroy(struct step_prompts *prompts)
{
    if (prompts != NULL) {
        free(prompts->rows);
        free(prompts);
    }
}

/* Give each chunk to the pass that has fewest rows so far. Returns the pass with most; if `work` is
 * not NULL, adds the chunks of pass `of` to it. */
static uint32_t spread_chunks(struct step_prompts *prompts, const struct step_load *load,
                              uint32_t of, uint32_t layer, struct prompt_attention *work)
{
    uint32_t fullest = 0;
    memset(prompts->rows, 0, prompts->passes * sizeof *prompts->rows);
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        const struct step_chunk *chunk = &load->chunks[i];
        uint32_t pass = 0;
        for (uint32_t other = 1; other < prompts->passes; other++) {
            pass = prompts->rows[other] < prompts->rows[pass] ? other : pass;
        }
        prompts->rows[pass] += chunk->tokens;
        fullest = prompts->rows[pass] > prompts->rows[fullest] ? pass : fullest;
        if (work != NULL && pass == of) {
            prompt_attention_add(work, &prompts->setup->model, layer, chunk->start, chunk->tokens);
        }
    }
    return fullest;
}

/* Decode attention alone, as the pipeline counts it, and in the call of the prompts. */
static struct kernel beside_decodes(const struct step_prompts *prompts, uint32_t layer,
                                    const struct step_load *pass, struct prompt_attention *work)
{
    const struct setup *setup = prompts->setup;
    uint64_t mean = (pass->decode_tokens + pass->decodes - 1) / pass->decodes;
    uint64_t tokens = model_layer_tokens(&setup->model, layer, mean) * pass->decodes;
    struct kernel alone = cost_stage(setup, layer, MODEL_ATTEND, pass->decodes, tokens, 1);
    work->decodes = pass->decodes;
    work->decode_tokens = (double)tokens;
    struct kernel kernel = kernel_prompt_attention(&setup->profile, work);
    kernel.ns = fmax(0, kernel.ns - alone.ns);
    return kernel;
}

static struct kernel attention(struct step_prompts *prompts, const struct step_load *load,
                               uint32_t of, uint32_t layer, const struct step_load *pass)
{
    struct prompt_attention work = {0};
    spread_chunks(prompts, load, of, layer, &work);
    bool one_call = prompts->one_call && pass->decodes > 0 && work.token_flops > 0;
    return one_call ? beside_decodes(prompts, layer, pass, &work)
                    : kernel_prompt_attention(&prompts->setup->profile, &work);
}

uint64_t step_prompts_add(struct step_prompts *prompts, const struct step_load *load,
                          const struct step_load *pass, struct added *added)
{
    const struct model *model = &prompts->setup->model;
    struct kernel kernel = {.ns = 0};
    uint32_t fullest = spread_chunks(prompts, load, 0, 0, NULL);
    uint64_t rows = prompts->rows[fullest];
    for (uint32_t layer = 0; layer < model->layer_count; layer++) {
        if (!model_layer_repeats(model, layer)) {
            kernel = attention(prompts, load, fullest, layer, pass);
            trust_add(prompts->trust, kernel.trust);
        }
        added_time(added, kernel.ns, kernel.trust.basis);
    }
    return rows;
}
