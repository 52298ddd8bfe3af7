#include "cli/plan/plan_report.h"

#include "cli/plan/shortfall.h"
#include "cli/runs/runs_text.h"
#include "study/plan/server_command.h"
#include "study/plan/verdict.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The finished object; or an error if the library ran out of memory. */
static bool put(json_t *object, const char *key, json_t *value, struct error *why)
{
    return json_object_set_new(object, key, value) == 0 ||
           error_set(why, NULL, 0, "'%s' cannot be written as JSON", key);
}

static json_t *text_or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *list_shortfalls(const struct targets *targets, const struct result *result)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < targets->count; i++) {
        double shortfall = target_shortfall(&targets->all[i], result);
        json_object_set_new(object, targets->all[i].text,
                            isfinite(shortfall) ? json_real(shortfall) : json_null());
    }
    return object;
}

/* The targets whose verdict is closer than the run's error band; null if it has none. */
static json_t *list_near(const struct targets *targets, const struct result *result)
{
    bool any = false;
    for (int i = 0; i < RESULT_BANDS; i++) {
        any = any || result->cells[COLUMN_ERROR_BAND + i].set;
    }
    if (!any) {
        return json_null();
    }
    json_t *list = json_array();
    for (uint32_t i = 0; i < targets->count; i++) {
        if (verdict_is_near(&targets->all[i], result)) {
            json_array_append_new(list, json_string(targets->all[i].text));
        }
    }
    return list;
}

/* Why there is no run to show. */
static json_t *tell_error(const struct planning *planning, const struct targets *targets,
                          const struct quest *quest, uint32_t value)
{
    char text[SHORTFALL_TEXT];
    if (quest->cannot) {
        return json_string(quest->why.found);
    }
    if (value != PLANNING_NONE || quest->search.count == 0) {
        return json_null();
    }
    shortfall_describe(targets, planning->best, &quest->results[0], text);
    return json_string(text);
}

/* The scenario of the value, and the command that starts its server. */
static bool put_scenario(json_t *object, const struct planning *planning, const struct quest *quest,
                         uint32_t value, struct error *why)
{
    char command[SERVER_COMMAND] = "";
    uint64_t pool; /* the run's kv_blocks has it */
    struct scenario point;
    bool made = quest_scenario(quest, planning->maximise, value, &point, why);
    char *text = made ? node_canonical(point.root, why) : NULL;
    bool good = text != NULL && put(object, "scenario", json_string(text), why) &&
                (quest->found == PLANNING_NONE ||
                 server_command(&point, &quest->results[value], command, &pool, why)) &&
                put(object, "server", text_or_null(command), why);
    free(text);
    scenario_release(&point);
    return good;
}

static bool put_value(json_t *object, const struct planning *planning,
                      const struct targets *targets, const struct quest *quest, uint32_t value,
                      struct error *why)
{
    const struct result *result = &quest->results[value];
    bool before = quest->found != SEARCH_NONE && value > 0 && !planning->by_figure;
    return put(object, "value", text_or_null(quest_text(quest, planning->maximise, value)), why) &&
           put(object, "shortfall", list_shortfalls(targets, result), why) &&
           put(object, "within_error_band", list_near(targets, result), why) &&
           put(object, "before",
               before ? json_string(quest_text(quest, planning->maximise, value - 1)) : json_null(),
               why) &&
           put(object, "before_shortfall",
               before ? list_shortfalls(targets, &quest->results[value - 1]) : json_null(), why) &&
           put(object, "draws_met",
               result->draws.count > 0 ? json_integer(targets_count_met(targets, result))
                                       : json_null(),
               why) &&
           (result->family_count == 0 ||
            put(object, "families_met", json_integer(targets_count_families(targets, result)),
                why)) &&
           put_scenario(object, planning, quest, value, why);
}

static bool put_quest(json_t *object, const struct planning *planning,
                      const struct targets *targets, const struct quest *quest, uint32_t value,
                      struct error *why)
{
    bool winner = planning->winner != PLANNING_NONE && quest == &planning->quests[planning->winner];
    bool good = put(object, "system", json_string(quest->candidate->system), why) &&
                put(object, "hardware", json_string(quest->candidate->machine), why) &&
                put(object, "left_out", text_or_null(quest->candidate->left_out), why) &&
                put(object, "error", tell_error(planning, targets, quest, value), why) &&
                put(object, "met", json_boolean(quest->found != PLANNING_NONE), why) &&
                put(object, "winner", json_boolean(winner), why) &&
                put(object, "axis", text_or_null(quest->axis.key), why) &&
                put(object, "tried", json_integer(quest->search.tried), why) &&
                put(object, "of", json_integer(quest->search.count), why) &&
                put(object, "steady", json_boolean(!quest->search.uneven), why);
    return good &&
           (value == PLANNING_NONE || put_value(object, planning, targets, quest, value, why));
}

/* The run comes last, written as everywhere else, with the same digits. */
static bool print_object(const json_t *object, const struct result *run, FILE *out,
                         struct error *why)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (text == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a candidate");
    }
    fprintf(out, "%.*s,\"run\":", (int)strlen(text) - 1, text);
    free(text);
    bool good = run == NULL || run_print_json_object(run, out, why);
    fputs(run == NULL ? "null}\n" : "}\n", out);
    return good;
}

bool plan_print_json(const struct planning *planning, const struct targets *targets, FILE *out,
                     struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        uint32_t value = quest->found != PLANNING_NONE ? quest->found : quest->nearest;
        json_t *object = json_object();
        good =
            put_quest(object, planning, targets, quest, value, why) &&
            print_object(object, value != PLANNING_NONE ? &quest->results[value] : NULL, out, why);
        json_decref(object);
    }
    return good;
}

/* A candidate without a run. */
static bool print_absent(const struct candidate *candidate, const struct error *refused, FILE *out,
                         struct error *why)
{
    json_t *object = json_object();
    bool good = put(object, "system", json_string(candidate->system), why) &&
                put(object, "hardware", json_string(candidate->machine), why) &&
                put(object, "left_out", text_or_null(candidate->left_out), why) &&
                put(object, "error", text_or_null(refused->found), why) &&
                print_object(object, NULL, out, why);
    json_decref(object);
    return good;
}

bool tradeoff_print_json(const struct tradeoff *tradeoff, FILE *out, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < tradeoff->front_count; i++) {
        good = run_print_json(tradeoff->front[i].result, out, why);
    }
    for (uint32_t i = 0; good && i < tradeoff->count; i++) {
        const struct candidate *candidate = &tradeoff->candidates[i];
        if (candidate->left_out[0] != '\0' || tradeoff->why[i].found[0] != '\0') {
            good = print_absent(candidate, &tradeoff->why[i], out, why);
        }
    }
    return good;
}
