/* There are three kinds of heads: those that attend to everything, offloaded ones whose mass is in the ledger
 * (they select, or their policy chooses), and resident ones that select with the true query. */

#include "decode/plan/mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/mechanism_values.h"

bool mass_is_measured(const struct setup *setup)
{
    struct trace_source source = {.masses = false};
    if (setup->trace != NULL) {
        trace_source_read(trace_header(setup->trace), &source);
    }
    return setup->trace_basis == BASIS_MEASURED && source.masses;
}

/* A cohort and how to replay it. */
struct mass_view {
    const struct setup *setup; /* at its context */
    const struct plan *plan;
    uint32_t cohort;
    const struct replay_means *means;
};

/* The mass of fresh demands of the resident heads: the same replay without a cache. */
static bool replay_resident(const struct mass_view *view, struct ledger *ledger, struct error *why)
{
    const struct plan *plan = view->plan;
    size_t count = (size_t)plan->layers * plan->kv_heads;
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    struct replay_plan replay = plan_replay(view->setup, plan, view->cohort);
    replay.policy = policy_find("none", NULL, 0, why);
    if (heads == NULL || replay.policy == NULL) {
        free(heads);
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t layer = (uint32_t)(i / plan->kv_heads);
        heads[i].offloaded = !plan->heads[i].offloaded && !setup_attends_own(view->setup, layer);
    }
    replay.heads = heads;
    replay.policy_values = NULL;
    replay.capacity = 0;
    replay.block_span = BLOCK_UNIT;
    replay.speculates = false;
    bool good = replay_run_kept(view->setup->trace, &replay, 1, view->means, ledger, why);
    free(heads);
    return good;
}

/* Add the mass of a layer's rows; nothing if there are none. */
static void mass_add_rows(const struct plan *plan, const struct ledger_row *rows, uint32_t layer,
                          struct mass *out)
{
    for (uint32_t s = 0; rows != NULL && s < plan->steps; s++) {
        const struct ledger_row *row = &rows[(size_t)s * plan->layers + layer];
        out->at_step[s] += row->mass;
        out->most += row->mass_most;
    }
}

/* Add the mass of a cohort's pairs. */
static bool mass_add(const struct mass_view *view, const struct ledger *ledger, struct mass *out,
                     struct error *why)
{
    const struct plan *plan = view->plan;
    const struct ledger_row *rows = ledger != NULL ? ledger_part(ledger, view->cohort) : NULL;
    bool chooses = rows != NULL && view->setup->mechanisms->policy->chooses_own;
    uint32_t sequences = plan->cohorts[view->cohort].sequences;
    bool selecting = false; /* heads in HBM */
    for (uint32_t l = 0; sequences > 0 && l < plan->layers; l++) {
        selecting |= !setup_attends_own(view->setup, l) && plan->kv_heads > plan->offloaded[l];
    }
    struct ledger resident;
    ledger_init(&resident);
    if (selecting && !replay_resident(view, &resident, why)) {
        ledger_release(&resident);
        return false;
    }
    for (uint32_t l = 0; l < plan->layers; l++) {
        if (setup_attends_own(view->setup, l)) {
            uint32_t own = chooses ? plan->offloaded[l] : 0;
            double pairs = (double)(plan->kv_heads - own) * sequences;
            for (uint32_t s = 0; s < plan->steps; s++) {
                out->at_step[s] += pairs;
                out->most += pairs;
            }
            mass_add_rows(plan, chooses ? rows : NULL, l, out);
            continue;
        }
        mass_add_rows(plan, rows, l, out);
        mass_add_rows(plan, selecting ? resident.rows : NULL, l, out);
    }
    ledger_release(&resident);
    return true;
}

/* Does any head attend to a part of its context only? */
static bool mass_any_selects(const struct setup *setup, const struct plan *plan)
{
    bool selects = mechanisms_offload(setup->mechanisms) && setup->mechanisms->policy->chooses_own;
    for (uint32_t i = 0; i < plan->cohort_count; i++) {
        struct setup own = setup_at(setup, plan->cohorts[i].context);
        for (uint32_t l = 0; l < plan->layers; l++) {
            selects = selects || !setup_attends_own(&own, l);
        }
    }
    return selects;
}

