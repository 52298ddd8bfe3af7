/* Behind a router that does not see load each server runs alone; behind one that does, all together. */
#include "predict/server/serving.h"

#include "core/parallel.h"
#include "predict/decode/outcome.h"
#include "predict/scenario/engine_memory.h"
#include "predict/server/serving_replay.h"
#include "predict/server/serving_stream.h"
#include "server/fleet.h"
#include "server/prefix/prefix_tiers.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct serving {
    const struct point *point;
    const struct run_context *context;
    struct requests requests;     /* a view of the point's or longer ones, with own arrivals */
    size_t refused;               /* those too long, which it lacks */
    struct request_stream stream; /* if they are one */
    struct stream_stage stage;
    const struct stream_stage *again; /* whose requests and warm-up it has; NULL: its own */
    struct serving_memory memory;
    double *compute_ns; /* of memory.prefix, owned; NULL: nothing chooses by it */
    struct router router;
    struct served *served;
};

/* ---- requests -------------------------------------------------------------------------- */

/* Requests without arrival times need another source of them. A plan may search the rate, so this
 * is a fault of a run, not of a scenario. */
static bool check_times(const struct point *point, struct error *why)
{
    const struct workload *workload = &point->workload;
    if (point->requests->sessions && !workload->timed) {
        error_usage(why, NULL, 0,
                    "a session's next turn arrives after an answer, which takes time");
        return error_expect(why, "'timed: yes', or a workload without 'turns'");
    }
    if (point->requests->arrive || workload->rate > 0 || workload->clients > 0 ||
        workload->arrivals == ARRIVALS_AT_ONCE || !workload->timed) {
        return true;
    }
    error_usage(why, NULL, 0, "the requests of workload '%.100s' have no arrival times",
                workload->path);
    return error_expect(why, "'rate' or 'clients', or 'timed: no'");
}

/* Those that warm the servers come at a rate of their own, and the others behind them. */
static void stretch_warm(struct serving *serving)
{
    const struct workload *workload = &serving->point->workload;
    struct request *all = serving->requests.all;
    size_t count = serving->requests.count,
           warm = workload->warm < count ? workload->warm : count - 1;
    double scale = workload->rate / workload->warm_rate;
    int64_t shift = llround((double)all[warm].arrival_ns * (scale - 1));
    for (size_t i = 0; i < count; i++) {
        all[i].arrival_ns =
            i < warm ? llround((double)all[i].arrival_ns * scale) : all[i].arrival_ns + shift;
    }
}

/* Give the requests the arrivals that the workload states. */
static bool set_arrivals(struct serving *serving, struct error *why)
{
    const struct workload *workload = &serving->point->workload;
    if (workload->arrivals == ARRIVALS_AT_ONCE) {
        for (size_t i = 0; i < serving->requests.count; i++) {
            serving->requests.all[i].arrival_ns = 0;
        }
        return true;
    }
    double shape =
        workload->arrivals == ARRIVALS_CONSTANT ? (double)INFINITY : workload->burstiness;
    if (workload->rate == 0) {
        return true;
    }
    bool drawn =
        arrivals_draw(&serving->requests, workload->rate, shape, serving->point->setup.seed, why);
    if (drawn && workload->warm_rate > 0) {
        stretch_warm(serving);
    }
    return drawn;
}

/* Copy the point's requests, with the times at which they arrive in this run. */
static bool take_requests(struct serving *serving, struct error *why)
{
    const struct point *point = serving->point;
    const struct workload *workload = &point->workload;
    serving->requests = *point->requests;
    serving->requests.all = array_zeroed(point->requests->count, sizeof(struct request), why);
    if (serving->requests.all == NULL) {
        return false;
    }
    memcpy(serving->requests.all, point->requests->all,
           point->requests->count * sizeof(struct request));
    if (!set_arrivals(serving, why) ||
        !requests_stretch(&serving->requests, workload->time_scale, why)) {
        return false;
    }
    serving->refused = requests_refuse(&serving->requests, point_taken_tokens(point));
    if (workload->warm < serving->requests.count) {
        return true;
    }
    error_usage(why, NULL, 0, "'warm_requests' of %" PRIu64 " leave no request to count",
                workload->warm);
    return error_expect(why, "fewer than the %zu of the workload", serving->requests.count);
}

