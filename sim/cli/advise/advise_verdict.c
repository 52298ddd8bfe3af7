/* The verdict about a machine: the values that its sentences say. */
#include "cli/advise/advise_answer.h"

#include "tables/sentence.h"
#include "core/node.h"
#include "study/advise/advice_host.h"

#include <math.h>
#include <string.h>

/* The share of host memory above which nothing is left for an operating system. */
#define HOST_LEFT 0.9

/* ---- what to run ---- */

static void put_times(struct frame *frame, uint32_t column, const struct advise_ratio *ratio)
{
    frame_range(frame, column, ratio->times, ratio->low, ratio->high);
}

/* Sessions that begin and end bring fewer requests than were asked for. Few requests are done long
 * after the last has come, and end before a queue has grown. */
static void put_came(const struct advice *advice, const struct search *best, struct frame *verdict)
{
    double came = result_number(advice_result(best), COLUMN(requests_in_per_s));
    double answered = result_number(advice_result(best), COLUMN(requests_out_per_s));
    if (came < 0.98 * advise_rate_of(advice, best, best->found)) {
        frame_textf(verdict, VERDICT_came, "%.3g", came);
    } else if (answered < came / 2) {
        frame_textf(verdict, VERDICT_answered, "%.3g", answered);
    }
}

/* The rate that was found, and the next one that was tried. A rate is written as it was simulated:
 * whoever rounds it up may miss a limit. */
static void put_rates(const struct advice *advice, const struct search *best, struct frame *verdict)
{
    uint32_t next = search_next_miss(best);
    frame_number(verdict, VERDICT_rate, advise_rate_of(advice, best, best->found));
    frame_text(verdict, VERDICT_rate_text, search_text(best, true, best->found));
    put_came(advice, best, verdict);
    if (next != PLANNING_NONE) {
        frame_number(verdict, VERDICT_misses_at, advise_rate_of(advice, best, next));
        frame_text(verdict, VERDICT_misses_at_text, search_text(best, true, next));
        advise_put_limits(verdict, VERDICT_limits_there, &advice->targets, &best->results[next]);
    }
}

static void advise_put_best(const struct advice *advice, struct frame *verdict)
{
    const struct search *best = &advice->systems.searches[advice->best];
    const struct result *result = advice_result(best);
    char form[ADVISE_WORDS], time[ADVISE_WORDS];
    bool several = advice->form.servers * advice->form.gpus > 1;
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_text(verdict, VERDICT_hardware, best->candidate->machine);
    frame_number(verdict, VERDICT_servers, advice->form.servers);
    frame_number(verdict, VERDICT_gpus, advice->form.gpus);
    frame_text(verdict, VERDICT_form, several ? advise_form(&advice->form, form) : NULL);
    frame_text(verdict, VERDICT_stays,
               best->candidate->traits.offloads ? NULL
               : best->candidate->traits.tiers  ? "no offloading while decoding"
                                                : "no offloading");
    advise_put_rate(advice, best, &advice->form, verdict, VERDICT_tokens_per_s);
    frame_number(verdict, VERDICT_tpot_ms, result_number(result, COLUMN(tpot_ms)));
    frame_number(verdict, VERDICT_ttft_ms, result_number(result, COLUMN(ttft_ms)));
    frame_text(verdict, VERDICT_ttft_text,
               advise_time(result_number(result, COLUMN(ttft_ms)), time));
    advise_put_queued(verdict, &advice->targets, result);
    frame_number(verdict, VERDICT_cost_per_million_tokens,
                 result_number(result, COLUMN(cost_per_million_tokens)));
    advise_put_limits(verdict, VERDICT_limits, &advice->targets, result);
    if (advice->serves) {
        put_rates(advice, best, verdict);
    } else {
        frame_number(verdict, VERDICT_batch, result_number(result, COLUMN(batch)));
    }
}

static double violation_of(const struct search *search)
{
    return search->nearest == PLANNING_NONE ? (double)INFINITY
                                            : search->grid.violation[search->nearest];
}

