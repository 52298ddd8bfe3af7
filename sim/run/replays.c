/* Families of plans are divided into groups. The ledgers of a group, or of a single plan, are
 * values that runs share. */
#include "run/replays.h"

#include "base/array.h"
#include "decode/replay/replay_kept.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits of one group: plans; cache sizes of all policies, because most need one cache for each; and
 * rows (sizes × steps) of a head, which are kept until its layer is done. */
enum { MOST_PLANS = 256, MOST_SIZES = 32, MOST_ROWS = 1 << 16 };

struct family {
    uint64_t key;
    uint64_t work;             /* of a group */
    struct replay_plan *plans; /* [count] owned, with their heads and values */
    uint64_t *hashes;          /* [count] of each whole plan */
    size_t *first;             /* [groups] plans, each the first of its group */
    size_t count, groups, plan_capacity, hash_capacity, first_capacity;
    size_t sealed; /* plans whose groups take no more */
};

struct replays {
    struct family *families;
    size_t count, capacity;
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
    for (size_t f = 0; f < replays->count; f++) {
        struct family *family = &replays->families[f];
        for (size_t i = 0; i < family->count; i++) {
            free((void *)family->plans[i].heads);
            free((void *)family->plans[i].policy_values);
            free((void *)family->plans[i].rows);
        }
        free(family->plans);
        free(family->hashes);
        free(family->first);
    }
    free(replays->families);
    free(replays);
}

/* ---- expected replays ---- */

/* Does the request read a trace at all? */
static bool reads_trace(const struct replay_request *request)
{
    return setup_asks_trace(request->setup) && request->setup->trace != NULL;
}

static bool family_key(const struct replay_request *request, uint64_t *key, struct error *why)
{
    uint64_t trace;
    if (!trace_hash(request->setup->trace, &trace, why)) {
        return false;
    }
    *key = XXH64(&trace, sizeof trace, plan_family(request->plan));
    return true;
}

static struct family *find_family(const struct replays *replays, uint64_t key)
{
    for (size_t i = 0; i < replays->count; i++) {
        if (replays->families[i].key == key) {
            return &replays->families[i];
        }
    }
    return NULL;
}

/* The index of the plan with this hash in a family; `count` if it is absent. */
static size_t find_plan(const struct family *family, uint64_t hash)
{
    size_t i = 0;
    while (i < family->count && family->hashes[i] != hash) {
        i++;
    }
    return i;
}

static struct family *add_family(struct replays *replays, uint64_t key, struct error *why)
{
    if (!array_reserve(&replays->families, &replays->capacity, replays->count + 1,
                       sizeof *replays->families, why)) {
        return NULL;
    }
    struct family *family = &replays->families[replays->count++];
    *family = (struct family){.key = key};
    return family;
}

/* Do two plans of a family have the same caches, whatever reads them? */
static bool same_caches(const struct replay_plan *a, const struct replay_plan *b)
{
    return a->capacity == b->capacity && a->policy == b->policy &&
           memcmp(a->policy_values, b->policy_values,
                  POLICY_MOST_PARAMS * sizeof *a->policy_values) == 0;
}

/* Can a group, plans[first, end), take the plan without exceeding its limits? */
static bool takes(const struct family *family, size_t first, const struct replay_plan *plan)
{
    size_t sizes = 0, most = MOST_ROWS / plan->steps;
    most = most < MOST_SIZES ? most : MOST_SIZES;
    for (size_t i = first; i < family->count; i++) {
        const struct replay_plan *own = &family->plans[i];
        bool before = same_caches(own, plan);
        for (size_t j = first; j < i && !before; j++) {
            before = same_caches(&family->plans[j], own);
        }
        sizes += !before;
    }
    return family->count - first < MOST_PLANS && sizes < most;
}

/* The next plan joins the last group if that takes it; otherwise open a new group. */
static bool open_group(struct family *family, const struct replay_plan *plan, struct error *why)
{
    if (family->count > family->sealed && takes(family, family->first[family->groups - 1], plan)) {
        return true;
    }
    if (!array_reserve(&family->first, &family->first_capacity, family->groups + 1,
                       sizeof *family->first, why)) {
        return false;
    }
    family->first[family->groups++] = family->count;
    return true;
}

static void *copy_array(const void *from, size_t count, size_t item, struct error *why)
{
    void *copy = array_zeroed(count, item, why);
    if (copy != NULL) {
        memcpy(copy, from, count * item);
    }
    return copy;
}

static bool add_plan(struct family *family, const struct replay_plan *plan, uint64_t hash,
                     struct error *why)
{
    size_t heads = (size_t)plan->layers * plan->kv_heads, needed = family->count + 1;
    if (!array_reserve(&family->plans, &family->plan_capacity, needed, sizeof *plan, why) ||
        !array_reserve(&family->hashes, &family->hash_capacity, needed, sizeof hash, why) ||
        !open_group(family, plan, why)) {
        return false;
    }
    struct replay_head *own = copy_array(plan->heads, heads, sizeof *own, why);
    double *values = own == NULL
                         ? NULL
                         : copy_array(plan->policy_values, POLICY_MOST_PARAMS, sizeof *values, why);
    if (values == NULL) {
        free(own);
        return false;
    }
    size_t rows = plan->rows != NULL ? (size_t)plan->warmup + plan->steps + 1 : 0;
    uint32_t *steps = rows > 0 ? copy_array(plan->rows, rows, sizeof *steps, why) : NULL;
    if (rows > 0 && steps == NULL) {
        free(own);
        free(values);
        return false;
    }
    struct replay_plan *copy = &family->plans[family->count];
    *copy = *plan;
    copy->heads = own;
    copy->policy_values = values;
    copy->rows = steps;
    family->hashes[family->count++] = hash;
    return true;
}

