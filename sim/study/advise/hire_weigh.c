#include "study/advise/hire_parts.h"

#include "base/array.h"
#include "serving/serving_outcome.h"
#include "study/plan/lengthen.h"
#include "study/plan/rough.h"

#include <math.h>
#include <stdlib.h>

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

uint32_t hire_likely(const struct hire *hire, uint32_t first)
{
    uint32_t likely = HIRE_NONE;
    double least = INFINITY;
    for (uint32_t i = first;
         i < hire->count && hire_on_one_machine(&hire->forms[i], &hire->forms[first]); i++) {
        double cost = likely_cost(hire, &hire->forms[i]);
        if (may_hold(&hire->forms[i]) && cost < least) {
            least = cost;
            likely = i;
        }
    }
    return likely;
}

/* ---- by its share of the rate ---- */

static bool hire_weigh_begin_form(const struct hire *hire, struct hire_form *form, uint32_t most,
                                  struct error *why)
{
    uint32_t guess = servers_at(hire, form, ROUGH_USUAL);
    guess = guess < most ? guess : most;
    return hire_begin(form, most, guess, 1 + guess / 8, why);
}

static void hire_weigh_end_form(struct hire_form *form)
{
    uint32_t found = grid_found(&form->grid);
    form->guess = found != GRID_NONE ? found + 1 : form->grid.count;
    form->weighed = true;
}

bool hire_weigh_forms(struct sizing *sizing, struct hire_form *const *forms, const uint32_t *most,
                      uint32_t count, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        uint32_t servers = most != NULL ? most[i] : forms[i]->most_servers;
        good = hire_weigh_begin_form(sizing->hire, forms[i], servers, why);
    }
    good = good && hire_search(sizing, HIRE_SHARE, forms, count, why);
    for (uint32_t i = 0; i < count && !*sizing->interrupted; i++) {
        hire_weigh_end_form(forms[i]);
    }
    return good;
}

bool hire_weigh(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    struct hire_form **forms = array_zeroed(hire->count, sizeof(struct hire_form *), why);
    uint32_t count = 1;
    bool good = forms != NULL;
    while (good && count > 0 && !*sizing->interrupted) {
        count = 0;
        for (uint32_t i = 0; i < hire->count; i++) {
            uint32_t likely = hire_is_first(hire, i) ? hire_likely(hire, i) : HIRE_NONE;
            bool open = likely != HIRE_NONE && !hire->forms[likely].weighed &&
                        isinf(hire_found_on(hire, &hire->forms[i]));
            forms[count] = open ? &hire->forms[likely] : NULL;
            count += open;
        }
        good = good && hire_weigh_forms(sizing, forms, NULL, count, why);
    }
    free(forms);
    return good;
}

uint64_t hire_requests_wanted(const struct hire *hire)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        uint32_t likely = hire_is_first(hire, i) ? hire_likely(hire, i) : HIRE_NONE;
        const struct hire_form *form = likely != HIRE_NONE ? &hire->forms[likely] : NULL;
        double taken = form == NULL      ? 0
                       : form->taken > 0 ? form->taken
                                         : form->rough.held / form->rough.most;
        uint64_t wanted = serving_lasting(hire->rate, taken);
        most = form != NULL && wanted > form->requests && wanted > most ? wanted : most;
    }
    return most;
}
