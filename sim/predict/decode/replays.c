/* Families of plans are divided into groups, and groups of one stream (trace_stream()) are gathered
 * into courses. The ledgers of a course, or of a single plan, are values that runs share. */
#include "predict/decode/replays.h"

#include "core/array.h"
#include "decode/replay/replay_kept.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Limits of a course: groups. Limits of a group: plans; cache sizes of all policies, because most
 * need one cache for each; and rows (sizes × steps) of a head, which are kept until its layer is
 * done. */
enum { MOST_GROUPS = 8, MOST_PLANS = 256, MOST_SIZES = 32, MOST_ROWS = 1 << 16 };

struct family {
    uint64_t key, stream;
    struct trace *trace;       /* a reference */
    uint64_t work;             /* of a group */
    struct replay_plan *plans; /* [count] owned, with their heads and values */
    uint64_t *hashes;          /* [count] of each whole plan */
    size_t *first;             /* [groups] plans, each the first of its group */
    size_t *course;            /* [groups] that each is in */
    size_t count, groups, plan_capacity, hash_capacity, first_capacity, course_capacity;
    size_t sealed; /* plans whose groups take no more */
};

/* A group: its family, and its number there. */
struct replays_place {
    size_t family, group;
};

/* Groups that are replayed together. */
struct course {
    uint64_t stream;
    struct replays_place groups[MOST_GROUPS];
    uint32_t count;
};

struct replays {
    struct family *families;
    struct course *courses;
    size_t count, capacity;
    size_t course_count, course_capacity;
    size_t sealed; /* courses that take no more */
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
        free(family->course);
        trace_close(family->trace);
    }
    free(replays->families);
    free(replays->courses);
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

