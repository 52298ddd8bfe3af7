#include "decode/plan/retrieval_error.h"

#include "decode/plan/mass.h"
#include "trace/source.h"

#include <math.h>
#include <string.h>
#include <strings.h>

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
    switch ((enum retrieval)m->retrieval) {
    case RETRIEVAL_QUEST:
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

/* The error of a family between two sizes that were measured: on a line over the logarithm of the
 * size; beyond them, that of the nearest. */
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

enum retrieval_size retrieval_error_size(const struct mechanisms *mechanisms)
{
    double size = 0;
    enum retrieved_by by = retrieved_by(mechanisms, &size);
    bool below = false, above = false;
    for (const struct retrieval_error_measured *row = measured; row < measured + MEASURED; row++) {
        if (row->by == by && row->size == size) {
            return RETRIEVAL_SIZE_MEASURED;
        }
        below = below || (row->by == by && row->size < size);
        above = above || (row->by == by && row->size > size);
    }
    return below && above   ? RETRIEVAL_SIZE_BETWEEN
           : below || above ? RETRIEVAL_SIZE_BEYOND
                            : RETRIEVAL_SIZE_MEASURED;
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
static int recorded_by(const struct trace_source *source)
{
    static const struct {
        const char *unit;
        enum retrieval retrieval;
    } kinds[] = {
        {"page", RETRIEVAL_QUEST}, {"cluster", RETRIEVAL_CLUSTERS}, {"code", RETRIEVAL_HATA}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(source->retrieval, kinds[i].unit) == 0) {
            return (int)kinds[i].retrieval;
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

/* The page in units of the trace: as many of its tokens as of the model's, but no more than a
 * selection has. */
static uint32_t page_units(const struct setup *setup, const struct replay_plan *replay)
{
    const struct trace_header *header = trace_header(setup->trace);
    uint32_t units = (uint32_t)(setup->mechanisms.retrieval_tokens / header->unit_tokens);
    uint32_t wanted = replay_units(header, replay->selection);
    return units < wanted ? units : wanted;
}

enum retrieval_known retrieval_error_set(const struct setup *setup, struct replay_plan *replay)
{
    const struct mechanisms *m = &setup->mechanisms;
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
    own.page = by == RETRIEVED_BY_PAGES ? page_units(setup, replay) : 1;
    replay->errors[ASKS_OWN] = own;
    replay->errors[ASKS_AHEAD] = both(own, error_for(RETRIEVED_AHEAD, 1, family));
    replay->errors[ASKS_AHEAD_EARLY] = both(own, error_for(RETRIEVED_AHEAD_EARLY, 1, family));
    return by == RETRIEVED_BY_NOTHING ? RETRIEVAL_PERFECT
           : family >= 0              ? RETRIEVAL_MEASURED
                                      : RETRIEVAL_ELSEWHERE;
}
