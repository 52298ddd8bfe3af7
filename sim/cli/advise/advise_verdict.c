/* The verdict of `advise`: a function a sentence. Those about a rate are in advise_rate.c. */
#include "cli/advise/advise.h"

#include "cli/plan/deployment.h"
#include "core/text.h"
#include "decode/plan/memory.h"
#include "study/plan/start_line.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define LIST "tables/verdicts.def"
#define ID(name) VERDICT_##name
#define NUMBERED
#define ARRAY columns
#include "tables/columns.h"

/* ---- what was asked ---- */

/* The text of a key that a scenario states; NULL if it states none, or no single text. */
static const char *advise_stated(const struct scenario *scenario, const char *key)
{
    const struct node *node = node_stated(scenario->root, key);
    return node != NULL && node->kind == NODE_SCALAR ? node->text : NULL;
}

struct frame *verdict_create(const char *asked, const struct scenario *ran,
                             const struct targets *targets, struct error *why)
{
    struct frame *verdict = frame_create(columns, VERDICT_COUNT, why);
    const char *workload = advise_stated(ran, "workload");
    char limits[TARGETS_TEXT];
    frame_row(verdict);
    frame_textf(verdict, VERDICT_head, "%s%s%s%s%s", asked, workload != NULL ? ", " : "",
                workload != NULL ? workload : "", targets->count > 0 ? "; limits: " : "",
                targets->count > 0 ? targets_text(targets, limits) : "");
    return verdict;
}

const char *verdict_shape(const char *model, const struct scenario *asked, char text[ADVISE_WORDS])
{
    const char *shape = advise_stated(asked, "model");
    bool other = shape != NULL && strcasestr(model, shape) == NULL;
    snprintf(text, ADVISE_WORDS, "%s%.200s", other ? ", of the shape of " : "", other ? shape : "");
    return text;
}

/* ---- start ---- */

/* A command keeps KV in the model's own type or in fp8. It stands alone, so that it can be copied. */
static void say_start(const struct server_command *command, const struct point *point,
                      const struct scenario *scenario, uint32_t servers, struct frame *verdict)
{
    enum dtype kv = point->setup.model.kv;
    char text[ADVISE_SENTENCE];
    if (command->text[0] == '\0') {
        if (point->setup.system.command[0] != '\0') {
            frame_textf(verdict, VERDICT_start,
                        "no command: that of %s does not say how these GPUs share the model.",
                        point->setup.system.name);
        }
        return;
    }
    if (kv != DTYPE_BF16 && kv != DTYPE_FP8) {
        frame_textf(verdict, VERDICT_start,
                    "no command: those for %s have KV in bf16 or fp8, not in %s.",
                    point->setup.system.available, dtype_name(kv));
        return;
    }
    frame_text(verdict, VERDICT_start, command->text);
    deployment_servers(scenario, servers, command->text, text);
    advise_say(text, "%s", text[0] != '\0' ? "." : "");
    if (command->lacks[0] != '\0') {
        advise_say(text, "%snot in that command: %s.", servers > 1 ? " " : "", command->lacks);
    }
    frame_text(verdict, VERDICT_besides, text[0] != '\0' ? text : NULL);
}

bool verdict_put_start(struct frame *verdict, struct advise_answer *answer, struct error *why)
{
    struct point point;
    struct server_command command;
    if (!server_command(&answer->scenario, answer->result, &command, why) ||
        !scenario_point(&answer->scenario, 0, &point, why)) {
        return false;
    }
    answer->unnamed = command.text[0] != '\0' && command.needs_checkpoint;
    say_start(&command, &point, &answer->scenario, answer->servers, verdict);
    point_release(&point);
    return true;
}

void verdict_put_sure(struct frame *verdict, const struct result *result)
{
    char text[ERROR_WORDS];
    error_words(result, text);
    frame_textf(verdict, VERDICT_sure, "%s.", text);
}

/* ---- run ---- */

/* The rate that was found, written as it was simulated: whoever rounds it up may miss a limit. Sessions
 * that begin and end bring fewer requests than were asked for. Few requests are done long after the last
 * has come, and end before a queue has grown. */
