#include "cli/advise/advise_hire.h"

#include "base/node.h"
#include "cli/advise/advise_words.h"
#include "serving/serving_outcome.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
#define COLUMN(name, type, what) DATA_##name,
#define SHOWN(name, type, what, ...) DATA_##name,
#include "answer/hire_verdicts.def"
    COLUMNS
};

static const struct frame_column columns[COLUMNS] = {
#define COLUMN(id, type, meaning) [DATA_##id] = {.key = #id, .unit = ANSWER_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [DATA_##id] = {.key = #id, .unit = ANSWER_##type, __VA_ARGS__},
#include "answer/hire_verdicts.def"
};

double hire_hour_cost(const struct hire_form *form)
{
    return form->price > 0 && form->servers > 0 ? hire_cost(form, form->servers) : NAN;
}

double hire_request_cost(const struct hire *hire, const struct hire_form *form)
{
    return hire_hour_cost(form) / 3600 / hire->rate;
}

/* "4 GPUs of h100-sxm as 2 servers of 2 GPUs each" */
static void say_form(const struct hire_form *form, uint32_t servers, char text[VERDICT_TEXT])
{
    struct advice_form shape = {servers, form->gpus};
    char phrase[ADVISE_PHRASE];
    uint32_t gpus = servers * form->gpus;
    SAY(text, "%u GPU%s of %s", gpus, gpus > 1 ? "s" : "", form->candidate->machine);
    if (gpus > 1) {
        SAY(text, " as %s", advise_form(&shape, phrase));
    }
}

static void say_money(const struct hire *hire, const struct hire_form *form,
                      char text[VERDICT_TEXT])
{
    const struct cell *cost = &hire_holds(form)->cells[COLUMN_COST];
    if (form->price <= 0) {
        SAY(text, "no price is known (--price %s=DOLLARS)", form->candidate->machine);
        return;
    }
    SAY(text, "$%.2f an hour, ", hire_cost(form, form->servers));
    if (cost->set) {
        SAY(text, "$%.3g a million output tokens, ", cost->real);
    }
    char request[ADVISE_NUMBER];
    SAY(text, "$%s a request", advise_number(hire_request_cost(hire, form), request));
}

/* An interrupted search says so before it names a cost. */
static void say_undecided(const struct hire *hire, char text[VERDICT_TEXT])
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        open += hire->forms[i].refused[0] == '\0' && !hire->forms[i].decided;
    }
    if (hire->interrupted) {
        SAY(text, "the best so far, while %u of %u forms are not decided: ", open, hire->count);
    }
}

static void say_run(const struct hire *hire, const struct hire_form *best, char text[VERDICT_TEXT])
{
    bool tiers = best->candidate->traits.tiers;
    say_undecided(hire, text);
    say_form(best, best->servers, text);
    SAY(text, ", %s%s, weights in %s: ", best->candidate->system,
        tiers ? " with host memory for prompts that begin alike" : "", best->weights);
    say_money(hire, best, text);
    SAY(text, ".");
}

/* The model as the form has it: a shipped variant, or as it was typed. */
static const char *model_of(const struct hire_form *form, const char *typed)
{
    const struct node *own = node_get(form->candidate->scenario.root, "model");
    const struct node *model = node_get(form->scenario.root, "model");
    bool same = own == NULL || model == NULL || model->kind != NODE_SCALAR ||
                own->kind != NODE_SCALAR || strcmp(own->text, model->text) == 0;
    return same ? typed : model->text;
}

/* What the whole workload took, and what it takes with fewer servers. */
static void say_meets(const struct hire *hire, const struct hire_form *best,
                      char text[VERDICT_TEXT])
{
    char phrase[ADVISE_PHRASE];
    const struct result *result = hire_holds(best);
    advise_meets(&hire->targets, result, phrase);
    SAY(text, "%s%s%" PRId64 " requests at %g a second, all simulated.", phrase,
        phrase[0] != '\0' ? "; " : "", result->cells[COLUMN_REQUESTS].integer, hire->rate);
    if (serving_requests_wanted(result) > 0) {
        SAY(text, " They come for less than ten times as long as one takes: the servers may not "
                  "hold the rate for longer.");
    }
    if (best->fewer > 0) {
        SAY(text, " With %u server%s: %s.", best->fewer, best->fewer > 1 ? "s" : "",
            advise_misses(&hire->targets, hire_misses(best), phrase));
    }
}

