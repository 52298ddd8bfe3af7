#include "study/advise/hire_parts.h"

#include "predict/server/serving_load.h"
#include "study/plan/rough.h"

#include <math.h>

/* ---- what a server answers at most ---- */

static bool may_be(const struct hire *hire, const struct hire_form *form)
{
    (void)hire;
    return form->refused[0] == '\0';
}

bool hire_survey(struct sizing *sizing, struct error *why)
{
    return hire_try_forms(sizing, HIRE_AT_ONCE, may_be, why) &&
           (*sizing->interrupted || hire_try_forms(sizing, HIRE_ALONE, may_be, why));
}

/* ---- what is probably the cheapest ---- */

static bool may_hold(const struct hire_form *form)
{
    return form->refused[0] == '\0' && !form->decided && form->alone == 0;
}

/* Servers at a share of what each answers at most. */
static uint32_t servers_at(const struct hire *hire, const struct hire_form *form, double share)
{
    double servers = form->rough.most > 0 ? ceil(hire->rate / (share * form->rough.most)) : 1;
    return servers < form->most_servers ? (uint32_t)servers : form->most_servers;
}

/* Until it is weighed a form may be as cheap as if nothing were limited. */
static double likely_cost(const struct hire *hire, const struct hire_form *form)
{
    return hire_cost(form, form->weighed ? form->guess : servers_at(hire, form, 1));
}

struct hire_form *hire_likely(const struct hire *hire, uint32_t first)
{
    struct hire_form *likely = NULL;
    double least = INFINITY;
    if (!hire_is_first(hire, first) || !isinf(hire_found_on(hire, &hire->forms[first]))) {
        return NULL;
    }
    for (uint32_t i = first;
         i < hire->count && hire_on_one_machine(&hire->forms[i], &hire->forms[first]); i++) {
        double cost = likely_cost(hire, &hire->forms[i]);
        if (may_hold(&hire->forms[i]) && cost < least) {
            least = cost;
            likely = &hire->forms[i];
        }
    }
    return likely;
}

/* ---- by its share of the rate ---- */

bool hire_weigh_begin(const struct hire *hire, struct hire_form *form, uint32_t most,
                      struct error *why)
{
    uint32_t guess = servers_at(hire, form, ROUGH_USUAL);
    guess = guess < most ? guess : most;
    return hire_begin(form, most, guess, 1 + guess / 8, why);
}

bool hire_weigh_search(struct sizing *sizing, struct error *why)
{
    bool good = hire_search(sizing, HIRE_SHARE, why);
    for (uint32_t i = 0; i < sizing->hire->count && !*sizing->interrupted; i++) {
        struct hire_form *form = &sizing->hire->forms[i];
        if (form->searched) {
            uint32_t found = grid_found(&form->grid);
            form->guess = found != GRID_NONE ? found + 1 : form->grid.count;
            form->weighed = true;
            form->searched = false;
        }
    }
    return good;
}

bool hire_weigh(struct sizing *sizing, struct error *why)
{
    bool good = true, any = true;
    while (good && any && !*sizing->interrupted) {
        any = false;
        for (uint32_t i = 0; good && i < sizing->hire->count; i++) {
            struct hire_form *likely = hire_likely(sizing->hire, i);
            if (likely != NULL && !likely->weighed) {
                any = true;
                good = hire_weigh_begin(sizing->hire, likely, likely->most_servers, why);
            }
        }
        good = good && hire_weigh_search(sizing, why);
    }
    return good;
}

uint64_t hire_requests_wanted(const struct hire *hire)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = hire_likely(hire, i);
        if (form != NULL) {
            double taken = form->taken > 0 ? form->taken : form->rough.held / form->rough.most;
            uint64_t wanted = serving_lasting(hire->rate, taken);
            most = wanted > form->requests && wanted > most ? wanted : most;
        }
    }
    return most;
}
