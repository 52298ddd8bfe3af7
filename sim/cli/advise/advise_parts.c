/* What verdicts about a machine and about a rate have in common. */
#include "cli/advise/advise_answer.h"

#include "core/named.h"
#include "core/node.h"
#include "cli/runs/runs_text.h"
#include "server/requests/requests.h"
#include "predict/server/serving_load.h"
#include "study/plan/server_command.h"
#include "study/plan/target.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct frame_column columns[VERDICT_COLUMNS] = {
#define SENTENCE(id, meaning, text) [VERDICT_##id] = {.key = #id, .title = #id, .words = text},
#define FIELD(id, type, meaning) [VERDICT_##id] = {.key = #id, .unit = UNIT_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [VERDICT_##id] = {.key = #id, .unit = UNIT_##type, __VA_ARGS__},
#define WORD(id, type, ...) [VERDICT_##id] = {.name = #id, .unit = UNIT_##type, __VA_ARGS__},
#include "tables/verdicts.def"
};

/* ---- what was asked ---- */

static const char *scalar_of(const struct scenario *scenario, const char *key)
{
    const struct node *node = node_stated(scenario->root, key);
    return node != NULL && node->kind == NODE_SCALAR ? node->text : NULL;
}

struct frame *verdict_create(const char *model, const struct scenario *asked,
                             const struct scenario *ran, const struct targets *targets,
                             struct error *why)
{
    struct frame *verdict = frame_create(columns, VERDICT_COLUMNS, why);
    char limits[TARGETS_TEXT];
    const char *shape = scalar_of(asked, "model");
    bool other = shape != NULL && strcasestr(model, shape) == NULL;
    frame_row(verdict);
    frame_text(verdict, VERDICT_model, model);
    frame_text(verdict, VERDICT_shape, other ? shape : NULL);
    frame_text(verdict, VERDICT_workload, scalar_of(ran, "workload"));
    frame_text(verdict, VERDICT_targets, targets->count > 0 ? targets_text(targets, limits) : NULL);
    return verdict;
}

/* ---- how to start it ---- */

/* Engines refuse a length that the model was not trained to. */
static void put_too_long(struct frame *verdict, const struct point *point)
{
    const struct setup *setup = &point->setup;
    uint64_t trained = setup->model.trained_context;
    char tokens[ADVISE_WORDS];
    uint64_t longest = !point_serves(point)                 ? setup->context
                       : point->workload.request_tokens > 0 ? point->workload.request_tokens
                                                            : requests_longest(point->requests);
    if (trained > 0 && longest > trained) {
        frame_text(verdict, VERDICT_trained, advise_tokens(trained, tokens));
        frame_text(verdict, VERDICT_longest, advise_tokens(longest, tokens));
    }
}

/* Engines keep KV in the model's own type or in fp8. */
bool verdict_put_start(struct frame *verdict, const struct scenario *scenario,
                       const struct targets *targets, const struct result *result, uint32_t servers,
                       struct error *why)
{
    struct point point;
    struct server_command command;
    if (!server_command(scenario, result, NULL, &command, why) ||
        !scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    enum dtype kv = point.setup.model.kv;
    enum band_load load = serving_band_load(result);
    if (point.setup.drafts.count == 0) {
        advise_put_longer(verdict, &point.bands[load].missed, targets, result);
    }
    if (command.text[0] != '\0' && kv != DTYPE_BF16 && kv != DTYPE_FP8) {
        frame_text(verdict, VERDICT_engine, point.setup.system.available);
        frame_text(verdict, VERDICT_kv, dtype_name(kv));
    } else if (command.text[0] != '\0') {
        frame_number(verdict, VERDICT_copies, servers > 1 ? servers : (double)NAN);
        frame_text(verdict, VERDICT_command, command.text);
        frame_text(verdict, VERDICT_lacks, command.lacks[0] != '\0' ? command.lacks : NULL);
        frame_number(verdict, VERDICT_unnamed, command.needs_checkpoint);
        put_too_long(verdict, &point);
    }
    point_release(&point);
    return true;
}

/* ---- rows ---- */

bool advise_put_run(const struct scenario *scenario, const struct result *run, struct frame *rows,
                    uint32_t scenario_column, uint32_t run_column, struct error *why)
{
    char *text = node_canonical(scenario->root, why);
    frame_text(rows, scenario_column, text);
    bool good = text != NULL && (run == NULL || run_put_json(run, rows, run_column, why));
    free(text);
    return good;
}

const char *advise_tokens(uint64_t tokens, char text[ADVISE_WORDS])
{
    bool whole = tokens % 1024 == 0;
    snprintf(text, ADVISE_WORDS, whole ? "%" PRIu64 "K" : "%" PRIu64,
             whole ? tokens / 1024 : tokens);
    return text;
}

const char *advise_form(const struct advice_form *form, char text[ADVISE_WORDS])
{
    char gpus[32] = "one GPU";
    if (form->gpus > 1) {
        snprintf(gpus, sizeof gpus, "%u GPUs", form->gpus);
    }
    if (form->servers > 1) {
        snprintf(text, ADVISE_WORDS, "%u servers of %s each", form->servers, gpus);
    } else {
        snprintf(text, ADVISE_WORDS, "%s%s", form->gpus > 1 ? "one server of " : "", gpus);
    }
    return text;
}

/* ---- figures of an advice ---- */

/* The factors of the error band of a result's tokens a second; NaN if it is unknown. */
static void read_factors(const struct result *result, double *low, double *high)
{
    const struct target rate = {.column = COLUMN(decode_tokens_per_s)};
    double value = result_cell(result, COLUMN(decode_tokens_per_s))->real, least, most;
    bool known = target_range(&rate, result, &least, &most);
    *low = known ? least / value : NAN;
    *high = known ? most / value : NAN;
}

/* Two GPUs are not one that is twice as fast: answers tie only if they are of as many GPUs. */
struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form)
{
    const struct search *plain = advice_plain(advice);
    double times = advice_rate(advice, search, form) / advice_rate(advice, plain, &advice->form);
    double low, high, plain_low, plain_high;
    bool alike = form->servers == advice->form.servers && form->gpus == advice->form.gpus;
    read_factors(advice_result(search), &low, &high);
    read_factors(advice_result(plain), &plain_low, &plain_high);
    return (struct advise_ratio){.times = times,
                                 .low = times * low / plain_high,
                                 .high = times * high / plain_low,
                                 .tie = alike && advice_ties(search, plain)};
}

void advise_put_rate(const struct advice *advice, const struct search *search,
                     const struct advice_form *form, struct frame *frame, uint32_t column)
{
    double rate = advice_rate(advice, search, form), low, high;
    read_factors(advice_result(search), &low, &high);
    frame_range(frame, column, rate, rate * low, rate * high);
}

double advise_rate_of(const struct advice *advice, const struct search *search, uint32_t value)
{
    bool rate = advice->serves && value != PLANNING_NONE && search->axis.count > 0;
    return rate ? search_value(search, true, value)->number : NAN;
}
