/* Surfaces of a value by the rows of a pass; their second axis has one point. */
#include "predict/steps/step_products.h"

#include "core/array.h"
#include "decode/cost/cost.h"
#include "server/surface.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A tenth of that of decode surfaces: products are computed fast, and bend with every point of
 * gpu.flops_share, so that a cell that looks straight in its middle may hide a bend. */
static const double tolerance = 0.00025;

enum { MOST_ROWS = 1 << 21 };

/* Values of the surface of products. */
enum { TIME, UNUSED, BASES /* ns of it, by what it rests on */, VALUES = BASES + BASIS_COUNT };
static_assert(VALUES <= (int)SURFACE_VALUES, "a surface has room for all");

struct step_products {
    const struct setup *setup;
    struct trust trust;
    struct surface *own;    /* by the rows of a rank */
    struct surface *shared; /* by the rows of all ranks that share experts, or NULL */
};

static void add_kernel(struct step_products *products, struct kernel kernel,
                       double values[SURFACE_VALUES])
{
    values[TIME] += kernel.ns;
    values[BASES + kernel.trust.basis] += kernel.ns;
    trust_add(&products->trust, kernel.trust);
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

struct step_products *step_products_create(const struct point *point, struct error *why)
{
    uint32_t ranks = point_joined_ranks(point);
    const struct surface_domain own = {1, MOST_ROWS, 1, 1};
    const struct surface_domain all = {1, (uint64_t)MOST_ROWS * ranks, 1, 1};
    struct step_products *products = array_zeroed(1, sizeof *products, why);
    if (products == NULL) {
        return NULL;
    }
    products->setup = &point->setup;
    products->trust = (struct trust){.basis = BASIS_MEASURED};
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

struct trust step_products_trust(const struct step_products *products)
{
    return products->trust;
}

void added_time(struct added *added, double ns, enum basis basis)
{
    added->ns += ns;
    added->basis_ns[basis] += ns;
}

/* Add the difference of two times. With more rows products may rest on other figures, so that their
 * time on some basis shrinks; the difference is split by where it grows. */
static void add_difference(const double with[SURFACE_VALUES], const double without[SURFACE_VALUES],
                           struct added *added)
{
    double more = fmax(0, with[TIME] - without[TIME]), grown = 0;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        grown += fmax(0, with[BASES + basis] - without[BASES + basis]);
    }
    for (int basis = 0; grown > 0 && basis < BASIS_COUNT; basis++) {
        double grows = fmax(0, with[BASES + basis] - without[BASES + basis]);
        added_time(added, more * (grows / grown), (enum basis)basis);
    }
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
    add_difference(with, without, added);
    return true;
}