/* Plain vLLM, unless another system that one can start comes nearer. */
static const struct search *nearest_search(const struct advice *advice)
{
    const struct search *nearest = advice_plain(advice);
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        if (advice_starts(search) && violation_of(search) < violation_of(nearest) - GRID_EQUAL) {
            nearest = search;
        }
    }
    return nearest;
}

/* What comes nearest; a target that a request alone misses is met at no rate. */
static void put_none(const struct advice *advice, struct frame *verdict)
{
    const struct search *nearest = nearest_search(advice);
    char form[ADVISE_WORDS];
    if (nearest->nearest == PLANNING_NONE) {
        frame_text(verdict, VERDICT_nothing, "no server of vLLM or SGLang fits");
        return;
    }
    bool alone = advice->serves && advice_is_idle(nearest);
    frame_textf(verdict, VERDICT_nothing, "no server of vLLM or SGLang meets the limits%s",
                alone ? " at any rate" : "");
    frame_textf(verdict, VERDICT_nearest, "%s as %s%s%s%s", nearest->candidate->system,
                advise_form(&advice->form, form),
                alone            ? ", a request alone"
                : advice->serves ? " at "
                                 : "",
                advice->serves && !alone ? search_text(nearest, true, nearest->nearest) : "",
                advice->serves && !alone ? " requests a second" : "");
    advise_put_limits(verdict, VERDICT_limits, &advice->targets,
                      &nearest->results[nearest->nearest]);
}

/* ---- what fits ---- */

static double or_nan(double value)
{
    return value > 0 ? value : NAN;
}

/* A run without a workload has no engine that takes memory for itself. */
static void put_room(const struct advice *advice, const struct result *result,
                     const struct setup *setup, struct frame *verdict)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    double hbm = profile_value(&setup->profile, CURVE_GPU_HBM_CAPACITY, 0, &unseen);
    double kv = result_number(result, COLUMN(hbm_kv_bytes)) / result_number(result, COLUMN(batch));
    double blocks = result_number(result, COLUMN(kv_blocks));
    bool engine = setup->system.engine[0] != '\0' && setup->kv_pool_tokens == 0;
    frame_number(verdict, VERDICT_several, advice->form.gpus > 1);
    frame_number(verdict, VERDICT_hbm_usable_bytes, or_nan(hbm * setup->hbm_usable));
    frame_number(verdict, VERDICT_hbm_bytes, or_nan(hbm));
    frame_number(verdict, VERDICT_weights_bytes,
                 or_nan(result_number(result, COLUMN(hbm_weights_bytes))));
    frame_number(verdict, VERDICT_kv_bytes_a_sequence, or_nan(kv));
    frame_number(verdict, VERDICT_kv_tokens,
                 advice->serves ? blocks * (double)setup->mechanisms.prefix_block : NAN);
    frame_number(verdict, VERDICT_max_batch, result_number(result, COLUMN(max_batch)));
    frame_number(verdict, VERDICT_bare, !advice->serves && engine);
}

static void put_lack(const struct search *plain, struct frame *verdict)
{
    const struct result *first =
        plain->cannot || plain->grid.count == 0 ? NULL : &plain->results[0];
    char reason[ADVISE_WORDS];
    frame_text(verdict, VERDICT_plain_lacks,
               plain->cannot   ? plain->why.found
               : first == NULL ? plain->candidate->left_out
                               : result_reason(first, reason, sizeof reason));
}

static bool put_fits(const struct advice *advice, struct frame *verdict, struct error *why)
{
    const struct search *plain = advice_plain(advice);
    uint32_t shown = plain->found != PLANNING_NONE ? plain->found : plain->nearest;
    struct point point;
    if (shown == PLANNING_NONE || plain->grid.count == 0) {
        put_lack(plain, verdict);
        return true;
    }
    if (!scenario_point(&plain->candidate->scenario, 0, &point, why)) {
        return false;
    }
    put_room(advice, &plain->results[shown], &point.setup, verdict);
    point_release(&point);
    return true;
}

/* ---- should KV leave the GPU ---- */

