/* Plans are gathered into groups, and groups of one stream (trace_stream()) into passes. The ledgers
 * of a pass, or of a single plan, are values that runs share. */
#include "predict/decode/replays.h"

#include "core/array.h"
#include "decode/replay/replay_kept.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits of a pass: groups. Limits of a group: plans, each of which may need a cache of its own; and rows
 * (plans × steps) of a head, which are kept until its layer is done. */
enum { MOST_GROUPS = 8, MOST_PLANS = 64, MOST_ROWS = 1 << 16 };

/* Plans that want the same of a trace, and are replayed together. */
struct replays_group {
    uint64_t key;              /* of what they want */
    struct trace *trace;       /* a reference */
    uint64_t work;             /* in units of a meter */
    size_t pass;               /* that it is in */
    struct replay_plan *plans; /* [count] owned */
    uint64_t *hashes;          /* [count] of each whole plan; owned */
    size_t count, plan_capacity, hash_capacity;
    struct arrays arrays; /* what the plans point to */
};

/* Groups that are replayed together. */
struct pass {
    uint64_t stream;
    size_t groups[MOST_GROUPS];
    uint32_t count;
};

struct replays {
    struct replays_group *groups;
    struct pass *passes;
    size_t count, capacity, pass_count, pass_capacity;
    size_t sealed, sealed_passes; /* the first ones, which take no more */
};

struct replays *replays_create(struct error *why)
{
    return array_zeroed(1, sizeof(struct replays), why);
}

void replays_destroy(struct replays *replays)
{
    if (replays == NULL) {
        return;
    }
    for (size_t i = 0; i < replays->count; i++) {
        struct replays_group *group = &replays->groups[i];
        free(group->plans);
        free(group->hashes);
        arrays_release(&group->arrays);
        trace_close(group->trace);
    }
    free(replays->groups);
    free(replays->passes);
    free(replays);
}

/* ---- expected replays ---- */

/* Does the request read a trace at all? */
static bool reads_trace(const struct replay_request *request)
{
    return setup_asks_trace(request->setup) && request->setup->trace != NULL;
}

static bool group_key(const struct replay_request *request, uint64_t *key, struct error *why)
{
    uint64_t trace;
    if (!trace_hash(request->setup->trace, &trace, why)) {
        return false;
    }
    *key = XXH64(&trace, sizeof trace, replay_plan_family(request->plan));
    return true;
}

/* The group that has the plan with this hash, and its index there; NULL if none has. */
static const struct replays_group *find_plan(const struct replays *replays, uint64_t key,
                                             uint64_t hash, size_t *index)
{
    for (size_t i = 0; i < replays->count; i++) {
        const struct replays_group *group = &replays->groups[i];
        for (*index = 0; group->key == key && *index < group->count; ++*index) {
            if (group->hashes[*index] == hash) {
                return group;
            }
        }
    }
    return NULL;
}

/* The last pass of the stream if it takes one more group; otherwise a new one. */
static bool find_pass(struct replays *replays, uint64_t stream, size_t *number, struct error *why)
{
    for (size_t i = replays->pass_count; i > replays->sealed_passes; i--) {
        const struct pass *pass = &replays->passes[i - 1];
        if (pass->stream == stream && pass->count < MOST_GROUPS) {
            *number = i - 1;
            return true;
        }
    }
    if (!array_reserve(&replays->passes, &replays->pass_capacity, replays->pass_count + 1,
                       sizeof *replays->passes, why)) {
        return false;
    }
    *number = replays->pass_count++;
    replays->passes[*number] = (struct pass){.stream = stream};
    return true;
}

/* The last group of the key if it takes the plan; otherwise a new one. */
static struct replays_group *find_group(struct replays *replays,
                                        const struct replay_request *request, uint64_t key,
                                        struct error *why)
{
    struct trace *trace = request->setup->trace;
    uint64_t stream;
    size_t last = replays->count, number;
    while (last > replays->sealed && replays->groups[last - 1].key != key) {
        last--;
    }
    size_t most = MOST_ROWS / request->plan->steps < MOST_PLANS ? MOST_ROWS / request->plan->steps
                                                                : MOST_PLANS;
    if (last > replays->sealed && replays->groups[last - 1].count < most) {
        return &replays->groups[last - 1];
    }
    if (!trace_stream(trace, &stream, why) ||
        !array_reserve(&replays->groups, &replays->capacity, replays->count + 1,
                       sizeof *replays->groups, why) ||
        !find_pass(replays, stream, &number, why)) {
        return NULL;
    }
    struct pass *pass = &replays->passes[number];
    pass->groups[pass->count++] = replays->count;
    struct replays_group *group = &replays->groups[replays->count++];
    *group = (struct replays_group){.key = key,
                                    .trace = trace_hold(trace),
                                    .work = replay_work(trace_header(trace), request->plan),
                                    .pass = number};
    return group;
}