/* What the servers have of host memory for prompts, and how little does. */
static void say_host(const struct hire_form *best, struct frame *verdict, char text[VERDICT_TEXT])
{
    uint64_t gib = hire_host_gib(best, best->servers), least = best->least_host_gib;
    if (gib == 0) {
        return;
    }
    SAY(text, " Host memory: %" PRIu64 " GiB a server", gib);
    frame_number(verdict, DATA_host_bytes, (double)(gib << 30));
    if (least > 0) {
        SAY(text, least < gib ? "; %" PRIu64 " GiB do as well" : "; half of it does not do", least);
        frame_number(verdict, DATA_least_host_bytes, (double)(least << 30));
    }
    SAY(text, ".");
}

void hire_say_why(const struct hire *hire, const struct hire_form *form, char text[VERDICT_TEXT])
{
    char phrase[ADVISE_PHRASE], shape[ADVISE_PHRASE];
    const struct result *misses = hire_misses(form);
    const struct advice_form tried = {form->fewer > 0 ? form->fewer : 1, form->gpus};
    if (form->refused[0] != '\0') {
        SAY(text, "%s", form->refused);
    } else if (misses != NULL) {
        SAY(text, "%s%s, weights in %s: %s", form->fewer > 0 ? "" : "a request alone on ",
            advise_form(&tried, shape), form->weights,
            advise_misses(&hire->targets, misses, phrase));
    } else {
        SAY(text, "%s%s", form->decided ? advise_form(&tried, shape) : "not decided",
            form->decided ? " costs more" : "");
    }
}

static void say_other(const struct hire *hire, const struct hire_form *best,
                      const struct hire_form *form, char text[VERDICT_TEXT])
{
    SAY(text, "%s", text[0] != '\0' ? "; " : "");
    if (form->servers == 0) {
        SAY(text, "%s: ", form->candidate->machine);
        hire_say_why(hire, form, text);
        return;
    }
    say_form(form, form->servers, text);
    assert(best != NULL); /* at worst this form */
    const char *third = form->servers * form->gpus == 1 ? "s" : "";
    double times = hire_cost(form, form->servers) / hire_cost(best, best->servers);
    enum tie tie = form->price > 0 ? hire_tie(form, best) : TIE_NONE;
    if (tie != TIE_NONE) {
        SAY(text, " cost%s about the same, too close to call: %s", third, tie_reason(tie));
    } else if (form->price > 0) {
        SAY(text, " cost%s %.*f times as much", third, times < 10, times);
    } else {
        SAY(text, " hold%s it, too", third);
    }
}

/* Other forms of the same machine that cost as much. */
static void hire_words_say_ties(const struct hire *hire, const struct hire_form *best,
                                char text[VERDICT_TEXT])
{
    char shape[ADVISE_PHRASE];
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        const struct advice_form as = {form->servers, form->gpus};
        if (form != best && form->servers > 0 && hire_on_one_machine(form, best) &&
            hire_tie(form, best) != TIE_NONE) {
            SAY(text, "%s %s with %s, weights in %s",
                text[0] != '\0' ? "," : "too close to call:", advise_form(&as, shape),
                form->candidate->system, form->weights);
        }
    }
}

/* What ties on the same machine, and each other machine at its best. */
static void hire_words_say_others(const struct hire *hire, const struct hire_form *best,
                                  char text[VERDICT_TEXT])
{
    if (best != NULL) {
        hire_words_say_ties(hire, best, text);
    }
    for (uint32_t i = 0; i < hire->count; i++) {
        const char *machine = hire->forms[i].candidate->machine;
        if (hire_is_first(hire, i) &&
            (best == NULL || strcmp(machine, best->candidate->machine) != 0)) {
            say_other(hire, best, &hire->forms[hire_best_on(hire, machine)], text);
        }
    }
    if (text[0] != '\0') {
        SAY(text, ".");
    }
}

/* ---- all of it ---- */