/* ---- runs ------------------------------------------------------------------------------ */

/* Servers that run together, and what belongs to each. */
struct serving_group {
    struct arrays arrays;
    uint32_t count;
    bool routed;             /* one server, with the requests that were sent to it */
    struct server **servers; /* [count] in `arrays`, as are the next three */
    struct prefix_cache **caches;
    struct server_totals *totals;
    struct server_load *none;  /* before anything was sent */
    struct balancer *balancer; /* NULL: requests were routed before */
    struct prefix_pool *pool;  /* that their caches share; NULL: none */
    struct serving *serving;
    struct serving_totals *all; /* of all groups */
};

/* The engine's; ranks that share experts have one each. What arrives in the queue has been through it. */
static struct server_path server_path(const struct point *point)
{
    struct server_path path = point->engine.path;
    uint32_t ranks = point_joined_ranks(point);
    path.prompt_token_ns /= ranks;
    path.output_token_ns /= ranks;
    const struct workload *workload = &point->workload;
    if (workload->api == API_NONE) {
        path.prompt_token_ns = path.request_ns = path.output_token_ns = 0;
    }
    /* Do requests arrive when the file says that the engine had them? */
    if (point->requests->queued && workload->rate == 0 && workload->clients == 0 &&
        workload->arrivals == ARRIVALS_RANDOM) {
        path.prompt_token_ns = path.request_ns = 0;
        path.queued = true;
    }
    return path;
}

static struct server_options server_options(const struct serving *serving, uint32_t server,
                                            struct serving_totals *all)
{
    const struct setup *setup = &serving->point->setup;
    const struct workload *workload = &serving->point->workload;
    const struct prefix_options *prefix = &serving->memory.prefix;
    uint32_t passes = point_passes(serving->point);
    struct server_options options = {
        .number = server,
        .sequences = serving->memory.sequences,
        .batched_tokens = (uint32_t)workload->batched_tokens * passes,
        .chunk_tokens = (uint32_t)workload->batched_tokens,
        .token_bytes = serving_token_bytes(setup) / setup->model.tensor_parallel / passes,
        .unit_tokens = prefix->unit_blocks * prefix->block_tokens,
        .saves_cross = prefix->saves_wait,
        .written_bytes = serving->memory.written_bytes,
        .written_layers = setup->model.layer_count,
        .path = server_path(serving->point),
        .series = &all->series,
        .gaps = &all->gaps,
        .warm = workload->warm,
        .warm_ns = serving->stage.warm_ns,
    };
    serving_pieces_waits(serving->point, &options);
    return options;
}

static bool group_create(struct serving_group *group, uint32_t first,
                         const struct step_clock *clock, struct error *why)
{
    struct serving *serving = group->serving;
    struct serving_totals *all = group->all;
    if (serving_tiers_shared(serving->point) &&
        (group->pool = prefix_pool_create(&serving->memory.prefix, &serving->requests, why)) ==
            NULL) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        const struct server_options options = server_options(serving, first + i, all);
        struct prefix_options prefix = serving->memory.prefix;
        prefix.server_of = group->balancer == NULL && group->pool == NULL &&
                                   (group->routed || all->window.is_stream)
                               ? serving->router.server_of
                               : NULL;
        prefix.server = first + i;
        prefix.pool = group->pool;
        group->caches[i] = prefix_cache_create(&prefix, &serving->requests, why);
        if (group->caches[i] == NULL || (group->servers[i] = server_create(
                                             &options, clock, &serving->requests, group->caches[i],
                                             serving->served, &group->totals[i], why)) == NULL) {
            return false;
        }
    }
    return true;
}

static void group_release(struct serving_group *group)
{
    for (uint32_t i = 0; !group->arrays.failed && i < group->count; i++) {
        server_destroy(group->servers[i]);
        prefix_cache_destroy(group->caches[i]);
    }
    prefix_pool_destroy(group->pool);
    arrays_release(&group->arrays);
    balancer_destroy(group->balancer);
}

