/* Requests that warm the cache count in no figure; refused ones in their number. A wait of 0 has no row. */
#include "predict/server/serving_result.h"

#include "decode/mechanism_values.h"
#include "model/sharding.h"
#include "predict/decode/outcome.h"
#include "predict/server/host_engine.h"
#include "predict/server/serving_replay.h"
#include "predict/server/serving_load.h"
#include "predict/server/serving_stream.h"
#include "server/requests/synthetic.h"

#include <assert.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

/* ---- notes ------------------------------------------------------------------------------------ */

/* Note keys of the scenario that have no effect on this server. */
static void note_unheard(const struct point *point, struct result *result)
{
    const struct workload *workload = &point->workload;
    const struct {
        bool said;
        const char *key;
    } of_clock[] = {
        {workload->rate > 0, "rate"},
        {workload->clients > 0, "clients"},
        {workload->arrivals != ARRIVALS_RANDOM, "arrivals"},
        {workload->warm > 0, "warm_requests"},
        {workload->time_scale != 1, "time_scale"},
        {workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0, "slo"},
        {point->setup.steps != SETUP_STEPS_ALL, "steps"},
        {point->setup.warmup != SETUP_WARMUP_AUTO, "warmup"},
    };
    char keys[128] = "";
    for (size_t i = 0; !workload->timed && i < sizeof of_clock / sizeof *of_clock; i++) {
        if (of_clock[i].said) {
            name_list_add(keys, sizeof keys, of_clock[i].key);
        }
    }
    if (keys[0] != '\0') {
        result_note(result, note_make(NOTE_clock_ignored, note_text(keys)));
    }
    if (workload->timed &&
        (point->setup.steps != SETUP_STEPS_ALL || point->setup.warmup != SETUP_WARMUP_AUTO)) {
        result_note(result, note_plain(NOTE_steps_of_clock));
    }
}

/* Each client takes a session, of which a list has only so many; clients whose requests are equally long, and
 * began together, end and send the next ones together. */
static void note_clients(const struct point *point, const struct requests *requests,
                         struct result *result)
{
    uint64_t clients = point->workload.clients, sessions = 0;
    for (size_t i = 0; i < requests->count; i++) {
        sessions += requests->all[i].turn == 0;
    }
    if (!point->workload.timed || serving_is_stream(point)) {
        return;
    }
    if (clients > sessions) {
        result_note(result,
                    note_make(NOTE_clients_idle, note_whole(sessions), note_whole(clients)));
    }
    if (clients > 1 && point->requests->drawn.even) {
        result_note(result, note_make(NOTE_lock_step, note_whole(clients)));
    }
}

/* Without hashes nobody knows which prompts begin alike. */
static void note_unknown(const struct point *point, const struct requests *requests,
                         struct result *result)
{
    uint64_t unknown = 0;
    if (!mechanisms_keep_prefixes(point->setup.mechanisms) || synthetic_is(point->workload.path)) {
        return;
    }
    for (size_t i = 0; i < requests->count; i++) {
        unknown += !requests->all[i].known;
    }
    if (unknown > 0) {
        result_note(result, note_make(NOTE_hashes_partly, note_whole(unknown),
                                      note_whole(requests->count)));
    }
}

/* What the requests, or keys that have no effect on this server, make of its figures. */
static void note_requests(const struct point *point, const struct requests *requests,
                          struct result *result)
{
    const struct model *model = &point->setup.model;
    note_unknown(point, requests, result);
    if (requests->skipped > 0) {
        result_note(result, note_make(NOTE_no_answer, note_whole(requests->skipped)));
    }
    if (requests->images > 0) {
        result_note(result, note_make(NOTE_images, note_whole(requests->images)));
    }
    if (requests->models || (requests->of[0] != '\0' && !name_holds(requests->of, model->name))) {
        result_note(result,
                    note_make(NOTE_other_model,
                              note_text(requests->models ? "several models" : requests->of)));
    }
    outcome_note_reading(model, result);
    /* A state holds a prefix at the one place where it was taken. Engines keep few of them, or none. */
    if (model->linear.key_heads > 0 && mechanisms_keep_prefixes(point->setup.mechanisms)) {
        result_note(result, note_plain(NOTE_prefix_states));
    }
    /* A server's steps are timed at the mean length: only the requests say that one is longer. */
    if (model->trained_context > 0 && requests_longest(requests) > model->trained_context) {
        result_note(result, note_make(NOTE_trained_context, note_text(model->name),
                                      note_whole(model->trained_context)));
    }
    note_clients(point, requests, result);
    note_unheard(point, result);
}

