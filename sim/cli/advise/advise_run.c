/* What to run, and what the memory holds. */
#include "cli/advise/advise_verdict.h"

#include "base/text.h"
#include "base/units.h"
#include "cli/advise/advise_miss.h"
#include "cli/frame/figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { NAMED = 3 };

/* ---- what to run ---- */

/* A rate is written as it was simulated: whoever rounds it up may miss a limit. */
static void say_batch(const struct advice *advice, const struct quest *quest,
                      char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    const struct result *result = advice_result(quest);
    if (advice->serves) {
        text_append(text, VERDICT_TEXT, " at up to %s requests a second",
                    quest_text(quest, true, quest->found));
    } else {
        text_append(text, VERDICT_TEXT, " with %s at a time%s", advise_sequences(result, number),
                    advice->form.servers > 1 ? " each" : "");
    }
}

static void say_time(const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    if (result->cells[COLUMN_TPOT].set) {
        text_append(text, VERDICT_TEXT, ", %s ms a token",
                    advise_number(result_number(result, COLUMN_TPOT), number));
    }
    if (result->cells[COLUMN_TTFT].set) {
        text_append(text, VERDICT_TEXT, ", %s ms to the first",
                    advise_number(result_number(result, COLUMN_TTFT), number));
    }
}

/* The next rate that was tried, and what misses there. */
static void say_bound(const struct advice *advice, const struct quest *quest,
                      char text[VERDICT_TEXT])
{
    uint32_t next = advice->serves ? advise_next_miss(quest) : PLANNING_NONE;
    char misses[ADVISE_PHRASE];
    if (next != PLANNING_NONE) {
        text_append(text, VERDICT_TEXT, ". At %s: %s", quest_text(quest, true, next),
                    advise_misses(&advice->targets, &quest->results[next], misses));
    }
}

static void say_price(const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    const struct cell *cost = &result->cells[COLUMN_COST];
    if (cost->set) {
        text_append(text, VERDICT_TEXT, ". A million tokens cost $%s",
                    advise_number(cost->real, number));
    } else {
        text_append(text, VERDICT_TEXT, ". No price is known (hardware.price_per_hour)");
    }
}

/* Others that one can start and whose figures differ, but too little to call. */
static void say_ties(const struct advice *advice, const struct quest *best, char text[VERDICT_TEXT])
{
    uint32_t said = 0;
    double rate = advice_rate(advice, best, &advice->form);
    for (uint32_t i = 0; i < advice->systems.count && said < NAMED; i++) {
        const struct quest *quest = &advice->systems.quests[i];
        if (advice_result(quest) != NULL && advice_starts(quest) && advice_ties(quest, best) &&
            advice_rate(advice, quest, &advice->form) != rate) {
            text_append(text, VERDICT_TEXT, "%s%s", said++ == 0 ? ". Too close to call: " : ", ",
                        quest->candidate->system);
        }
    }
}

/* One cannot start it as a server: because it is research code, or exists on paper only. */
static bool is_research(const struct quest *quest)
{
    return !advice_starts(quest) && !advice_on_paper(quest);
}

static bool is_paper(const struct quest *quest)
{
    return !advice_starts(quest) && advice_on_paper(quest);
}

/* They are named only if they are clearly better. */
static void say_better(const struct advice *advice, const struct quest *best,
                       char text[VERDICT_TEXT])
{
    char times[ADVISE_PHRASE];
    for (int paper = 0; paper < 2; paper++) {
        const struct quest *quest = advice_best(advice, paper == 1 ? is_paper : is_research);
        if (quest == NULL || advice_ties(quest, best) ||
            advice_rate(advice, quest, &advice->form) < advice_rate(advice, best, &advice->form)) {
            continue;
        }
        const struct cell *mass = &advice_result(quest)->cells[COLUMN_MASS_RECALL];
        text_append(text, VERDICT_TEXT, ". %s would make %s as many", quest->candidate->system,
                    advise_times(advice, quest, &advice->form, best, &advice->form, times));
        if (mass->set && mass->real < 0.9995) {
            text_append(text, VERDICT_TEXT, ", attending to %.0f %% of the mass", 100 * mass->real);
        }
        text_append(text, VERDICT_TEXT, ", but %s",
                    paper == 1 ? "exists on paper only" : "is research code, no server");
    }
}

/* A target that a request misses although it has the server alone. */
static void say_idle_miss(const struct advice *advice, const struct target *target,
                          const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER], form[ADVISE_PHRASE];
    const char *bound = strpbrk(target->text, "=") + 1;
    double time = result_number(result, target->column);
    bool first = target->column == COLUMN_TTFT_P99, seconds = time >= 1000;
    text_append(text, VERDICT_TEXT,
                "nothing: %s cannot be met at any rate: %s alone takes %s %s%s with %s as %s",
                bound, first ? "one prompt" : "a request",
                advise_number(seconds ? time / 1000 : time, number), seconds ? "s" : "ms",
                first ? "" : " a token", ADVICE_PLAIN, advise_form(&advice->form, form));
}

/* The limits that the nearest run of plain vLLM misses. */
static void say_missed(const struct advice *advice, char text[VERDICT_TEXT])
{
    const struct quest *plain = advice_plain(advice);
    const struct result *result = &plain->results[plain->nearest];
    const struct target *target = advice->targets.all, *end = target + advice->targets.count;
    char misses[ADVISE_PHRASE];
    while (target < end && target_shortfall(target, result) <= 0) {
        target++;
    }
    bool timed =
        target < end && (target->column == COLUMN_TTFT_P99 || target->column == COLUMN_TPOT_P99);
    if (timed && advice_is_idle(plain)) {
        say_idle_miss(advice, target, result, text);
        return;
    }
    text_append(text, VERDICT_TEXT, "nothing: no server of vLLM or SGLang meets the limits");
    if (target < end) {
        text_append(text, VERDICT_TEXT, ": %s comes nearest, with %s", ADVICE_PLAIN,
                    advise_misses(&advice->targets, result, misses));
    }
    if (target < end && advice->serves) {
        text_append(text, VERDICT_TEXT, " at %s requests a second",
                    quest_text(plain, true, plain->nearest));
    }
}