static struct family *add_family(struct replays *replays, struct trace *trace, uint64_t key,
                                 struct error *why)
{
    uint64_t stream;
    if (!trace_stream(trace, &stream, why) ||
        !array_reserve(&replays->families, &replays->capacity, replays->count + 1,
                       sizeof *replays->families, why)) {
        return NULL;
    }
    struct family *family = &replays->families[replays->count++];
    *family = (struct family){.key = key, .stream = stream, .trace = trace_hold(trace)};
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

/* The last course of the stream if it takes one more group; otherwise a new one. */
static bool find_course(struct replays *replays, uint64_t stream, size_t *number, struct error *why)
{
    for (size_t i = replays->course_count; i > replays->sealed; i--) {
        const struct course *course = &replays->courses[i - 1];
        if (course->stream == stream && course->count < MOST_GROUPS) {
            *number = i - 1;
            return true;
        }
    }
    if (!array_reserve(&replays->courses, &replays->course_capacity, replays->course_count + 1,
                       sizeof *replays->courses, why)) {
        return false;
    }
    *number = replays->course_count++;
    replays->courses[*number] = (struct course){.stream = stream};
    return true;
}

/* The next plan joins the last group if that takes it; otherwise open a new group. */
static bool open_group(struct replays *replays, struct family *family,
                       const struct replay_plan *plan, struct error *why)
{
    size_t number, groups = family->groups;
    if (family->count > family->sealed && takes(family, family->first[groups - 1], plan)) {
        return true;
    }
    if (!array_reserve(&family->first, &family->first_capacity, groups + 1, sizeof *family->first,
                       why) ||
        !array_reserve(&family->course, &family->course_capacity, groups + 1,
                       sizeof *family->course, why) ||
        !find_course(replays, family->stream, &number, why)) {
        return false;
    }
    struct course *course = &replays->courses[number];
    course->groups[course->count++] =
        (struct replays_place){(size_t)(family - replays->families), groups};
    family->course[groups] = number;
    family->first[groups] = family->count;
    family->groups++;
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

static bool add_plan(struct replays *replays, struct family *family, const struct replay_plan *plan,
                     uint64_t hash, struct error *why)
{
    size_t heads = (size_t)plan->layers * plan->kv_heads, needed = family->count + 1;
    if (!array_reserve(&family->plans, &family->plan_capacity, needed, sizeof *plan, why) ||
        !array_reserve(&family->hashes, &family->hash_capacity, needed, sizeof hash, why) ||
        !open_group(replays, family, plan, why)) {
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
    if (family == NULL && (family = add_family(replays, request->setup->trace, key, why)) == NULL) {
        return false;
    }
    family->work = replay_work(trace_header(request->setup->trace), request->plan);
    return find_plan(family, hash) < family->count ||
           add_plan(replays, family, request->plan, hash, why);
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
    replays->sealed = replays->course_count;
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

/* The number of a plan's group in its family. */
static size_t group_of(const struct family *family, size_t plan)
{
    size_t group = family->groups - 1;
    while (family->first[group] > plan) {
        group--;
    }
    return group;
}

static struct replays_group group_at(const struct replays *replays, struct replays_place place)
{
    const struct family *family = &replays->families[place.family];
    size_t next = place.group + 1, first = family->first[place.group];
    size_t end = next < family->groups ? family->first[next] : family->count;
    return (struct replays_group){family, first, end - first};
}

/* ---- ledgers ---- */

/* Of a single plan, or of a course: those of its first group, then those of the next. */
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

/* The inputs for making the ledgers of a request or of its course. */
struct replays_making {
    const struct replay_request *request;
    const struct replays *replays;
    const struct course *course;
    struct replay_means means;
};

/* The index of a group's first ledger among those of its course; with the number of its groups, the
 * number of all. */
static uint32_t ledgers_before(const struct replays *replays, const struct course *course,
                               uint32_t group)
{
    uint32_t before = 0;
    for (uint32_t i = 0; i < group; i++) {
        before += (uint32_t)group_at(replays, course->groups[i]).count;
    }
    return before;
}

/* Make all groups together; if one of them cannot be made, each alone. */
static void make_groups(const struct replays_making *making, struct ledgers *ledgers)
{
    const struct course *course = making->course;
    struct replay_set sets[MOST_GROUPS];
    struct error unseen;
    for (uint32_t i = 0; i < course->count; i++) {
        struct replays_group group = group_at(making->replays, course->groups[i]);
        sets[i] = (struct replay_set){
            .trace = group.family->trace,
            .plans = group.family->plans + group.first,
            .count = (uint32_t)group.count,
            .ledgers = ledgers->items + ledgers_before(making->replays, course, i),
        };
    }
    bool good = replay_run_sets_kept(sets, course->count, &making->means, &unseen);
    for (uint32_t i = 0; i < course->count; i++) {
        ledgers->failed[i] = !good && (course->count == 1 ||
                                       !replay_run_sets_kept(&sets[i], 1, &making->means, &unseen));
    }
}

static void *make_course(void *context, struct error *why)
{
    const struct replays_making *making = context;
    const struct course *course = making->course;
    struct ledgers *ledgers =
        create_ledgers(ledgers_before(making->replays, course, course->count), why);
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

static const struct shared_kind course_kind = {make_course, destroy_ledgers};
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

/* The ledger from its course. NULL if it is in none, or if its group cannot be made: then the fault
 * lies in another plan, or the replay of this plan alone reports it again. */
static const struct ledger *get_of_course(const struct run_context *context,
                                          struct replays_making *making,
                                          struct shared_entry **entry)
{
    const struct replays *replays = context->expected;
    struct error unseen;
    uint64_t key;
    if (replays == NULL || !reads_trace(making->request) ||
        !family_key(making->request, &key, &unseen)) {
        return NULL;
    }
    const struct family *family = find_family(replays, key);
    size_t plan = family == NULL ? 0 : find_plan(family, plan_replay_hash(making->request->plan));
    if (family == NULL || plan == family->count) {
        return NULL;
    }
    size_t group = group_of(family, plan), number = family->course[group];
    making->replays = replays;
    making->course = &replays->courses[number];
    const uint64_t of[] = {making->course->stream, number};
    const struct ledgers *ledgers =
        shared_get(context->shared, &course_kind, XXH64(of, sizeof of, 0), making, entry, &unseen);
    uint32_t place = 0;
    while (making->course->groups[place].family != (size_t)(family - replays->families) ||
           making->course->groups[place].group != group) {
        place++;
    }
    if (ledgers == NULL || ledgers->failed[place]) {
        shared_release(context->shared, *entry);
        *entry = NULL;
        return NULL;
    }
    return &ledgers->items[ledgers_before(replays, making->course, place) +
                           (plan - family->first[group])];
}

const struct ledger *replays_get(const struct run_context *context,
                                 const struct replay_request *request, struct shared_entry **entry,
                                 struct error *why)
{
    struct replays_making making = {.request = request, .means = run_means(context)};
    uint64_t key;
    const struct ledger *ledger = get_of_course(context, &making, entry);
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
