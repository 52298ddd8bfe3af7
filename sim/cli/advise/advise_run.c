/* What to run, and what the memory holds. */
#include "cli/advise/advise_verdict.h"

#include "cli/advise/advise_words.h"

#include <inttypes.h>
#include <math.h>

enum { NAMED = 3 };

/* ---- what to run ---- */

/* A rate is written as it was simulated: whoever rounds it up may miss a limit. */
static void say_batch(const struct advice *advice, const struct search *search,
                      char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    const struct result *result = advice_result(search);
    if (advice->serves) {
        SAY(text, " at up to %s requests a second", search_text(search, true, search->found));
    } else {
        SAY(text, " with %s at a time%s", advise_sequences(result, number),
            advice->form.servers > 1 ? " each" : "");
    }
}

static void say_time(const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    if (result->cells[COLUMN_TPOT].set) {
        SAY(text, ", %s ms a token", advise_number(result_number(result, COLUMN_TPOT), number));
    }
    if (result->cells[COLUMN_TTFT].set) {
        SAY(text, ", %s ms to the first",
            advise_number(result_number(result, COLUMN_TTFT), number));
    }
}

/* The next rate that was tried, and what misses there. */
static void say_bound(const struct advice *advice, const struct search *search,
                      struct frame *verdict, char text[VERDICT_TEXT])
{
    uint32_t next = advice->serves ? advise_next_miss(search) : PLANNING_NONE;
    char misses[ADVISE_PHRASE];
    if (next != PLANNING_NONE) {
        SAY(text, ". At %s: %s", search_text(search, true, next),
            advise_misses(&advice->targets, &search->results[next], misses));
        frame_number(verdict, VERDICT_misses_at, search_value(search, true, next)->number);
        advise_put_limits(&advice->targets, &search->results[next], verdict, VERDICT_limits_there);
    }
}

static void say_price(const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER];
    const struct cell *cost = &result->cells[COLUMN_COST];
    if (cost->set) {
        SAY(text, ". A million output tokens cost $%s", advise_number(cost->real, number));
    } else {
        SAY(text, ". No price is known (hardware.price_per_hour)");
    }
}

/* Others that one can start and whose figures differ, but too little to call. */
static void advise_run_say_ties(const struct advice *advice, const struct search *best,
                                struct frame *verdict, char text[VERDICT_TEXT])
{
    static const struct frame_column columns[] = {{.key = "system"},
                                                  {.key = "tokens_per_s", .unit = ANSWER_REAL}};
    struct error unused;
    struct frame *rows = frame_create(columns, 2, &unused);
    uint32_t said = 0;
    double rate = advice_rate(advice, best, &advice->form);
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        double other = advice_rate(advice, search, &advice->form);
        if (isnan(other) || other == rate || !advice_starts(search) || !advice_ties(search, best)) {
            continue;
        }
        frame_row(rows);
        frame_text(rows, 0, search->candidate->system);
        frame_number(rows, 1, other);
        if (said++ < NAMED) {
            SAY(text, "%s%s", said == 1 ? ". Too close to call: " : ", ",
                search->candidate->system);
        }
    }
    frame_take(verdict, VERDICT_ties, rows);
}

/* One cannot start it as a server: because it is research code, or exists on paper only. */
static bool is_research(const struct search *search)
{
    return !advice_starts(search) && !advice_on_paper(search);
}

static bool is_paper(const struct search *search)
{
    return !advice_starts(search) && advice_on_paper(search);
}

/* They are named only if they are clearly better. */
static void say_better(const struct advice *advice, const struct search *best,
                       char text[VERDICT_TEXT])
{
    char times[ADVISE_PHRASE];
    for (int paper = 0; paper < 2; paper++) {
        const struct search *search = advice_best(advice, paper == 1 ? is_paper : is_research);
        if (search == NULL || advice_ties(search, best) ||
            advice_rate(advice, search, &advice->form) < advice_rate(advice, best, &advice->form)) {
            continue;
        }
        const struct cell *mass = &advice_result(search)->cells[COLUMN_MASS_RECALL];
        struct advise_ratio ratio =
            advise_ratio(advice, search, &advice->form, best, &advice->form);
        SAY(text, ". %s would make %s as many", search->candidate->system,
            advise_times(&ratio, times));
        if (mass->set && mass->real < 0.9995) {
            SAY(text, ", attending to %.0f %% of the mass", 100 * mass->real);
        }
        SAY(text, ", but %s", paper == 1 ? "exists on paper only" : "is research code, no server");
    }
}

