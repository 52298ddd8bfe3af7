#include "predict/answer.h"

#include "model/sharding.h"
#include "predict/scenario/resolve.h"
#include "predict/server/serving.h"
#include "predict/server/serving_load.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- families: their middle and ranges ---- */

/* The place of a value if all are sorted; equal ones keep their order. */
static uint32_t families_place_of(const double *values, uint32_t count, uint32_t index)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < count; i++) {
        place += values[i] < values[index] || (values[i] == values[index] && i < index);
    }
    return place;
}

/* None of the values is NaN. */
static uint32_t families_middle_of(const double *values, uint32_t count)
{
    uint32_t index = 0;
    while (families_place_of(values, count, index) != count / 2) {
        index++;
    }
    return index;
}

static double family_time(double step, double tpot)
{
    return !isnan(step) ? step : !isnan(tpot) ? tpot : INFINITY;
}

uint32_t families_middle(const struct result *results, uint32_t count)
{
    double times[RESULT_MOST_FAMILIES];
    for (uint32_t i = 0; i < count; i++) {
        times[i] = family_time(result_number(&results[i], COLUMN(step_us)),
                               result_number(&results[i], COLUMN(tpot_ms)));
    }
    return families_middle_of(times, count);
}

uint32_t families_chosen(const struct result *result)
{
    double times[RESULT_MOST_FAMILIES];
    for (uint32_t i = 0; i < result->family_count; i++) {
        times[i] = family_time(result_number_with(result, COLUMN(step_us), i),
                               result_number_with(result, COLUMN(tpot_ms), i));
    }
    return result->family_count > 0 ? families_middle_of(times, result->family_count) : 0;
}

/* The family with the least (or most) of a column; `count` if none has it. */
static uint32_t find_end(const struct result *results, uint32_t count, const struct column *column,
                         bool most)
{
    uint32_t end = count;
    for (uint32_t i = 0; i < count; i++) {
        double value = result_number(&results[i], column);
        double best = end < count ? result_number(&results[end], column) : NAN;
        if (!isnan(value) && (end == count || (most ? value > best : value < best))) {
            end = i;
        }
    }
    return end;
}

void families_write(const struct result *results, const char *const *names, uint32_t count,
                    struct result *out)
{
    for (uint32_t f = 0; f < count; f++) {
        struct result_family *family = &out->families[f];
        snprintf(family->name, sizeof family->name, "%s", names[f]);
        for (uint32_t i = 0; column_ranged(i) != NULL; i++) {
            family->values[i] = result_number(&results[f], column_ranged(i));
        }
    }
    out->family_count = count;
    for (uint32_t i = 0; column_ranged(i) != NULL; i++) { /* last: `out` may be one of them */
        const struct column *column = column_ranged(i);
        uint32_t low = find_end(results, count, column, false);
        /* The family in the middle of a column; `count` if one has none, or if two are in the middle. */
        double values[RESULT_MOST_FAMILIES];
        bool all = true;
        for (uint32_t f = 0; f < count; f++) {
            values[f] = result_number(&results[f], column);
            all = all && !isnan(values[f]);
        }
        uint32_t middle = all && count % 2 == 1 ? families_middle_of(values, count) : count;
        if (low < count) {
            uint32_t high = find_end(results, count, column, true);
            out->cells[column->low->index] = *result_cell(&results[low], column);
            out->cells[column->high->index] = *result_cell(&results[high], column);
        }
        if (middle < count) {
            out->cells[column->index] = *result_cell(&results[middle], column);
        }
    }
    char unfit[RESULT_MOST_FAMILIES * RESULT_NAME * 2] = "";
    for (uint32_t i = 0; i < count; i++) {
        if (!result_ok(&results[i])) {
            name_list_add(unfit, sizeof unfit, names[i]);
        }
    }
    if (unfit[0] != '\0' && result_ok(out)) {
        result_note(out, note_make(NOTE_families_unfit, note_text(unfit)));
    }
}