bool serving_write_lack(const struct point *point, const struct serving_memory *memory,
                        struct result *result, struct error *why)
{
    const struct setup_engine *engine = &point->setup.engine;
    result_drop_notes(result);
    if (memory->lacks == SERVING_REFUSED) {
        outcome_note_refused(&point->setup, result);
        return result_text(result, COLUMN(status), "refused", why);
    }
    result_note(
        result,
        memory->lacks == SERVING_NO_KV
            ? note_make(NOTE_no_room_for_kv, note_bytes(memory->weights), note_bytes(memory->limit))
            : note_make(NOTE_length_refused, note_text(engine->name),
                        note_whole(point->workload.request_tokens), note_whole(memory->longest)));
    if (memory->usable > 0) {
        result_note(result, note_make(NOTE_length_usable, note_real(memory->usable)));
    }
    return result_text(result, COLUMN(status), "out-of-memory", why);
}

/* The pool of a system that offloads is on the host. */
static void note_pool(const struct point *point, const struct prefix_options *memory,
                      const struct requests *requests, struct result *result)
{
    uint64_t tokens = prefix_longest(memory), kept = 0;
    const struct profile *profile = &point->setup.profile;
    struct trust unseen = {.basis = BASIS_MEASURED};
    double has = profile_states(profile, CURVE_HOST_DRAM_CAPACITY)
                     ? profile_value(profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen)
                     : (double)INFINITY;
    const struct mechanisms *mechanisms = point->setup.mechanisms;
    bool uses_host = mechanisms_host_prefixes(mechanisms) || mechanisms_offload(mechanisms) ||
                     mechanisms_stream_weights(mechanisms);
    /* What a machine has is often assumed, and one asks what more would find: so it is no error. */
    if (point->setup.room[TIER_HOST] > 0 && !uses_host) {
        result_note(result, note_make(NOTE_host_unused, note_text(point->setup.system.name)));
    } else if ((double)(point->setup.room[TIER_HOST] * point_sharers(point, false) /
                        point_sharers(point, true)) > has) {
        result_note(result, note_make(NOTE_host_too_large, note_bytes((uint64_t)has)));
    } else if (point->setup.room[TIER_HOST] == 0 && uses_host && isfinite(has)) {
        uint64_t pool = memory->gpu_blocks * memory->block_tokens;
        double ratio = 0;
        uint64_t part = mechanisms_host_prefixes(mechanisms)
                            ? serving_host_room(point, pool, &ratio)
                            : (uint64_t)host_part(point);
        const char *basis = basis_names[unseen.basis];
        result_note(result, ratio > 0
                                ? note_make(NOTE_host_ratio, note_bytes(part), note_real(ratio),
                                            note_bytes((uint64_t)has), note_text(basis))
                                : note_make(NOTE_host_part, note_bytes(part),
                                            note_whole(POINT_HOST_PERCENT),
                                            note_bytes((uint64_t)has), note_text(basis)));
    }
    for (size_t i = 0; i < requests->count; i++) {
        kept += request_kept_tokens(&requests->all[i]);
    }
    uint64_t asked = point->setup.kv_pool_tokens;
    uint64_t there = point->setup.engine.room > 0
                         ? (uint64_t)((double)asked * point->setup.engine.pool_share)
                         : tokens;
    if (!mechanisms_offload(point->setup.mechanisms) && there + memory->block_tokens < asked) {
        result_note(result, note_make(NOTE_pool_too_large, note_whole(there)));
    }
    if (!mechanisms_offload(point->setup.mechanisms) && requests->count > 1 &&
        tokens < 2 * (kept / requests->count)) {
        result_note(result, note_make(NOTE_pool_of_one, note_whole(tokens)));
    }
}

/* ---- requests, and the prefixes found in them --------------------------------------------------- */

