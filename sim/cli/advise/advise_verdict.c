#include "cli/advise/advise_verdict.h"

#include "base/named.h"
#include "base/node.h"
#include "cli/advise/advise_words.h"
#include "serve/requests/requests.h"
#include "serve/requests/synthetic.h"
#include "study/plan/server_command.h"

#include <stdlib.h>
#include <string.h>

/* Requests that explain a server. */
#define EXPLAINED "100"

static const struct frame_column columns[VERDICT_COLUMNS] = {
#define COLUMN(id, type, meaning) [VERDICT_##id] = {.key = #id, .unit = ANSWER_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [VERDICT_##id] = {.key = #id, .unit = ANSWER_##type, __VA_ARGS__},
#include "answer/verdicts.def"
};

/* Why no command can start the advised run: "" if one can. Engines keep KV in the model's own type
 * or in fp8. */
static bool say_no_start(const struct point *point, char text[VERDICT_TEXT])
{
    enum dtype kv = point->setup.model.kv;
    if (kv == DTYPE_BF16 || kv == DTYPE_FP8) {
        return false;
    }
    SAY(text, "no command: %s keeps KV in bf16 or fp8, not in %s.", point->setup.system.available,
        dtype_name(kv));
    return true;
}

/* Engines refuse a length that the model was not trained to. */
static void say_too_long(const struct point *point, char text[VERDICT_TEXT])
{
    const struct setup *setup = &point->setup;
    uint64_t trained = setup->model.trained_context;
    uint64_t longest = !point_serves(point)                 ? setup->context
                       : point->workload.request_tokens > 0 ? point->workload.request_tokens
                                                            : requests_longest(point->requests);
    char asked[ADVISE_NUMBER], known[ADVISE_NUMBER];
    if (trained > 0 && longest > trained) {
        SAY(text,
            " (the model was trained to %s tokens: the engine refuses %s without an override)",
            advise_tokens(trained, known), advise_tokens(longest, asked));
    }
}

/* The model as a server finds it stands where the preset says MODEL: the id that was typed, or the
 * first that the shipped model has. Several servers are started alike. */
static void write_start(uint32_t servers, const char *model, const char *command,
                        char text[VERDICT_TEXT])
{
    char id[NAMED_SIZE];
    bool has = !named_id(model, "json") && named_first_id(&named_model, model, id);
    const char *at = strstr(command, "MODEL");
    if (servers > 1) {
        SAY(text, "%u times, each on its own GPUs: ", servers);
    }
    if (at == NULL) {
        SAY(text, "%s", command);
    } else {
        SAY(text, "%.*s%s%s", (int)(at - command), command, has ? id : model, at + strlen("MODEL"));
    }
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
                    const struct run_context *runs, struct frame *verdict, struct error *why)
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
        advise_say_limit(advice, &explanation, verdict);
        advise_say_sure(&explanation, &point, verdict);
        explanation_release(&explanation);
    }
    point_release(&point);
    return good;
}

static bool advise_verdict_say_best(const struct advice *advice, const char *model,
                                    const struct run_context *runs, struct frame *verdict,
                                    struct error *why)
{
    const struct search *best = &advice->systems.searches[advice->best];
    char start[VERDICT_TEXT] = "";
    struct scenario scenario;
    bool good =
        search_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
        explain(advice, &scenario, runs, verdict, why) &&
        advise_say_start(&scenario, advice_result(best), model, advice->form.servers, start, why);
    frame_text(verdict, VERDICT_start, start[0] != '\0' ? start : NULL);
    scenario_release(&scenario);
    return good;
}

struct frame *verdict_create(struct error *why)
{
    struct frame *verdict = frame_create(columns, VERDICT_COLUMNS, why);
    frame_row(verdict);
    return verdict;
}

struct frame *advise_verdict(const struct advice *advice, const char *model,
                             const struct run_context *runs, struct error *why)
{
    struct frame *verdict = verdict_create(why);
    advise_say_run(advice, verdict);
    advise_say_offload(advice, verdict);
    advise_say_instead(advice, verdict);
    if (verdict == NULL || !advise_say_fits(advice, verdict, why) ||
        (advice->best != PLANNING_NONE &&
         !advise_verdict_say_best(advice, model, runs, verdict, why))) {
        frame_destroy(verdict);
        return NULL;
    }
    return verdict;
}

bool advise_put_scenario(const struct scenario *scenario, struct frame *frame, uint32_t column,
                         struct error *why)
{
    char *text = node_canonical(scenario->root, why);
    frame_text(frame, column, text);
    free(text);
    return text != NULL;
}
