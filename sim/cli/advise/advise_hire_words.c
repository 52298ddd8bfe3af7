#include "cli/advise/advise_hire_words.h"

#include "base/node.h"
#include "base/text.h"
#include "cli/advise/advise_miss.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAMED = 3 };

const char *const hire_parts[HIRE_PARTS] = {
    [HIRE_RUN] = "run",
    [HIRE_MEETS] = "meets",
    [HIRE_OTHERS] = "others",
    [HIRE_START] = "start",
};

double hire_request_cost(const struct hire *hire, const struct hire_form *form)
{
    return form->price > 0 && form->servers > 0 ? hire_cost(form, form->servers) / 3600 / hire->rate
                                                : NAN;
}

int hire_cost_digits(double dollars)
{
    return (int)fmax(2, 1 - floor(log10(dollars)));
}

/* "4 GPUs of h100-sxm as 2 servers of 2 GPUs each" */
static void say_form(const struct hire_form *form, uint32_t servers, char text[VERDICT_TEXT])
{
    struct advice_form shape = {servers, form->gpus};
    char phrase[ADVISE_PHRASE];
    uint32_t gpus = servers * form->gpus;
    text_append(text, VERDICT_TEXT, "%u GPU%s of %s", gpus, gpus > 1 ? "s" : "",
                form->candidate->machine);
    if (gpus > 1) {
        text_append(text, VERDICT_TEXT, " as %s", advise_form(&shape, phrase));
    }
}

static void say_money(const struct hire *hire, const struct hire_form *form,
                      char text[VERDICT_TEXT])
{
    const struct cell *cost = &hire_holds(form)->cells[COLUMN_COST];
    if (form->price <= 0) {
        text_append(text, VERDICT_TEXT, "no price is known (--price %s=DOLLARS)",
                    form->candidate->machine);
        return;
    }
    text_append(text, VERDICT_TEXT, "$%.2f an hour, ", hire_cost(form, form->servers));
    if (cost->set) {
        text_append(text, VERDICT_TEXT, "$%.3g a million tokens, ", cost->real);
    }
    double cost_of_one = hire_request_cost(hire, form);
    text_append(text, VERDICT_TEXT, "$%.*f a request", hire_cost_digits(cost_of_one), cost_of_one);
}

static void say_run(const struct hire *hire, const struct hire_form *best, char text[VERDICT_TEXT])
{
    bool tiers = best->candidate->facts.tiers;
    say_form(best, best->servers, text);
    text_append(text, VERDICT_TEXT, ", %s%s, weights in %s: ", best->candidate->system,
                tiers ? " with host memory for prompts that begin alike" : "", best->weights);
    say_money(hire, best, text);
    text_append(text, VERDICT_TEXT, ".");
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
    text_append(text, VERDICT_TEXT, "%s%s%" PRId64 " requests at %g a second, all simulated.",
                phrase, phrase[0] != '\0' ? "; " : "", result->cells[COLUMN_REQUESTS].integer,
                hire->rate);
    if (best->fewer > 0) {
        text_append(text, VERDICT_TEXT, " With %u server%s: %s.", best->fewer,
                    best->fewer > 1 ? "s" : "",
                    advise_misses(&hire->targets, hire_misses(best), phrase));
    }
}

void hire_say_why(const struct hire *hire, const struct hire_form *form, char text[VERDICT_TEXT])
{
    char phrase[ADVISE_PHRASE], shape[ADVISE_PHRASE];
    const struct result *misses = hire_misses(form);
    const struct advice_form tried = {form->fewer > 0 ? form->fewer : 1, form->gpus};
    if (form->refused[0] != '\0') {
        text_append(text, VERDICT_TEXT, "%s", form->refused);
    } else if (misses != NULL) {
        text_append(text, VERDICT_TEXT, "%s%s, weights in %s: %s",
                    form->fewer > 0 ? "" : "a request alone on ", advise_form(&tried, shape),
                    form->weights, advise_misses(&hire->targets, misses, phrase));
    } else {
        text_append(text, VERDICT_TEXT, "%s%s",
                    form->decided ? advise_form(&tried, shape) : "not decided",
                    form->decided ? " costs more" : "");
    }
}

