#include "serving/answer.h"

#include "base/array.h"
#include "run/outcome.h"
#include "scenario/identity.h"
#include "serving/serving.h"
#include "serving/serving_outcome.h"
#include "serving/serving_ranges.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    const struct point *point;
    const struct run_context *context;
    struct run *run; /* NULL: a server, of which nothing is kept */
};

/* Only times have a band, and none stands on assumptions alone, or under a server that holds
 * requests back. A share is compared as it is printed, in whole percents. */
static bool has_bands(const struct result *result)
{
    double known = 0;
    for (uint32_t i = 0; i < result->basis_count; i++) {
        bool assumed = strcmp(result->basis[i].name, basis_name(BASIS_ASSUMED)) == 0;
        known += assumed ? 0 : result->basis[i].share;
    }
    return known >= 0.005 && !serving_saturated(result);
}

/* Write the hash of the result's inputs, and its error band. */
static bool write_identity(const struct point *point, struct result *result, struct error *why)
{
    struct run_hashes hashes;
    if (!run_hashes(point, &hashes, why)) {
        return false;
    }
    memcpy(result->scenario_hash, hashes.scenario, sizeof hashes.scenario);
    memcpy(result->profile_hash, hashes.profile, sizeof hashes.profile);
    memcpy(result->trace_hash, hashes.trace, sizeof hashes.trace);
    int length = snprintf(result->scenario, sizeof result->scenario, "%s", point->scenario);
    if (length < 0 || (size_t)length >= sizeof result->scenario) {
        return error_set(why, NULL, 0, "the resolved scenario is longer than %zu bytes",
                         sizeof result->scenario);
    }
    static_assert((int)RESULT_BANDS == (int)BAND_FIGURE_COUNT, "in the order of the columns");
    for (int i = 0; i < RESULT_BANDS; i++) {
        struct cell *cell = &result->cells[COLUMN_ERROR_BAND + i];
        cell->set = point->band_known[i] && has_bands(result);
        if (cell->set) {
            memcpy(result->band[i], point->band[i], sizeof result->band[i]);
        }
    }
    return result_text(result, COLUMN_RUN, hashes.run, why);
}

/* Finish a result that was computed, or release it. */
static bool finish(const struct point *point, struct result *result, struct error *why)
{
    bool good = write_identity(point, result, why);
    if (!good) {
        result_release(result);
    }
    return good;
}

struct answer *answer_open(const struct point *point, const struct run_context *context,
                           struct result *result, struct error *why)
{
    struct answer *answer = array_zeroed(1, sizeof *answer, why);
    if (answer == NULL) {
        return NULL;
    }
    *answer = (struct answer){.point = point, .context = context};
    bool serves = point_serves(point);
    answer->run = serves ? NULL : run_open(&point->setup, context, result, why);
    bool good = serves ? serving_run(point, context, result, why) : answer->run != NULL;
    if (!good || !finish(point, result, why)) {
        answer_close(answer);
        return NULL;
    }
    return answer;
}

void answer_close(struct answer *answer)
{
    if (answer != NULL) {
        run_close(answer->run);
        free(answer);
    }
}

bool answer_run(const struct point *point, const struct run_context *context, struct result *result,
                struct error *why)
{
    struct answer *answer = answer_open(point, context, result, why);
    answer_close(answer);
    return answer != NULL;
}

bool answer_again(const struct answer *answer, const struct point *point, struct result *result,
                  struct error *why)
{
    return answer->run != NULL ? run_again(answer->run, &point->setup, result, why)
                               : serving_again(point, answer->context, result, why);
}

bool answer_ranges(const struct point *point, double by, const struct run_context *context,
                   struct result *result, struct run_ranges *ranges, struct error *why)
{
    if (point_serves(point) && by <= 0) {
        error_usage(why, NULL, 0,
                    "ranges are found for decode steps, and the point has a 'workload'");
        return error_expect(why, "a scenario without 'workload'");
    }
    if (point_serves(point) ? !serving_ranges(point, by, context, result, ranges, why)
                            : !run_setup_ranges(&point->setup, by, context, result, ranges, why)) {
        return false;
    }
    if (!finish(point, result, why)) {
        run_ranges_release(ranges);
        return false;
    }
    return true;
}
