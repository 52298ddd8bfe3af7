#include "study/papers/measured_times.h"

#include "core/array.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

void request_times_release(struct request_times *times)
{
    free(times->ttft.ms);
    free(times->tpot.ms);
    free(times->e2e.ms);
    free(times->itl.ms);
}

static bool times_list_add(struct times_list *list, double ms, struct error *why)
{
    if (!array_reserve(&list->ms, &list->capacity, list->count + 1, sizeof *list->ms, why)) {
        return false;
    }
    list->ms[list->count++] = ms;
    return true;
}

bool request_times_add(struct request_times *times, double ttft_ms, double e2e_ms, double tokens,
                       struct error *why)
{
    return times_list_add(&times->ttft, ttft_ms, why) && times_list_add(&times->e2e, e2e_ms, why) &&
           (tokens <= 1 || times_list_add(&times->tpot, (e2e_ms - ttft_ms) / (tokens - 1), why));
}

bool request_times_add_gap(struct request_times *times, double ms, struct error *why)
{
    return times_list_add(&times->itl, ms, why);
}

/* Mean, median, 90th and 99th percentile; those that are known stay. */
static void times_list_sum_up(struct times_list *list, double value[4])
{
    const double shares[] = {0.5, 0.9, 0.99};
    if (list->count == 0) {
        return;
    }
    gsl_sort(list->ms, 1, list->count);
    value[0] = isnan(value[0]) ? gsl_stats_mean(list->ms, 1, list->count) : value[0];
    for (int i = 0; i < 3; i++) {
        double at = gsl_stats_quantile_from_sorted_data(list->ms, 1, list->count, shares[i]);
        value[1 + i] = isnan(value[1 + i]) ? at : value[1 + i];
    }
}

void request_times_sum_up(struct request_times *times, struct measured *out)
{
    times_list_sum_up(&times->ttft, &out->value[MEASURED_TTFT]);
    times_list_sum_up(&times->tpot, &out->value[MEASURED_TPOT]);
    times_list_sum_up(&times->e2e, &out->value[MEASURED_E2E]);
    times_list_sum_up(&times->itl, &out->value[MEASURED_ITL]);
    out->ttft = (struct measured_times){times->ttft.ms, times->ttft.count};
    out->tpot = (struct measured_times){times->tpot.ms, times->tpot.count};
    times->ttft.ms = times->tpot.ms = NULL;
}
