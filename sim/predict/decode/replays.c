/* Readers are divided into groups, and groups of one stream (trace_stream()) are gathered into
 * passes. The ledgers of a pass, or of a single plan, are values that runs share. */
#include "predict/decode/replays.h"

#include "core/array.h"
#include "decode/replay/replay_kept.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits of a pass: groups. Limits of a group: plans; cache sizes of all policies, because most
 * need one cache for each; and rows (sizes × steps) of a head, which are kept until its layer is
 * done. */
enum { MOST_GROUPS = 8, MOST_PLANS = 256, MOST_SIZES = 32, MOST_ROWS = 1 << 16 };

/* Plans that want the same of a trace. */
struct trace_readers {
    uint64_t key, stream;
    struct trace *trace;       /* a reference */
    uint64_t work;             /* of a group */
    struct replay_plan *plans; /* [count] owned, with their heads and values */
    uint64_t *hashes;          /* [count] of each whole plan */
    size_t *first;             /* [groups] plans, each the first of its group */
    size_t *pass;              /* [groups] that each is in */
    size_t count, groups, plan_capacity, hash_capacity, first_capacity, pass_capacity;
    size_t sealed; /* plans whose groups take no more */
};

/* A group: its readers, and its number there. */
struct replays_place {
    size_t readers, group;
};

/* Groups that are replayed together. */
struct pass {
    uint64_t stream;
    struct replays_place groups[MOST_GROUPS];
    uint32_t count;
};

struct replays {
    struct trace_readers *readers;
    struct pass *passes;
    size_t count, capacity;
    size_t pass_count, pass_capacity;
    size_t sealed; /* passes that take no more */
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
        struct trace_readers *readers = &replays->readers[f];
        for (size_t i = 0; i < readers->count; i++) {
            free((void *)readers->plans[i].heads);
            free((void *)readers->plans[i].policy_values);
            free((void *)readers->plans[i].rows);
        }
        free(readers->plans);
        free(readers->hashes);
        free(readers->first);
        free(readers->pass);
        trace_close(readers->trace);
    }
    free(replays->readers);
    free(replays->passes);
    free(replays);
}

/* ---- expected replays ---- */

/* Does the request read a trace at all? */
static bool reads_trace(const struct replay_request *request)
{
    return setup_asks_trace(request->setup) && request->setup->trace != NULL;
}

static bool readers_key(const struct replay_request *request, uint64_t *key, struct error *why)
{
    uint64_t trace;
    if (!trace_hash(request->setup->trace, &trace, why)) {
        return false;
    }
    *key = XXH64(&trace, sizeof trace, replay_plan_family(request->plan));
    return true;
}

static struct trace_readers *find_readers(const struct replays *replays, uint64_t key)
{
    for (size_t i = 0; i < replays->count; i++) {
        if (replays->readers[i].key == key) {
            return &replays->readers[i];
        }
    }
    return NULL;
}

/* The index of the plan with this hash among readers; `count` if it is absent. */
static size_t find_plan(const struct trace_readers *readers, uint64_t hash)
{
    size_t i = 0;
    while (i < readers->count && readers->hashes[i] != hash) {
        i++;
    }
    return i;
}

static struct trace_readers *add_readers(struct replays *replays, struct trace *trace, uint64_t key,
                                         struct error *why)
{
    uint64_t stream;
    if (!trace_stream(trace, &stream, why) ||
        !array_reserve(&replays->readers, &replays->capacity, replays->count + 1,
                       sizeof *replays->readers, why)) {
        return NULL;
    }
    struct trace_readers *readers = &replays->readers[replays->count++];
    *readers = (struct trace_readers){.key = key, .stream = stream, .trace = trace_hold(trace)};
    return readers;
}

/* Do two plans of these readers have the same caches, whatever reads them? */
static bool same_caches(const struct replay_plan *a, const struct replay_plan *b)
{
    return a->capacity == b->capacity && a->policy == b->policy &&
           memcmp(a->policy_values, b->policy_values,
                  POLICY_MOST_PARAMS * sizeof *a->policy_values) == 0;
}

/* Can a group, plans[first, end), take the plan without exceeding its limits? */
static bool takes(const struct trace_readers *readers, size_t first, const struct replay_plan *plan)
{
    size_t sizes = 0, most = MOST_ROWS / plan->steps;
    most = most < MOST_SIZES ? most : MOST_SIZES;
    for (size_t i = first; i < readers->count; i++) {
        const struct replay_plan *own = &readers->plans[i];
        bool before = same_caches(own, plan);
        for (size_t j = first; j < i && !before; j++) {
            before = same_caches(&readers->plans[j], own);
        }
        sizes += !before;
    }
    return readers->count - first < MOST_PLANS && sizes < most;
}

