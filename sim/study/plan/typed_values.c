/* Check the values that a user typed for the axis of a plan. A value that is invalid for every
 * candidate is a mistake.
 *
 * For KEY=[A, B] every value is checked; for KEY=FROM:TO only the two ends, because nobody typed
 * the values between. Candidates are asked one after the other, until one can have the value, even
 * if it does not fit. */
#include "study/plan/planning_parts.h"

#include "study/whatif/planned.h"

#include <stdio.h>
#include <string.h>

/* Can this candidate have the value? */
static bool can_have(const struct planning *planning, const struct search *search, uint32_t value,
                     struct error *refused)
{
    struct scenario point;
    struct planned own;
    bool can = search_scenario(search, planning->maximise, value, &point, refused);
    if (can) {
        can = planned_point(&point, 0, planning->runs, &own, refused);
        planned_release(&own);
    }
    scenario_release(&point);
    return can;
}

static bool typed_values_check_one(const struct planning *planning, uint32_t value,
                                   struct error *why)
{
    struct error refused = {.found = ""};
    const struct search *first = NULL;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        struct error own;
        if (value >= search->axis.count || search->grid.count == 0) {
            continue;
        }
        if (can_have(planning, search, value, &own)) {
            return true;
        }
        refused = first == NULL ? own : refused;
        first = first == NULL ? search : first;
    }
    if (first == NULL) {
        return true;
    }
    bool is_file = refused.file[0] != '\0' && refused.file[0] != '-';
    error_usage(why, first->axis.option, 0, "'%s' cannot be %s: %s%s%s", first->axis.key,
                search_text(first, planning->maximise, value), is_file ? refused.file : "",
                is_file ? ": " : "", refused.found);
    error_expect(why, "%s", refused.expected);
    return error_nearest(why, refused.nearest);
}

bool typed_values_check(const struct planning *planning, const char *axis, struct error *why)
{
    const char *typed = strchr(axis, '=');
    uint32_t count = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct axis *own = &planning->searches[i].axis;
        count = own->count > count ? own->count : count;
    }
    if (typed == NULL || count == 0) {
        return true;
    }
    uint32_t step = typed[1] == '[' ? 1 : count - 1;
    bool good = true;
    for (uint32_t value = 0; good && value < count; value += step) {
        good = typed_values_check_one(planning, value, why);
    }
    return good;
}
