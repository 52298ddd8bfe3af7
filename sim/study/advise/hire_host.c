/* Host memory for prompts that begin alike: what a server has of it, and how little would do. */
#include "study/advise/hire_parts.h"

#include "core/array.h"
#include "study/plan/host_room.h"

bool hire_host_read(const struct point *point, const struct serving_memory *memory,
                    struct hire_form *form, struct error *why)
{
    const struct setup *setup = &point->setup;
    form->of_machine = (uint32_t)host_sharers(setup, form->gpus);
    form->has_lower = false;
    for (int tier = TIER_HOST + 1; form->candidate->traits.tiers && tier < TIER_COUNT; tier++) {
        bool idle = setup->mechanisms.prefix_below[tier] == PREFIX_BELOW_NONE;
        form->has_lower =
            form->has_lower || (idle && profile_states(&setup->profile, tier_kinds[tier].capacity));
    }
    if (!form->candidate->traits.tiers || setup->room[TIER_HOST] > 0) {
        return true;
    }
    form->host_gib = array_zeroed(form->of_machine, sizeof *form->host_gib, why);
    for (uint32_t i = 0; form->host_gib != NULL && i < form->of_machine; i++) {
        form->host_gib[i] = host_most_of(point, host_usable(setup) / (i + 1));
    }
    form->least_host_gib = host_least_gib(point, memory);
    return form->host_gib != NULL;
}

static uint64_t *gib_of(const struct hire_form *form, uint32_t servers)
{
    return &form->host_gib[(servers < form->of_machine ? servers : form->of_machine) - 1];
}

uint64_t hire_host_gib(const struct hire_form *form, uint32_t servers)
{
    return form->host_gib != NULL ? *gib_of(form, servers) : 0;
}

bool hire_host_lay_gib(uint64_t gib, struct scenario *scenario, struct error *why)
{
    return gib == 0 || host_lay(gib, scenario, why);
}

bool hire_host_lay(const struct hire_form *form, uint32_t servers, struct scenario *scenario,
                   struct error *why)
{
    return hire_host_lay_gib(hire_host_gib(form, servers), scenario, why);
}

bool hire_host_lessen(struct sizing *sizing, struct hire_form *form, struct error *why)
{
    uint64_t all = hire_host_gib(form, form->servers);
    uint32_t holds = 0, fails = 1;
    bool good = true, less;
    while (all >> fails > 0 && all >> fails >= form->least_host_gib) {
        fails++;
    }
    while (good && fails - holds > 1 && !*sizing->interrupted) {
        uint32_t halves = (holds + fails) / 2;
        good = hire_try_host(sizing, form, all >> halves, &less, why);
        *(less ? &holds : &fails) = halves;
    }
    form->most_host_gib = all;
    *gib_of(form, form->servers) = all >> holds;
    return good;
}
