#include "predict/server/rejected_drafts.h"

#include <math.h>

/* By so many per cent a rate differs from another; 0 if it differs the other way. */
static uint64_t percents_above(double rate, double other)
{
    return rate > other ? (uint64_t)llround(100 * (rate / other - 1)) : 0;
}

static uint64_t percents_below(double rate, double other)
{
    return rate < other ? (uint64_t)llround(100 * (1 - rate / other)) : 0;
}

bool rejected_drafts_note(const struct setup *setup, const struct run_context *context,
                          struct result *result, struct error *why)
{
    const struct drafts *drafts = &setup->drafts;
    struct setup other = *setup;
    struct result bound;
    if (!result_cell(result, COLUMN(draft_union))->set || drafts->accepted[drafts->count] >= 1) {
        return true;
    }
    bool adjacent = drafts->rejected == REJECTED_ADJACENT;
    other.drafts.rejected = adjacent ? REJECTED_BEFORE : REJECTED_ADJACENT;
    if (!run_setup(&other, context, &bound, why)) {
        return false;
    }
    double own = result_cell(result, COLUMN(decode_tokens_per_s))->real;
    double rate = result_cell(&bound, COLUMN(decode_tokens_per_s))->real;
    result_note(result,
                adjacent ? note_make(NOTE_rejected_adjacent, note_whole(percents_above(rate, own)))
                         : note_make(NOTE_rejected_before, note_whole(percents_below(rate, own))));
    result_release(&bound);
    return true;
}