void serving_write_requests(const struct point *point, const struct serving_memory *memory,
                            const struct requests *requests, size_t refused, struct result *result)
{
    uint64_t prompt = 0, warm = point->workload.timed ? point->workload.warm : 0;
    bool is_stream = serving_is_stream(point);
    for (size_t i = warm; i < requests->count; i++) {
        prompt += requests->all[i].prompt;
    }
    result_integer(result, COLUMN(replicas), (int64_t)point->workload.replicas);
    if (!is_stream) {
        result_integer(result, COLUMN(requests), (int64_t)(requests->count - warm));
        result_integer(result, COLUMN(prompt_tokens), (int64_t)prompt);
    }
    if (requests->chunk_tokens > 0 && !is_stream) {
        const struct requests_hashed *hashed = &requests->hashed;
        result_integer(result, COLUMN(hashed_blocks), (int64_t)hashed->all);
        result_integer(result, COLUMN(hashed_blocks_unique), (int64_t)(hashed->all - hashed->hits));
        result_integer(result, COLUMN(hashed_blocks_hit), (int64_t)hashed->hits);
        result_integer(result, COLUMN(full_blocks), (int64_t)hashed->full);
        result_integer(result, COLUMN(full_blocks_unique),
                       (int64_t)(hashed->full - hashed->full_hits));
        result_integer(result, COLUMN(full_blocks_hit), (int64_t)hashed->full_hits);
    }
    note_requests(point, requests, result);
    /* Lengths that a stream draws beyond what its model knows are the question's matter, not the servers'. */
    uint64_t stated = point->workload.request_tokens;
    bool counts = !is_stream || (stated > 0 && stated != point->setup.model.trained_context);
    result_integer(result, COLUMN(requests_left_out), counts ? (int64_t)refused : 0);
    if (refused > 0) {
        result_note(result, note_make(NOTE_refused, note_whole(refused),
                                      note_whole(refused + requests->count),
                                      note_whole(point_taken_tokens(point))));
    }
    note_pool(point, &memory->prefix, requests, result);
}

/* Prefixes that were found in each tier, by its number in serving_tiers(), and what they take. */
static void serving_write_prefixes(const struct point *point, const struct serving_memory *memory,
                                   const uint64_t found[PREFIX_MOST_TIERS], uint64_t computed,
                                   const struct prefix_moved moved[PREFIX_MOST_TIERS],
                                   struct result *result)
{
    const struct serving_tiers tiers = serving_tiers(point->setup.mechanisms);
    int64_t bytes = (int64_t)memory->block_bytes;
    result_integer(result, COLUMN(hit_tokens_host), 0); /* where prefixes are not kept there */
    for (uint32_t k = 0; k < tiers.count; k++) {
        result_integer(result, tier_columns[tiers.of[k]].tokens, (int64_t)found[k]);
    }
    result_integer(result, COLUMN(recompute_tokens), (int64_t)computed);
    for (uint32_t k = 1; k < tiers.count; k++) {
        const struct tier_columns columns = tier_columns[tiers.of[k]];
        result_integer(result, columns.held, (int64_t)moved[k].held * bytes);
        result_integer(result, columns.read, (int64_t)moved[k].loaded * bytes);
        result_integer(result, columns.written, (int64_t)moved[k].saved * bytes);
    }
}

/* Of these requests, so many are longer than the server's memory. */
static void serving_add_left_out(uint64_t too_long, struct result *result)
{
    int64_t refused = result_cell(result, COLUMN(requests_left_out))->integer;
    result_integer(result, COLUMN(requests_left_out), refused + (int64_t)too_long);
    if (too_long > 0) {
        result_note(result, note_make(NOTE_too_long, note_whole(too_long)));
    }
}

bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why)
{
    if (host_worth_known(point)) {
        result_integer(result, COLUMN(host_saves_ms), llround(found->worth_ns));
    }
    serving_write_prefixes(point, memory, found->found, found->compute_tokens, found->moved,
                           result);
    serving_add_left_out(found->too_long, result);
    return result_text(result, COLUMN(status), "ok", why);
}

/* ---- detail: requests, the times they waited, servers over time ---------------------------------- */

/* In the order of series.def. */
static_assert((int)SERIES_FIGURES == (int)RESULT_SERIES, "every figure of a series is stored");
static_assert((int)SERIES_BLOCKS == (int)RESULT_SERIES_blocks, "levels come first");
static_assert((int)SERIES_FIGURES == (int)SERIES_FOUND + PREFIX_MOST_TIERS, "one for each tier");
static_assert((int)SERIES_FOUND == (int)RESULT_SERIES_hit_tokens_gpu, "in the same order");
static_assert((int)RESULT_SERIES == (int)RESULT_SERIES_hit_tokens_gpu + TIER_COUNT, "by tier");
static_assert((int)RESULT_TIERS == (int)TIER_COUNT && (int)RESULT_TIER_host == (int)TIER_HOST,
              "predict/result/tiers.def has all tiers");

