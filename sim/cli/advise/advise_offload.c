/* Should KV leave the GPU, and what else would do. */
#include "cli/advise/advise_verdict.h"

#include "cli/advise/advise_words.h"

#include <string.h>

/* ---- offloading ---- */

/* It brings KV or weights from outside HBM in each step: in code that runs, or on paper only. */
static bool advise_offload_has_link(const struct search *search)
{
    return search->candidate->traits.offloads && !advice_on_paper(search);
}

static bool offloads_on_paper(const struct search *search)
{
    return search->candidate->traits.offloads && advice_on_paper(search);
}

/* A server that keeps KV of ended requests in host memory. */
static bool has_tiers(const struct search *search)
{
    return search->candidate->traits.tiers && advice_starts(search);
}

/* The answer, against plain vLLM if that fits. */
static void advise_offload_say_best(const struct advice *advice, const struct search *offloading,
                                    struct frame *verdict, char text[VERDICT_TEXT])
{
    const struct search *plain = advice_plain(advice);
    char phrase[ADVISE_PHRASE], sequences[ADVISE_NUMBER];
    const struct result *result = advice_result(offloading);
    const char *name = offloading->candidate->system;
    frame_text(verdict, VERDICT_offload_system, name);
    if (advice_result(plain) == NULL) {
        SAY(text, "it takes offloading: %s (%s) makes %s", name,
            advice_starts(offloading) ? offloading->candidate->traits.available : "research code",
            advise_rate(advice, offloading, &advice->form, phrase));
        return;
    }
    struct advise_ratio ratio =
        advise_ratio(advice, offloading, &advice->form, plain, &advice->form);
    frame_range(verdict, VERDICT_offload_times_plain, ratio.times, ratio.low, ratio.high);
    SAY(text, "%s: %s, the best that offloads, reaches %s",
        ratio.tie                   ? "no gain"
        : ratio.times <= 1          ? "no"
        : advice_starts(offloading) ? "yes"
                                    : "only in research code",
        name, advise_reach(&ratio, phrase));
    if (!advice->serves) {
        SAY(text, " with %s", advise_sequences(result, sequences));
    }
}

static void say_paper(const struct advice *advice, const struct search *runs,
                      char text[VERDICT_TEXT])
{
    const struct search *paper = advice_best(advice, offloads_on_paper);
    char phrase[ADVISE_PHRASE];
    if (paper == NULL || (runs != NULL && advice_rate(advice, paper, &advice->form) <=
                                              advice_rate(advice, runs, &advice->form))) {
        return;
    }
    SAY(text, "; on paper only, %s: %s", paper->candidate->system,
        advise_rate(advice, paper, &advice->form, phrase));
}

static bool advise_offload_is_lossy(const struct result *result)
{
    const struct cell *lossless = result != NULL ? &result->cells[COLUMN_LOSSLESS] : NULL;
    return lossless != NULL && lossless->set && strcmp(lossless->text, "lossy") == 0;
}

/* What a lossy search comes nearest with, if that has too little of the mass; else NULL. */
static const struct result *lossy_miss(const struct advice *advice, const struct search *search)
{
    const struct result *nearest =
        search->nearest != PLANNING_NONE ? &search->results[search->nearest] : NULL;
    bool short_of = false;
    for (uint32_t i = 0; advise_offload_is_lossy(nearest) && i < advice->targets.count; i++) {
        const struct target *target = &advice->targets.all[i];
        short_of = short_of ||
                   (target->column == COLUMN_MASS_RECALL && target_violation(target, nearest) > 0);
    }
    return short_of ? nearest : NULL;
}

/* Lossy systems were admitted, and none attends to enough of the mass. Returns whether it is so. */
static bool say_lossy(const struct advice *advice, char text[VERDICT_TEXT])
{
    const struct search *most = NULL;
    double mass = -1, bound = 0;
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        const struct result *miss = lossy_miss(advice, search);
        if (advise_offload_is_lossy(advice_result(search))) {
            return false;
        }
        if (miss != NULL && miss->cells[COLUMN_MASS_RECALL].real > mass) {
            mass = miss->cells[COLUMN_MASS_RECALL].real;
            most = search;
        }
    }
    for (uint32_t i = 0; i < advice->targets.count; i++) {
        const struct target *target = &advice->targets.all[i];
        bound = target->column == COLUMN_MASS_RECALL ? target->bound : bound;
    }
    if (most != NULL) {
        SAY(text, " Lossy: none reaches %g %% with its default settings; nearest: %s, %.1f %%.",
            100 * bound, most->candidate->system, 100 * mass);
    }
    return most != NULL;
}