static void put_numbers(const struct hire *hire, const struct hire_form *best,
                        struct frame *verdict)
{
    const struct result *result = hire_holds(best);
    frame_text(verdict, DATA_system, best->candidate->system);
    frame_text(verdict, DATA_hardware, best->candidate->machine);
    frame_text(verdict, DATA_weights, best->weights);
    frame_number(verdict, DATA_gpus, best->gpus);
    frame_number(verdict, DATA_servers, best->servers);
    frame_number(verdict, DATA_cost_per_hour, hire_hour_cost(best));
    frame_number(verdict, DATA_cost_per_million_tokens, result_number(result, COLUMN_COST));
    frame_number(verdict, DATA_cost_per_request, hire_request_cost(hire, best));
    advise_put_limits(&hire->targets, result, verdict, DATA_limits);
    if (best->fewer > 0) {
        frame_number(verdict, DATA_fewer, best->fewer);
        advise_put_limits(&hire->targets, hire_misses(best), verdict, DATA_limits_with_fewer);
    }
}

static double assumed_share(const struct result *result)
{
    double share = 0;
    for (uint32_t i = 0; i < result->basis_count; i++) {
        share += strcmp(result->basis[i].name, "assumed") == 0 ? result->basis[i].share : 0;
    }
    return share;
}

/* How near the limits are, beside what is known of the error of these times. */
static void say_sure(const struct hire *hire, const struct hire_form *best, char text[VERDICT_TEXT])
{
    const struct result *result = hire_holds(best);
    char narrow[ADVISE_PHRASE];
    bool known = result->cells[COLUMN_TTFT_BAND].set || result->cells[COLUMN_TPOT_BAND].set;
    if (advise_narrow(&hire->targets, result, narrow)[0] != '\0') {
        SAY(text, "a limit is met narrowly: %s. ", narrow);
    }
    SAY(text, "The error of %s is unknown; %.0f %% of the time is assumed.",
        known ? "99th percentiles" : "these times", 100 * assumed_share(result));
}

static bool hire_words_say_best(const struct hire *hire, const struct hire_form *best,
                                const char *model, struct frame *verdict, struct error *why)
{
    char run[VERDICT_TEXT] = "", meets[VERDICT_TEXT] = "", start[VERDICT_TEXT] = "";
    char sure[VERDICT_TEXT] = "";
    struct scenario scenario;
    say_run(hire, best, run);
    say_meets(hire, best, meets);
    say_host(best, verdict, meets);
    say_sure(hire, best, sure);
    put_numbers(hire, best, verdict);
    frame_text(verdict, DATA_sure, sure);
    bool good = hire_scenario(hire, best, best->servers, &scenario, why) &&
                advise_say_start(&scenario, hire_holds(best), model_of(best, model), best->servers,
                                 start, why);
    scenario_release(&scenario);
    frame_text(verdict, DATA_run, run);
    frame_text(verdict, DATA_meets, meets);
    frame_text(verdict, DATA_start, start[0] != '\0' ? start : NULL);
    return good;
}

static void hire_words_say_none(const struct hire *hire, struct frame *verdict)
{
    if (hire->interrupted) {
        frame_text(verdict, DATA_run, "not decided: the search was interrupted.");
        return;
    }
    frame_textf(verdict, DATA_run,
                "nothing: no form of up to %u GPUs holds %g request%s a second within the limits.",
                hire->most_gpus, hire->rate, hire->rate == 1 ? "" : "s");
}

struct frame *hire_verdict(const struct hire *hire, const char *model, struct error *why)
{
    const struct hire_form *best = hire->best != HIRE_NONE ? &hire->forms[hire->best] : NULL;
    struct frame *verdict = frame_create(columns, COLUMNS, why);
    char others[VERDICT_TEXT] = "";
    bool good = verdict != NULL;
    frame_row(verdict);
    frame_number(verdict, DATA_rate, hire->rate);
    hire_words_say_others(hire, best, others);
    frame_text(verdict, DATA_others, others[0] != '\0' ? others : NULL);
    if (best == NULL) {
        hire_words_say_none(hire, verdict);
    } else if (good) {
        good = hire_words_say_best(hire, best, model, verdict, why);
    }
    if (!good) {
        frame_destroy(verdict);
        return NULL;
    }
    return verdict;
}