/* Has the request a row? Of a stream, those that count. */
static bool has_row(const struct serving_window *window, size_t index, const struct served *served)
{
    return !window->is_stream || serving_counts(window, index, served);
}

static bool write_requests(const struct serving_tiers *tiers, const struct requests *requests,
                           const struct served *all, const struct serving_window *window,
                           struct result *result, struct error *why)
{
    result->requests = array_zeroed(requests->count, sizeof *result->requests, why);
    if (result->requests == NULL) {
        return false;
    }
    for (size_t i = 0; i < requests->count; i++) {
        if (!has_row(window, i, &all[i])) {
            continue;
        }
        struct result_request *request = &result->requests[result->request_count++];
        *request = (struct result_request){
            .replica = all[i].server,
            .prompt = requests->all[i].prompt,
            .output = requests->all[i].output,
            .preemptions = all[i].preemptions,
            .arrived_ns = all[i].arrived_ns,
            .scheduled_ns = all[i].scheduled_ns,
            .first_token_ns = all[i].first_token_ns,
            .end_ns = all[i].end_ns,
        };
        for (uint32_t k = 0; k < tiers->count; k++) {
            request->found[tiers->of[k]] = all[i].match.found[k];
        }
    }
    return true;
}

static bool write_waits(size_t count, const struct served *all, const struct serving_window *window,
                        struct result *result, struct error *why)
{
    size_t rows = 0;
    uint32_t request = 0;
    for (size_t i = 0; i < count; i++) {
        for (int wait = 0; wait < WAITS; wait++) {
            rows += has_row(window, i, &all[i]) && all[i].waits.ns[wait] > 0;
        }
    }
    result->waits = array_zeroed(rows, sizeof *result->waits, why);
    if (result->waits == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bool row = has_row(window, i, &all[i]);
        for (int wait = 0; row && wait < WAITS; wait++) {
            if (all[i].waits.ns[wait] > 0) {
                result->waits[result->wait_count++] = (struct result_wait){
                    .request = request,
                    .name = wait_name(wait),
                    .ns = all[i].waits.ns[wait],
                };
            }
        }
        request += row;
    }
    return true;
}

/* Write the series; levels are written as means. */
static bool write_series(const struct serving_tiers *tiers, const struct series *series,
                         int64_t end_ns, struct result *result, struct error *why)
{
    result->bins = array_zeroed(series->count, sizeof *result->bins, why);
    if (result->bins == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < series->count; i++) {
        struct result_bin *bin = &result->bins[result->bin_count++];
        bin->start_ns = i * series->bin_ns;
        bin->ns = i + 1 < series->count ? series->bin_ns : end_ns - bin->start_ns;
        for (int f = 0; f < SERIES_FOUND + (int)tiers->count; f++) {
            double sum = series->bins[i][f];
            int column = f < SERIES_FOUND
                             ? f
                             : RESULT_SERIES_hit_tokens_gpu + (int)tiers->of[f - SERIES_FOUND];
            bin->figures[column] = f <= SERIES_BLOCKS ? sum / (double)bin->ns : round(sum);
        }
    }
    return true;
}

/* ---- times -------------------------------------------------------------------------------------- */

struct serving_tokens {
    uint64_t found[PREFIX_MOST_TIERS], computed, prompt, output, preemptions, too_long, good;
    uint64_t hashed;  /* blocks of known prompts */
    uint64_t counted; /* requests: neither left out nor for warming */
    int64_t since_ns; /* arrival of the first of them; of a stream, the end of the warm-up */
};

static struct serving_tokens count_tokens(const struct point *point,
                                          const struct requests *requests, const struct served *all,
                                          const struct serving_window *window)
{
    struct serving_tokens out = {.computed = 0}, *tokens = &out;
    const struct workload *workload = &point->workload;
    tokens->since_ns = workload->warm > 0 ? INT64_MAX : window->is_stream ? window->from_ns : 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const struct served *served = &all[i];
        tokens->too_long += served->too_long;
        if (served->too_long || !serving_counts(window, i, served)) {
            continue;
        }
        tokens->counted++;
        tokens->prompt += request->prompt;
        tokens->hashed += request->known ? (request->prompt - 1) / requests->chunk_tokens + 1 : 0;
        tokens->since_ns = served->arrived_ns < tokens->since_ns && !window->is_stream
                               ? served->arrived_ns
                               : tokens->since_ns;
        for (uint32_t k = 0; k < PREFIX_MOST_TIERS; k++) {
            tokens->found[k] += served->match.found[k];
        }
        tokens->computed += served->match.compute_tokens;
        tokens->output += request->output;
        tokens->preemptions += served->preemptions;
        uint64_t ttft = (uint64_t)served_time_ns(SERVED_TTFT, request, served);
        uint64_t tpot = (uint64_t)served_time_ns(SERVED_TPOT, request, served);
        tokens->good += (workload->slo_ttft_ns == 0 || ttft <= workload->slo_ttft_ns) &&
                        (workload->slo_tpot_ns == 0 || tpot <= workload->slo_tpot_ns);
    }
    return out;
}