static void say_load(const struct advice *advice, const struct search *best,
                     char text[ADVISE_SENTENCE])
{
    double came = result_number(advice_result(best), COLUMN(requests_in_per_s));
    double answered = result_number(advice_result(best), COLUMN(requests_out_per_s));
    advise_say(text, " at up to %s requests a second", search_text(best, best->found));
    if (came < 0.98 * advise_rate_of(advice, best, best->found)) {
        advise_say(text, " (%.3g came)", came);
    } else if (answered < came / 2) {
        advise_say(text, " (%.3g answered: too few requests to show a queue)", answered);
    }
}

/* "6.46 to 7.87", requests a second: where a capacity lies, by short runs. */
static void say_interval(const struct search *search, char text[ADVISE_SENTENCE])
{
    struct search_interval rate = search_interval(search);
    bool open = isinf(rate.most);
    advise_say(text, "%s%s", open ? "at least " : "", number_shown(UNIT_ROUGH, rate.least).text);
    if (!open) {
        advise_say(text, " to %s", number_shown(UNIT_ROUGH, rate.most).text);
    }
}

/* Ranks that make more than the form that is compared in are not chosen where their error may be all of that. */
static const char *say_ranks(const struct advice *advice, const char *before,
                             char text[ADVISE_SENTENCE])
{
    const struct advice_trial *most = NULL;
    double rate =
        (1 + TIE_PERCENT / 100.0) * advice_rate(advice, advice_plain(advice), &advice->form);
    char form[ADVISE_WORDS];
    for (uint32_t i = 0; advice->form.ranks == 0 && i < advice->trial_count; i++) {
        const struct advice_trial *trial = &advice->trials[i];
        double makes = advice_rate(advice, advice_trial_search(trial), &trial->form);
        if (trial->change == ADVICE_NO_CHANGE && trial->form.ranks > 0 && makes > rate) {
            most = trial;
            rate = makes;
        }
    }
    if (most == NULL) {
        return before;
    }
    advise_say(text, "%svllm as %s (with an unknown error)", before,
               advise_what(advice, most, form));
    return ", ";
}

/* Name the interval of a system that surely holds more. */
static void verdict_say_ties(const struct advice *advice, char text[ADVISE_SENTENCE])
{
    const char *before = " Too close to call: ";
    const struct search *best = &advice->systems.searches[advice->best];
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        enum tie tie = advise_too_close(advice, search);
        if (tie != TIE_NONE) {
            double times = advise_gain(advice, search, &advice->form).times;
            advise_say(text, "%s%s", before, candidate_name(search->candidate));
            if (search_is_whole(search)) {
                advise_say(text, " (%s times: %s)", number_shown(UNIT_ROUGH, times).text,
                           tie_reason(tie));
            } else if (search_interval(search).least > advise_rate_of(advice, best, best->found)) {
                advise_say(text, " (");
                say_interval(search, text);
                advise_say(text, ")");
            }
            before = ", ";
        }
    }
    before = say_ranks(advice, before, text);
    advise_say(text, "%s", *before == ',' ? "." : "");
}

static void verdict_say_run(const struct advice *advice, struct frame *verdict)
{
    const struct search *best = &advice->systems.searches[advice->best];
    const struct system_traits *traits = &best->candidate->traits;
    const struct result *result = advice_result(best);
    struct advise_range rate = advise_range(advice, best, &advice->form);
    double tpot = result_number(result, COLUMN(tpot_p50_ms));
    double ttft = result_number(result, COLUMN(ttft_p50_ms));
    double batch = result_number(result, COLUMN(batch));
    double cost = result_number(result, COLUMN(cost_per_million_tokens));
    uint32_t next = advice->serves ? search_next_miss(best) : PLANNING_NONE;
    char text[ADVISE_SENTENCE] = "", form[ADVISE_WORDS], limits[ADVISE_SENTENCE];
    advise_say(text, "%s", candidate_name(best->candidate));
    if (advice->form.servers * advice->form.gpus > 1) {
        advise_say(
            text, " as %s",
            advise_form(advice->form.servers, advice->form.gpus, advice->form.ranks > 0, form));
    }
    if (!traits->offloads) {
        advise_say(text, ", no offloading%s,", traits->tiers ? " while decoding" : "");
    }
    if (advice->serves) {
        say_load(advice, best, text);
    } else {
        const struct scenario_values *values = &best->candidate->scenario.values;
        advise_say(text, " with %.0f sequence%s at a time%s", batch, text_plural((uint64_t)batch),
                   scenario_stated(values, "data_parallel", 1) > 1       ? " of each rank"
                   : scenario_stated(values, "pipeline_parallel", 1) > 1 ? " in each stage"
                   : advice->form.servers > 1                            ? " each"
                                                                         : "");
    }
    advise_say(text, ": %sabout %s tokens a second", advice->serves ? "" : "decodes ",
               number_rough(UNIT_COUNT, rate.value, rate.low, rate.high).text);
    if (!advice->serves) {
        advise_say(text, ", %s ms a token",
                   number_shown(UNIT_ROUGH, result_number(result, COLUMN(tpot_ms))).text);
    } else if (!isnan(tpot)) {
        advise_say(text, ", TPOT p50 %s ms", number_shown(UNIT_ROUGH, tpot).text);
    }
    if (!isnan(ttft)) {
        advise_say(text, ", TTFT p50 %s", number_shown(UNIT_DURATION, 1e3 * ttft).text);
    }
    advise_say(text, ".");
    if (next != PLANNING_NONE) {
        advise_say(text, " At %s it %s.", search_text(best, next),
                   violation_of_value(&advice->targets, NULL, best, next, limits));
    }
    if (!isnan(cost)) {
        advise_say(text, " A million output tokens cost $%s.", number_shown(UNIT_ROUGH, cost).text);
    }
    verdict_say_ties(advice, text);
    frame_text(verdict, VERDICT_run, text);
}

