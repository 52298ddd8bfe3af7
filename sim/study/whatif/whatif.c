/* Axes are read one after the other against the scenario's own point, which is planned for that.
 * The batch comes last, because the number of sequences that fit depends on the other axis. */
#include "study/whatif/whatif.h"

#include "core/array.h"
#include "core/text.h"
#include "predict/scenario/identity.h"
#include "study/whatif/planned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the axes ---- */

/* Sequences that fit at either end of the axis swept so far. */
static uint32_t most_batch(const struct scenario *swept, const struct planned *own,
                           const struct run_context *runs)
{
    uint32_t most = own->plan.max_batch;
    for (int end = 0; swept->sweep != NULL && end < 2; end++) {
        struct planned planned;
        struct error unseen;
        uint32_t point = end == 0 ? 0 : swept->points - 1;
        if (planned_point(swept, point, runs, &planned, &unseen) && planned.plan.max_batch > most) {
            most = planned.plan.max_batch;
        }
        planned_release(&planned);
    }
    return most;
}

/* Is one part of the other, as link.h2d is of link? */
static bool whatif_overlap(const char *a, const char *b)
{
    size_t x = strlen(a), y = strlen(b), shorter = x < y ? x : y;
    const char *longer = x < y ? b : a;
    return strncmp(a, b, shorter) == 0 && (longer[shorter] == '\0' || longer[shorter] == '.');
}

static bool is_batch(const struct axis_text *axis)
{
    return axis->length == 5 && strncmp(axis->text, "batch", 5) == 0;
}

/* The texts of the axes. */
struct texts {
    struct axis_text all[WHATIF_MOST_AXES];
    uint32_t count;
};

static bool split_axes(const char *over, struct texts *texts, struct error *why)
{
    const char *rest = over;
    struct axis_text axis = {.text = NULL};
    texts->count = 0;
    while (text_item(&rest, &axis.text, &axis.length)) {
        if (texts->count == WHATIF_MOST_AXES) {
            error_usage(why, "--over", 0, "'%s' has too many axes for a table", over);
            return error_expect(
                why,
                "one axis, or two separated by a comma; values stand in brackets: KEY=[A, B, C]");
        }
        texts->all[texts->count++] = axis;
    }
    return true;
}

static bool whatif_read_axis(struct whatif *whatif, const struct texts *texts, uint32_t number,
                             const struct axis_base *base, struct error *why)
{
    const struct axis_text *axis = &texts->all[number];
    return axis_read(axis->text, axis->length, base, &whatif->axes[number], why);
}

/* Read all axes except a batch, then the batch. `others` sweeps them only to find what fits. */
static bool read_axes(struct whatif *whatif, const struct scenario *scenario,
                      const struct whatif_options *options, const struct texts *texts,
                      const struct planned *own, struct error *why)
{
    struct axis_base base = {.option = "--over",
                             .scenario = scenario,
                             .point = &own->point,
                             .runs = options->runs,
                             .plan = &own->plan,
                             .points = options->points};
    struct scenario others = {.root = scenario->root, .points = 1, .sources = scenario->sources};
    whatif->axis_count = texts->count;
    base.alone = texts->count == 1;
    bool good = true;
    for (int batches = 0; good && batches < 2; batches++) {
        base.most_batch = batches ? most_batch(&others, own, options->runs) : 0;
        for (uint32_t i = 0; good && i < texts->count; i++) {
            if (is_batch(&texts->all[i]) == (batches == 1)) {
                good = whatif_read_axis(whatif, texts, i, &base, why) &&
                       (batches == 1 || axis_sweep(&whatif->axes[i], &others, why));
            }
        }
    }
    node_destroy(others.sweep);
    if (good && options->points > 0 && !whatif->axes[0].ranges && !whatif->axes[1].ranges) {
        error_usage(why, "--points", 0, "'%s' gives values, not a range", options->over);
        return error_expect(why, "a range such as batch=FROM:TO");
    }
    if (good && texts->count == 2 && whatif_overlap(whatif->axes[0].key, whatif->axes[1].key)) {
        error_usage(why, "--over", 0, "axes '%s' and '%s' overlap", whatif->axes[0].key,
                    whatif->axes[1].key);
        return error_expect(why, "two keys, neither of which is part of the other");
    }
    return good;
}

static void disown(struct axis *axis)
{
    for (uint32_t i = 0; i < axis->count; i++) {
        axis->values[i].own = false;
    }
}

static bool sweep_axes(struct whatif *whatif, const struct scenario *scenario, struct error *why)
{
    bool good = scenario_copy(scenario, &whatif->scenario, why);
    for (uint32_t i = 0; good && i < whatif->axis_count; i++) {
        good = axis_sweep(&whatif->axes[i], &whatif->scenario, why);
    }
    return good;
}

/* ---- the points ---- */

static bool whatif_run_points(struct whatif *whatif, const struct whatif_options *options,
                              bool *interrupted, struct error *why)
{
    const struct sweep_options sweep = {.store = options->store,
                                        .jobs = options->jobs,
                                        .runs = options->runs,
                                        .on_progress = options->on_progress,
                                        .context = options->context};
    whatif->results = array_zeroed(whatif->scenario.points, sizeof *whatif->results, why);
    return whatif->results != NULL &&
           sweep_keep(&whatif->scenario, &sweep, whatif->results, &whatif->count, interrupted, why);
}

/* If no point can run, the error of the first is the reason. */
static bool whatif_check_any(const struct whatif *whatif, struct error *why)
{
    bool ran = whatif->count == 0;
    for (uint32_t i = 0; i < whatif->count; i++) {
        ran = ran || !result_failed(&whatif->results[i]);
    }
    const struct result *first = &whatif->results[0];
    if (!ran) {
        error_usage(why, "--over", 0, "no point of '%s' can run: %s", whatif->axes[0].key,
                    first->message);
        error_expect(why, "%s", first->expected);
        error_nearest(why, first->nearest);
    }
    return ran;
}

bool whatif_run(const struct scenario *scenario, const struct whatif_options *options,
                struct whatif *out, bool *interrupted, struct error *why)
{
    struct planned own = {.plan = {.batch = 0}};
    *out = (struct whatif){.count = 0};
    if (scenario->sweep != NULL) {
        error_usage(why, "--over", 0, "the scenario already sweeps '%s'",
                    scenario->sweep->children[0]->key);
        return error_expect(why, "a scenario of one point");
    }
    struct run_hashes hashes;
    struct texts texts;
    bool good = split_axes(options->over, &texts, why) &&
                planned_own(scenario, "--over", texts.all, texts.count, options->runs, &own, why) &&
                run_hashes(&own.point, &hashes, why) &&
                read_axes(out, scenario, options, &texts, &own, why) &&
                sweep_axes(out, scenario, why);
    for (uint32_t i = 0; good && i < out->axis_count; i++) {
        if (texts.all[i].open) {
            disown(&out->axes[i]);
        }
    }
    if (good) {
        memcpy(out->own_profile, hashes.profile, sizeof hashes.profile);
    }
    planned_release(&own);
    good = good && whatif_run_points(out, options, interrupted, why) && whatif_check_any(out, why);
    whatif_judge(out);
    return good;
}

void whatif_release(struct whatif *whatif)
{
    for (uint32_t i = 0; i < whatif->count; i++) {
        result_release(&whatif->results[i]);
    }
    for (uint32_t i = 0; i < whatif->axis_count; i++) {
        axis_release(&whatif->axes[i]);
    }
    free(whatif->results);
    scenario_release(&whatif->scenario);
    *whatif = (struct whatif){.count = 0};
}