/* A target that a request misses although it has the server alone. */
static void say_idle_miss(const struct advice *advice, const struct target *target,
                          const struct result *result, char text[VERDICT_TEXT])
{
    char number[ADVISE_NUMBER], form[ADVISE_PHRASE];
    double time = result_number(result, target->column);
    bool first = target->column == COLUMN_TTFT_P99, seconds = time >= 1000;
    SAY(text, "nothing: %s cannot be met at any rate: %s alone takes %s %s%s with %s as %s",
        target->typed, first ? "one prompt" : "a request",
        advise_number(seconds ? time / 1000 : time, number), seconds ? "s" : "ms",
        first ? "" : " a token", ADVICE_PLAIN, advise_form(&advice->form, form));
}

/* The limits that the nearest run of plain vLLM misses. */
static void say_missed(const struct advice *advice, struct frame *verdict, char text[VERDICT_TEXT])
{
    const struct search *plain = advice_plain(advice);
    const struct result *result = &plain->results[plain->nearest];
    const struct target *target = advice->targets.all, *end = target + advice->targets.count;
    char misses[ADVISE_PHRASE], form[ADVISE_PHRASE];
    advise_put_limits(&advice->targets, result, verdict, VERDICT_limits);
    if (result_number(result, COLUMN_LEFT_OUT) > 0) {
        SAY(text, "nothing: %s as %s holds no rate: %s", ADVICE_PLAIN,
            advise_form(&advice->form, form), advise_misses(&advice->targets, result, misses));
        return;
    }
    while (target < end && target_violation(target, result) <= 0) {
        target++;
    }
    bool timed =
        target < end && (target->column == COLUMN_TTFT_P99 || target->column == COLUMN_TPOT_P99);
    if (timed && advice_is_idle(plain)) {
        say_idle_miss(advice, target, result, text);
        return;
    }
    SAY(text, "nothing: no server of vLLM or SGLang meets the limits");
    if (target < end) {
        SAY(text, ": %s comes nearest, with %s", ADVICE_PLAIN,
            advise_misses(&advice->targets, result, misses));
    }
    if (target < end && advice->serves) {
        SAY(text, " at %s requests a second", search_text(plain, true, plain->nearest));
    }
}

static void put_best(const struct advice *advice, const struct search *best, struct frame *verdict)
{
    const struct result *result = advice_result(best);
    double rate = advice_rate(advice, best, &advice->form), low, high;
    advise_band(result, &low, &high);
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_number(verdict, VERDICT_servers, advice->form.servers);
    frame_number(verdict, VERDICT_gpus, advice->form.gpus);
    if (advice->serves) {
        frame_number(verdict, VERDICT_rate, search_value(best, true, best->found)->number);
    } else {
        frame_number(verdict, VERDICT_batch, result_number(result, COLUMN_BATCH));
    }
    frame_range(verdict, VERDICT_tokens_per_s, rate, rate * low, rate * high);
    frame_number(verdict, VERDICT_tpot_ms, result_number(result, COLUMN_TPOT));
    frame_number(verdict, VERDICT_ttft_ms, result_number(result, COLUMN_TTFT));
    frame_number(verdict, VERDICT_cost_per_million_tokens, result_number(result, COLUMN_COST));
    advise_put_limits(&advice->targets, result, verdict, VERDICT_limits);
}

static void advise_run_say_best(const struct advice *advice, struct frame *verdict,
                                char text[VERDICT_TEXT])
{
    char phrase[ADVISE_PHRASE];
    const struct search *best = &advice->systems.searches[advice->best];
    const struct result *result = advice_result(best);
    put_best(advice, best, verdict);
    SAY(text, "%s", best->candidate->system);
    if (advice->form.servers * advice->form.gpus > 1) {
        SAY(text, " as %s", advise_form(&advice->form, phrase));
    }
    SAY(text, "%s", best->candidate->traits.offloads ? "" : ", no offloading,");
    say_batch(advice, best, text);
    SAY(text, ": %s", advise_rate(advice, best, &advice->form, phrase));
    say_time(result, text);
    say_bound(advice, best, verdict, text);
    say_price(result, text);
    advise_run_say_ties(advice, best, verdict, text);
    say_better(advice, best, text);
}