void verdict_put_draws(struct frame *verdict, const struct capacity_draws *draws)
{
    if (draws != NULL) {
        frame_number(verdict, VERDICT_missed_draws, draws_missed(draws));
        frame_number(verdict, VERDICT_draws, draws_asked(draws));
    }
}

static void verdict_put_run(const struct advice *advice, struct frame *verdict)
{
    const struct search *best = &advice->systems.searches[advice->best];
    const struct result *result = advice_result(best);
    struct advise_range rate = advise_range(advice, best, &advice->form);
    uint32_t next = search_next_miss(best);
    char limits[ADVISE_SENTENCE];
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_text(verdict, VERDICT_hardware, best->candidate->machine);
    frame_number(verdict, VERDICT_servers, advice->form.servers);
    frame_number(verdict, VERDICT_gpus, advice->form.gpus);
    frame_range(verdict, VERDICT_tokens_per_s, rate.value, rate.low, rate.high);
    frame_number(verdict, VERDICT_tpot_ms, result_number(result, COLUMN(tpot_ms)));
    frame_number(verdict, VERDICT_ttft_ms, result_number(result, COLUMN(ttft_ms)));
    frame_number(verdict, VERDICT_cost_per_million_tokens,
                 result_number(result, COLUMN(cost_per_million_tokens)));
    advise_put_limits(verdict, VERDICT_limits, &advice->targets, result);
    frame_number(verdict, VERDICT_rate, advise_rate_of(advice, best, best->found));
    frame_number(verdict, VERDICT_misses_at, advise_rate_of(advice, best, next));
    verdict_put_draws(verdict,
                      next != PLANNING_NONE && best->depth != NULL ? &best->draws[next] : NULL);
    if (!advice->serves) {
        frame_number(verdict, VERDICT_batch, result_number(result, COLUMN(batch)));
    } else if (advise_limits(&advice->targets, result, limits)[0] != '\0') {
        frame_textf(verdict, VERDICT_meets, "%s.", limits);
    }
    verdict_say_run(advice, verdict);
}

static double violation_of(const struct search *search)
{
    return search->nearest == PLANNING_NONE ? (double)INFINITY
                                            : search->grid.violation[search->nearest];
}

/* What comes nearest: plain vLLM, unless another system that one can start comes nearer. A target that a
 * request alone misses is met at no rate. */