/* Write mean and quantiles of each time; nothing of one that no request has. */
static bool write_figures(const struct requests *requests, const struct served *all,
                          const struct serving_window *window, struct result *result,
                          struct error *why)
{
    double *ns = array_zeroed(requests->count, sizeof *ns, why);
    for (int time = 0; ns != NULL && time < SERVED_TIMES; time++) {
        size_t count = 0;
        for (size_t i = 0; i < requests->count; i++) {
            if (!all[i].too_long && serving_counts(window, i, &all[i]) &&
                (time != SERVED_TPOT || requests->all[i].output > 1)) {
                ns[count++] = (double)served_time_ns(time, &requests->all[i], &all[i]);
            }
        }
        gsl_sort(ns, 1, count);
        for (int k = 0; count > 0 && k < SERVED_FIGURES; k++) {
            double share = served_shares[k];
            double figure = share == 0 ? gsl_stats_mean(ns, 1, count)
                                       : gsl_stats_quantile_from_sorted_data(ns, 1, count, share);
            result_integer(result, served_column(time, k), llround(figure));
        }
    }
    free(ns);
    return ns != NULL;
}

/* Drives wear by what is written to them. */
static void write_wear(const struct point *point, int64_t end_ns, struct result *result)
{
    const struct profile *profile = &point->setup.profile;
    const struct cell *written = result_cell(result, COLUMN(prefix_disk_written_bytes));
    if (!written->set || end_ns <= 0) {
        return;
    }
    double days = (double)end_ns / 86400e9;
    double day = (double)written->integer / (double)point->workload.replicas / days;
    result_integer(result, COLUMN(prefix_disk_day_bytes), llround(day));
    if (profile_states(profile, CURVE_DISK_CAPACITY)) {
        double capacity = profile_value(profile, CURVE_DISK_CAPACITY, 0, TRUST_UNSEEN);
        result_real(result, COLUMN(prefix_disk_drive_writes), day / capacity);
    }
}

bool serving_as_asked(const struct serving_window *window)
{
    double off = fabs(window->asked - window->rate.value);
    return window->is_stream && !window->grows && window->asked > 0 &&
           (window->brief || off <= window->rate.half);
}

/* In which the requests that count ended. */
static double ended_seconds(const struct serving_tokens *tokens,
                            const struct serving_totals *totals)
{
    return serving_as_asked(&totals->window) ? (double)tokens->counted / totals->window.asked
                                             : (double)(totals->end_ns - tokens->since_ns) / 1e9;
}

static void serving_times_write_rates(const struct point *point,
                                      const struct serving_tokens *tokens,
                                      const struct serving_totals *totals, struct result *result)
{
    const struct workload *workload = &point->workload;
    double seconds = ended_seconds(tokens, totals);
    double gpus = (double)(workload->replicas * model_gpus(&point->setup.model));
    if (seconds <= 0) {
        return;
    }
    double rate = (double)tokens->output / seconds;
    result_real(result, COLUMN(decode_tokens_per_s), rate);
    result_real(result, COLUMN(tokens_per_s_per_gpu), rate / gpus);
    price_write(&point->setup.profile, result);
    if (totals->saved > 0) {
        result_integer(result, COLUMN(copy_out_ms),
                       llround(totals->saves_ns / (double)totals->saved));
    }
    result_real(result, COLUMN(gpu_busy_share),
                (double)totals->busy_ns /
                    ((double)(totals->end_ns - totals->warm_ns) * (double)point_servers(point)));
    if (workload->slo_ttft_ns > 0 || workload->slo_tpot_ns > 0) {
        result_real(result, COLUMN(goodput), (double)tokens->good / seconds);
    }
}