bool families_write_masses(const struct result *results, uint32_t count, struct result *out,
                           struct error *why)
{
    size_t most = 0;
    for (uint32_t f = 0; f < count; f++) {
        most += results[f].step_count;
    }
    out->masses = array_zeroed(most, sizeof *out->masses, why);
    for (uint32_t f = 0; out->masses != NULL && f < count; f++) {
        for (uint32_t s = 0; s < results[f].step_count; s++) {
            double mass = results[f].steps[s].mass_recall;
            if (!isnan(mass)) {
                out->masses[out->mass_count++] = (struct result_mass){f, s, mass};
            }
        }
    }
    return out->masses != NULL;
}

/* ---- members ---- */

/* A run with the trace of one family, or with the only trace. */
struct member {
    struct point view;
    struct run *run;      /* NULL: a server, of which nothing is kept */
    struct result result; /* of families; that of the answer was handed over */
};

struct answer {
    const struct point *point;
    const struct run_context *context;
    struct member members[POINT_MOST_FAMILIES];
    uint32_t count;
    uint32_t chosen; /* the member whose result is the answer's */
};

/* No band stands on assumptions alone. A share is compared as it is printed, in whole percents. */
static bool has_bands(const struct result *result)
{
    double known = 0;
    for (uint32_t i = 0; i < result->basis_count; i++) {
        bool assumed = strcmp(result->basis[i].name, basis_names[BASIS_ASSUMED]) == 0;
        known += assumed ? 0 : result->basis[i].share;
    }
    return known >= 0.005;
}

void answer_seal(const struct run_hashes *hashes, struct result *result)
{
    memcpy(result->scenario_hash, hashes->scenario, sizeof hashes->scenario);
    memcpy(result->model_hash, hashes->model, sizeof hashes->model);
    memcpy(result->profile_hash, hashes->profile, sizeof hashes->profile);
    memcpy(result->trace_hash, hashes->trace, sizeof hashes->trace);
    memcpy(result->requests_hash, hashes->requests, sizeof hashes->requests);
}

/* Write the hashes of the result's inputs, and its error band. */
static bool write_identity(const struct point *point, struct result *result, struct error *why)
{
    struct run_hashes hashes;
    if (!run_hashes(point, &hashes, why)) {
        return false;
    }
    answer_seal(&hashes, result);
    int length = snprintf(result->scenario, sizeof result->scenario, "%s", point->scenario);
    if (length < 0 || (size_t)length >= sizeof result->scenario) {
        return error_set(why, NULL, 0, "the resolved scenario is longer than %zu bytes",
                         sizeof result->scenario);
    }
    static_assert((int)COLUMN_BANDS == (int)BAND_FIGURE_COUNT, "in the order of the columns");
    const struct column *const columns[COLUMN_BANDS] = {[BAND_RATE] = COLUMN(error_band),
                                                        [BAND_TTFT] = COLUMN(ttft_band),
                                                        [BAND_TPOT] = COLUMN(tpot_band)};
    const struct column *const figures[COLUMN_BANDS] = {[BAND_RATE] = COLUMN(decode_tokens_per_s),
                                                        [BAND_TTFT] = COLUMN(ttft_ms),
                                                        [BAND_TPOT] = COLUMN(tpot_ms)};
    const struct error_band *bands = point->bands[serving_band_load(result)].figure;
    bool stands = point->engine.errors_of != NULL || has_bands(result);
    int64_t counted = 0, sources = 0;
    for (int i = 0; i < COLUMN_BANDS; i++) {
        struct cell *cell = &result->cells[columns[i]->index];
        cell->set = bands[i].figures > 0 && stands && result_cell(result, figures[i])->set;
        if (cell->set) {
            result->band[i][0] = bands[i].least - 1;
            result->band[i][1] = bands[i].most - 1;
            counted += (int64_t)bands[i].figures;
            sources = (int64_t)bands[i].sources > sources ? (int64_t)bands[i].sources : sources;
        }
    }
    if (counted > 0) {
        result_integer(result, COLUMN(error_figures), counted);
        result_integer(result, COLUMN(error_sources), sources);
    }
    return result_text(result, COLUMN(run), hashes.run, why);
}

