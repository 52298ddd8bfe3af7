/* Points are (sequences, mean context). Between its bends, a step is linear along both. */
#include "predict/server/decode_surface.h"

#include "core/parallel.h"
#include "decode/mechanism_values.h"
#include "predict/decode/run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A cell of a surface is cut until its error at middle and sides is below this, a quarter of the promise. */
static const double tolerance = 0.0025, rough = 0.05;

static_assert(sizeof(struct decode_step) <= sizeof(double[SURFACE_VALUES]), "a surface has room");

enum { LONG_CONTEXT = 1 << 24 }; /* tokens: longer than any window */

struct decode_surface {
    const struct point *point;
    struct setup setup; /* a view: the point's, but for its machine and mechanisms */
    struct mechanisms mechanisms;
    struct scaled_profile machine;
    uint64_t least_context; /* the shortest that the system can run */
    double byte_ns;         /* of the whole link */
    const struct run_context *context;
    struct decode_sources sources;
    struct surface *surface;
    const struct decode_points *points; /* shared by all surfaces of this system and machine */
    struct shared_entry *points_entry;
};

/* ---- short sequences -------------------------------------------------------------------- */

static struct setup point_setup(const struct decode_surface *surface, uint64_t sequences,
                                uint64_t context)
{
    struct setup setup = setup_at(&surface->setup, context);
    setup.batch = (uint32_t)sequences;
    return setup;
}

/* Can the system run at this context? If not, `why` is plan_resolve()'s. */
static bool says_anything(struct decode_surface *surface, uint64_t sequences, uint64_t context,
                          struct error *why)
{
    struct plan plan;
    struct setup setup = point_setup(surface, sequences, context);
    if (!run_plan(&setup, surface->context, &plan, why)) {
        return false;
    }
    plan_release(&plan);
    return true;
}

/* Find a context at which the system can run: the longest of the range, of which `why` speaks, or longer. */
static bool decode_surface_find_context(struct decode_surface *surface,
                                        const struct decode_range *range, uint64_t *context,
                                        struct error *why)
{
    *context = range->most_context;
    if (says_anything(surface, range->sequences, *context, why)) {
        return true;
    }
    do {
        *context *= 2;
    } while (*context < LONG_CONTEXT &&
             !says_anything(surface, range->sequences, *context, ERROR_UNSEEN));
    return *context < LONG_CONTEXT;
}

/* Find the shortest such context by bisection. */
static bool find_least_context(struct decode_surface *surface, const struct decode_range *range,
                               struct error *why)
{
    uint64_t bad = 0, good;
    if (!decode_surface_find_context(surface, range, &good, why)) {
        return false;
    }
    while (good - bad > 1) {
        uint64_t context = bad + (good - bad) / 2;
        if (says_anything(surface, range->sequences, context, ERROR_UNSEEN)) {
            good = context;
        } else {
            bad = context;
        }
    }
    surface->least_context = good;
    return true;
}

/* Let sequences attend to all their tokens. The tokens that their cache holds hit in every step. */
static bool attend_all(struct decode_surface *surface, struct setup *setup, struct error *why)
{
    struct mechanisms *m = setup->mechanisms;
    struct plan plan;
    m->selection = (struct amount){.unit = UNIT_SHARE, .value = 1};
    m->selection_margin = m->estimation = 0;
    setup->trace = NULL;
    if (!run_plan(setup, surface->context, &plan, why)) {
        return false;
    }
    double outside = (double)(setup->context - m->sinks - setup_recent(setup));
    setup->assumed_hit = fmin((double)plan.cohorts[0].sizes.cache_tokens / outside, 1);
    setup->assumed_spread = 0;
    plan_release(&plan);
    return true;
}

static bool cap_selection(struct decode_surface *surface, struct setup *setup, struct error *why)
{
    struct plan plan;
    /* Does what is selected come from the trace, and does that keep so much of a row? */
    if (setup->trace == NULL || !setup_asks_trace(setup) ||
        setup->mechanisms->policy->chooses_own) {
        return true;
    }
    if (!run_plan(setup, surface->context, &plan, why)) {
        return false;
    }
    uint32_t wanted;
    double selection = (double)plan.cohorts[0].sizes.selected_tokens / (double)setup->context;
    bool keeps = replay_wanted(setup->trace, selection, &wanted, ERROR_UNSEEN);
    plan_release(&plan);
    return keeps || attend_all(surface, setup, why);
}