static void put_none(const struct advice *advice, struct frame *verdict)
{
    const struct search *nearest = advice_plain(advice);
    char form[ADVISE_WORDS], load[ADVISE_WORDS] = "", limits[ADVISE_SENTENCE];
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        if (advice_starts(search) && violation_of(search) < violation_of(nearest) - GRID_EQUAL) {
            nearest = search;
        }
    }
    if (nearest->nearest == PLANNING_NONE) {
        frame_textf(verdict, VERDICT_run, "nothing: no server that one can start fits; vllm: %s.",
                    nearest->cannot ? nearest->why.found
                    : nearest->grid.count == 0
                        ? nearest->candidate->left_out
                        : result_reason(nearest->results, limits, sizeof limits));
        return;
    }
    const struct result *result = &nearest->results[nearest->nearest];
    bool alone = advice->serves && advice_is_idle(nearest);
    if (alone) {
        text_copy(load, sizeof load, ", a request alone");
    } else if (advice->serves) {
        snprintf(load, sizeof load, " at %s requests a second",
                 search_text(nearest, nearest->nearest));
    }
    advise_put_limits(verdict, VERDICT_limits, &advice->targets, result);
    frame_textf(
        verdict, VERDICT_run,
        "nothing: no server that one can start meets the limits%s; nearest: %s as %s%s, which %s.",
        alone ? " at any rate" : "", candidate_name(nearest->candidate),
        advise_form(advice->form.servers, advice->form.gpus, advice->form.ranks > 0, form), load,
        violation_describe(&advice->targets, NULL, result, limits));
}

/* ---- offload ---- */

/* It brings KV or weights from outside HBM in each step, in code that runs. */
static bool has_link(const struct search *search)
{
    return search->candidate->traits.offloads &&
           strcmp(search->candidate->traits.available, "paper") != 0;
}

/* Whose memory it takes may have more, or less. */
static bool say_host(const struct search *search, char text[ADVISE_SENTENCE], struct error *why)
{
    double uses = result_number(advice_result(search), COLUMN(dram_bytes));
    struct trust trust = {.basis = BASIS_MEASURED};
    struct point point;
    text[0] = '\0';
    if (!(uses > 0)) {
        return true;
    }
    if (!scenario_point(&search->candidate->scenario, 0, &point, why)) {
        return false;
    }
    double has = (double)memory_limit(&point.setup, NULL, TIER_HOST, &trust);
    snprintf(text, ADVISE_SENTENCE, " It uses %s of %s of host memory (%s).",
             number_shown(UNIT_BYTES, uses).text, number_shown(UNIT_BYTES, has).text,
             point.setup.room[TIER_HOST] > 0 ? "as stated" : basis_names[trust.basis]);
    point_release(&point);
    return true;
}

static bool put_offload(const struct advice *advice, struct frame *verdict, struct error *why)
{
    const struct search *search = advice_best(advice, has_link);
    char host[ADVISE_SENTENCE];
    for (uint32_t i = 0; search == NULL && i < advice->systems.count; i++) {
        const struct search *other = &advice->systems.searches[i];
        if (other->candidate->left_out[0] == '\0' && has_link(other)) {
            frame_textf(verdict, VERDICT_offload, "no: no %s that offloads KV while it decodes %s.",
                        advice->serves ? "server" : "released system",
                        advice->targets.count > 0 ? "meets the limits" : "fits");
        }
    }
    if (search == NULL) {
        return true;
    }
    if (!say_host(search, host, why)) {
        return false;
    }
    const char *system = search->candidate->system;
    struct advise_range rate = advise_range(advice, search, &advice->form);
    bool starts = advice_starts(search);
    const struct search *base = advise_base(advice);
    frame_text(verdict, VERDICT_offload_system, system);
    frame_range(verdict, VERDICT_offload_tokens_per_s, rate.value, rate.low, rate.high);
    if (advice_result(base) == NULL || base == search) {
        frame_textf(verdict, VERDICT_offload,
                    "only with offloading does it run: %s (%s) makes about %s tokens a second.%s",
                    system, starts ? search->candidate->traits.available : "research code",
                    number_rough(UNIT_COUNT, rate.value, rate.low, rate.high).text, host);
        return true;
    }
    struct advise_ratio ratio = advise_ratio(advice, search, &advice->form);
    const char *pays = ratio.tie          ? ratio.times > 1 ? "too close to call" : "no gain"
                       : ratio.times <= 1 ? "no"
                       : starts           ? "yes"
                                          : "only in research code";
    if (base == advice_plain(advice)) {
        frame_range(verdict, VERDICT_offload_times_plain, ratio.times, ratio.low, ratio.high);
    }
    frame_text(verdict, VERDICT_offload_pays, pays);
    frame_textf(verdict, VERDICT_offload,
                "%s: %s, the best that offloads, reaches %s of %s's tokens a second.%s", pays,
                system, number_rough(UNIT_PERCENT, ratio.times, ratio.low, ratio.high).text,
                base->candidate->system, host);
    return true;
}

/* ---- memory: host memory for prompts that begin alike ---- */