/* Is the request's next turn past, too, at the same server and rank? It uses all that this one does, and later. */
static bool is_followed(const struct serving *serving, uint32_t index)
{
    const struct request *next = &serving->requests.all[index + 1];
    const uint32_t *server_of = serving->router.server_of;
    return index + 1 < serving->requests.count && serving->memory.prefix.ranks == 1 &&
           next->turn == serving->requests.all[index].turn + 1 && next->arrival_ns < 0 &&
           server_of[index] == server_of[index + 1];
}

/* Let the past of a stream fill the caches of the group's servers, and tell the router. */
static void fill_caches(const struct serving_group *group, uint32_t first)
{
    const struct serving *serving = group->serving;
    const struct request_stream *stream = &serving->stream;
    uint32_t *server_of = serving->router.server_of;
    /* Numbers of blocks are given anew where nothing counts but which blocks were used last. */
    bool last_turns =
        prefix_tiers_owners(&serving->memory.prefix, &serving->requests).chunks_recycled;
    for (uint32_t i = 0; group->balancer != NULL && i < stream->past_count; i++) {
        server_of[stream->past[i]] = balancer_choose(group->balancer, stream->past[i], group->none);
    }
    for (uint32_t i = 0; i < group->count; i++) {
        prefix_past(group->caches[i]);
    }
    for (uint32_t i = 0; i < stream->past_count; i++) {
        uint32_t index = stream->past[i], server = server_of[index];
        struct prefix_match unused;
        bool here = server >= first && server < first + group->count;
        if (here && !(last_turns && is_followed(serving, index))) {
            prefix_replay_one(group->caches[server - first], &serving->memory.prefix, index,
                              &serving->requests.all[index], &unused);
        }
    }
    for (uint32_t i = 0; i < group->count; i++) {
        prefix_now(group->caches[i]);
    }
}

static void add_totals(const struct serving_group *group)
{
    const struct serving *serving = group->serving;
    struct serving_totals *all = group->all;
    for (uint32_t i = 0; i < group->count; i++) {
        const struct server_totals *totals = &group->totals[i];
        all->blocks += serving->memory.prefix.gpu_blocks;
        prefix_moved_add(all->moved, group->caches[i], i == 0);
        all->steps += totals->steps;
        for (uint32_t k = 1; k < PREFIX_MOST_TIERS; k++) {
            struct prefix_counts blocks = prefix_counts(group->caches[i], k);
            all->moved[k].loaded -= totals->warm[k].loaded;
            all->moved[k].saved -= totals->warm[k].saved;
            all->crossed_blocks +=
                blocks.loaded + (serving->memory.prefix.saves_wait ? blocks.saved : 0);
        }
        all->busy_ns += totals->busy_ns;
        all->saved += totals->saved;
        all->saves_ns += totals->saves_ns;
        for (int wait = 0; wait < COPY_WAITS; wait++) {
            all->copies_ns[wait] += totals->copies_ns[wait];
        }
        all->end_ns = totals->end_ns > all->end_ns ? totals->end_ns : all->end_ns;
    }
}

/* While a stream is served. */
static bool group_look(uint32_t looks, int64_t now_ns, bool *enough, void *context,
                       struct error *why)
{
    const struct serving_group *group = context;
    const struct serving *serving = group->serving;
    struct serving_totals so_far = *group->all;
    struct stream_finding finding;
    so_far.window.to_ns = now_ns;
    for (uint32_t i = 0; i < group->count; i++) {
        so_far.steps += group->totals[i].steps;
    }
    bool good = stream_stage_judge(serving->point, serving->context->question, &serving->requests,
                                   serving->served, &serving->stage, looks, &so_far, &finding, why);
    *enough = finding.enough;
    return good;
}

