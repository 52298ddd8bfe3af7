/* Attention mass in a result, and whether the run is long enough to judge it by. */
#include "predict/decode/outcome.h"

#include <math.h>

/* A policy that drops KV has dropped all that it will only when tokens have passed through the
 * whole part of its cache that holds the last ones. A shorter run attends to more than later steps
 * will. Was this one shorter? */
static bool note_horizon(const struct setup *setup, const struct plan *plan, bool mass_known,
                         struct result *result)
{
    const struct mechanisms *m = &setup->mechanisms;
    const struct cohort *longest = &plan->cohorts[plan->cohort_count - 1];
    uint64_t cache = longest->sizes.cache_tokens, run = (uint64_t)plan->warmup + plan->steps;
    if (!mechanisms_offload(m) || m->policy->passes == NULL || cache >= longest->context) {
        return false;
    }
    uint64_t needed = (uint64_t)ceil(m->policy->passes(m->policy_values) * (double)cache);
    if (run >= needed) {
        return false;
    }
    result_note(result, note_make(NOTE_dropping, note_flag(mass_known), note_text(m->policy->name),
                                  note_whole(needed), note_whole(run)));
    result_integer(result, COLUMN(mass_horizon_steps), (int64_t)needed);
    return true;
}

/* Does the system keep last tokens of which the recording says nothing? An imported trace has no
 * window: the share of the window in what its rows leave out is a guess, because nothing says that
 * its rows have the heaviest units. */
static bool lacks_window(const struct setup *setup)
{
    const struct trace_header *header = setup->trace != NULL ? trace_header(setup->trace) : NULL;
    return header != NULL && header->unit_kind == TRACE_POSITIONS && header->recent == 0 &&
           setup_recent(setup) > 0;
}

void outcome_mass(const struct setup *setup, const struct plan *plan, const struct mass *mass,
                  struct result *result)
{
    bool short_run = note_horizon(setup, plan, mass->known, result);
    if (!mass->known) {
        return;
    }
    result_real(result, COLUMN(mass_recall), mass->least);
    if (mass->most > mass->least) {
        result_real(result, COLUMN(mass_recall_most), mass->most);
    }
    if (!short_run && llround(1000 * mass->most) > llround(1000 * mass->least)) {
        result_note(result, lacks_window(setup) ? note_plain(NOTE_window_assumed)
                                                : note_plain(NOTE_mass_least));
    }
    for (uint32_t s = 0; s < plan->steps; s++) {
        result->steps[s].mass_recall = mass->at_step[s];
    }
}
