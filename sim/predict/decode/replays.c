/* Plans are gathered into groups. The ledgers of a group, or of a single plan, are values that runs share. */
#include "predict/decode/replays.h"

#include "decode/replay/replay_kept.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits of a group: plans, and rows (plans × steps) of a head, which are kept until its layer is done. */
enum { MOST_PLANS = 64, MOST_ROWS = 1 << 16 };

/* Plans that want the same of a trace, and are replayed together. */
struct replays_group {
    uint64_t key;              /* of what they want */
    struct trace *trace;       /* a reference */
    uint64_t work;             /* in units of a meter */
    struct replay_plan *plans; /* [count] owned */
    uint64_t *hashes;          /* [count] of each whole plan; owned */
    size_t count, plan_capacity, hash_capacity;
    struct arrays arrays; /* what the plans point to */
    atomic_bool failed;   /* its replay */
};

struct replays {
    struct replays_group *groups;
    size_t count, capacity;
    size_t sealed; /* the first ones, which take no more */
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
    free(replays);
}

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
static struct replays_group *find_plan(const struct replays *replays, uint64_t key, uint64_t hash,
                                       size_t *index)
{
    for (size_t i = 0; i < replays->count; i++) {
        struct replays_group *group = &replays->groups[i];
        for (*index = 0; group->key == key && *index < group->count; ++*index) {
            if (group->hashes[*index] == hash) {
                return group;
            }
        }
    }
    return NULL;
}

/* The last group of the key if it takes the plan; otherwise a new one. */
static struct replays_group *find_group(struct replays *replays,
                                        const struct replay_request *request, uint64_t key,
                                        struct error *why)
{
    struct trace *trace = request->setup->trace;
    size_t last = replays->count;
    while (last > replays->sealed && replays->groups[last - 1].key != key) {
        last--;
    }
    size_t most = MOST_ROWS / request->plan->steps < MOST_PLANS ? MOST_ROWS / request->plan->steps
                                                                : MOST_PLANS;
    if (last > replays->sealed && replays->groups[last - 1].count < most) {
        return &replays->groups[last - 1];
    }
    if (!array_reserve(&replays->groups, &replays->capacity, replays->count + 1,
                       sizeof *replays->groups, why)) {
        return NULL;
    }
    struct replays_group *group = &replays->groups[replays->count++];
    *group = (struct replays_group){.key = key,
                                    .trace = trace_hold(trace),
                                    .work = replay_work(trace_header(trace), request->plan)};
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
}

uint64_t replays_work(const struct replays *replays)
{
    uint64_t work = 0;
    for (size_t i = replays->sealed; i < replays->count; i++) {
        work += replays->groups[i].work;
    }
    return work;
}

/* Of a group, or of a single plan. */
struct ledgers {
    uint32_t count;
    struct ledger items[]; /* [count] */
};

static void destroy_ledgers(void *value)
{
    struct ledgers *ledgers = value;
    for (uint32_t i = 0; i < ledgers->count; i++) {
        ledger_release(&ledgers->items[i]);
    }
    free(ledgers);
}

/* The inputs for making the ledgers of a group, or of the request alone. */
struct replays_making {
    const struct replay_request *request;
    struct replays_group *group; /* NULL: alone */
    struct replay_means means;
};

static bool replay(const struct replays_making *making, struct ledger *ledgers, struct error *why)
{
    const struct replays_group *group = making->group;
    const struct replay_request *request = making->request;
    const struct setup *setup = request->setup;
    if (group != NULL) {
        return replay_run_kept(group->trace, group->plans, (uint32_t)group->count, &making->means,
                               ledgers, why);
    }
    if (reads_trace(request)) {
        return replay_run_kept(setup->trace, request->plan, 1, &making->means, ledgers, why);
    }
    bool asks = setup_asks_trace(setup) && request->plan->capacity > 0; /* no cache hits nothing */
    return replay_assumed(asks ? setup->assumed_hit : request->fixed_hit,
                          asks ? setup->assumed_spread : 0, setup->seed, request->plan, ledgers,
                          why);
}

/* A group whose replay failed is not replayed again: each of its plans is replayed alone. */
static void *make_ledgers(void *context, struct error *why)
{
    const struct replays_making *making = context;
    struct replays_group *group = making->group;
    size_t count = group != NULL ? group->count : 1;
    struct ledgers *ledgers =
        group != NULL && group->failed
            ? NULL
            : array_zeroed(1, sizeof *ledgers + count * sizeof *ledgers->items, why);
    if (ledgers == NULL) {
        return NULL;
    }
    ledgers->count = (uint32_t)count;
    if (replay(making, ledgers->items, why)) {
        return ledgers;
    }
    if (group != NULL) {
        group->failed = true;
    }
    destroy_ledgers(ledgers);
    return NULL;
}

static const struct shared_kind ledgers_kind = {make_ledgers, destroy_ledgers};

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

/* If its group cannot be made, the fault lies in another plan, or the replay alone reports it again. */
const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why)
{
    struct replays_making making = {.request = request, .means = run_means(context)};
    const struct ledgers *ledgers = NULL;
    uint64_t key;
    size_t index;
    if (context->expected != NULL && reads_trace(request) &&
        group_key(request, &key, ERROR_UNSEEN)) {
        making.group = find_plan(context->expected, key, replay_plan_hash(request->plan), &index);
    }
    if (making.group != NULL) {
        key = (uint64_t)(making.group - context->expected->groups);
        key = XXH64(&key, sizeof key, making.group->key);
        ledgers = shared_get(context->shared, &ledgers_kind, key, &making, entry, ERROR_UNSEEN);
    }
    if (ledgers == NULL) {
        index = 0;
        making.group = NULL;
        making.means.meter = NULL; /* counts expected replays only */
        ledgers = alone_key(request, &key, why)
                      ? shared_get(context->shared, &ledgers_kind, key, &making, entry, why)
                      : NULL;
    }
    return ledgers != NULL ? &ledgers->items[index] : NULL;
}
