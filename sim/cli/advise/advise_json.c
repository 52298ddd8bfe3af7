#include "cli/advise/advise_report.h"

#include "base/node.h"
#include "cli/advise/advise_miss.h"
#include "cli/runs/runs_text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const change_names[ADVICE_CHANGES] = {
    [ADVICE_FP8_KV] = "fp8 KV",
    [ADVICE_MORE_GPUS] = "more GPUs",
    [ADVICE_SHORTER] = "shorter context",
    [ADVICE_FP8_WEIGHTS] = "fp8 weights",
};

static json_t *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *real_or_null(double number)
{
    return isnan(number) ? json_null() : json_real(number);
}

/* Set keys in turn; a failed one leaves `*good` false. */
static void put(json_t *object, const char *key, json_t *value, bool *good)
{
    *good = json_object_set_new(object, key, value) == 0 && *good;
}

static bool print_verdict(const struct advise_verdict *verdict, FILE *out, struct error *why)
{
    json_t *parts = json_object(), *object = json_object();
    bool good = parts != NULL && object != NULL;
    for (int part = 0; good && part < VERDICT_PARTS; part++) {
        put(parts, advise_parts[part], text_or_null(verdict->parts[part]), &good);
    }
    put(object, "verdict", parts, &good);
    char *text = good ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text != NULL) {
        fprintf(out, "%s\n", text);
    }
    json_decref(object);
    free(text);
    return text != NULL || error_set(why, NULL, 0, "out of memory: no room for the verdict");
}

/* A row of the answer. */
struct line {
    const char *kind, *change;
    const struct quest *quest;
    const struct advice_form *form;
    bool advised;
};

/* Requests a second of a value of the quest's axis; null without one, or if a batch decodes. */
static json_t *rate_or_null(const struct advice *advice, const struct quest *quest, uint32_t value)
{
    bool rate = advice->serves && value != PLANNING_NONE && quest->axis.count > 0;
    return rate ? json_real(quest_value(quest, true, value)->number) : json_null();
}

/* The scenario of the run at the value found; null without one. */
static json_t *scenario_or_null(const struct advice *advice, const struct quest *quest)
{
    struct scenario scenario;
    struct error unseen;
    if (advice_result(quest) == NULL) {
        return json_null();
    }
    bool good = quest_scenario(quest, advice->serves, quest->found, &scenario, &unseen);
    char *text = good ? node_canonical(scenario.root, &unseen) : NULL;
    json_t *json = text != NULL ? json_string(text) : NULL; /* NULL: put() fails */
    free(text);
    scenario_release(&scenario);
    return json;
}

static void put_line(json_t *object, const struct advice *advice, const struct line *line,
                     bool *good)
{
    const struct quest *quest = line->quest, *plain = advice_plain(advice);
    const struct candidate *candidate = quest->candidate;
    bool both = advice_result(quest) != NULL && advice_result(plain) != NULL;
    double rate = advice_rate(advice, quest, line->form);
    put(object, "kind", json_string(line->kind), good);
    put(object, "system", json_string(candidate->system), good);
    put(object, "hardware", json_string(candidate->machine), good);
    put(object, "change", text_or_null(line->change), good);
    put(object, "servers", json_integer(line->form->servers), good);
    put(object, "gpus", json_integer(line->form->gpus), good);
    put(object, "available", json_string(candidate->facts.available), good);
    put(object, "from", text_or_null(candidate->facts.where), good);
    put(object, "advised", json_boolean(line->advised), good);
    put(object, "left_out", text_or_null(candidate->left_out), good);
    put(object, "error", quest->cannot ? json_string(quest->why.found) : json_null(), good);
    put(object, "tokens_per_s", real_or_null(rate), good);
    put(object, "times_plain", real_or_null(rate / advice_rate(advice, plain, &advice->form)),
        good);
    put(object, "tie", both ? json_boolean(advice_ties(quest, plain)) : json_null(), good);
    put(object, "rate", rate_or_null(advice, quest, quest->found), good);
    put(object, "misses_at", rate_or_null(advice, quest, advise_next_miss(quest)), good);
    put(object, "scenario", scenario_or_null(advice, quest), good);
}

/* The run comes last, written as everywhere else, with the same digits. */
static bool print_line(const struct advice *advice, const struct line *line, FILE *out,
                       struct error *why)
{
    const struct result *run = advice_result(line->quest);
    json_t *object = json_object();
    bool good = object != NULL;
    put_line(object, advice, line, &good);
    char *text = good ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(object);
    if (text == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a system");
    }
    fprintf(out, "%.*s,\"run\":", (int)strlen(text) - 1, text);
    free(text);
    good = run == NULL || run_print_json_object(run, out, why);
    fputs(run == NULL ? "null}\n" : "}\n", out);
    return good;
}

bool advise_print_json(const struct advice *advice, const struct advise_verdict *verdict, FILE *out,
                       struct error *why)
{
    bool good = print_verdict(verdict, out, why);
    for (uint32_t i = 0; good && i < advice->systems.count; i++) {
        const struct line line = {.kind = "system",
                                  .quest = &advice->systems.quests[i],
                                  .form = &advice->form,
                                  .advised = i == advice->best};
        good = print_line(advice, &line, out, why);
    }
    for (uint32_t i = 0; good && i < advice->form_count; i++) {
        const struct advice_trial *form = &advice->forms[i];
        const struct line line = {
            .kind = "form", .quest = advice_trial_quest(form), .form = &form->form};
        good = i == advice->plain || print_line(advice, &line, out, why);
    }
    for (int i = 0; good && i < ADVICE_CHANGES; i++) {
        const struct advice_trial *trial = &advice->changes[i];
        if (trial->tried) {
            const struct line line = {.kind = "change",
                                      .change = change_names[i],
                                      .quest = advice_trial_quest(trial),
                                      .form = &trial->form};
            good = print_line(advice, &line, out, why);
        }
    }
    return good;
}