static bool decode_surface_compute_point(void *context, struct decode_point *point,
                                         struct error *why)
{
    struct decode_surface *surface = context;
    struct step_answer answer;
    struct setup setup = point_setup(surface, point->sequences, point->context);
    struct mechanisms own = surface->mechanisms;
    setup.mechanisms = &own;
    if (!cap_selection(surface, &setup, why) || !run_step(&setup, surface->context, &answer, why)) {
        return false;
    }
    struct decode_step *step = &point->step;
    step->ns = (double)answer.ns;
    step->fetched = (double)answer.in_bytes * surface->byte_ns;
    for (int part = 0; part < PART_COUNT; part++) {
        step->stall_ns[part] = (double)answer.stall_ns[part];
    }
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        step->basis_ns[basis] = answer.basis_share[basis] * step->ns;
    }
    step->resident_share = answer.resident_share;
    point->trust = answer.trust;
    point->asks_trace = answer.asks_trace && setup.trace == surface->setup.trace;
    return true;
}

static bool compute_step(void *context, uint64_t sequences, uint64_t tokens,
                         double values[SURFACE_VALUES], struct error *why)
{
    struct decode_surface *surface = context;
    uint64_t least = surface->least_context;
    struct decode_point point = {.sequences = sequences,
                                 .context = tokens > least ? tokens : least};
    if (!decode_points_read(surface->points, surface->context->cores, decode_surface_compute_point,
                            surface, &point, why)) {
        return false;
    }
    memcpy(values, &point.step, sizeof point.step);
    trust_add(&surface->sources.trust, point.trust);
    surface->sources.asks_trace = surface->sources.asks_trace || point.asks_trace;
    return true;
}

/* ---- the changed machine ---------------------------------------------------------------- */

static bool under_pressure(const struct setup *setup)
{
    return setup->mechanisms->residency == RESIDENCY_PRESSURE;
}

static bool change_machine(struct decode_surface *surface, double link_share, struct error *why)
{
    static const enum curve_id link[] = {CURVE_LINK_IN, CURVE_LINK_ZERO_COPY, CURVE_LINK_CPU_STORE,
                                         CURVE_LINK_DUPLEX};
    double shares[CURVE_COUNT];
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        shares[i] = 1;
    }
    for (size_t i = 0; i < sizeof link / sizeof *link; i++) {
        shares[link[i]] = link_share;
    }
    /* The server checks whether sequences fit. What HBM holds decides no step, except under pressure. */
    surface->setup.unlimited_memory = true;
    surface->setup.room[TIER_HOST] = 0;
    if (!under_pressure(&surface->setup)) {
        surface->setup.kv_pool_tokens = 0;
    }
    bool good = scaled_profile_init(&surface->setup.profile, shares, &surface->machine, why);
    surface->setup.profile = surface->machine.profile;
    return good;
}

/* 0 if the machine does not state its link: then nothing crosses it. */
static double byte_ns(const struct setup *setup)
{
    bool said = setup->profile.curves[CURVE_LINK_IN].count > 0;
    return said ? 1e9 / profile_value(&setup->profile, CURVE_LINK_IN, 0, TRUST_UNSEEN) : 0;
}

/* ---- create, destroy -------------------------------------------------------------------- */

/* The table's key: the changed machine, and the scenario without what only serving reads. */
static bool find_points(struct decode_surface *surface, struct error *why)
{
    const struct point *point = surface->point;
    bool pool = under_pressure(&surface->setup) && surface->setup.kv_pool_tokens > 0;
    struct run_hashes hashes;
    struct point view = {.setup = surface->setup,
                         .scenario = point->decode_scenario != NULL && !pool
                                         ? point->decode_scenario
                                         : point->scenario};
    if (!run_hashes(&view, &hashes, why)) {
        return false;
    }
    surface->points = shared_get(surface->context->shared, &decode_points_kind,
                                 strtoull(hashes.run, NULL, 16), NULL, &surface->points_entry, why);
    return surface->points != NULL;
}