/* The number that the engine's flag has: of each GPU or of all, in its unit. */
static void put_host_size(const struct host_size *size, struct frame *verdict)
{
    const struct host_engine *engine = size->engine;
    frame_textf(verdict, VERDICT_host_flag, "%s%s%.*f", engine->flag,
                engine->flag[0] == '-' ? " " : "=", size->typed == floor(size->typed) ? 0 : 2,
                size->typed);
    frame_text(verdict, VERDICT_host_where, host_engine_where(engine));
    frame_number(verdict, VERDICT_host_takes_bytes, size->takes);
    frame_number(verdict, VERDICT_host_gib, (double)size->gib);
    frame_number(verdict, VERDICT_host_most_gib, (double)size->most_gib);
    frame_number(verdict, VERDICT_host_found, size->found.host);
    frame_number(verdict, VERDICT_most_found, size->most.host);
    frame_number(verdict, VERDICT_gpu_found, size->found.gpu);
}

/* The change is one at a load of plain vLLM's, which need not be the advised one. */
static void say_change(const struct advice *advice, double change, char text[ADVISE_SENTENCE])
{
    const struct search *plain = advice_plain(advice);
    char at[ADVISE_WORDS] = "";
    if (advice->host.share < 1) {
        snprintf(at, sizeof at, " at %s of the %s a second that vllm holds",
                 number_shown(UNIT_PERCENT, advice->host.share).text,
                 search_text(plain, plain->found));
    }
    if (fabs(change) >= 0.01) {
        advise_say(text, " With it requests take %s %s%s.",
                   number_shown(UNIT_PERCENT, fabs(change)).text, change > 0 ? "longer" : "less",
                   at);
    }
}

static void verdict_put_memory(const struct advice *advice, struct frame *verdict)
{
    static const char *const reasons[] = {
        [ADVICE_HOST_NO_REUSE] = "none begins like an earlier one",
        [ADVICE_HOST_GPU_KEEPS] = "the GPU keeps all that comes again",
        [ADVICE_HOST_TOO_SMALL] = "what comes again would have been evicted long before",
        [ADVICE_HOST_SLOW_LINK] = "computing them is faster than loading them",
        [ADVICE_HOST_NO_GAIN] = "requests take as long without it",
    };
    const struct advice_host *host = &advice->host;
    const struct host_size *size = &host->size;
    bool pays = host->answer == ADVICE_HOST_PAYS;
    char text[ADVISE_SENTENCE] = "";
    if (host->answer == ADVICE_HOST_UNASKED || (pays && size->engine == NULL)) {
        return;
    }
    /* What is not found cannot save time: near a capacity, runs of equal loads differ. */
    double slower = host->slower, change = pays || slower > 0 ? slower : (double)NAN;
    frame_number(verdict, VERDICT_host_change, change);
    if (pays) {
        put_host_size(size, verdict);
        advise_say(text,
                   "%" PRIu64
                   " GiB (%s) for prompts that begin alike: %s of their tokens found there, %s on "
                   "the GPU",
                   size->gib, verdict->cells[VERDICT_host_flag].text,
                   number_shown(UNIT_PERCENT_TENTHS, size->found.host).text,
                   number_shown(UNIT_PERCENT_TENTHS, size->found.gpu).text);
        if (size->most_gib > size->gib) {
            advise_say(text, "; %" PRIu64 " GiB would find %s", size->most_gib,
                       number_shown(UNIT_PERCENT_TENTHS, size->most.host).text);
        }
        advise_say(text, ". %s %s takes %s %s.", size->engine->engine, size->engine->versions,
                   number_shown(UNIT_BYTES, size->takes).text, host_engine_where(size->engine));
    } else {
        frame_text(verdict, VERDICT_no_host_memory, reasons[host->answer]);
        advise_say(text, "none for prompts: %s.", reasons[host->answer]);
    }
    say_change(advice, change, text);
    frame_text(verdict, VERDICT_memory, text);
}

/* ---- instead ---- */