/* It brings KV or weights from outside HBM in each step, in code that runs. */
static bool has_link(const struct search *search)
{
    return search->candidate->traits.offloads && !advice_on_paper(search);
}

/* A server that keeps KV of ended requests in host memory. */
static bool has_tiers(const struct search *search)
{
    return search->candidate->traits.tiers && advice_starts(search);
}

static void put_offload(const struct advice *advice, const struct search *search,
                        struct frame *verdict)
{
    bool starts = advice_starts(search);
    frame_text(verdict, VERDICT_offload_system, search->candidate->system);
    frame_text(verdict, VERDICT_offload_available,
               starts ? search->candidate->traits.available : "research code");
    advise_put_rate(advice, search, &advice->form, verdict, VERDICT_offload_tokens_per_s);
    if (!advice->serves) {
        frame_number(verdict, VERDICT_offload_batch,
                     result_number(advice_result(search), COLUMN(batch)));
    }
    if (advice_result(advice_plain(advice)) != NULL) {
        struct advise_ratio ratio = advise_ratio(advice, search, &advice->form);
        put_times(verdict, VERDICT_offload_times_plain, &ratio);
        frame_text(verdict, VERDICT_offload_pays,
                   ratio.tie          ? "no gain"
                   : ratio.times <= 1 ? "no"
                   : starts           ? "yes"
                                      : "only in research code");
    }
}

/* Host memory for prompts that begin alike. */
static void put_tiers(const struct advice *advice, struct frame *verdict)
{
    const struct search *tiers = advice_best(advice, has_tiers);
    bool reuse = advice->host.answer != ADVICE_HOST_NO_REUSE;
    frame_number(verdict, VERDICT_unweighed, tiers != NULL && !advice->serves);
    if (tiers != NULL && advice->serves && reuse && advice_result(advice_plain(advice)) != NULL) {
        struct advise_ratio ratio = advise_ratio(advice, tiers, &advice->form);
        frame_text(verdict, VERDICT_tiers_system, tiers->candidate->system);
        put_times(verdict, VERDICT_tiers_times_plain, &ratio);
    }
}

/* ---- host memory for prompts that begin alike ---- */

/* Why not; NULL: it pays, or nobody asked. */
static const char *no_host_memory(enum advice_host_answer answer)
{
    static const char *const reasons[] = {
        [ADVICE_HOST_NO_REUSE] = "none begins like an earlier one",
        [ADVICE_HOST_GPU_KEEPS] = "the GPU keeps all that comes again",
        [ADVICE_HOST_TOO_SMALL] = "what comes again would have been evicted long before",
        [ADVICE_HOST_SLOW_LINK] = "computing them is faster than loading them",
        [ADVICE_HOST_NO_GAIN] = "requests take as long without it",
    };
    return answer >= ADVICE_HOST_NO_REUSE ? reasons[answer] : NULL;
}

/* The number that the engine's flag has: of each GPU or of all, in its unit. */
static void put_host_flag(const struct host_size *size, struct frame *verdict)
{
    const struct host_engine *engine = size->engine;
    int decimals = size->typed == floor(size->typed) ? 0 : 2;
    frame_textf(verdict, VERDICT_host_flag, "%s%s%.*f", engine->flag,
                engine->flag[0] == '-' ? " " : "=", decimals, size->typed);
    frame_textf(verdict, VERDICT_host_engine, "%s %s", engine->engine, engine->versions);
    frame_text(verdict, VERDICT_host_where, host_engine_where(engine));
    frame_number(verdict, VERDICT_host_takes_bytes, size->takes);
}

/* What host_memory states may be taken whole. Who stated a machine's memory by it hears so. */
static void put_stated(const struct advice *advice, struct frame *verdict)
{
    const struct host_size *size = &advice->host.size;
    const struct scenario *scenario = &advice_plain(advice)->candidate->scenario;
    bool stated = node_stated(scenario->root, "host_memory") != NULL;
    if (stated && size->takes > HOST_LEFT * (double)size->limit) {
        frame_text(verdict, VERDICT_stated,
                   "host_memory; of a machine's memory, hardware.host.dram_capacity, a tenth would "
                   "stay free");
    }
}