/* Finish a result that was computed, or release it. */
static bool serving_answer_finish(const struct point *point, struct result *result,
                                  struct error *why)
{
    bool serves = point_serves(point);
    uint64_t servers = serves ? point->workload.replicas : 1;
    char class[ERROR_BAND_NAME];
    result_integer(result, COLUMN(gpus), (int64_t)(model_gpus(&point->setup.model) * servers));
    bool good = write_identity(point, result, why);
    if (point->engine.stand_in != NULL && result_ok(result)) {
        result_note(result,
                    note_make(NOTE_engine_by_another, note_text(point->engine.name),
                              note_text(point->engine.row), note_text(point->engine.stand_in)));
        if (point->engine.earlier != NULL && strcmp(point->engine.stand_in, "earliest") == 0) {
            result_note(result, note_make(NOTE_engine_earlier, note_text(point->engine.name),
                                          note_text(point->engine.earlier)));
        }
    }
    for (uint32_t i = 0; i < point->engine.rule_count && result_ok(result); i++) {
        if ((point->engine.ruled >> i & 1) != 0) {
            result_note(result, note_make(NOTE_engine_rules, note_text(point->engine.name),
                                          note_text(point->engine.rules[i].name)));
        }
    }
    if (!serves && result_cell(result, COLUMN(step_us))->set &&
        !result_cell(result, COLUMN(error_band))->set) {
        point_error_class(point, BAND_LOW, class);
        result_note(result, note_make(NOTE_band_unknown, note_text(class)));
    }
    if (!good) {
        result_release(result);
    }
    return good;
}

/* ---- families ---- */

static bool open_member(struct answer *answer, uint32_t family, struct error *why)
{
    const struct point *point = answer->point;
    struct member *member = &answer->members[family];
    if (!point_view(point, family, &member->view, why)) {
        return false;
    }
    bool serves = point_serves(point);
    member->run =
        serves ? NULL : run_open(&member->view.setup, answer->context, &member->result, why);
    bool good = serves ? serving_run(&member->view, answer->context, &member->result, why)
                       : member->run != NULL;
    if (!good) {
        point_view_release(&member->view);
        bool of_family = point->family_count > 0 && setup_asks_trace(&point->setup);
        if (of_family) {
            struct error fault = *why;
            const char *of = point->families[0].trace == point->families[1].trace
                                 ? "heads of"
                                 : "ensemble, with";
            snprintf(why->found, sizeof why->found, "%s '%s': %.200s", of,
                     point->families[family].name, fault.found);
        }
        return false;
    }
    answer->count = family + 1;
    return true;
}

static bool open_members(struct answer *answer, struct error *why)
{
    uint32_t views = point_views(answer->point);
    for (uint32_t i = 0; i < views; i++) {
        if (!open_member(answer, i, why)) {
            return false;
        }
        /* If hits and masses of a finished run do not depend on the trace, other families have its result. */
        const struct result *result = &answer->members[0].result;
        const struct cell *mass = result_cell(result, COLUMN(mass_recall));
        if (i == 0 && result_ok(result) && !result_cell(result, COLUMN(trace_source))->set &&
            !(mass->set && mass->real < 1)) {
            return true;
        }
    }
    return true;
}