/* The servers from `first` on in one time: all, or one with its requests and share of the clients. */
static bool serve_group(struct serving_group group, uint32_t first, const struct step_clock *clock,
                        struct error *why)
{
    struct serving *serving = group.serving;
    struct serving_totals *all = group.all;
    const struct workload *workload = &serving->point->workload;
    uint64_t servers = point_servers(serving->point);
    bool balances = !group.routed && workload_balances(workload);
    struct fleet fleet = {
        .server_count = group.count,
        .requests = &serving->requests,
        .count = (uint32_t)serving->requests.count,
        .server_of = serving->router.server_of,
        .served = serving->served,
        .clients = (uint32_t)workload->clients,
        .warm = workload->warm,
        .warm_clients = (uint32_t)workload->warm_clients,
        .is_stream = all->window.is_stream,
        .stop = serving->context->stop,
    };
    int64_t end_ns = 0;
    if (group.routed) {
        fleet.server_of = NULL;
        fleet.count = router_select(&serving->router, first);
        fleet.indices = serving->router.indices;
        fleet.clients = (uint32_t)((workload->clients + servers - 1 - first) / servers);
        fleet.warm_clients = (uint32_t)((workload->warm_clients + servers - 1) / servers);
    }
    if (fleet.is_stream) {
        fleet.count = serving->stream.count;
        fleet.indices = serving->stream.order;
        fleet.look = serving->stage.number > 0 && serving->again == NULL ? group_look : NULL;
        fleet.context = &group;
    }
    if (balances) {
        group.balancer = balancer_create(workload, group.count, &serving->requests,
                                         serving->point->setup.seed, why);
    }
    group.servers = arrays_add(&group.arrays, group.count, sizeof *group.servers, why);
    group.caches = arrays_add(&group.arrays, group.count, sizeof *group.caches, why);
    group.totals = arrays_add(&group.arrays, group.count, sizeof *group.totals, why);
    group.none = arrays_add(&group.arrays, group.count, sizeof *group.none, why);
    bool ok = !group.arrays.failed && (!balances || group.balancer != NULL) &&
              group_create(&group, first, clock, why);
    if (ok) {
        fill_caches(&group, first);
    }
    fleet.servers = group.servers;
    fleet.balancer = group.balancer;
    ok = ok && fleet_run(&fleet, &end_ns, why);
    if (ok) {
        add_totals(&group);
    }
    if (fleet.is_stream) {
        all->window.to_ns = end_ns;
    }
    group_release(&group);
    return ok;
}

static bool serve_all(struct serving *serving, struct step_cost *cost,
                      struct serving_totals *totals, struct error *why)
{
    struct step_clock clock = step_cost_clock(cost);
    /* Behind a router that sees load, with a pool or sessions, and where a run may end early. */
    bool together = workload_balances(&serving->point->workload) || serving->requests.sessions ||
                    serving_tiers_shared(serving->point) || totals->window.is_stream,
         ok = true;
    uint32_t servers = (uint32_t)point_servers(serving->point), each = together ? servers : 1;
    for (uint32_t first = 0; ok && first < servers; first += each) {
        struct serving_group group = {
            .count = each, .routed = !together, .serving = serving, .all = totals};
        ok = serve_group(group, first, &clock, why);
    }
    step_cost_about(cost, totals->crossed_blocks > 0 || serving->memory.written_bytes > 0,
                    &totals->about);
    return ok;
}

/* Fail if the server is too small for every request. */
static bool check_fit(const struct serving *serving, struct error *why)
{
    const struct prefix_options *prefix = &serving->memory.prefix;
    uint64_t room = prefix_longest(prefix), least = UINT64_MAX;
    for (size_t i = 0; i < serving->requests.count; i++) {
        uint64_t tokens = request_kept_tokens(&serving->requests.all[i]);
        least = tokens < least ? tokens : least;
    }
    if (least <= room) {
        return true;
    }
    error_set(why, NULL, 0, "no request fits the server's KV memory of %llu tokens",
              (unsigned long long)room);
    return error_expect(why, "room for %llu, which the shortest takes", (unsigned long long)least);
}

/* What a run needs besides its requests. */
static bool serving_prepare(struct serving *serving, struct error *why)
{
    const struct point *point = serving->point;
    struct prefix_options *prefix = &serving->memory.prefix;
    size_t count = serving->requests.count;
    if (!check_fit(serving, why)) {
        return false;
    }
    /* Whether to load a prefix or to compute it is decided by the time of both. */
    prefix->cheaper = prefix->cheaper && host_worth_known(point);
    if (prefix->cheaper && (serving->compute_ns = host_worth_find(point, prefix, &serving->requests,
                                                                  serving->context, why)) == NULL) {
        return false;
    }
    serving->served = array_zeroed(count, sizeof *serving->served, why);
    if (serving->served == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) { /* as long as it is not sent */
        serving->served[i].arrived_ns = serving->served[i].end_ns = -1;
    }
    return router_init(&serving->router, &serving->requests, (uint32_t)point_servers(point),
                       point->workload.routing == ROUTE_PREFIX, serving->context->stop, why);
}