/* The change is one at plain vLLM's load, which need not be the advised one. */
static void put_plain_rate(const struct advice *advice, struct frame *verdict)
{
    const struct search *plain = advice_plain(advice);
    const char *rate = search_text(plain, true, plain->found);
    const struct search *best =
        advice->best != PLANNING_NONE ? &advice->systems.searches[advice->best] : plain;
    bool same = strcmp(rate, search_text(best, true, best->found)) == 0;
    frame_text(verdict, VERDICT_plain_rate, same ? NULL : rate);
}

static void put_host_memory(const struct advice *advice, struct frame *verdict)
{
    const struct advice_host *host = &advice->host;
    const struct host_size *size = &host->size;
    bool pays = host->answer == ADVICE_HOST_PAYS && size->engine != NULL;
    if (host->answer == ADVICE_HOST_UNASKED) {
        return;
    }
    double change = advice_host_slower(advice);
    frame_text(verdict, VERDICT_no_host_memory, no_host_memory(host->answer));
    frame_number(verdict, VERDICT_host_change, change);
    frame_number(verdict, VERDICT_host_slower, change >= 0.005 ? change : NAN);
    put_plain_rate(advice, verdict);
    frame_number(verdict, VERDICT_host_faster, change <= -0.005 ? -change : NAN);
    if (pays) {
        frame_number(verdict, VERDICT_host_gib, (double)size->gib);
        frame_number(verdict, VERDICT_host_most_gib, (double)size->most_gib);
        frame_number(verdict, VERDICT_host_found, size->found.host);
        frame_number(verdict, VERDICT_most_found, size->most.host);
        frame_number(verdict, VERDICT_gpu_found, size->found.gpu);
        frame_number(verdict, VERDICT_more_gib,
                     size->most_gib > size->gib ? (double)size->most_gib : (double)NAN);
        put_host_flag(size, verdict);
        put_stated(advice, verdict);
    }
}

/* ---- all of it ---- */

static bool put_advised(const struct advice *advice, const struct run_context *runs,
                        struct frame *verdict, struct error *why)
{
    const struct search *best = &advice->systems.searches[advice->best];
    struct scenario scenario;
    advise_put_best(advice, verdict);
    bool good = search_scenario(best, advice->systems.maximise, best->found, &scenario, why) &&
                verdict_put_explained(verdict, advice->serves, &scenario, runs, why) &&
                verdict_put_start(verdict, &scenario, &advice->targets, advice_result(best),
                                  advice->form.servers, why);
    scenario_release(&scenario);
    return good;
}

struct frame *advise_verdict(const struct advice *advice, const char *model, struct frame *rows,
                             const struct run_context *runs, struct error *why)
{
    const struct candidate *plain = advice_plain(advice)->candidate;
    const struct search *link = advice_best(advice, has_link);
    struct frame *verdict =
        verdict_create(model, &plain->scenario, &plain->scenario, &advice->targets, why);
    uint64_t context = advice->trials[advice->plain].context;
    char tokens[ADVISE_WORDS];
    bool good = verdict != NULL;
    frame_keep(verdict, VERDICT_rows, rows);
    frame_text(verdict, VERDICT_machine, plain->machine);
    frame_text(verdict, VERDICT_context, context > 0 ? advise_tokens(context, tokens) : NULL);
    frame_number(verdict, VERDICT_serves, advice->serves);
    if (link != NULL) {
        put_offload(advice, link, verdict);
    }
    put_tiers(advice, verdict);
    put_host_memory(advice, verdict);
    if (advice->best == PLANNING_NONE) {
        put_none(advice, verdict);
    } else if (good) {
        good = put_advised(advice, runs, verdict, why);
    }
    if (!good || !put_fits(advice, verdict, why)) {
        frame_destroy(verdict);
        return NULL;
    }
    frame_say(verdict);
    return verdict;
}