void advise_say_run(const struct advice *advice, struct frame *verdict)
{
    char text[VERDICT_TEXT] = "";
    if (advice->best != PLANNING_NONE) {
        advise_run_say_best(advice, verdict, text);
    } else if (advice_plain(advice)->nearest != PLANNING_NONE) {
        say_missed(advice, verdict, text);
    } else {
        SAY(text, "nothing: no server of vLLM or SGLang fits");
    }
    SAY(text, ".");
    frame_text(verdict, VERDICT_run, text);
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
    SAY(text, most == 1 ? ", so one fits" : ", so %" PRId64 " fit", most);
    if (!advice->serves && setup->system.engine[0] != '\0' && setup->kv_pool_tokens == 0) {
        SAY(text, " without the engine's own buffers (--workload counts them)");
    }
}

/* Write "KEY SIZE" if there is such a size, and keep it. */
static void say_bytes(double bytes, const char *format, enum advise_verdict column,
                      struct frame *verdict, char text[VERDICT_TEXT])
{
    char size[ANSWER_SIZE];
    if (bytes > 0) {
        frame_number(verdict, column, bytes);
        SAY(text, "%s%s", format, answer_format(ANSWER_BYTES, 0, bytes, NAN, NAN, size));
    }
}

static void say_room(const struct advice *advice, const struct result *result,
                     const struct setup *setup, struct frame *verdict, char text[VERDICT_TEXT])
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    double hbm = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, &unseen);
    const char *each = advice->form.gpus > 1 ? " a GPU" : "";
    const struct cell *cells = result->cells;
    double kv = result_number(result, COLUMN_HBM_KV) / result_number(result, COLUMN_BATCH);
    say_bytes(hbm * setup->hbm_usable, "", VERDICT_hbm_usable_bytes, verdict, text);
    say_bytes(hbm, " of ", VERDICT_hbm_bytes, verdict, text);
    SAY(text, " of HBM%s usable", each);
    say_bytes(result_number(result, COLUMN_HBM_WEIGHTS), ": weights ", VERDICT_weights_bytes,
              verdict, text);
    if (kv > 0) {
        say_bytes(kv, ", KV ", VERDICT_kv_bytes_a_sequence, verdict, text);
        SAY(text, " a sequence%s", each);
    }
    if (advice->serves && cells[COLUMN_KV_BLOCKS].set) {
        double tokens =
            (double)cells[COLUMN_KV_BLOCKS].integer * (double)setup->mechanisms.prefix_block;
        frame_number(verdict, VERDICT_kv_tokens, tokens);
        SAY(text, "; KV has room for %.0f tokens", tokens);
    }
    frame_number(verdict, VERDICT_max_batch, result_number(result, COLUMN_MAX_BATCH));
    say_most(advice, cells, setup, text);
    SAY(text, ".");
}

/* Why plain vLLM has no result. */
static void say_why(const struct search *plain, char text[VERDICT_TEXT])
{
    const struct result *first =
        plain->cannot || plain->grid.count == 0 ? NULL : &plain->results[0];
    char reason[VERDICT_TEXT];
    SAY(text, "%s does not: %s.", ADVICE_PLAIN,
        plain->cannot   ? plain->why.found
        : first == NULL ? plain->candidate->left_out
                        : result_reason(first, reason, sizeof reason));
}

bool advise_say_fits(const struct advice *advice, struct frame *verdict, struct error *why)
{
    const struct search *plain = advice_plain(advice);
    const struct result *result = advice_result(plain);
    char text[VERDICT_TEXT] = "";
    struct point point;
    if (result == NULL && plain->nearest == PLANNING_NONE) {
        say_why(plain, text);
    } else if (!scenario_point(&plain->candidate->scenario, 0, &point, why)) {
        return false;
    } else {
        say_room(advice, result != NULL ? result : &plain->results[plain->nearest], &point.setup,
                 verdict, text);
        point_release(&point);
    }
    frame_text(verdict, VERDICT_fits, text);
    return true;
}
