#include "study/advise/hire.h"

#include "core/array.h"
#include "predict/result/tie.h"
#include "study/advise/advice_search.h"
#include "study/advise/hire_parts.h"
#include "study/plan/lengthen.h"

#include <math.h>
#include <stdlib.h>

/* ---- the whole workload ---- */

static bool hire_begin_form(struct hire_form *form, uint32_t most, uint32_t guess,
                            struct error *why)
{
    form->runs = array_zeroed(most, sizeof *form->runs, why);
    form->run_count = most;
    return form->runs != NULL && hire_begin(form, most, guess, 1, why);
}

/* What a search that was interrupted tried counts, too. */
static void hire_end_form(struct hire_form *form, bool decided)
{
    uint32_t found = grid_found(&form->grid);
    form->servers = found != GRID_NONE ? found + 1 : 0;
    form->fewer = found != GRID_NONE ? found : form->grid.count;
    while (form->fewer > 0 && !(form->grid.violation[form->fewer - 1] > 0)) {
        form->fewer--;
    }
    form->decided = decided;
    form->searched = false;
}

static bool search_forms(struct sizing *sizing, struct error *why)
{
    bool good = hire_search(sizing, HIRE_WHOLE, why);
    for (uint32_t i = 0; i < sizing->hire->count; i++) {
        if (sizing->hire->forms[i].searched) {
            hire_end_form(&sizing->hire->forms[i], good && !*sizing->interrupted);
        }
    }
    return good;
}

/* ---- an answer on each machine ---- */

/* The form that is probably the cheapest on each machine that has no answer yet. */
static bool confirm(struct sizing *sizing, bool *any, struct error *why)
{
    bool good = true;
    *any = false;
    for (uint32_t i = 0; good && i < sizing->hire->count; i++) {
        struct hire_form *likely = hire_likely(sizing->hire, i);
        if (likely != NULL) {
            *any = true;
            good = hire_begin_form(likely, likely->most_servers, likely->guess, why);
        }
    }
    return good && search_forms(sizing, why);
}

/* A few requests alone missed a limit: whether all do, all must say. */
static bool is_lonely(const struct hire *hire, const struct hire_form *form)
{
    return form->refused[0] == '\0' && form->alone > 0 && !form->is_alone &&
           isinf(hire_found_on(hire, form));
}

/* ---- what else costs as little ---- */

static bool is_open(const struct hire *hire, const struct hire_form *form)
{
    return form->refused[0] == '\0' && !form->decided && !isinf(hire_found_on(hire, form));
}

/* Servers of a form that cost no more than what was found on its machine, or too little more to
 * call. If they miss a limit, the form is dearer. */
static uint32_t servers_within(const struct hire *hire, const struct hire_form *form)
{
    double cost = hire_found_on(hire, form) * (1 + TIE_PERCENT / 100.0);
    double most = floor(cost / hire_cost(form, 1));
    return most < form->most_servers ? (uint32_t)most : form->most_servers;
}

/* The other forms on machines that have an answer. Cheap runs say where to begin: with a form that
 * does not hold, one run of all its servers says so. */
static bool hire_compare(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    bool good = true;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        if (is_open(hire, form)) {
            uint32_t most = servers_within(hire, form);
            form->decided = most == 0;
            good = most == 0 || hire_weigh_begin(hire, form, most, why);
        }
    }
    good = good && hire_weigh_search(sizing, why);
    for (uint32_t i = 0; good && i < hire->count && !*sizing->interrupted; i++) {
        struct hire_form *form = &hire->forms[i];
        good = !is_open(hire, form) ||
               hire_begin_form(form, servers_within(hire, form), form->guess, why);
    }
    return good && (*sizing->interrupted || search_forms(sizing, why));
}

/* ---- the length of the workload ---- */

/* One workload for all forms. */
static bool hire_lengthen(struct hire *hire, struct error *why)
{
    bool good = true, sessions = lengthen_has_sessions(&hire->forms[0].scenario);
    uint64_t more = lengthen_spare(hire_requests_wanted(hire));
    more = sessions && more < LENGTHEN_SESSIONS ? LENGTHEN_SESSIONS : more;
    if (!lengthen_may(&hire->forms[0].scenario) || more == 0) {
        return true;
    }
    more = more < LENGTHEN_MOST ? more : LENGTHEN_MOST;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        hire->forms[i].requests = more;
        good = lengthen_set(&hire->forms[i].scenario, more, why);
    }
    return good;
}

/* ---- all of it ---- */

/* Until each machine has an answer, or no form of it is left. */
static bool find_any(struct sizing *sizing, struct error *why)
{
    bool good = true, any = true, first = true;
    while (good && any && !*sizing->interrupted) {
        good = hire_weigh(sizing, why) &&
               (!first || *sizing->interrupted || hire_lengthen(sizing->hire, why)) &&
               (*sizing->interrupted || confirm(sizing, &any, why));
        first = false;
        if (good && !any && !*sizing->interrupted) {
            good = hire_try_forms(sizing, HIRE_ALL_ALONE, is_lonely, why);
            for (uint32_t i = 0; i < sizing->hire->count; i++) {
                any = any || hire_likely(sizing->hire, i) != NULL;
            }
        }
    }
    return good;
}

bool hire_run(const struct scenario *scenario, const struct hire_options *options, struct hire *out,
              bool *interrupted, struct error *why)
{
    struct sizing sizing = {
        .hire = out, .options = options, .sources = scenario->sources, .interrupted = interrupted};
    *out = (struct hire){.best = HIRE_NONE, .rate = options->rate, .targets = options->targets};
    out->most_gpus = options->most_gpus > 0 ? options->most_gpus : HIRE_MOST_GPUS;
    *interrupted = false;
    targets_without_queue(&options->targets, &sizing.times);
    bool good = hire_list_forms(scenario, options, out, why) && hire_survey(&sizing, why) &&
                (*interrupted || find_any(&sizing, why)) &&
                (*interrupted || hire_compare(&sizing, why));
    if (good) {
        hire_choose(out);
    }
    struct hire_form *best = out->best != HIRE_NONE ? &out->forms[out->best] : NULL;
    good = good && (best == NULL || best->host_gib == NULL || *interrupted ||
                    hire_host_lessen(&sizing, best, why));
    out->interrupted = *interrupted;
    free(sizing.tries);
    return good;
}

void hire_release(struct hire *hire)
{
    for (uint32_t i = 0; i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        for (uint32_t j = 0; form->runs != NULL && j < form->run_count; j++) {
            result_release(&form->runs[j]);
        }
        free(form->runs);
        free(form->host_gib);
        grid_release(&form->grid);
        result_release(&form->lonely);
        scenario_release(&form->scenario);
    }
    free(hire->forms);
    candidates_destroy(hire->candidates, hire->candidate_count);
    *hire = (struct hire){.best = HIRE_NONE};
}

bool hire_scenario(const struct hire *hire, const struct hire_form *form, uint32_t servers,
                   struct scenario *out, struct error *why)
{
    return scenario_copy(&form->scenario, out, why) &&
           advice_set_number(out, "rate", hire->rate, why) &&
           (servers == 1 || advice_set_number(out, "replicas", servers, why)) &&
           hire_host_lay(form, servers, out, why);
}