/* "KV in fp8 (it rounds): 1.4 times" */
static void say_gain(const struct advice *advice, const struct advice_trial *trial,
                     char text[ADVISE_SENTENCE])
{
    struct advise_ratio ratio = advise_gain(advice, advice_trial_search(trial), &trial->form);
    double gpus = (double)(trial->form.servers * trial->form.gpus) /
                  (advice->form.servers * advice->form.gpus);
    advise_say(text, ": %s", number_shown(UNIT_ROUGH, ratio.times).text);
    if (!isnan(ratio.low)) {
        advise_say(text, " (%s to %s)", number_shown(UNIT_ROUGH, ratio.low).text,
                   number_shown(UNIT_ROUGH, ratio.high).text);
    }
    bool unknown =
        (trial->change == ADVICE_DRAFTS || trial->change == ADVICE_MORE_RANKS) && isnan(ratio.low);
    advise_say(text, unknown ? " times, with an unknown error" : " times");
    if (gpus > 1) {
        advise_say(text, ", %s times a GPU", number_shown(UNIT_ROUGH, ratio.times / gpus).text);
    }
}

/* "KV in fp8 (it rounds): up to 1.4 requests a second, about 51 tokens a second", where vLLM has none. */
static void say_rescue(const struct advice *advice, const struct advice_trial *trial,
                       char text[ADVISE_SENTENCE])
{
    const struct search *search = advice_trial_search(trial);
    struct advise_range rate = advise_range(advice, search, &trial->form);
    advise_say(text, ": ");
    if (advice->serves) {
        advise_say(text, "up to %s requests a second, ", search_text(search, search->found));
    }
    advise_say(text, "about %s tokens a second",
               number_rough(UNIT_COUNT, rate.value, rate.low, rate.high).text);
}

static void say_instead(const struct advice *advice, struct frame *verdict)
{
    bool plain = advice_result(advice_plain(advice)) != NULL, any = false;
    bool other = advice->best != PLANNING_NONE &&
                 &advice->systems.searches[advice->best] != advice_plain(advice);
    uint32_t said = 0;
    char text[ADVISE_SENTENCE] = "", what[ADVISE_WORDS];
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        any = any || (advice->trials[i].change != ADVICE_NO_CHANGE &&
                      advice_result(advice_trial_search(&advice->trials[i])) != NULL);
    }
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        const struct advice_trial *trial = &advice->trials[i];
        bool rounds = trial->change == ADVICE_FP8_KV || trial->change == ADVICE_FP8_WEIGHTS ||
                      trial->change == ADVICE_INT4_WEIGHTS;
        if (trial->change == ADVICE_NO_CHANGE ||
            (any && advice_result(advice_trial_search(trial)) == NULL) ||
            (any && plain &&
             advise_gain(advice, advice_trial_search(trial), &trial->form).times <=
                 1 + TIE_PERCENT / 100.0)) {
            continue;
        }
        advise_say(text, "%s%s%s",
                   said++ > 0 ? any ? "; " : ", "
                   : !any     ? "none alone helps: "
                   : !plain   ? "vllm would do with "
                   : other    ? "vllm with "
                              : "",
                   advise_what(advice, trial, what), rounds ? " (it rounds)" : "");
        if (any && !search_is_whole(advice_trial_search(trial))) {
            advise_say(text, ": ");
            say_interval(advice_trial_search(trial), text);
            advise_say(text, " requests a second");
        } else if (any) {
            (plain ? say_gain : say_rescue)(advice, trial, text);
        }
    }
    advise_say(text, ".");
    frame_text(verdict, VERDICT_instead, said > 0 ? text : NULL);
}

struct frame *advise_verdict(const struct advice *advice, struct advise_answer *answer,
                             const char *model, struct error *why)
{
    const struct candidate *plain = advice_plain(advice)->candidate;
    uint64_t context = advice->trials[advice->plain].context;
    char asked[ADVISE_SENTENCE] = "", words[ADVISE_WORDS];
    advise_say(asked, "%s%s on %s", model, verdict_shape(model, &plain->scenario, words),
               plain->machine);
    if (context > 0) {
        advise_say(asked, ", %s tokens of context", advise_tokens(context, words));
    }
    struct frame *verdict = verdict_create(asked, &plain->scenario, &advice->targets, why);
    bool good = verdict != NULL;
    if (good && answer->result != NULL) {
        verdict_put_run(advice, verdict);
        verdict_put_sure(verdict, answer->result);
        good = verdict_put_start(verdict, answer, why);
    } else if (good) {
        put_none(advice, verdict);
    }
    if (!good || !put_offload(advice, verdict, why)) {
        frame_destroy(verdict);
        return NULL;
    }
    verdict_put_memory(advice, verdict);
    say_instead(advice, verdict);
    return verdict;
}