bool replays_expect(struct replays *replays, const struct replay_request *request,
                    struct error *why)
{
    uint64_t key, hash = plan_replay_hash(request->plan);
    if (!reads_trace(request)) {
        return true;
    }
    if (!family_key(request, &key, why)) {
        return false;
    }
    struct family *family = find_family(replays, key);
    if (family == NULL && (family = add_family(replays, key, why)) == NULL) {
        return false;
    }
    family->work = replay_work(trace_header(request->setup->trace), request->plan);
    return find_plan(family, hash) < family->count || add_plan(family, request->plan, hash, why);
}

/* ---- groups ---- */

/* Plans of a family that are replayed together. */
struct replays_group {
    const struct family *family;
    size_t first, count;
};

void replays_seal(struct replays *replays)
{
    for (size_t i = 0; i < replays->count; i++) {
        replays->families[i].sealed = replays->families[i].count;
    }
}

uint32_t replays_groups(const struct replays *replays)
{
    size_t groups = 0;
    for (size_t i = 0; i < replays->count; i++) {
        groups += replays->families[i].groups;
    }
    return (uint32_t)groups;
}

uint64_t replays_work(const struct replays *replays)
{
    uint64_t work = 0;
    for (size_t i = 0; i < replays->count; i++) {
        const struct family *family = &replays->families[i];
        for (size_t g = 0; g < family->groups; g++) {
            work += family->first[g] >= family->sealed ? family->work : 0;
        }
    }
    return work;
}

/* The group of a plan in a family. */
static struct replays_group group_of(const struct family *family, size_t plan)
{
    size_t group = family->groups - 1;
    while (family->first[group] > plan) {
        group--;
    }
    size_t end = group + 1 < family->groups ? family->first[group + 1] : family->count;
    return (struct replays_group){family, family->first[group], end - family->first[group]};
}

/* ---- ledgers ---- */

struct ledgers {
    uint32_t count;
    struct ledger *items; /* [count], owned */
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

/* The inputs for making the ledgers of a request or of its group. */
struct replays_making {
    const struct replay_request *request;
    struct replays_group group;
    struct replay_means means;
};

static void *make_group(void *context, struct error *why)
{
    const struct replays_making *making = context;
    const struct replays_group *group = &making->group;
    struct ledgers *ledgers = create_ledgers((uint32_t)group->count, why);
    if (ledgers != NULL &&
        !replay_run_kept(making->request->setup->trace, group->family->plans + group->first,
                         ledgers->count, &making->means, ledgers->items, why)) {
        destroy_ledgers(ledgers);
        return NULL;
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

static const struct shared_kind group_kind = {make_group, destroy_ledgers};
static const struct shared_kind alone_kind = {make_alone, destroy_ledgers};

/* The key of a single replay: a hash of all that it reads. Equal keys mean equal ledgers. */
static bool alone_key(const struct replay_request *request, uint64_t *key, struct error *why)
{
    const struct setup *setup = request->setup;
    const double assumed[] = {setup->assumed_hit, setup->assumed_spread, request->fixed_hit};
    uint64_t of[] = {plan_replay_hash(request->plan), 0, setup_asks_trace(setup), setup->seed};
    if (setup->trace != NULL && !trace_hash(setup->trace, &of[1], why)) {
        return false;
    }
    *key = XXH64(of, sizeof of, XXH64(assumed, sizeof assumed, setup->trace != NULL));
    return true;
}

/* The ledger from its group. NULL if it is in none, or if the group cannot be made: then the fault
 * lies in another plan, or the replay of this plan alone reports it again. */
static const struct ledger *get_of_group(const struct run_context *context,
                                         struct replays_making *making, struct shared_entry **entry)
{
    struct error unseen;
    uint64_t key;
    if (context->expected == NULL || !reads_trace(making->request) ||
        !family_key(making->request, &key, &unseen)) {
        return NULL;
    }
    const struct family *family = find_family(context->expected, key);
    size_t plan = family == NULL ? 0 : find_plan(family, plan_replay_hash(making->request->plan));
    if (family == NULL || plan == family->count) {
        return NULL;
    }
    making->group = group_of(family, plan);
    const uint64_t of[] = {key, making->group.first};
    const struct ledgers *ledgers =
        shared_get(context->shared, &group_kind, XXH64(of, sizeof of, 0), making, entry, &unseen);
    return ledgers != NULL ? &ledgers->items[plan - making->group.first] : NULL;
}

const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why)
{
    struct replays_making making = {.request = request, .means = run_means(context)};
    uint64_t key;
    const struct ledger *ledger = get_of_group(context, &making, entry);
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