bool mass_recall(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                 const struct replay_means *means, struct mass *out, struct error *why)
{
    *out = (struct mass){.known = mass_is_measured(setup) || !mass_any_selects(setup, plan)};
    out->at_step = array_zeroed(plan->steps, sizeof *out->at_step, why);
    if (out->at_step == NULL) {
        return false;
    }
    for (uint32_t i = 0; out->known && i < plan->cohort_count; i++) {
        struct setup own = setup_at(setup, plan->cohorts[i].context);
        own.trace = setup_cohort(setup, i).trace;
        if (!mass_add(&(struct mass_view){&own, plan, i, means}, ledger, out, why)) {
            mass_release(out);
            return false;
        }
    }
    /* Sums over heads and sequences become means. */
    double pairs = (double)plan->kv_heads * plan->batch * plan->layers;
    for (uint32_t s = 0; s < plan->steps; s++) {
        out->least += out->at_step[s];
        out->at_step[s] /= pairs;
    }
    out->least /= pairs * plan->steps;
    out->most /= pairs * plan->steps;
    return true;
}

void mass_release(struct mass *mass)
{
    free(mass->at_step);
    *mass = (struct mass){0};
}

enum { FAMILIES = 3 };
static const char *const families[FAMILIES] = {"SmolLM2-135M", "Qwen2.5-Coder-0.5B",
                                               "Gemma-3-270M"};

/* By what a retrieval tells units apart. */
enum retrieved_by {
    RETRIEVED_BY_NOTHING,
    RETRIEVED_BY_PAGES,
    RETRIEVED_BY_CHANNELS,
    RETRIEVED_BY_CLUSTERS,
    RETRIEVED_BY_PRODUCTS,
    RETRIEVED_BY_CODES,
    RETRIEVED_AHEAD,      /* with a query that is guessed a layer ahead; ... */
    RETRIEVED_AHEAD_EARLY /* ... of one of the first layers */
};

struct retrieval_error_measured {
    enum retrieved_by by;
    double size;
    struct {
        double noise, lasting;
    } of[FAMILIES];
};

#define RETRIEVAL_ERROR(by, size, n0, l0, n1, l1, n2, l2)                                          \
    {by, size, {{n0, l0}, {n1, l1}, {n2, l2}}},
static const struct retrieval_error_measured measured[] = {
#include "decode/plan/retrieval_errors.def"
};
#undef RETRIEVAL_ERROR
enum { MEASURED = sizeof measured / sizeof *measured };

/* What tells units apart, and its size. */
static enum retrieved_by retrieved_by(const struct mechanisms *m, double *size)
{
    switch (m->retrieval) {
    case RETRIEVAL_QUEST:
    case RETRIEVAL_LANDMARKS: /* a mean key of each page: assumed to err as its bounds do */
        *size = (double)m->retrieval_tokens;
        return RETRIEVED_BY_PAGES;
    case RETRIEVAL_LOKI:
    case RETRIEVAL_PARTIAL_WEIGHTS:
        *size = m->retrieval_keys;
        return RETRIEVED_BY_CHANNELS;
    case RETRIEVAL_CLUSTERS:
        *size = (double)m->retrieval_tokens;
        return RETRIEVED_BY_CLUSTERS;
    case RETRIEVAL_PQ:
        *size = (double)m->cluster_centroids;
        return RETRIEVED_BY_PRODUCTS;
    case RETRIEVAL_HATA:
        *size = 8 * (double)m->retrieval_bytes;
        return RETRIEVED_BY_CODES;
    default:
        return RETRIEVED_BY_NOTHING;
    }
}

/* The error of a family, on a line over the logarithm of the size; beyond the ends, that of the nearest. */
static struct retrieval_error retrieval_error_of(enum retrieved_by by, double size, int family)
{
    const struct retrieval_error_measured *below = NULL, *above = NULL;
    for (const struct retrieval_error_measured *row = measured; row < measured + MEASURED; row++) {
        if (row->by == by && row->of[family].lasting > 0) {
            below = row->size <= size || below == NULL ? row : below;
            above = above == NULL || above->size < size ? row : above;
        }
    }
    struct retrieval_error error = {0};
    if (below != NULL) {
        double apart = log(above->size / below->size);
        double share = apart > 0 ? fmin(fmax(log(size / below->size) / apart, 0), 1) : 0;
        error.noise =
            below->of[family].noise + share * (above->of[family].noise - below->of[family].noise);
        error.lasting = below->of[family].lasting +
                        share * (above->of[family].lasting - below->of[family].lasting);
    }
    return error;
}