/* The last pass of the stream if it takes one more group; otherwise a new one. */
static bool find_pass(struct replays *replays, uint64_t stream, size_t *number, struct error *why)
{
    for (size_t i = replays->pass_count; i > replays->sealed; i--) {
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

/* The next plan joins the last group if that takes it; otherwise open a new group. */
static bool open_group(struct replays *replays, struct trace_readers *readers,
                       const struct replay_plan *plan, struct error *why)
{
    size_t number, groups = readers->groups;
    if (readers->count > readers->sealed && takes(readers, readers->first[groups - 1], plan)) {
        return true;
    }
    if (!array_reserve(&readers->first, &readers->first_capacity, groups + 1,
                       sizeof *readers->first, why) ||
        !array_reserve(&readers->pass, &readers->pass_capacity, groups + 1, sizeof *readers->pass,
                       why) ||
        !find_pass(replays, readers->stream, &number, why)) {
        return false;
    }
    struct pass *pass = &replays->passes[number];
    pass->groups[pass->count++] =
        (struct replays_place){(size_t)(readers - replays->readers), groups};
    readers->pass[groups] = number;
    readers->first[groups] = readers->count;
    readers->groups++;
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

static bool add_plan(struct replays *replays, struct trace_readers *readers,
                     const struct replay_plan *plan, uint64_t hash, struct error *why)
{
    size_t heads = (size_t)plan->layers * plan->kv_heads, needed = readers->count + 1;
    if (!array_reserve(&readers->plans, &readers->plan_capacity, needed, sizeof *plan, why) ||
        !array_reserve(&readers->hashes, &readers->hash_capacity, needed, sizeof hash, why) ||
        !open_group(replays, readers, plan, why)) {
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
    struct replay_plan *copy = &readers->plans[readers->count];
    *copy = *plan;
    copy->heads = own;
    copy->policy_values = values;
    copy->rows = steps;
    readers->hashes[readers->count++] = hash;
    return true;
}

bool replays_expect(struct replays *replays, const struct replay_request *request,
                    struct error *why)
{
    uint64_t key, hash = replay_plan_hash(request->plan);
    if (!reads_trace(request)) {
        return true;
    }
    if (!readers_key(request, &key, why)) {
        return false;
    }
    struct trace_readers *readers = find_readers(replays, key);
    if (readers == NULL &&
        (readers = add_readers(replays, request->setup->trace, key, why)) == NULL) {
        return false;
    }
    readers->work = replay_work(trace_header(request->setup->trace), request->plan);
    return find_plan(readers, hash) < readers->count ||
           add_plan(replays, readers, request->plan, hash, why);
}

/* ---- groups ---- */

/* Plans of readers that are replayed together. */
struct replays_group {
    const struct trace_readers *readers;
    size_t first, count;
};

void replays_seal(struct replays *replays)
{
    for (size_t i = 0; i < replays->count; i++) {
        replays->readers[i].sealed = replays->readers[i].count;
    }
    replays->sealed = replays->pass_count;
}

uint32_t replays_groups(const struct replays *replays)
{
    size_t groups = 0;
    for (size_t i = 0; i < replays->count; i++) {
        groups += replays->readers[i].groups;
    }
    return (uint32_t)groups;
}

uint64_t replays_work(const struct replays *replays)
{
    uint64_t work = 0;
    for (size_t i = 0; i < replays->count; i++) {
        const struct trace_readers *readers = &replays->readers[i];
        for (size_t g = 0; g < readers->groups; g++) {
            work += readers->first[g] >= readers->sealed ? readers->work : 0;
        }
    }
    return work;
}

static struct replays_group group_at(const struct replays *replays, struct replays_place place)
{
    const struct trace_readers *readers = &replays->readers[place.readers];
    size_t next = place.group + 1, first = readers->first[place.group];
    size_t end = next < readers->groups ? readers->first[next] : readers->count;
    return (struct replays_group){readers, first, end - first};
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
        before += (uint32_t)group_at(replays, pass->groups[i]).count;
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
        struct replays_group group = group_at(making->replays, pass->groups[i]);
        sets[i] = (struct replay_set){
            .trace = group.readers->trace,
            .plans = group.readers->plans + group.first,
            .count = (uint32_t)group.count,
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
    if (replays == NULL || !reads_trace(making->request) ||
        !readers_key(making->request, &key, &unseen)) {
        return NULL;
    }
    const struct trace_readers *readers = find_readers(replays, key);
    size_t plan = readers == NULL ? 0 : find_plan(readers, replay_plan_hash(making->request->plan));
    if (readers == NULL || plan == readers->count) {
        return NULL;
    }
    size_t group = readers->groups - 1; /* the plan's */
    while (readers->first[group] > plan) {
        group--;
    }
    size_t number = readers->pass[group];
    making->replays = replays;
    making->pass = &replays->passes[number];
    const uint64_t of[] = {making->pass->stream, number};
    const struct ledgers *ledgers =
        shared_get(context->shared, &pass_kind, XXH64(of, sizeof of, 0), making, entry, &unseen);
    uint32_t place = 0;
    while (making->pass->groups[place].readers != (size_t)(readers - replays->readers) ||
           making->pass->groups[place].group != group) {
        place++;
    }
    if (ledgers == NULL || ledgers->failed[place]) {
        shared_release(context->shared, *entry);
        *entry = NULL;
        return NULL;
    }
    return &ledgers->items[ledgers_before(replays, making->pass, place) +
                           (plan - readers->first[group])];
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