static void serving_clear(struct serving *serving)
{
    free(serving->requests.all); /* the rest of the view belongs to the point's sources */
    stream_release(&serving->stream);
    router_release(&serving->router);
    free(serving->compute_ns);
    free(serving->served);
    serving->requests.all = NULL;
    serving->compute_ns = NULL;
    serving->served = NULL;
}

/* One run of the clock. The caller releases totals->series. */
static bool serve_once(struct serving *serving, struct step_cost *cost, bool is_stream,
                       struct serving_totals *totals, struct error *why)
{
    *totals = (struct serving_totals){
        .window = {.is_stream = is_stream,
                   .first = is_stream ? serving->stream.first : serving->point->workload.warm,
                   .from_ns = -1,
                   .to_ns = INT64_MAX},
        .warm_ns = serving->stage.warm_ns,
    };
    bool ok = series_init(&totals->series, why) && serve_all(serving, cost, totals, why);
    totals->end_ns = is_stream ? totals->window.to_ns : totals->end_ns;
    return ok;
}

static bool write_times(struct serving *serving, const struct serving_totals *totals,
                        struct result *result, struct error *why)
{
    serving_write_requests(serving->point, &serving->memory, &serving->requests, serving->refused,
                           result);
    return serving_write_times(serving->point, &serving->memory, &serving->requests,
                               serving->served, totals, result, why);
}

/* A server that is asked endlessly: longer and longer runs. */
static bool serve_stream(struct serving *serving, struct result *result, struct error *why)
{
    const struct point *point = serving->point;
    struct decode_range range = stream_step_range(point, &serving->memory);
    struct step_cost *cost = step_cost_create(point, &range, serving->context, why);
    bool ok = cost != NULL, enough = false;
    stream_stage_first(point, serving->context->question, &serving->stage);
    serving->stage = serving->again != NULL ? *serving->again : serving->stage;
    while (ok && !enough) {
        struct serving_totals totals = {.steps = 0};
        struct stream_finding finding;
        ok = stream_stage_take(point, &serving->memory, &serving->stage, &serving->requests,
                               &serving->refused, &serving->stream, why) &&
             serving_prepare(serving, why) && serve_once(serving, cost, true, &totals, why) &&
             stream_stage_judge(point, serving->context->question, &serving->requests,
                                serving->served, &serving->stage, 0, &totals, &finding, why);
        if (serving->again != NULL) {
            finding.enough = true;
            totals.window.from_ns = serving->stage.warm_ns;
        }
        ok = ok && (!finding.enough || write_times(serving, &totals, result, why));
        enough = !ok || finding.enough;
        if (enough) {
            serving->stage.warm_ns = totals.window.from_ns;
        } else {
            stream_stage_next(point, serving->context->question, &finding, &totals.window,
                              &serving->stage);
        }
        series_release(&totals.series);
        serving_clear(serving);
    }
    step_cost_destroy(cost);
    return ok;
}

static bool serve_list(struct serving *serving, struct result *result, struct error *why)
{
    /* Contexts of decoding sequences: from the first token after a prompt to the last one. */
    uint32_t passes = point_passes(serving->point);
    struct decode_range range = {(serving->memory.sequences + passes - 1) / passes, UINT64_MAX, 1};
    for (size_t i = 0; i < serving->requests.count; i++) {
        const struct request *request = &serving->requests.all[i];
        uint64_t first = (uint64_t)request->prompt + 1;
        uint64_t last = (uint64_t)request->prompt + request->output;
        range.least_context = first < range.least_context ? first : range.least_context;
        range.most_context = last > range.most_context ? last : range.most_context;
    }
    struct step_cost *cost = step_cost_create(serving->point, &range, serving->context, why);
    struct serving_totals totals = {.steps = 0};
    bool ok = cost != NULL && serve_once(serving, cost, false, &totals, why) &&
              write_times(serving, &totals, result, why);
    series_release(&totals.series);
    step_cost_destroy(cost);
    return ok;
}

