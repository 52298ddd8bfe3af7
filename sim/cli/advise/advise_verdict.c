#include "cli/advise/advise_verdict.h"

#include "base/named.h"
#include "base/text.h"
#include "cli/frame/table.h"
#include "study/plan/server_command.h"

#include <string.h>

enum { INDENT = 9 };

const char *const advise_parts[VERDICT_PARTS] = {
    [VERDICT_RUN] = "run",         [VERDICT_FITS] = "fits",   [VERDICT_OFFLOAD] = "offload",
    [VERDICT_INSTEAD] = "instead", [VERDICT_LIMIT] = "limit", [VERDICT_SURE] = "sure",
    [VERDICT_START] = "start",
};

/* The name of the model stands where the preset says MODEL. */
static void name_model(const char *command, const char *model, char text[VERDICT_TEXT])
{
    const char *at = strstr(command, "MODEL");
    if (at == NULL) {
        snprintf(text, VERDICT_TEXT, "%s", command);
    } else {
        snprintf(text, VERDICT_TEXT, "%.*s%s%s", (int)(at - command), command, model,
                 at + strlen("MODEL"));
    }
}

/* The model as a server finds it: the id that was typed, or the first that the shipped model has.
 * Several servers are started alike. */
static void say_start(const struct advice *advice, const char *model, const char *command,
                      char text[VERDICT_TEXT])
{
    char id[NAMED_SIZE], one[VERDICT_TEXT] = "";
    if (command[0] == '\0') {
        return;
    }
    bool has = !named_id(model, "json") && named_first_id(&named_model, model, id);
    name_model(command, has ? id : model, one);
    if (advice->form.servers > 1) {
        snprintf(text, VERDICT_TEXT, "%u times, each on its own GPUs: ", advice->form.servers);
    }
    text_append(text, VERDICT_TEXT, "%s", one);
}

/* Parts that the advised run itself explains. */
static bool explain(const struct advice *advice, const char *model, const struct scenario *scenario,
                    const struct run_context *runs, struct advise_verdict *out, struct error *why)
{
    struct point point;
    struct explanation explanation;
    char command[SERVER_COMMAND];
    uint64_t pool;
    const struct quest *quest = &advice->systems.quests[advice->best];
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    bool good = explain_run(&point, runs, &explanation, why);
    if (good) {
        advise_say_limit(advice, &explanation, out->parts[VERDICT_LIMIT]);
        advise_say_sure(&explanation, &point, out->parts[VERDICT_SURE]);
        explanation_release(&explanation);
        good = server_command(scenario, advice_result(quest), command, &pool, why);
    }
    if (good) {
        say_start(advice, model, command, out->parts[VERDICT_START]);
    }
    point_release(&point);
    return good;
}

bool advise_verdict_make(const struct advice *advice, const char *model,
                         const struct run_context *runs, struct advise_verdict *out,
                         struct error *why)
{
    *out = (struct advise_verdict){.model = model, .parts = {""}};
    advise_say_run(advice, out->parts[VERDICT_RUN]);
    advise_say_offload(advice, out->parts[VERDICT_OFFLOAD]);
    advise_say_instead(advice, out->parts[VERDICT_INSTEAD]);
    if (!advise_say_fits(advice, out->parts[VERDICT_FITS], why) || advice->best == PLANNING_NONE) {
        return advice->best == PLANNING_NONE;
    }
    const struct quest *best = &advice->systems.quests[advice->best];
    struct scenario scenario;
    bool good = quest_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
                explain(advice, model, &scenario, runs, out, why);
    scenario_release(&scenario);
    return good;
}

void advise_verdict_print(const struct advise_verdict *verdict, FILE *out)
{
    for (int part = 0; part < VERDICT_PARTS; part++) {
        if (verdict->parts[part][0] != '\0') {
            fprintf(out, "%-*s", INDENT, advise_parts[part]);
            table_wrap(verdict->parts[part], INDENT, out);
            fputc('\n', out);
        }
    }
}