/* Say what copies of KV cost, if it is this share of the time of steps and of what they wait for, or more. */
static void note_copies(const struct serving_totals *totals, struct result *result)
{
    static const struct {
        enum note_id note;
        double told;
    } notes[COPY_WAITS] = {
        [COPY_SAVES] = {NOTE_copies_saved, 0.02},  [COPY_TAKES] = {NOTE_copies_taken, 0.02},
        [COPY_LOADS] = {NOTE_copies_loaded, 0.02}, [COPY_CALLS] = {NOTE_copies_called, 0.02},
        [COPY_HOLDS] = {NOTE_copies_held, 0.2},
    };
    double ns = (double)(totals->busy_ns + totals->copies_ns[COPY_TAKES]);
    for (int wait = 0; wait < COPY_WAITS && ns > 0; wait++) {
        double share = (double)totals->copies_ns[wait] / ns;
        if (share >= notes[wait].told) {
            result_note(result, note_make(notes[wait].note, note_real(100 * fmin(1, share))));
        }
    }
}

static bool write_arrivals(const struct point *point, const struct requests *requests,
                           const struct served *all, const struct serving_totals *totals,
                           const struct serving_tokens *tokens, struct result *result,
                           struct error *why)
{
    double seconds = ended_seconds(tokens, totals);
    if (point->setup.mechanisms->residency == RESIDENCY_PRESSURE) {
        result_real(result, COLUMN(resident_share), totals->about.resident_share);
    }
    if (seconds > 0) {
        result_real(result, COLUMN(requests_out_per_s), (double)tokens->counted / seconds);
    }
    if (totals->window.is_stream) {
        serving_write_steady(requests, all, &totals->window, tokens->counted, result);
        return true;
    }
    return serving_write_load(point, requests, all, result, why);
}

static bool write_trust(const struct setup *setup, const struct step_about *about,
                        struct result *result, struct error *why)
{
    char source[256] = "";
    for (int i = 0; i < BASIS_COUNT; i++) {
        result->basis[i] = (struct result_item){basis_names[i], 0, about->basis[i]};
    }
    result->basis_count = BASIS_COUNT;
    result_integer(result, COLUMN(extrapolated), about->trust.extrapolated);
    if (about->asks_trace) {
        outcome_trace_source(setup, false, source, sizeof source);
    }
    return result_text(result, COLUMN(basis), basis_names[about->trust.basis], why) &&
           (source[0] == '\0' ||
            (result_text(result, COLUMN(trace_basis), basis_names[setup->trace_basis], why) &&
             result_text(result, COLUMN(trace_source), source, why)));
}

bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why)
{
    const struct serving_tiers tiers = serving_tiers(point->setup.mechanisms);
    const struct serving_tokens tokens = count_tokens(point, requests, served, &totals->window);
    if (!write_figures(requests, served, &totals->window, result, why)) {
        return false;
    }
    if (totals->window.is_stream) {
        result_integer(result, COLUMN(requests), (int64_t)tokens.counted);
        result_integer(result, COLUMN(prompt_tokens), (int64_t)tokens.prompt);
    }
    if (totals->window.is_stream && tokens.hashed > 0) {
        result_integer(result, COLUMN(hashed_blocks), (int64_t)tokens.hashed);
    }
    const struct gaps *gaps = &totals->gaps;
    for (int k = 0; gaps->count > 0 && k < SERVED_FIGURES; k++) {
        double ns = served_shares[k] > 0 ? gaps_quantile_ns(gaps, served_shares[k])
                                         : gaps->sum_ns / (double)gaps->count;
        result_integer(result, served_column(SERVED_GAPS, k), llround(ns));
    }
    serving_write_prefixes(point, memory, tokens.found, tokens.computed, totals->moved, result);
    write_wear(point, totals->end_ns, result);
    serving_times_write_rates(point, &tokens, totals, result);
    note_copies(totals, result);
    result_integer(result, COLUMN(kv_blocks), (int64_t)totals->blocks);
    result_integer(result, COLUMN(preemptions), (int64_t)tokens.preemptions);
    serving_add_left_out(tokens.too_long, result);
    return write_arrivals(point, requests, served, totals, &tokens, result, why) &&
           write_requests(&tiers, requests, served, &totals->window, result, why) &&
           write_waits(requests->count, served, &totals->window, result, why) &&
           write_series(&tiers, &totals->series, totals->end_ns, result, why) &&
           write_trust(&point->setup, &totals->about, result, why) &&
           result_text(result, COLUMN(status), "ok", why);
}
