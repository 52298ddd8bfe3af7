#include "study/ablate/company.h"

#include "base/array.h"

#include <stdlib.h>

bool company_init(struct company *out, uint32_t mechanisms, struct error *why)
{
    out->mechanisms = mechanisms;
    out->can = array_zeroed((size_t)1 << mechanisms, sizeof *out->can, why);
    return out->can != NULL;
}

void company_release(struct company *company)
{
    free(company->can);
    company->can = NULL;
}

static int size_of(uint32_t set)
{
    return __builtin_popcount(set);
}

uint32_t company_least(const struct company *company, uint32_t group)
{
    uint32_t sets = 1u << company->mechanisms, least = COMPANY_NONE;
    for (uint32_t set = 0; set < sets; set++) {
        if ((set & group) == 0 && company->can[set] && company->can[set | group] &&
            (least == COMPANY_NONE || size_of(set) < size_of(least))) {
            least = set;
        }
    }
    return least;
}

/* The largest set is the one that leaves least out. */
uint32_t company_most(const struct company *company, uint32_t group)
{
    uint32_t all = (1u << company->mechanisms) - 1, least = COMPANY_NONE;
    for (uint32_t out = 0; out <= all; out++) {
        uint32_t set = all & ~out & ~group;
        if ((out & group) == 0 && company->can[set] && company->can[set | group] &&
            (least == COMPANY_NONE || size_of(out) < size_of(least))) {
            least = out;
        }
    }
    return least == COMPANY_NONE ? COMPANY_NONE : all & ~least & ~group;
}
