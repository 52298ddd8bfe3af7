#include "cli/plan/plan_report.h"

#include "base/text.h"
#include "cli/frame/drawn.h"
#include "answer/table.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"

enum { ROOM = 2048 };

/* The metric of a target over the draws: "tpot_ms 58.1 ± 2.3, 49 - 70". */
static bool say_figure(const struct target *target, const struct result *result, char text[ROOM],
                       struct error *why)
{
    char mean[DRAWN_TEXT], span[DRAWN_TEXT];
    const char *ends;
    enum drawn drawn = target_drawn(target);
    if (drawn == DRAWN_COUNT || drawn_mean(result, drawn, mean) == NULL) {
        return true;
    }
    if (!drawn_span(result, drawn, span, &ends, why)) {
        return false;
    }
    text_append(text, ROOM, "; %s %s%s%s", column_kinds[target->column].name, mean,
                ends != NULL ? ", " : "", ends != NULL ? ends : "");
    return true;
}

/* Write "retroinfer with a budget of 8.96 %: 14 of 20 draws meet all targets; tpot_ms 58.1 ± 2.3,
 * 49 - 70". `*said` is false if this value has no draws. */
static bool plan_draws_say(const struct planning *planning, const struct targets *targets,
                           const struct quest *quest, char text[ROOM], bool *said,
                           struct error *why)
{
    char name[PLAN_NAME], label[64];
    uint32_t value = quest->found != PLANNING_NONE ? quest->found : quest->nearest;
    *said = value != PLANNING_NONE && quest->results[value].draws.count > 0;
    if (!*said) {
        return true;
    }
    const struct result *result = &quest->results[value];
    const char *at = quest_label(quest, planning->maximise, value, label, sizeof label);
    plan_name_quest(planning, quest, name);
    snprintf(text, ROOM, "%s%s%s%s%s: %u of %u draws meet all targets", name,
             at != NULL ? " with a " : "", at != NULL ? plan_axis(planning) : "",
             at != NULL ? " of " : "", at != NULL ? at : "", targets_count_met(targets, result),
             result->draws.count);
    bool good = true;
    for (uint32_t i = 0; good && i < targets->count; i++) {
        good = say_figure(&targets->all[i], result, text, why);
    }
    return good;
}

bool plan_draws_print(const struct planning *planning, const struct targets *targets, FILE *out,
                      struct error *why)
{
    bool good = true, any = false;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        char text[ROOM];
        bool said = false;
        good = planning->quests[i].search.count == 0 ||
               plan_draws_say(planning, targets, &planning->quests[i], text, &said, why);
        if (said && good) {
            fputs(any ? "" : "\n", out);
            table_line("", text, out);
            any = true;
        }
    }
    if (any) {
        table_line(
            "",
            "each draw varies the machine's uncertain figures and a server's arrivals; each "
            "metric is shown as its mean with the 95 % interval, and the range of nine in ten "
            "draws",
            out);
    }
    return good;
}