/* The error of the given family (-1: the one in the middle; of two, the larger). */
static struct retrieval_error error_for(enum retrieved_by by, double size, int family)
{
    struct retrieval_error all[FAMILIES];
    int count = 0;
    for (int i = 0; i < FAMILIES; i++) {
        struct retrieval_error error = retrieval_error_of(by, size, i);
        if (i == family && error.lasting > 0) {
            return error;
        }
        int at = count;
        for (; error.lasting > 0 && at > 0 && all[at - 1].noise > error.noise; at--) {
            all[at] = all[at - 1];
        }
        if (error.lasting > 0) {
            all[at] = error;
            count++;
        }
    }
    return count > 0 ? all[count / 2] : (struct retrieval_error){0};
}

static int family_of(const struct trace_source *source)
{
    for (int i = 0; i < FAMILIES; i++) {
        if (strncasecmp(source->model, families[i], strlen(families[i])) == 0) {
            return i;
        }
    }
    return -1;
}

/* The retrieval whose approximate rows a recording has. */
static enum retrieval recorded_by(const struct trace_source *source)
{
    static const struct {
        const char *unit;
        enum retrieval retrieval;
    } kinds[] = {
        {"page", RETRIEVAL_QUEST}, {"cluster", RETRIEVAL_CLUSTERS}, {"code", RETRIEVAL_HATA}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(source->retrieval, kinds[i].unit) == 0) {
            return kinds[i].retrieval;
        }
    }
    return RETRIEVAL_NONE;
}

/* Two independent errors of one score. */
static struct retrieval_error both(struct retrieval_error a, struct retrieval_error b)
{
    double x = a.noise * a.noise, y = b.noise * b.noise, sum = x + y;
    a.noise = sqrt(sum);
    a.lasting = sum > 0 ? (x * a.lasting + y * b.lasting) / sum : 0;
    return a;
}

enum retrieval_known retrieval_error_set(const struct setup *setup, struct replay_plan *replay)
{
    const struct mechanisms *m = setup->mechanisms;
    struct trace_source source;
    double size = 0;
    enum retrieved_by by = retrieved_by(m, &size);
    if (setup->trace == NULL || m->policy->chooses_own || !setup_selects(setup) ||
        m->retrieval == RETRIEVAL_NONE || m->retrieval == RETRIEVAL_NATIVE) {
        return RETRIEVAL_EXACT;
    }
    const struct trace_header *header = trace_header(setup->trace);
    trace_source_read(header, &source);
    replay->asks_recorded = header->has_approximate && recorded_by(&source) == m->retrieval;
    if (replay->asks_recorded) {
        return RETRIEVAL_RECORDED;
    }
    bool tokens = header->unit_kind == TRACE_POSITIONS && header->unit_tokens == 1;
    if (!mass_is_measured(setup) || !(tokens || by == RETRIEVED_BY_PAGES)) {
        return RETRIEVAL_PERFECT;
    }
    int family = family_of(&source);
    struct retrieval_error own = error_for(by, size, family);
    /* A page has as many tokens of the trace as of the model's, but no more than a selection. */
    uint32_t page = (uint32_t)(m->retrieval_tokens / header->unit_tokens);
    uint32_t wanted = replay_units(header, replay->selection);
    own.page = by != RETRIEVED_BY_PAGES ? 1 : page < wanted ? page : wanted;
    replay->errors[ASKS_OWN] = own;
    replay->errors[ASKS_AHEAD] = both(own, error_for(RETRIEVED_AHEAD, 1, family));
    replay->errors[ASKS_AHEAD_EARLY] = both(own, error_for(RETRIEVED_AHEAD_EARLY, 1, family));
    return by == RETRIEVED_BY_NOTHING ? RETRIEVAL_PERFECT
           : family >= 0              ? RETRIEVAL_MEASURED
                                      : RETRIEVAL_ELSEWHERE;
}