/* Host memory for prompts that begin alike. */
static void say_tiers(const struct advice *advice, struct frame *verdict, char text[VERDICT_TEXT])
{
    const struct search *tiers = advice_best(advice, has_tiers), *plain = advice_plain(advice);
    char times[ADVISE_PHRASE];
    if (tiers == NULL) {
        return;
    }
    if (!advice->serves) {
        SAY(text, " Host memory for prompts that begin alike: --workload weighs it.");
    } else if (advice_result(plain) != NULL) {
        struct advise_ratio ratio =
            advise_ratio(advice, tiers, &advice->form, plain, &advice->form);
        frame_text(verdict, VERDICT_tiers_system, tiers->candidate->system);
        frame_range(verdict, VERDICT_tiers_times_plain, ratio.times, ratio.low, ratio.high);
        SAY(text, " KV in host memory for prompts that begin alike (%s): %s.",
            tiers->candidate->system, advise_times(&ratio, times));
    }
}

void advise_say_offload(const struct advice *advice, struct frame *verdict)
{
    char text[VERDICT_TEXT] = "";
    const struct search *runs = advice_best(advice, advise_offload_has_link);
    if (runs != NULL) {
        advise_offload_say_best(advice, runs, verdict, text);
    } else {
        SAY(text, "%s",
            advice->serves ? "no system that serves requests offloads decode within the limits here"
                           : "no system that one can run offloads decode within the limits here");
    }
    say_paper(advice, runs, text);
    SAY(text, ".");
    bool lossy = say_lossy(advice, text);
    if (advice->serves || (!lossy && (runs == NULL || !advice_starts(runs)))) {
        say_tiers(advice, verdict, text);
    }
    frame_text(verdict, VERDICT_offload, text);
}

/* ---- what else would do ---- */

/* A change when nothing fits without it. */
static void say_rescue(const struct advice *advice, enum advice_change change,
                       char text[VERDICT_TEXT])
{
    const struct advice_trial *trial = &advice->changes[change];
    const struct search *search = advice_trial_search(trial);
    char name[ADVISE_PHRASE], rate[ADVISE_PHRASE];
    advise_change(advice, change, false, name);
    if (advice_result(search) != NULL) {
        SAY(text, "%s%s: ", text[0] == '\0' ? "it fits: " : "; ", name);
        if (advice->serves) {
            SAY(text, "up to %s requests a second, ", search_text(search, true, search->found));
        }
        SAY(text, "%s", advise_rate(advice, search, &trial->form, rate));
    }
}

static void say_change(const struct advice *advice, enum advice_change change,
                       char text[VERDICT_TEXT])
{
    const struct advice_trial *trial = &advice->changes[change];
    const struct search *search = advice_trial_search(trial), *plain = advice_plain(advice);
    char name[ADVISE_PHRASE], times[ADVISE_PHRASE], number[ADVISE_NUMBER];
    if (advice_result(search) == NULL) {
        return;
    }
    struct advise_ratio ratio = advise_ratio(advice, search, &trial->form, plain, &advice->form);
    advise_change(advice, change, false, name);
    SAY(text, "%s%s: %s", text[0] == '\0' ? "" : "; ", name, advise_times(&ratio, times));
    if (change == ADVICE_MORE_GPUS) {
        double gpus = (double)trial->form.gpus / advice->form.gpus;
        SAY(text, ", %s times a GPU", advise_number(ratio.times / gpus, number));
    }
    if (!advice->serves) {
        SAY(text, ", %s", advise_sequences(advice_result(search), number));
    }
}

/* Nothing fits, and no change helps. */
static void advise_offload_say_none(const struct advice *advice, char text[VERDICT_TEXT])
{
    char name[ADVISE_PHRASE];
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        if (advice->changes[i].tried) {
            advise_change(advice, (enum advice_change)i, false, name);
            SAY(text, "%s%s", text[0] == '\0' ? "none alone helps: " : ", ", name);
        }
    }
}

void advise_say_instead(const struct advice *advice, struct frame *verdict)
{
    char text[VERDICT_TEXT] = "";
    bool fits = advice_result(advice_plain(advice)) != NULL;
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        if (advice->changes[i].tried) {
            (fits ? say_change : say_rescue)(advice, (enum advice_change)i, text);
        }
    }
    if (!fits && text[0] == '\0') {
        advise_offload_say_none(advice, text);
    }
    if (text[0] != '\0') {
        SAY(text, ".");
        frame_text(verdict, VERDICT_instead, text);
    }
}
