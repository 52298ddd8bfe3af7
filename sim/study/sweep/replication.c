#include "study/sweep/replication.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/parallel.h"
#include "predict/answer.h"
#include "predict/scenario/resolve.h"

double replication_quantile(uint64_t seed, uint32_t replication, const char *name)
{
    const uint64_t key[] = {seed, replication};
    uint64_t bits = XXH64(name, strlen(name), XXH64(key, sizeof key, 0));
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

/* Capacities are not drawn: they decide what fits, and that is planned. */
static bool replication_is_drawn(enum curve_id id)
{
    return id != CURVE_GPU_HBM_CAPACITY && id != CURVE_HOST_DRAM_CAPACITY;
}

void replication_ranges(const struct setup *setup, char ranges[17])
{
    uint64_t hash = 0;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve *curve = &setup->profile.curves[id];
        const double ends[] = {replication_is_drawn(id) ? curve->least : 1,
                               replication_is_drawn(id) ? curve->most : 1};
        const char *name = curve_kinds[id].name;
        hash = XXH64(ends, sizeof ends, XXH64(name, strlen(name), hash));
    }
    snprintf(ranges, 17, "%016" PRIx64, hash);
}

static bool draw_machine(const struct setup *setup, uint32_t replication,
                         struct scaled_profile *out, struct error *why)
{
    double shares[CURVE_COUNT];
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        double quantile = replication_quantile(setup->seed, replication, curve_kinds[id].name);
        shares[id] =
            replication_is_drawn(id) ? spread_share(&setup->profile.curves[id], id, quantile) : 1;
    }
    return scaled_profile_init(&setup->profile, shares, out, why);
}

struct replication_course {
    const struct point *point;
    const struct run_context *context;
    const struct answer *answer; /* open */
    struct result *result;
    bool seeded; /* each draw has its own seed */
};

/* Figures that do not depend on the machine are taken from the planned run. */
static void replication_take(const struct result *drawn, const struct result *planned,
                             uint32_t family, double values[DRAWN_MOST])
{
    const struct column *column;
    memset(values, 0, DRAWN_MOST * sizeof *values); /* draws are compared as bytes */
    for (uint32_t i = 0; (column = column_drawn(i)) != NULL; i++) {
        double value = result_number(drawn, column);
        values[i] = isnan(value) ? result_number_with(planned, column, family) : value;
    }
}

/* Time the open answer on a drawn machine; `point` is the draw's view, or has another seed. */
static bool time_answer(const struct replication_course *course, uint32_t family,
                        const struct point *point, const struct profile *machine,
                        double values[DRAWN_MOST], struct error *why)
{
    struct point drawn = *point;
    struct result result;
    drawn.setup.profile = *machine;
    if (!answer_again(course->answer, family, &drawn, &result, why)) {
        return false;
    }
    replication_take(&result, course->result, family, values);
    result_release(&result);
    return true;
}

static bool check_timed(const struct result *planned, uint32_t number, struct error *why)
{
    return replication_main(planned) != NULL ||
           error_set(why, NULL, 0, "replication %u: %.200s", number, planned->message);
}

static bool time_replayed(const struct replication_course *course, const struct point *seeded,
                          uint32_t number, const struct profile *machine, double values[DRAWN_MOST],
                          struct error *why)
{
    struct run_context alone = *course->context; /* draws run side by side */
    struct result planned, result;
    struct point drawn = *seeded;
    alone.threads = 1;
    struct answer *answer = answer_open(seeded, &alone, &planned, why);
    if (answer == NULL) {
        return false;
    }
    drawn.setup.profile = *machine;
    bool good = check_timed(&planned, number, why) && answer_again(answer, 0, &drawn, &result, why);
    if (good) {
        replication_take(&result, &planned, 0, values);
        result_release(&result);
    }
    result_release(&planned);
    answer_close(answer);
    return good;
}

/* Time a replication on its machine, with its family. A run with another seed is replayed again; a server's answer
 * keeps no replay and is reused. */
static bool time_drawn(const struct replication_course *course, uint32_t number,
                       const struct profile *machine, double values[DRAWN_MOST], struct error *why)
{
    double quantile = replication_quantile(course->point->setup.seed, number, "trace");
    uint32_t family = (uint32_t)(quantile * point_views(course->point));
    struct point view;
    const struct result *planned = answer_planned(course->answer, family);
    if ((planned != NULL && !check_timed(planned, number, why)) ||
        !point_view(course->point, family, &view, why)) {
        return false;
    }
    bool good = (!course->seeded || point_view_reseed(&view, view.setup.seed + number, why)) &&
                (course->seeded && !point_serves(&view)
                     ? time_replayed(course, &view, number, machine, values, why)
                     : time_answer(course, family, &view, machine, values, why));
    point_view_release(&view);
    return good;
}

static bool replication_draw(uint32_t number, uint32_t thread, void *context, struct error *why)
{
    const struct replication_course *course = context;
    double *values = course->result->draws.values[number];
    struct scaled_profile machine;
    (void)thread;
    if (!stop_flag_check(course->context->stop, why) ||
        !draw_machine(&course->point->setup, number, &machine, why)) {
        return false;
    }
    bool good = time_drawn(course, number, &machine.profile, values, why);
    scaled_profile_release(&machine);
    return good;
}

const struct column *replication_main(const struct result *result)
{
    return result_cell(result, COLUMN(step_us))->set   ? COLUMN(step_us)
           : result_cell(result, COLUMN(ttft_ms))->set ? COLUMN(ttft_ms)
                                                       : NULL;
}

bool replication_run(const struct point *point, uint32_t draws, const struct run_context *context,
                     struct result *result, struct error *why)
{
    struct answer *answer = answer_open(point, context, result, why);
    if (answer == NULL) {
        return false;
    }
    struct replication_course course = {.point = point,
                                        .context = context,
                                        .answer = answer,
                                        .result = result,
                                        .seeded = resolve_hangs_on_seed(point)};
    bool good = true;
    if (draws > 0 && replication_main(result) != NULL) {
        replication_ranges(&point->setup, result->draws.ranges);
        result->draws.values = array_zeroed(draws, sizeof *result->draws.values, why);
        good = result->draws.values != NULL &&
               parallel_for(draws, context->threads, replication_draw, &course, why);
        result->draws.count = good ? draws : 0;
    }
    answer_close(answer);
    if (!good) {
        result_release(result);
    }
    return good;
}

/* The quantiles 2.5 % and 97.5 % enclose 95 %. */
static const double upper_quantile = 0.975;

struct interval interval_mean(const double *values, size_t stride, uint32_t count)
{
    struct interval interval = {.mean = gsl_stats_mean(values, stride, count)};
    interval.deviation = gsl_stats_sd_m(values, stride, count, interval.mean);
    interval.half =
        gsl_cdf_tdist_Pinv(upper_quantile, count - 1) * interval.deviation / sqrt(count);
    return interval;
}

bool interval_of(const double *values, size_t stride, uint32_t count, struct interval *out,
                 struct error *why)
{
    double *sorted = array_zeroed(count, sizeof *sorted, why);
    if (sorted == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = values[i * stride];
    }
    gsl_sort(sorted, 1, count);
    *out = interval_mean(values, stride, count);
    out->p5 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.05);
    out->median = gsl_stats_median_from_sorted_data(sorted, 1, count);
    out->p95 = gsl_stats_quantile_from_sorted_data(sorted, 1, count, 0.95);
    free(sorted);
    return true;
}