static void say_nothing_fits(const struct advice *advice, char text[VERDICT_TEXT])
{
    if (advice_plain(advice)->nearest != PLANNING_NONE) {
        say_missed(advice, text);
    } else {
        text_append(text, VERDICT_TEXT, "nothing: no server of vLLM or SGLang fits");
    }
    text_append(text, VERDICT_TEXT, ".");
}

void advise_say_run(const struct advice *advice, char text[VERDICT_TEXT])
{
    char phrase[ADVISE_PHRASE];
    if (advice->best == PLANNING_NONE) {
        say_nothing_fits(advice, text);
        return;
    }
    const struct quest *best = &advice->systems.quests[advice->best];
    const struct result *result = advice_result(best);
    text_append(text, VERDICT_TEXT, "%s", best->candidate->system);
    if (advice->form.servers * advice->form.gpus > 1) {
        text_append(text, VERDICT_TEXT, " as %s", advise_form(&advice->form, phrase));
    }
    text_append(text, VERDICT_TEXT, "%s",
                best->candidate->facts.offloads ? "" : ", no offloading,");
    say_batch(advice, best, text);
    text_append(text, VERDICT_TEXT, ": %s", advise_rate(advice, best, &advice->form, phrase));
    say_time(result, text);
    say_bound(advice, best, text);
    say_price(result, text);
    say_ties(advice, best, text);
    say_better(advice, best, text);
    text_append(text, VERDICT_TEXT, ".");
}

/* ---- what fits ---- */

/* How many sequences fit. A run without a workload has no engine that takes memory for itself. */
static void say_most(const struct advice *advice, const struct cell *cells,
                     const struct setup *setup, char text[VERDICT_TEXT])
{
    if (!cells[COLUMN_MAX_BATCH].set) {
        return;
    }
    int64_t most = cells[COLUMN_MAX_BATCH].integer;
    text_append(text, VERDICT_TEXT, most == 1 ? ", so one fits" : ", so %" PRId64 " fit", most);
    if (!advice->serves && setup->system.engine[0] != '\0' && setup->kv_pool_tokens == 0) {
        text_append(text, VERDICT_TEXT,
                    " without the engine's own buffers (--workload counts them)");
    }
}

static void say_room(const struct advice *advice, const struct result *result,
                     const struct setup *setup, char text[VERDICT_TEXT])
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    double hbm = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, &unseen);
    double usable = setup->hbm_usable;
    uint64_t block_tokens = setup->mechanisms.prefix_block;
    char weights[FIGURE], all[FIGURE], may[FIGURE], kv[FIGURE];
    const struct cell *cells = result->cells;
    units_format(hbm, UNIT_BYTES, all, FIGURE);
    units_format(hbm * usable, UNIT_BYTES, may, FIGURE);
    text_append(text, VERDICT_TEXT, "%s of %s of HBM%s usable", may, all,
                advice->form.gpus > 1 ? " a GPU" : "");
    if (figure_bytes(&cells[COLUMN_HBM_WEIGHTS], weights) != NULL) {
        text_append(text, VERDICT_TEXT, ": weights %s", weights);
    }
    if (cells[COLUMN_HBM_KV].set && cells[COLUMN_BATCH].set && cells[COLUMN_HBM_KV].integer > 0) {
        double each = (double)cells[COLUMN_HBM_KV].integer / (double)cells[COLUMN_BATCH].integer;
        text_append(text, VERDICT_TEXT, ", KV %s a sequence%s",
                    units_format(each, UNIT_BYTES, kv, FIGURE),
                    advice->form.gpus > 1 ? " a GPU" : "");
    }
    if (advice->serves && cells[COLUMN_KV_BLOCKS].set) {
        double tokens = (double)cells[COLUMN_KV_BLOCKS].integer * (double)block_tokens;
        text_append(text, VERDICT_TEXT, "; KV has room for %.0f tokens", tokens);
    }
    say_most(advice, cells, setup, text);
    text_append(text, VERDICT_TEXT, ".");
}

/* Why plain vLLM has no result. */
static void say_why(const struct quest *plain, char text[VERDICT_TEXT])
{
    const struct result *first =
        plain->cannot || plain->search.count == 0 ? NULL : &plain->results[0];
    char reason[VERDICT_TEXT];
    text_append(text, VERDICT_TEXT, "%s does not: %s.", ADVICE_PLAIN,
                plain->cannot   ? plain->why.found
                : first == NULL ? plain->candidate->left_out
                                : result_reason(first, reason, sizeof reason));
}

bool advise_say_fits(const struct advice *advice, char text[VERDICT_TEXT], struct error *why)
{
    const struct quest *plain = advice_plain(advice);
    const struct result *result = advice_result(plain);
    struct point point;
    if (result == NULL && plain->nearest == PLANNING_NONE) {
        say_why(plain, text);
        return true;
    }
    if (!scenario_point(&plain->candidate->scenario, 0, &point, why)) {
        return false;
    }
    say_room(advice, result != NULL ? result : &plain->results[plain->nearest], &point.setup, text);
    point_release(&point);
    return true;
}
