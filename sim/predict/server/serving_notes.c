#include "predict/server/serving_notes.h"

#include "core/name.h"
#include "server/requests/requests.h"
#include "server/requests/synthetic.h"

#include <math.h>
#include <stdio.h>

/* A state holds a prefix at the one place where it was taken. Engines keep few of them, or none. */
static void note_states(const struct setup *setup, struct result *result)
{
    if (setup->model.linear.key_heads > 0 && setup->mechanisms.prefix != PREFIX_NONE) {
        result_note(result, note_prefix_states());
    }
}

/* A server's steps are timed at the mean length: only the requests say that one is longer. */
static void note_longest(const struct model *model, const struct requests *requests,
                         struct result *result)
{
    if (model->trained_context > 0 && requests_longest(requests) > model->trained_context) {
        result_note(result, note_trained_context(model->name, model->trained_context));
    }
}

static void note_engine(const struct workload *workload, struct result *result)
{
    const struct server_engine *engine = &workload->engine;
    if (engine->stand_in != NULL) {
        result_note(result, note_engine_by_another(engine->name, engine->row, engine->stand_in));
    }
}

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
    };
    char keys[128] = "";
    for (size_t i = 0; !workload->timed && i < sizeof of_clock / sizeof *of_clock; i++) {
        if (of_clock[i].said) {
            name_list_add(keys, sizeof keys, of_clock[i].key);
        }
    }
    if (keys[0] != '\0') {
        result_note(result, note_clock_ignored(keys));
    }
    if (point->setup.steps != SETUP_STEPS_ALL || point->setup.warmup != SETUP_WARMUP_AUTO) {
        result_note(result, workload->timed ? note_steps_of_clock() : note_steps_ignored());
    }
}

/* Without hashes nobody knows which prompts begin alike. */
static void note_unknown(const struct point *point, const struct requests *requests,
                         struct result *result)
{
    uint64_t unknown = 0;
    if (point->setup.mechanisms.prefix == PREFIX_NONE || synthetic_is(point->workload.path)) {
        return;
    }
    for (size_t i = 0; i < requests->count; i++) {
        unknown += !requests->all[i].known;
    }
    if (unknown > 0) {
        result_note(result, unknown == requests->count
                                ? note_hashes_lacking()
                                : note_hashes_partly(unknown, requests->count));
    }
}

/* Clients whose requests are equally long end together, and so send the next ones together. */
static void note_even(const struct workload *workload, struct result *result)
{
    if (workload->clients > 1 && workload->timed && synthetic_is(workload->path) &&
        synthetic_is_even(workload->path)) {
        result_note(result, note_lock_step(workload->clients));
    }
}

void serving_note_requests(const struct point *point, const struct requests *requests,
                           struct result *result)
{
    note_unknown(point, requests, result);
    note_states(&point->setup, result);
    note_longest(&point->setup.model, requests, result);
    note_engine(&point->workload, result);
    note_even(&point->workload, result);
    note_unheard(point, result);
}

static uint64_t mean_kept_tokens(const struct requests *requests)
{
    uint64_t tokens = 0;
    for (size_t i = 0; i < requests->count; i++) {
        tokens += request_kept_tokens(&requests->all[i]);
    }
    return tokens / requests->count;
}

/* What a machine has is often assumed, and one asks what more would find: so it is no error. */
static void note_host_size(const struct setup *setup, struct result *result)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    double has = profile_states(&setup->profile, CURVE_HOST_DRAM_CAPACITY)
                     ? profile_value(&setup->profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen)
                     : (double)INFINITY;
    if ((double)setup->room[TIER_HOST] > has) {
        result_note(result, note_host_too_large((uint64_t)has));
    }
}

/* The pool of a system that offloads is on the host. */
void serving_note_pool(const struct point *point, const struct prefix_options *memory,
                       const struct requests *requests, struct result *result)
{
    uint64_t tokens = memory->gpu_blocks * memory->block_tokens / point_joined_ranks(point);
    note_host_size(&point->setup, result);
    if (!mechanisms_offload(&point->setup.mechanisms) &&
        tokens + memory->block_tokens < point->setup.kv_pool_tokens) {
        result_note(result, note_pool_too_large(tokens));
    }
    if (!mechanisms_offload(&point->setup.mechanisms) && requests->count > 1 &&
        tokens < 2 * mean_kept_tokens(requests)) {
        result_note(result, note_pool_of_one(tokens));
    }
}