static void *copy_array(struct replays_group *group, const void *from, size_t count, size_t item,
                        struct error *why)
{
    void *copy = from != NULL ? arrays_add(&group->arrays, count, item, why) : NULL;
    if (copy != NULL) {
        memcpy(copy, from, count * item);
    }
    return copy;
}

static bool add_plan(struct replays_group *group, const struct replay_plan *plan, uint64_t hash,
                     struct error *why)
{
    size_t heads = (size_t)plan->layers * plan->kv_heads, needed = group->count + 1;
    size_t rows = (size_t)plan->warmup + plan->steps + 1;
    if (!array_reserve(&group->plans, &group->plan_capacity, needed, sizeof *plan, why) ||
        !array_reserve(&group->hashes, &group->hash_capacity, needed, sizeof hash, why)) {
        return false;
    }
    struct replay_plan *copy = &group->plans[group->count];
    *copy = *plan;
    copy->heads = copy_array(group, plan->heads, heads, sizeof *plan->heads, why);
    copy->policy_values = copy_array(group, plan->policy_values, POLICY_MOST_PARAMS,
                                     sizeof *plan->policy_values, why);
    copy->rows = copy_array(group, plan->rows, rows, sizeof *plan->rows, why);
    group->hashes[group->count] = hash;
    group->count += !group->arrays.failed;
    return !group->arrays.failed;
}

bool replays_expect(struct replays *replays, const struct replay_request *request,
                    struct error *why)
{
    uint64_t key, hash = replay_plan_hash(request->plan);
    size_t index;
    if (!reads_trace(request)) {
        return true;
    }
    if (!group_key(request, &key, why)) {
        return false;
    }
    if (find_plan(replays, key, hash, &index) != NULL) {
        return true;
    }
    struct replays_group *group = find_group(replays, request, key, why);
    return group != NULL && add_plan(group, request->plan, hash, why);
}

void replays_seal(struct replays *replays)
{
    replays->sealed = replays->count;
    replays->sealed_passes = replays->pass_count;
}

uint32_t replays_groups(const struct replays *replays)
{
    return (uint32_t)replays->count;
}

uint64_t replays_work(const struct replays *replays)
{
    uint64_t work = 0;
    for (size_t i = replays->sealed; i < replays->count; i++) {
        work += replays->groups[i].work;
    }
    return work;
}

/* ---- ledgers ---- */

/* Of a single plan, or of a pass: those of its first group, then those of the next. */
struct ledgers {
    uint32_t count;
    struct ledger *items;     /* [count], owned */
    bool failed[MOST_GROUPS]; /* groups that could not be made */
};

static void destroy_ledgers(void *value)
{
    struct ledgers *ledgers = value;
    for (uint32_t i = 0; i < ledgers->count; i++) {
        ledger_release(&ledgers->items[i]);
    }
    free(ledgers->items);
    free(ledgers);
}

static struct ledgers *create_ledgers(uint32_t count, struct error *why)
{
    struct ledgers *ledgers = array_zeroed(1, sizeof *ledgers, why);
    if (ledgers == NULL || !(ledgers->items = array_zeroed(count, sizeof *ledgers->items, why))) {
        free(ledgers);
        return NULL;
    }
    ledgers->count = count;
    for (uint32_t i = 0; i < count; i++) {
        ledger_init(&ledgers->items[i]);
    }
    return ledgers;
}

/* The inputs for making the ledgers of a request or of its pass. */
struct replays_making {
    const struct replay_request *request;
    const struct replays *replays;
    const struct pass *pass;
    struct replay_means means;
};

/* The index of a group's first ledger among those of its pass; with the number of its groups, the
 * number of all. */
static uint32_t ledgers_before(const struct replays *replays, const struct pass *pass,
                               uint32_t group)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < group; i++) {
        before += (uint32_t)replays->groups[pass->groups[i]].count;
    }
    return before;
}