static bool serving_run_servers(struct serving *serving, struct result *result, struct error *why)
{
    const struct point *point = serving->point;
    struct prefix_totals found;
    if (!check_times(point, why)) {
        return false;
    }
    if (!serving_memory_plan(point, serving->context, &serving->memory, why)) {
        return serving->memory.lacks != SERVING_STARTS &&
               serving_write_lack(point, &serving->memory, result, why);
    }
    if (serving_is_stream(point)) {
        return serve_stream(serving, result, why);
    }
    if (!take_requests(serving, why) || !serving_prepare(serving, why)) {
        return false;
    }
    if (point->workload.timed) {
        return serve_list(serving, result, why);
    }
    serving_write_requests(point, &serving->memory, &serving->requests, serving->refused, result);
    return serving_replay(point, &serving->memory.prefix, &serving->requests, &serving->router,
                          serving->context, &found, why) &&
           serving_write_found(point, &serving->memory, &found, result, why);
}

/* With a plan also the columns of the setup. `stage`: of a stream, NULL or that of a run with the same
 * requests and warm-up; and where it is not `again`, the stage of this run. */
static bool run_once(const struct point *point, const struct run_context *context,
                     const struct plan *plan, bool again, struct stream_stage *stage,
                     struct result *result, struct error *why)
{
    struct serving serving = {.point = point, .context = context, .again = again ? stage : NULL};
    result_init(result);
    bool ok = (plan == NULL || outcome_setup(&point->setup, plan, result, why)) &&
              serving_run_servers(&serving, result, why);
    if (stage != NULL && !again) {
        *stage = serving.stage;
    }
    serving_clear(&serving);
    if (!ok) {
        result_release(result);
    }
    return ok;
}

bool serving_again(const struct point *point, const struct run_context *context,
                   struct result *result, struct error *why)
{
    struct run_context alone = *context; /* draws are parallel already */
    alone.threads = 1;
    return run_once(point, &alone, NULL, false, NULL, result, why);
}

bool serving_run(const struct point *point, const struct run_context *context,
                 struct result *result, struct error *why)
{
    struct plan plan = {.batch = 0};
    bool ok = run_plan(&point->setup, context, &plan, why) &&
              run_once(point, context, &plan, false, NULL, result, why);
    plan_release(&plan);
    return ok;
}

struct serving_trial {
    const struct point *point;
    double by;
    const struct run_context *context;
    struct stream_stage *stage; /* NULL: of a list */
    struct run_ranges *ranges;
    bool skips[CURVE_COUNT + 1]; /* figures */
};

static bool serve_scaled(const struct serving_trial *trial, enum curve_id id, double scale,
                         struct result *result, struct error *why)
{
    struct point scaled = *trial->point;
    struct scaled_profile profile;
    if (!scaled_profile_init_one(&trial->point->setup.profile, id, scale, &profile, why)) {
        return false;
    }
    scaled.setup.profile = profile.profile;
    scaled.sources = NULL; /* a file's pool is not held against a machine that is only tried */
    bool ok = engine_memory_set(&scaled, why);
    scaled.sources = trial->point->sources;
    ok = ok &&
         run_once(&scaled, trial->context, NULL, trial->stage != NULL, trial->stage, result, why);
    scaled_profile_release(&profile);
    return ok;
}

static bool try_figure(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    (void)thread;
    const struct serving_trial *trial = context;
    struct run_range *range = &trial->ranges->all[index];
    return stop_flag_check(trial->context->stop, why) &&
           (trial->skips[index] || range->curve == CURVE_GPU_HBM_CAPACITY ||
            serve_scaled(trial, range->curve, 1 - trial->by, &range->ends[0], why)) &&
           (trial->skips[index] ||
            serve_scaled(trial, range->curve, 1 + trial->by, &range->ends[1], why));
}

