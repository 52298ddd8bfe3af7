/* The integers of a reading lie in several arrays; one table of them serves all that walk over
 * them. */
#include "decode/time/reading.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

bool reading_init(struct reading *reading, const struct setup *setup, const struct plan *plan,
                  struct error *why)
{
    *reading = (struct reading){
        .timing = {.steps = plan->steps, .layers = plan->layers},
        .loops = loops_count(setup, plan),
    };
    struct timing *timing = &reading->timing;
    timing->step = array_zeroed(plan->steps, sizeof *timing->step, why);
    timing->layer_ns = array_zeroed(plan->layers, sizeof *timing->layer_ns, why);
    reading->idle_ns = array_zeroed(reading->loops * LOOP_IDLES, sizeof *reading->idle_ns, why);
    reading->lag_ns = array_zeroed(reading->loops * LOOP_LAGS, sizeof *reading->lag_ns, why);
    return timing->step != NULL && timing->layer_ns != NULL && reading->idle_ns != NULL &&
           reading->lag_ns != NULL;
}

void reading_release(struct reading *reading)
{
    timing_release(&reading->timing);
    free(reading->idle_ns);
    free(reading->lag_ns);
    reading->idle_ns = reading->lag_ns = NULL;
}

/* The integers of a reading, in the order of their list. */
enum { SPANS = 9 };
struct reading_span {
    int64_t *first;
    size_t count;
};

static_assert(sizeof(struct pipeline_step) == (1 + STEP_WAYS) * sizeof(int64_t),
              "a step is integers only");

static void spans_of(const struct reading *reading, struct reading_span spans[SPANS])
{
    struct reading *r = (struct reading *)reading;
    struct timing *t = &r->timing;
    const struct reading_span all[SPANS] = {
        {(int64_t *)t->step, (size_t)t->steps * (sizeof *t->step / sizeof(int64_t))},
        {t->layer_ns, t->layers},
        {t->part_ns, PART_COUNT},
        {t->stall_ns, PART_COUNT},
        {&t->cpu_ns, 1},
        {t->basis_ns, BASIS_COUNT},
        {r->assumed.ns, ASSUMED_MOST},
        {r->idle_ns, r->loops * LOOP_IDLES},
        {r->lag_ns, r->loops * LOOP_LAGS},
    };
    memcpy(spans, all, sizeof all);
}

size_t reading_count(const struct reading *reading)
{
    struct reading_span spans[SPANS];
    size_t count = 0;
    spans_of(reading, spans);
    for (size_t i = 0; i < SPANS; i++) {
        count += spans[i].count;
    }
    return count;
}

size_t reading_step_count(const struct reading *reading)
{
    struct reading_span spans[SPANS];
    spans_of(reading, spans);
    return spans[0].count;
}

void reading_get(const struct reading *reading, int64_t *figures)
{
    struct reading_span spans[SPANS];
    spans_of(reading, spans);
    for (size_t i = 0; i < SPANS; figures += spans[i++].count) {
        memcpy(figures, spans[i].first, spans[i].count * sizeof *figures);
    }
}

void reading_set(struct reading *reading, const int64_t *figures)
{
    struct reading_span spans[SPANS];
    spans_of(reading, spans);
    for (size_t i = 0; i < SPANS; figures += spans[i++].count) {
        memcpy(spans[i].first, figures, spans[i].count * sizeof *figures);
    }
}

void reading_clear(struct reading *reading)
{
    struct reading_span spans[SPANS];
    spans_of(reading, spans);
    for (size_t i = 0; i < SPANS; i++) {
        memset(spans[i].first, 0, spans[i].count * sizeof(int64_t));
    }
}

/* The first of those with most time; NULL if no time rests on any. */
static const char *assumed_largest(const struct assumed *assumed)
{
    const char *largest = NULL;
    int64_t most = 0;
    for (uint32_t i = 0; i < assumed->count; i++) {
        largest = assumed->ns[i] > most ? assumed->figure[i] : largest;
        most = assumed->ns[i] > most ? assumed->ns[i] : most;
    }
    return largest;
}

void reading_finish(struct reading *reading, struct trust trust, struct timing *out)
{
    *out = reading->timing;
    reading->timing.step = NULL;
    reading->timing.layer_ns = NULL;
    for (uint32_t s = 0; s < out->steps; s++) {
        out->total_ns += out->step[s].ns;
    }
    out->assumed = assumed_largest(&reading->assumed);
    out->trust = trust;
    out->exact = true;
}

void timing_release(struct timing *timing)
{
    free(timing->step);
    free(timing->layer_ns);
    timing->step = NULL;
    timing->layer_ns = NULL;
}