static void say_other(const struct hire *hire, const struct hire_form *best,
                      const struct hire_form *form, char text[VERDICT_TEXT])
{
    text_append(text, VERDICT_TEXT, "%s", text[0] != '\0' ? "; " : "");
    if (form->servers == 0) {
        text_append(text, VERDICT_TEXT, "%s: ", form->candidate->machine);
        hire_say_why(hire, form, text);
        return;
    }
    say_form(form, form->servers, text);
    const char *third = form->servers * form->gpus == 1 ? "s" : "";
    double times = hire_cost(form, form->servers) / hire_cost(best, best->servers);
    enum tie tie = form->price > 0 ? hire_tie(form, best) : TIE_NONE;
    if (tie != TIE_NONE) {
        text_append(text, VERDICT_TEXT, " cost%s about the same, too close to call: %s", third,
                    tie_reason(tie));
    } else if (form->price > 0) {
        text_append(text, VERDICT_TEXT, " cost%s %.*f times as much", third, times < 10, times);
    } else {
        text_append(text, VERDICT_TEXT, " hold%s it, too", third);
    }
}

/* Other forms of the same machine that cost as much. */
static void say_ties(const struct hire *hire, const struct hire_form *best, char text[VERDICT_TEXT])
{
    char shape[ADVISE_PHRASE];
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        const struct advice_form as = {form->servers, form->gpus};
        if (form != best && form->servers > 0 && hire_on_one_machine(form, best) &&
            hire_tie(form, best) != TIE_NONE) {
            text_append(text, VERDICT_TEXT, "%s %s with %s, weights in %s",
                        text[0] != '\0' ? "," : "too close to call:", advise_form(&as, shape),
                        form->candidate->system, form->weights);
        }
    }
}

/* What ties on the same machine, and each other machine at its best. */
static void say_others(const struct hire *hire, const struct hire_form *best,
                       char text[VERDICT_TEXT])
{
    if (best != NULL) {
        say_ties(hire, best, text);
    }
    for (uint32_t i = 0; i < hire->count; i++) {
        const char *machine = hire->forms[i].candidate->machine;
        if (hire_is_first(hire, i) &&
            (best == NULL || strcmp(machine, best->candidate->machine) != 0)) {
            say_other(hire, best, &hire->forms[hire_best_on(hire, machine)], text);
        }
    }
    if (text[0] != '\0') {
        text_append(text, VERDICT_TEXT, ".");
    }
}

bool hire_verdict_make(const struct hire *hire, const char *model, struct hire_verdict *out,
                       struct error *why)
{
    const struct hire_form *best = hire->best != HIRE_NONE ? &hire->forms[hire->best] : NULL;
    struct scenario scenario;
    *out = (struct hire_verdict){.parts = {""}};
    say_others(hire, best, out->parts[HIRE_OTHERS]);
    if (best == NULL && hire->interrupted) {
        text_append(out->parts[HIRE_RUN], VERDICT_TEXT, "not decided: the search was interrupted.");
        return true;
    }
    if (best == NULL) {
        text_append(out->parts[HIRE_RUN], VERDICT_TEXT,
                    "nothing: no form of up to %u GPUs holds %g request%s a second within the "
                    "limits.",
                    hire->most_gpus, hire->rate, hire->rate == 1 ? "" : "s");
        return true;
    }
    say_run(hire, best, out->parts[HIRE_RUN]);
    say_meets(hire, best, out->parts[HIRE_MEETS]);
    bool good = hire_scenario(hire, best, best->servers, &scenario, why) &&
                advise_say_start(&scenario, hire_holds(best), model_of(best, model), best->servers,
                                 out->parts[HIRE_START], why);
    scenario_release(&scenario);
    return good;
}