/* The answer's result of those of its members. */
static bool serving_answer_combine(struct answer *answer, struct result *out, struct error *why)
{
    const struct point *point = answer->point;
    struct result results[POINT_MOST_FAMILIES]; /* shallow copies */
    const char *names[POINT_MOST_FAMILIES];
    for (uint32_t i = 0; i < answer->count; i++) {
        results[i] = answer->members[i].result;
        names[i] = point->families[i].name;
    }
    answer->chosen = families_middle(results, answer->count);
    *out = results[answer->chosen];
    result_init(&answer->members[answer->chosen].result);
    bool ok = true;
    if (answer->count > 1) {
        families_write(results, names, answer->count, out);
        ok = families_write_masses(results, answer->count, out, why);
    }
    /* What recordings of other models, and of no rejected drafts (decode/draft/drafts.h), leave open. */
    const struct setup *setup = &point->setup;
    const struct drafts *drafts = &setup->drafts;
    bool carried = result_ok(out) && answer->count > 1 && point_is_ensemble(point);
    if (carried && setup_asks_trace(setup)) {
        double billions = (double)model_parameters(&setup->model) / 1e9;
        result_note(out, note_make(NOTE_model_size, note_real(billions)));
    }
    if (carried && mechanisms_policy(setup->mechanisms)->needs_queries) {
        result_note(out, note_plain(NOTE_eta_carried));
    }
    if (result_cell(out, COLUMN(draft_union))->set && drafts->accepted[drafts->count] < 1) {
        result_note(out, note_make(NOTE_rejected_unrecorded,
                                   note_flag(drafts->rejected == REJECTED_ADJACENT)));
    }
    if (ok && point_is_ensemble(point)) {
        char text[256];
        ensemble_describe(point, text, sizeof text);
        ok = result_text(out, COLUMN(trace), point->setup.trace_name, why) &&
             ((!result_cell(out, COLUMN(trace_source))->set && out->family_count == 0) ||
              result_text(out, COLUMN(trace_source), text, why));
    }
    if (!ok) {
        result_release(out);
        return false;
    }
    return true;
}

/* ---- an answer ---- */

struct answer *answer_open(const struct point *point, const struct run_context *context,
                           struct result *result, struct error *why)
{
    struct answer *answer = array_zeroed(1, sizeof *answer, why);
    if (answer == NULL) {
        return NULL;
    }
    answer->point = point;
    answer->context = context;
    if (!open_members(answer, why) || !serving_answer_combine(answer, result, why) ||
        !serving_answer_finish(point, result, why)) {
        answer_close(answer);
        return NULL;
    }
    return answer;
}

void answer_close(struct answer *answer)
{
    for (uint32_t i = 0; answer != NULL && i < answer->count; i++) {
        struct member *member = &answer->members[i];
        run_close(member->run);
        result_release(&member->result);
        point_view_release(&member->view);
    }
    free(answer);
}

bool answer_run(const struct point *point, const struct run_context *context, struct result *result,
                struct error *why)
{
    struct answer *answer = answer_open(point, context, result, why);
    answer_close(answer);
    return answer != NULL;
}

/* Of a point whose hits need no trace, one family was run for all. */
static const struct member *member_of(const struct answer *answer, uint32_t family)
{
    return &answer->members[answer->count > 1 ? family : 0];
}

bool answer_again(const struct answer *answer, uint32_t family, const struct point *view,
                  struct result *result, struct error *why)
{
    const struct member *member = member_of(answer, family);
    return member->run != NULL ? run_again(member->run, &view->setup, result, why)
                               : serving_again(view, answer->context, result, why);
}

const struct result *answer_planned(const struct answer *answer, uint32_t family)
{
    const struct member *member = member_of(answer, family);
    return member == &answer->members[answer->chosen] ? NULL : &member->result;
}

bool answer_ranges(const struct point *point, double by, const struct run_context *context,
                   const struct result *result, struct run_ranges *ranges, struct error *why)
{
    struct point view;
    if (point_serves(point) && by <= 0) {
        error_usage(why, NULL, 0,
                    "ranges are found for decode steps, and the point has a 'workload'");
        return error_expect(why, "a scenario without 'workload'");
    }
    if (!point_view(point, families_chosen(result), &view, why)) {
        return false;
    }
    bool good = point_serves(point) ? serving_ranges(&view, by, context, ranges, why)
                                    : run_setup_ranges(&view.setup, by, context, ranges, why);
    point_view_release(&view);
    return good;
}
