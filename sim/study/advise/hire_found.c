#include "study/advise/advice.h"
#include "study/advise/hire_parts.h"

#include <math.h>
#include <string.h>

double hire_cost(const struct hire_form *form, uint32_t servers)
{
    return (double)servers * form->gpus * (form->price > 0 ? form->price : 1);
}

const struct result *hire_holds(const struct hire_form *form)
{
    return form->servers > 0 ? &form->runs[form->servers - 1] : NULL;
}

const struct result *hire_misses(const struct hire_form *form)
{
    return form->fewer > 0                     ? &form->runs[form->fewer - 1]
           : form->is_alone && form->alone > 0 ? &form->lonely
                                               : NULL;
}

/* ---- of a machine ---- */

bool hire_on_one_machine(const struct hire_form *a, const struct hire_form *b)
{
    return strcmp(a->candidate->machine, b->candidate->machine) == 0;
}

bool hire_is_first(const struct hire *hire, uint32_t index)
{
    return index == 0 || !hire_on_one_machine(&hire->forms[index], &hire->forms[index - 1]);
}

double hire_found_on(const struct hire *hire, const struct hire_form *form)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *other = &hire->forms[i];
        if (hire_on_one_machine(other, form) && other->servers > 0) {
            least = fmin(least, hire_cost(other, other->servers));
        }
    }
    return least;
}

/* ---- what is better ---- */

/* Of two forms that hold the rate: the cheaper one; at one price the one that holds it amply, then
 * plain vLLM, then fewer servers. */
static bool is_cheaper(const struct hire_form *a, const struct hire_form *b)
{
    double x = hire_cost(a, a->servers), y = hire_cost(b, b->servers);
    bool plain = strcmp(a->candidate->system, ADVICE_PLAIN) == 0;
    bool other = strcmp(b->candidate->system, ADVICE_PLAIN) == 0;
    return x != y                 ? x < y
           : a->ample != b->ample ? a->ample
           : plain != other       ? plain
                                  : a->servers < b->servers;
}

/* By how much the run that hire_misses() gives falls short. */
static double hire_found_violation_of(const struct hire_form *form)
{
    return form->fewer > 0 ? form->grid.violation[form->fewer - 1] : form->alone;
}

/* Of two forms that do not hold it, the one that says more: it was tried whole, and comes nearer. */
static bool says_more(const struct hire_form *a, const struct hire_form *b)
{
    bool tried = hire_misses(a) != NULL, other = hire_misses(b) != NULL;
    return tried != other ? tried
           : tried        ? hire_found_violation_of(a) < hire_found_violation_of(b)
                          : a->gpus > b->gpus;
}

static bool hire_found_is_better(const struct hire_form *a, const struct hire_form *b)
{
    bool holds = a->servers > 0, other = b->servers > 0;
    return holds != other ? holds : holds ? is_cheaper(a, b) : says_more(a, b);
}

void hire_choose(struct hire *hire)
{
    for (uint32_t i = 0; i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        form->ample = form->servers > 0 && targets_ample(&hire->targets, hire_holds(form));
    }
    for (uint32_t i = 0; i < hire->count; i++) {
        bool better = hire->best == HIRE_NONE ||
                      hire_found_is_better(&hire->forms[i], &hire->forms[hire->best]);
        hire->best = hire->forms[i].servers > 0 && better ? i : hire->best;
    }
}

uint32_t hire_best_on(const struct hire *hire, const char *machine)
{
    uint32_t best = HIRE_NONE;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        bool here = strcmp(form->candidate->machine, machine) == 0;
        best = here && (best == HIRE_NONE || hire_found_is_better(form, &hire->forms[best])) ? i
                                                                                             : best;
    }
    return best;
}

/* ---- ties ---- */

/* The hire's cost, as sure as that of its tokens. */
static void cost_figure(const struct hire_form *form, struct tie_figure *out)
{
    double cost = hire_cost(form, form->servers);
    tie_figure(hire_holds(form), COLUMN(cost_per_million_tokens), out);
    double times = cost / out->value;
    bool priced = !isnan(times);
    out->timed = true;
    out->value = cost;
    out->least = priced ? out->least * times : cost;
    out->most = priced ? out->most * times : cost;
}

enum tie hire_tie(const struct hire_form *a, const struct hire_form *b)
{
    struct tie_figure x, y;
    cost_figure(a, &x);
    cost_figure(b, &y);
    return figures_tie(&x, &y);
}