struct decode_surface *decode_surface_create(const struct point *point,
                                             const struct decode_range *range, double link_share,
                                             const struct run_context *context, struct error *why)
{
    struct decode_surface *surface = array_zeroed(1, sizeof *surface, why);
    if (surface == NULL) {
        return NULL;
    }
    surface->point = point;
    surface->setup = point->setup;
    surface->mechanisms = *point->setup.mechanisms;
    surface->mechanisms.step_overhead = 0;
    surface->setup.mechanisms = &surface->mechanisms;
    surface->setup.engine = (struct setup_engine){.runs = false};
    surface->context = context;
    surface->byte_ns = byte_ns(&point->setup);
    surface->sources.trust = (struct trust){.basis = BASIS_MEASURED};
    if (change_machine(surface, link_share, why) && find_points(surface, why) &&
        find_least_context(surface, range, why)) {
        uint64_t least = surface->least_context;
        const struct surface_domain domain = {
            .least_x = 1,
            .most_x = range->sequences,
            .least_y = range->least_context > least ? range->least_context : least,
            .most_y = range->most_context > least ? range->most_context : least};
        surface->surface =
            surface_create(&domain, context->rough ? rough : tolerance, compute_step, surface, why);
    }
    if (surface->surface == NULL) {
        decode_surface_destroy(surface);
        return NULL;
    }
    return surface;
}

void decode_surface_destroy(struct decode_surface *surface)
{
    if (surface == NULL) {
        return;
    }
    surface_destroy(surface->surface);
    shared_release(surface->context->shared, surface->points_entry);
    scaled_profile_release(&surface->machine);
    free(surface);
}

static void take_step(const struct decode_surface *surface, const double values[SURFACE_VALUES],
                      struct decode_step *step)
{
    memcpy(step, values, sizeof *step);
    step->fetched = surface->byte_ns > 0 ? step->fetched / surface->byte_ns : 0;
}

bool decode_surface_read(struct decode_surface *surface, uint32_t sequences, uint64_t tokens,
                         struct decode_step *step, struct error *why)
{
    double values[SURFACE_VALUES] = {0};
    bool ok = surface_read(surface->surface, sequences, tokens / sequences, values, why);
    take_step(surface, values, step);
    return ok;
}

bool decode_surface_least(struct decode_surface *surface, struct decode_step *step,
                          struct error *why)
{
    double values[SURFACE_VALUES] = {0};
    bool ok = compute_step(surface, 1, 1, values, why);
    take_step(surface, values, step);
    return ok;
}

const struct decode_sources *decode_surface_sources(const struct decode_surface *surface)
{
    return &surface->sources;
}

/* A list suffices: a surface has tens of points, rarely hundreds. */

struct decode_points {
    struct decode_point *all;
    size_t count, capacity;
    pthread_mutex_t lock; /* of all of the above; held while a point is computed */
};

static void *decode_points_make(void *context, struct error *why)
{
    (void)context;
    struct decode_points *points = array_zeroed(1, sizeof *points, why);
    if (points != NULL) {
        pthread_mutex_init(&points->lock, NULL);
    }
    return points;
}

static void decode_points_destroy(void *value)
{
    struct decode_points *points = value;
    pthread_mutex_destroy(&points->lock);
    free(points->all);
    free(points);
}

const struct shared_kind decode_points_kind = {decode_points_make, decode_points_destroy};

static bool read_locked(struct decode_points *table, decode_point_compute compute, void *context,
                        struct decode_point *point, struct error *why)
{
    for (size_t i = 0; i < table->count; i++) {
        if (table->all[i].sequences == point->sequences &&
            table->all[i].context == point->context) {
            *point = table->all[i];
            return true;
        }
    }
    if (!compute(context, point, why) ||
        !array_reserve(&table->all, &table->capacity, table->count + 1, sizeof *table->all, why)) {
        return false;
    }
    table->all[table->count++] = *point;
    return true;
}

bool decode_points_read(const struct decode_points *points, struct cores *cores,
                        decode_point_compute compute, void *context, struct decode_point *point,
                        struct error *why)
{
    struct decode_points *table = (struct decode_points *)points; /* shared, and locked here */
    if (pthread_mutex_trylock(&table->lock) != 0) {
        cores_give(cores);
        pthread_mutex_lock(&table->lock);
        cores_take(cores);
    }
    bool ok = read_locked(table, compute, context, point, why);
    pthread_mutex_unlock(&table->lock);
    return ok;
}
