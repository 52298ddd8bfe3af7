#include "cli/advise/advise_verdict.h"

#include "base/named.h"
#include "base/node.h"
#include "base/text.h"
#include "cli/advise/advise_words.h"
#include "answer/table.h"
#include "serve/requests/synthetic.h"
#include "study/plan/server_command.h"

#include <string.h>

enum { INDENT = 9 };

/* Requests that explain a server. */
#define EXPLAINED "100"

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

/* Why no command can start the advised run: "" if one can. Engines keep KV in the model's own type
 * or in fp8. */
static bool say_no_start(const struct point *point, char text[VERDICT_TEXT])
{
    enum dtype kv = point->setup.model.kv;
    if (kv == DTYPE_BF16 || kv == DTYPE_FP8) {
        return false;
    }
    text_append(text, VERDICT_TEXT, "no command: %s keeps KV in bf16 or fp8, not in %s.",
                point->setup.system.available, dtype_name(kv));
    return true;
}

/* Engines refuse a length that the model was not trained to. */
static void say_too_long(const struct point *point, char text[VERDICT_TEXT])
{
    const struct setup *setup = &point->setup;
    uint64_t trained = setup->model.trained_context;
    uint64_t longest = point_serves(point) ? point->workload.request_tokens : setup->context;
    char asked[ADVISE_NUMBER], known[ADVISE_NUMBER];
    if (trained > 0 && longest > trained) {
        text_append(text, VERDICT_TEXT,
                    " (the model was trained to %s tokens: the engine refuses %s without an "
                    "override)",
                    advise_tokens(trained, known), advise_tokens(longest, asked));
    }
}

/* The model as a server finds it: the id that was typed, or the first that the shipped model has.
 * Several servers are started alike. */
static void write_start(uint32_t servers, const char *model, const char *command,
                        char text[VERDICT_TEXT])
{
    char id[NAMED_SIZE], one[VERDICT_TEXT] = "";
    bool has = !named_id(model, "json") && named_first_id(&named_model, model, id);
    name_model(command, has ? id : model, one);
    if (servers > 1) {
        snprintf(text, VERDICT_TEXT, "%u times, each on its own GPUs: ", servers);
    }
    text_append(text, VERDICT_TEXT, "%s", one);
}

bool advise_say_start(const struct scenario *scenario, const struct result *result,
                      const char *model, uint32_t servers, char text[VERDICT_TEXT],
                      struct error *why)
{
    struct point point;
    char command[SERVER_COMMAND];
    uint64_t pool;
    if (!server_command(scenario, result, command, &pool, why) ||
        !scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    if (command[0] != '\0' && !say_no_start(&point, text)) {
        write_start(servers, model, command, text);
        say_too_long(&point, text);
    }
    point_release(&point);
    return true;
}

/* A server is explained by its first requests: each figure of the machine serves them twice more. */
static bool shorten(struct scenario *scenario, struct error *why)
{
    const struct node *workload = node_said(scenario->root, "workload");
    bool made = workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text);
    return !made || node_said(scenario->root, "limit") != NULL ||
           node_set(scenario->root, "limit", EXPLAINED, why);
}

/* Parts that the advised run itself explains. */
static bool explain(const struct advice *advice, const struct scenario *scenario,
                    const struct run_context *runs, struct advise_verdict *out, struct error *why)
{
    struct scenario shorter;
    struct point point;
    struct explanation explanation;
    bool good = scenario_copy(scenario, &shorter, why) && shorten(&shorter, why) &&
                scenario_point(&shorter, 0, &point, why);
    scenario_release(&shorter);
    if (!good) {
        return false;
    }
    good = explain_run(&point, runs, &explanation, why);
    if (good) {
        advise_say_limit(advice, &explanation, out->parts[VERDICT_LIMIT]);
        advise_say_sure(&explanation, &point, out->parts[VERDICT_SURE]);
        explanation_release(&explanation);
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
                explain(advice, &scenario, runs, out, why) &&
                advise_say_start(&scenario, advice_result(best), model, advice->form.servers,
                                 out->parts[VERDICT_START], why);
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