/* Requests by which figures are tried: the beginning of a long list; of a stream as many as tell anything,
 * the same for each figure, in its steady state. Since filling the caches takes longest, those that hardly
 * move the first few requests are left out there; more stay than are mentioned, for few requests err. */
enum { TRIED = 400, GLANCED = 200, FIGURES_KEPT = 5 };
static const struct stream_question tried_question = {.most = STREAM_FEWEST};

/* How far a figure moves a time. */
static double range_moves(const struct run_ranges *ranges, uint32_t index,
                          const struct column *time)
{
    double base = result_number(&ranges->base, time);
    double less = result_number(&ranges->all[index].ends[0], time) / base - 1;
    return fmax(
        0, fmax(fabs(less), fabs(result_number(&ranges->all[index].ends[1], time) / base - 1)));
}

/* Is the figure among those that move a time most; one that was not measured, among its like? How much is
 * kept tells only once it is full. */
static bool range_matters(const struct profile *profile, const struct run_ranges *ranges,
                          uint32_t index, const struct column *time)
{
    enum curve_id id = ranges->all[index].curve;
    double own = range_moves(ranges, index, time);
    uint32_t ahead = 0;
    for (uint32_t i = 0; i < ranges->count; i++) {
        bool rivals = profile->curves[id].basis == BASIS_MEASURED ||
                      profile->curves[ranges->all[i].curve].basis != BASIS_MEASURED;
        ahead += rivals && range_moves(ranges, i, time) > own;
    }
    return id == CURVE_GPU_HBM_CAPACITY || id == CURVE_HOST_DRAM_CAPACITY ||
           (own > 0 && ahead < FIGURES_KEPT);
}

static bool list_figures(const struct point *point, struct run_ranges *ranges, struct error *why)
{
    enum curve_id ids[CURVE_COUNT + 1];
    size_t count = point_curves(point, ids);
    bool listed = false;
    for (size_t i = 0; i < count; i++) {
        listed = listed || ids[i] == CURVE_GPU_HBM_CAPACITY;
    }
    if (!listed && point->setup.kv_pool_tokens == 0) {
        ids[count++] = CURVE_GPU_HBM_CAPACITY;
    }
    ranges->all = array_zeroed(count, sizeof *ranges->all, why);
    if (ranges->all == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        ranges->all[ranges->count++].curve = ids[i];
    }
    return true;
}

bool serving_ranges(const struct point *point, double by, const struct run_context *context,
                    struct run_ranges *ranges, struct error *why)
{
    struct point tried = *point;
    struct requests first = *point->requests;
    struct run_context alone = *context; /* figures are tried in parallel */
    struct stream_stage stage;
    struct serving_trial trial = {.point = &tried, .by = by, .context = &alone, .ranges = ranges};
    bool stream = serving_is_stream(point);
    size_t most = point->workload.warm + (stream ? GLANCED : TRIED);
    *ranges = (struct run_ranges){.all = NULL};
    if (!point->workload.timed) {
        return true;
    }
    alone.threads = 1;
    if (stream || first.count > most) {
        first.count = first.count < most ? first.count : most;
        tried.requests = &first;
        tried.workload.limit = first.count; /* no stream */
    }
    bool good = list_figures(point, ranges, why) &&
                run_once(&tried, &alone, NULL, false, NULL, &ranges->base, why) &&
                parallel_for(ranges->count, context->threads, try_figure, &trial, why);
    if (good && stream) {
        for (uint32_t i = 0; i < ranges->count; i++) {
            const struct profile *profile = &point->setup.profile;
            trial.skips[i] = !range_matters(profile, ranges, i, COLUMN(ttft_ms)) &&
                             !range_matters(profile, ranges, i, COLUMN(tpot_ms));
        }
        for (uint32_t i = 0; i < 2 * ranges->count; i++) {
            result_release(&ranges->all[i / 2].ends[i % 2]);
        }
        result_release(&ranges->base);
        alone.question = &tried_question;
        trial.point = point;
        trial.stage = &stage;
        good = run_once(point, &alone, NULL, false, &stage, &ranges->base, why) &&
               parallel_for(ranges->count, context->threads, try_figure, &trial, why);
    }
    if (!good) {
        run_ranges_release(ranges);
    }
    return good;
}
