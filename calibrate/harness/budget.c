#include "calibrate/harness/budget.h"

#define BY_SHARE 0.5
#define FOR_SAMPLES 0.75 /* of the time that is dealt out by shares */

static double shares_of(const struct budget *budgets, uint32_t count)
{
    double shares = 0;
    for (uint32_t i = 0; i < count; i++) {
        shares += budgets[i].group->share;
    }
    return shares;
}

void budget_deal(const struct budget_terms *terms, double now_ns, struct budget *budgets,
                 uint32_t count)
{
    double seconds = (terms->end_ns - now_ns) / 1e9, shares = shares_of(budgets, count);
    seconds = seconds > 0 ? seconds : 0;
    for (uint32_t i = 0; i < count; i++) {
        struct budget *budget = &budgets[i];
        double share = budget->group->share;
        if (terms->end_ns == 0) {
            budget->samples_s = terms->seconds * share;
            continue;
        }
        double by_share = shares > 0 ? seconds * BY_SHARE * share / shares : 0;
        budget->samples_s = by_share * FOR_SAMPLES;
        budget->planned_s = by_share + seconds * (1 - BY_SHARE) / count;
        budget->end_ns = (i > 0 ? budgets[i - 1].end_ns : now_ns) + budget->planned_s * 1e9;
    }
}

double budget_left(const struct budget_terms *terms, const struct budget *budget, double now_ns)
{
    return terms->end_ns > 0 ? (budget->end_ns - now_ns) / 1e9
                             : 2 * budget->samples_s + terms->patience;
}