/* Make all groups together; if one of them cannot be made, each alone. */
static void make_groups(const struct replays_making *making, struct ledgers *ledgers)
{
    const struct pass *pass = making->pass;
    struct replay_set sets[MOST_GROUPS];
    struct error unseen;
    for (uint32_t i = 0; i < pass->count; i++) {
        const struct replays_group *group = &making->replays->groups[pass->groups[i]];
        sets[i] = (struct replay_set){
            .trace = group->trace,
            .plans = group->plans,
            .count = (uint32_t)group->count,
            .ledgers = ledgers->items + ledgers_before(making->replays, pass, i),
        };
    }
    bool good = replay_run_sets_kept(sets, pass->count, &making->means, &unseen);
    for (uint32_t i = 0; i < pass->count; i++) {
        ledgers->failed[i] = !good && (pass->count == 1 ||
                                       !replay_run_sets_kept(&sets[i], 1, &making->means, &unseen));
    }
}

static void *make_pass(void *context, struct error *why)
{
    const struct replays_making *making = context;
    const struct pass *pass = making->pass;
    struct ledgers *ledgers =
        create_ledgers(ledgers_before(making->replays, pass, pass->count), why);
    if (ledgers != NULL) {
        make_groups(making, ledgers);
    }
    return ledgers;
}

static bool replay_alone(const struct replays_making *making, struct ledger *ledger,
                         struct error *why)
{
    const struct replay_request *request = making->request;
    const struct setup *setup = request->setup;
    if (reads_trace(request)) {
        return replay_run_kept(setup->trace, request->plan, 1, &making->means, ledger, why);
    }
    bool asks = setup_asks_trace(setup) && request->plan->capacity > 0; /* no cache hits nothing */
    return replay_assumed(asks ? setup->assumed_hit : request->fixed_hit,
                          asks ? setup->assumed_spread : 0, setup->seed, request->plan, ledger,
                          why);
}

static void *make_alone(void *context, struct error *why)
{
    struct ledgers *ledgers = create_ledgers(1, why);
    if (ledgers != NULL && !replay_alone(context, ledgers->items, why)) {
        destroy_ledgers(ledgers);
        return NULL;
    }
    return ledgers;
}

static const struct shared_kind pass_kind = {make_pass, destroy_ledgers};
static const struct shared_kind alone_kind = {make_alone, destroy_ledgers};

/* The key of a single replay: a hash of all that it reads. Equal keys mean equal ledgers. */
static bool alone_key(const struct replay_request *request, uint64_t *key, struct error *why)
{
    const struct setup *setup = request->setup;
    const double assumed[] = {setup->assumed_hit, setup->assumed_spread, request->fixed_hit};
    uint64_t of[] = {replay_plan_hash(request->plan), 0, setup_asks_trace(setup), setup->seed};
    if (setup->trace != NULL && !trace_hash(setup->trace, &of[1], why)) {
        return false;
    }
    *key = XXH64(of, sizeof of, XXH64(assumed, sizeof assumed, setup->trace != NULL));
    return true;
}

/* The ledger from its pass. NULL if it is in none, or if its group cannot be made: then the fault
 * lies in another plan, or the replay of this plan alone reports it again. */
static const struct ledger *get_of_pass(const struct run_context *context,
                                        struct replays_making *making, struct shared_entry **entry)
{
    const struct replays *replays = context->expected;
    struct error unseen;
    uint64_t key;
    size_t index;
    if (replays == NULL || !reads_trace(making->request) ||
        !group_key(making->request, &key, &unseen)) {
        return NULL;
    }
    const struct replays_group *group =
        find_plan(replays, key, replay_plan_hash(making->request->plan), &index);
    if (group == NULL) {
        return NULL;
    }
    making->replays = replays;
    making->pass = &replays->passes[group->pass];
    const uint64_t of[] = {making->pass->stream, group->pass};
    const struct ledgers *ledgers =
        shared_get(context->shared, &pass_kind, XXH64(of, sizeof of, 0), making, entry, &unseen);
    uint32_t place = 0;
    while (making->pass->groups[place] != (size_t)(group - replays->groups)) {
        place++;
    }
    if (ledgers == NULL || ledgers->failed[place]) {
        shared_release(context->shared, *entry);
        *entry = NULL;
        return NULL;
    }
    return &ledgers->items[ledgers_before(replays, making->pass, place) + index];
}

const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why)
{
    struct replays_making making = {.request = request, .means = run_means(context)};
    uint64_t key;
    const struct ledger *ledger = get_of_pass(context, &making, entry);
    if (ledger != NULL) {
        return ledger;
    }
    making.means.meter = NULL; /* counts expected replays only */
    if (!alone_key(request, &key, why)) {
        return NULL;
    }
    const struct ledgers *alone =
        shared_get(context->shared, &alone_kind, key, &making, entry, why);
    return alone != NULL ? alone->items : NULL;
}
