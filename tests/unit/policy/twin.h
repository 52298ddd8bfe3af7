/* Twins of the policies: each as plain as its definition, on lists that are searched.
 *
 * A list holds blocks, newest first. What a twin holds is what its `held` and `held_2` list; a rule
 * is written as its paper says it, with no thought of speed.
 */
#pragma once

#include "core/random.h"
#include "policy/policy.h"

#include <math.h>
#include <string.h>

enum { BLOCKS_MOST = 64, HEADS_MOST = 4, DIM_MOST = 8, NO_BLOCK = BLOCKS_MOST };

struct list {
    uint32_t block[2 * BLOCKS_MOST], count;
};

struct twin {
    struct policy_env env;
    const double *values;
    struct list held, held_2, ghost, ghost_2;
    int8_t label[HEADS_MOST][DIM_MOST]; /* QSAC: the queries that the set was fetched for */
    bool labelled;
    uint32_t hits[BLOCKS_MOST]; /* of a held block: touches or marks, as the policy counts them */
    uint64_t when[BLOCKS_MOST]; /* last touched, or evicted */
    uint32_t next[BLOCKS_MOST]; /* OPT: access at which a block is wanted next */
    uint64_t touches, lookups;
    uint32_t hand;              /* SIEVE: a block, or NO_BLOCK */
    double share;               /* ARC: target; LeCaR: weight of LRU */
    bool evicted;               /* S3-FIFO: anything yet */
    double weight[BLOCKS_MOST]; /* heavy hitters: sum of attention; window: its average */
    struct list cpu;            /* window: what the CPU keeps */
    uint32_t accesses;          /* of these two, up to now */
    uint32_t born;              /* heavy hitters: tokens born that are held */
    gsl_rng *random;
};

static int list_find(const struct list *list, uint32_t block)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->block[i] == block) {
            return (int)i;
        }
    }
    return -1;
}

static bool list_has(const struct list *list, uint32_t block)
{
    return list_find(list, block) >= 0;
}

static void list_remove(struct list *list, uint32_t block)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->block[i] != block) {
            list->block[kept++] = list->block[i];
        }
    }
    list->count = kept;
}

static void list_push(struct list *list, uint32_t block)
{
    memmove(list->block + 1, list->block, list->count++ * sizeof *list->block);
    list->block[0] = block;
}

static uint32_t list_pop(struct list *list)
{
    return list->block[--list->count];
}

static void list_cut(struct list *list, uint32_t count)
{
    if (list->count > count) {
        list->count = count;
    }
}

static void twin_none(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    (void)twin;
    outcome->missed = demand->wanted;
}

/* ---- LRU: hits and misses touched in one order ---- */

static void twin_lru(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    struct list *held = &twin->held;
    bool batch = twin->env.order == POLICY_BATCH;
    for (uint32_t i = demand->wanted; batch && i-- > 0;) {
        outcome->hit += list_has(held, demand->units[i]);
    }
    for (uint32_t i = demand->wanted; i-- > 0;) {
        outcome->hit += !batch && list_has(held, demand->units[i]);
        list_remove(held, demand->units[i]);
        list_push(held, demand->units[i]);
        list_cut(held, batch ? 2 * BLOCKS_MOST : twin->env.capacity);
    }
    list_cut(held, twin->env.capacity);
    outcome->missed = demand->wanted - outcome->hit;
}

/* ---- the others: hits touched, then misses admitted ---- */

typedef void (*twin_move)(struct twin *twin, uint32_t block);

static bool twin_holds(const struct twin *twin, uint32_t block)
{
    return list_has(&twin->held, block) || list_has(&twin->held_2, block);
}

/* Handle the blocks units[0, wanted), best first, as a batch. */
static void twin_batch(struct twin *twin, const uint32_t *units, uint32_t wanted, twin_move touch,
                       twin_move admit, struct outcome *outcome)
{
    bool hit[BLOCKS_MOST];
    for (uint32_t i = wanted; i-- > 0;) {
        outcome->hit += hit[i] = twin_holds(twin, units[i]);
        if (twin->env.next_use) {
            twin->next[units[i]] = twin->env.next_use[twin->lookups];
        }
        twin->lookups++;
    }
    for (uint32_t i = wanted; i-- > 0;) {
        if (hit[i]) {
            touch(twin, units[i]);
        }
    }
    for (uint32_t i = wanted; twin->env.capacity > 0 && i-- > 0;) {
        if (!hit[i]) {
            admit(twin, units[i]);
        }
    }
}

static void twin_moves(struct twin *twin, const struct demand *demand, twin_move touch,
                       twin_move admit, struct outcome *outcome)
{
    uint32_t size = twin->env.order == POLICY_BATCH ? demand->wanted : 1;
    for (uint32_t end = demand->wanted; end > 0; end -= size) {
        twin_batch(twin, demand->units + end - size, size, touch, admit, outcome);
    }
    outcome->missed = demand->wanted - outcome->hit;
}

static void touch_nothing(struct twin *twin, uint32_t block)
{
    (void)twin;
    (void)block;
}

static void admit_fifo(struct twin *twin, uint32_t block)
{
    list_push(&twin->held, block);
    list_cut(&twin->held, twin->env.capacity);
}

static void touch_mark(struct twin *twin, uint32_t block)
{
    twin->hits[block] = 1;
}

static void admit_clock(struct twin *twin, uint32_t block)
{
    while (twin->held.count == twin->env.capacity) {
        uint32_t oldest = list_pop(&twin->held);
        if (twin->hits[oldest]) {
            list_push(&twin->held, oldest);
        }
        twin->hits[oldest] = 0;
    }
    list_push(&twin->held, block);
    twin->hits[block] = 0;
}

static void admit_sieve(struct twin *twin, uint32_t block)
{
    struct list *held = &twin->held;
    if (held->count == twin->env.capacity) {
        int last = (int)held->count - 1, at = list_find(held, twin->hand);
        at = at < 0 ? last : at;
        while (twin->hits[held->block[at]]) {
            twin->hits[held->block[at]] = 0;
            at = at == 0 ? last : at - 1;
        }
        twin->hand = at > 0 ? held->block[at - 1] : NO_BLOCK;
        list_remove(held, held->block[at]);
    }
    list_push(held, block);
    twin->hits[block] = 0;
}

/* ---- LFU ---- */

static void touch_lfu(struct twin *twin, uint32_t block)
{
    twin->hits[block]++;
    twin->when[block] = ++twin->touches;
}

static uint32_t least_frequent(const struct twin *twin)
{
    uint32_t least = twin->held.block[0];
    for (uint32_t i = 0; i < twin->held.count; i++) {
        uint32_t block = twin->held.block[i];
        if (twin->hits[block] < twin->hits[least] ||
            (twin->hits[block] == twin->hits[least] && twin->when[block] < twin->when[least])) {
            least = block;
        }
    }
    return least;
}

static void admit_lfu(struct twin *twin, uint32_t block)
{
    if (twin->held.count == twin->env.capacity) {
        list_remove(&twin->held, least_frequent(twin));
    }
    list_push(&twin->held, block);
    twin->hits[block] = 0;
    touch_lfu(twin, block);
}

/* ---- ARC: held is T1, held_2 is T2, ghost is B1, ghost_2 is B2 ---- */

static void touch_arc(struct twin *twin, uint32_t block)
{
    list_remove(&twin->held, block);
    list_remove(&twin->held_2, block);
    list_push(&twin->held_2, block);
}

static void arc_replaces(struct twin *twin, bool in_b2)
{
    uint32_t t1 = twin->held.count;
    if (t1 >= 1 && ((in_b2 && t1 == twin->share) || t1 > twin->share)) {
        list_push(&twin->ghost, list_pop(&twin->held));
    } else {
        list_push(&twin->ghost_2, list_pop(&twin->held_2));
    }
}

static void admit_arc(struct twin *twin, uint32_t block)
{
    uint32_t c = twin->env.capacity, t1 = twin->held.count, t2 = twin->held_2.count;
    uint32_t b1 = twin->ghost.count, b2 = twin->ghost_2.count;
    bool in_b1 = list_has(&twin->ghost, block), in_b2 = list_has(&twin->ghost_2, block);
    if (in_b1 || in_b2) {
        double step = in_b1 ? (b1 >= b2 ? 1 : (double)b2 / b1) : (b2 >= b1 ? 1 : (double)b1 / b2);
        twin->share = in_b1 ? fmin(c, twin->share + step) : fmax(0, twin->share - step);
        arc_replaces(twin, in_b2);
        list_remove(&twin->ghost, block);
        list_remove(&twin->ghost_2, block);
        list_push(&twin->held_2, block);
        return;
    }
    if (t1 + b1 == c) {
        if (t1 < c) {
            list_pop(&twin->ghost);
            arc_replaces(twin, false);
        } else {
            list_pop(&twin->held);
        }
    } else if (t1 + t2 + b1 + b2 >= c) {
        if (t1 + t2 + b1 + b2 == 2 * c) {
            list_pop(&twin->ghost_2);
        }
        arc_replaces(twin, false);
    }
    list_push(&twin->held, block);
}

/* ---- S3-FIFO: held is the small queue, held_2 the main one ---- */

static void touch_s3fifo(struct twin *twin, uint32_t block)
{
    twin->hits[block] += twin->hits[block] < 3;
}

static void s3fifo_evicts_small(struct twin *twin)
{
    uint32_t oldest = list_pop(&twin->held);
    while (twin->hits[oldest] >= 2) {
        twin->hits[oldest] = 0;
        list_push(&twin->held_2, oldest);
        if (twin->held.count == 0) {
            return;
        }
        oldest = list_pop(&twin->held);
    }
    list_push(&twin->ghost, oldest);
    list_cut(&twin->ghost, twin->env.capacity * 9 / 10);
}

static void s3fifo_evicts_main(struct twin *twin)
{
    uint32_t oldest = list_pop(&twin->held_2);
    while (twin->hits[oldest] > 0) {
        twin->hits[oldest]--;
        list_push(&twin->held_2, oldest);
        oldest = list_pop(&twin->held_2);
    }
}

static void admit_s3fifo(struct twin *twin, uint32_t block)
{
    uint32_t small = (uint32_t)fmax(1, twin->env.capacity / 10);
    bool remembered = list_has(&twin->ghost, block);
    list_remove(&twin->ghost, block);
    while (twin->held.count + twin->held_2.count == twin->env.capacity) {
        twin->evicted = true;
        if (twin->held_2.count > twin->env.capacity - small || twin->held.count == 0) {
            s3fifo_evicts_main(twin);
        } else {
            s3fifo_evicts_small(twin);
        }
    }
    bool overflows = !twin->evicted && twin->held.count >= small;
    list_push(remembered || overflows ? &twin->held_2 : &twin->held, block);
    twin->hits[block] = 0;
}

/* ---- LeCaR: held is in order of touch; ghost is LRU's history, ghost_2 LFU's ---- */

static void touch_lecar(struct twin *twin, uint32_t block)
{
    list_remove(&twin->held, block);
    list_push(&twin->held, block);
    touch_lfu(twin, block);
}

static void lecar_evicts(struct twin *twin)
{
    uint32_t oldest = twin->held.block[twin->held.count - 1], least = least_frequent(twin);
    bool lru = gsl_rng_uniform(twin->random) < twin->share;
    uint32_t block = lru ? oldest : least;
    list_remove(&twin->held, block);
    if (oldest != least) {
        struct list *history = lru ? &twin->ghost : &twin->ghost_2;
        list_push(history, block);
        list_cut(history, twin->env.capacity);
        twin->when[block] = twin->lookups;
    }
}

static void admit_lecar(struct twin *twin, uint32_t block)
{
    struct error why;
    if (!twin->random) {
        twin->random = random_stream(twin->env.seed, "policy.lecar", 0, &why);
        twin->share = 0.5;
    }
    bool by_lru = list_has(&twin->ghost, block), by_lfu = list_has(&twin->ghost_2, block);
    if (by_lru || by_lfu) {
        double d = pow(0.005, 1.0 / twin->env.capacity);
        double t = (double)(twin->lookups - twin->when[block]);
        double lru = twin->share * (by_lfu ? exp(0.45 * pow(d, t)) : 1);
        double lfu = (1 - twin->share) * (by_lru ? exp(0.45 * pow(d, t)) : 1);
        twin->share = fmin(fmax(lru / (lru + lfu), 0.01), 0.99);
        list_remove(&twin->ghost, block);
        list_remove(&twin->ghost_2, block);
    }
    if (twin->held.count == twin->env.capacity) {
        lecar_evicts(twin);
    }
    list_push(&twin->held, block);
    twin->hits[block] = 0;
    touch_lfu(twin, block);
}

/* ---- OPT ---- */

static uint32_t furthest(const struct twin *twin)
{
    uint32_t found = twin->held.block[0];
    for (uint32_t i = 0; i < twin->held.count; i++) {
        uint32_t block = twin->held.block[i];
        found = twin->next[block] > twin->next[found] ? block : found;
    }
    return found;
}

static void admit_opt(struct twin *twin, uint32_t block)
{
    if (twin->held.count == twin->env.capacity) {
        list_remove(&twin->held, furthest(twin));
    }
    list_push(&twin->held, block);
}

/* Admit, and drop whatever is wanted last. */
static void admit_opt_bypass(struct twin *twin, uint32_t block)
{
    list_push(&twin->held, block);
    if (twin->held.count > twin->env.capacity) {
        list_remove(&twin->held, furthest(twin));
    }
}

/* ---- what is laid down once ---- */

static uint32_t twin_end(const struct twin *twin)
{
    return twin->env.blocks - twin->env.recent;
}

/* Blocks [first, end), but no more than the cache holds: from the front, or from the back. */
static void hold_range(struct twin *twin, uint32_t first, uint32_t end, bool back)
{
    while (first < end && twin->held.count < twin->env.capacity) {
        list_push(&twin->held, back ? --end : first++);
    }
}

static void twin_prefix(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    twin->held.count = 0;
    hold_range(twin, twin->env.sinks, twin_end(twin), false);
    for (uint32_t i = 0; i < demand->wanted; i++) {
        outcome->hit += list_has(&twin->held, demand->units[i]);
    }
    outcome->missed = demand->wanted - outcome->hit;
}

/* Mass of the recorded blocks that are held or that the CPU keeps. */
static double twin_own_mass(const struct twin *twin, const struct demand *demand)
{
    double sum = 0;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        uint32_t block = demand->units[i];
        bool own = list_has(&twin->held, block) || list_has(&twin->cpu, block);
        sum += own ? (double)trace_mass[demand->mass[i]] : 0;
    }
    return sum;
}

/* The recorded weight of a block. */
static double twin_weight(const struct demand *demand, uint32_t block)
{
    for (uint32_t i = 0; i < demand->recorded; i++) {
        if (demand->units[i] == block) {
            return (double)trace_mass[demand->mass[i]];
        }
    }
    return 0;
}

/* Of what is not held the block of greatest sum, of equals the last. */
static uint32_t heaviest(const struct twin *twin)
{
    uint32_t found = NO_BLOCK;
    for (uint32_t block = twin->env.sinks; block < twin_end(twin); block++) {
        if (!list_has(&twin->held, block) &&
            (found == NO_BLOCK || twin->weight[block] >= twin->weight[found])) {
            found = block;
        }
    }
    return found;
}

/* Tokens born while decoding are held as blocks of their own, far behind the last. One more takes a
 * place among the recent ones: the first of these has to be heavy, and the lightest goes. */
static void twin_bear(struct twin *twin, uint32_t recent)
{
    uint32_t lightest = NO_BLOCK, end = twin_end(twin) - (recent - twin->born - 1);
    for (uint32_t block = twin->env.sinks; block < end; block++) {
        bool lighter = lightest == NO_BLOCK || twin->weight[block] < twin->weight[lightest];
        lightest = list_has(&twin->held, block) && lighter ? block : lightest;
    }
    list_remove(&twin->held, lightest);
    list_push(&twin->held, 1000 + twin->born++);
}

static void twin_heavy_hitter(struct twin *twin, const struct demand *demand,
                              struct outcome *outcome)
{
    uint32_t outside = twin_end(twin) - twin->env.sinks, capacity = twin->env.capacity;
    uint32_t count = capacity < outside ? capacity : outside;
    uint32_t recent = (uint32_t)lround(twin->values[0] * count);
    double each = capacity < outside ? twin->values[1] * twin->env.born : 0;
    double born = fmin(floor((twin->accesses + 1) * each), recent);
    uint32_t listens = (uint32_t)fmax(1, twin->env.warmup);
    bool listening = twin->accesses++ < listens;
    outcome->missed = listening ? demand->wanted : 0;
    if (!listening) {
        while (twin->born < born) {
            twin_bear(twin, recent);
        }
        outcome->hit = twin->held.count;
        outcome->attended.mass = (float)twin_own_mass(twin, demand);
    }
    for (uint32_t block = twin->env.sinks; block < twin_end(twin); block++) {
        twin->weight[block] += twin_weight(demand, block);
    }
    if (twin->accesses == listens) {
        twin->env.capacity = recent - (uint32_t)born;
        hold_range(twin, twin->env.sinks, twin_end(twin), true);
        twin->env.capacity = capacity;
        while (twin->born < born) {
            list_push(&twin->held, 1000 + twin->born++);
        }
        while (twin->held.count < count) {
            list_push(&twin->held, heaviest(twin));
        }
    }
}

static bool is_recorded(const struct demand *demand, uint32_t block)
{
    for (uint32_t i = 0; i < demand->recorded; i++) {
        if (demand->units[i] == block) {
            return true;
        }
    }
    return false;
}

/* All that the CPU attends to: what is recorded of it, and when it attends to all older blocks what
 * is not, each block as much. */
static double twin_cpu_sum(const struct twin *twin, const struct demand *demand, bool all)
{
    double sum = 0, recorded = 0;
    uint32_t unrecorded = 0, older = 0;
    for (uint32_t block = twin->env.sinks; block < twin_end(twin); block++) {
        recorded += twin_weight(demand, block);
        sum += list_has(&twin->cpu, block) ? twin_weight(demand, block) : 0;
        unrecorded += !is_recorded(demand, block);
        older += !is_recorded(demand, block) && !list_has(&twin->held, block);
    }
    double each = unrecorded > 0 ? (1 - (double)demand->window_mass - recorded) / unrecorded : 0;
    return sum + (all ? fmax(0, each) * older : 0);
}

static void twin_window_maw(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    uint32_t prompt = (uint32_t)fmax(1, twin->env.warmup), append = (uint32_t)twin->values[2];
    bool all =
        twin->accesses < prompt || (append > 0 && (twin->accesses - prompt) % append == append - 1);
    twin->held.count = 0;
    hold_range(twin, twin->env.sinks, twin_end(twin), true);
    struct list kept = {.count = 0};
    if (all) {
        twin->cpu.count = 0;
    }
    for (uint32_t block = twin->env.sinks; block < twin_end(twin); block++) {
        if (all && !list_has(&twin->held, block)) {
            list_push(&twin->cpu, block);
        }
    }
    double sum = twin_cpu_sum(twin, demand, all);
    for (uint32_t block = twin->env.sinks; block < twin_end(twin); block++) {
        bool on_cpu = list_has(&twin->cpu, block);
        if (on_cpu && sum > 0) {
            double share = twin->accesses > 0 ? twin->values[0] : 1;
            twin->weight[block] += share * (twin_weight(demand, block) / sum - twin->weight[block]);
        }
        if (on_cpu && twin->weight[block] > twin->values[1] / twin->cpu.count) {
            list_push(&kept, block);
        }
    }
    outcome->hit = twin->held.count;
    outcome->for_cpu = twin->cpu.count;
    outcome->attended.mass = (float)twin_own_mass(twin, demand);
    if (all) {
        twin->cpu = kept;
    }
    twin->accesses++;
}

/* ---- QSAC ---- */

static const int8_t *twin_query(const struct demand *demand, uint32_t head)
{
    return demand->query + (size_t)head * demand->query_stride * demand->head_dim;
}

/* Cosine in real numbers, scales and all; a null vector is at right angles to any. */
static double twin_cosine(const struct twin *twin, const struct demand *demand, uint32_t head)
{
    double scale = (double)demand->scale[head * demand->query_stride];
    double product = 0, query = 0, label = 0;
    for (uint32_t i = 0; i < demand->head_dim; i++) {
        double q = scale * twin_query(demand, head)[i], l = twin->label[head][i];
        product += q * l;
        query += q * q;
        label += l * l;
    }
    return query > 0 && label > 0 ? product / (sqrt(query) * sqrt(label)) : 0;
}

static bool twin_reuses(const struct twin *twin, const struct demand *demand)
{
    double importance = 0, weights = 0, inverse = 0, least = 1, counted = 1;
    for (uint32_t j = 0; j < twin->env.query_heads; j++) {
        importance += (double)twin->env.importance[j] / twin->env.query_heads;
    }
    double kv = twin->env.kv_importance ? (double)*twin->env.kv_importance : importance;
    if (kv == 0 && twin->values[2] == 1) {
        return true;
    }
    for (uint32_t j = 0; j < twin->env.query_heads; j++) {
        double s = importance > 0 ? (double)twin->env.importance[j] : 1;
        double cosine = twin_cosine(twin, demand, j);
        counted = s > 0 ? fmin(counted, cosine) : counted;
        weights += s;
        inverse += s > 0 ? s / cosine : 0;
        least = fmin(least, cosine);
    }
    double share = pow(kv, twin->values[1]);
    double threshold =
        twin->values[2] > 0
            ? cos(share * acos(twin->values[0]) + (1 - share) * 3.14159265358979323846)
            : twin->values[0];
    if (twin->values[3] == 1) {
        return least >= threshold;
    }
    return (counted > 0 ? weights / inverse : counted) >= threshold;
}

static void twin_qsac(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    if (twin->labelled && twin_reuses(twin, demand)) {
        outcome->hit = demand->wanted;
        outcome->reused = true;
        outcome->attended.mass = (float)twin_own_mass(twin, demand);
        return;
    }
    outcome->missed = demand->wanted;
    twin->held.count = 0;
    for (uint32_t i = 0; i < demand->wanted; i++) {
        list_push(&twin->held, demand->units[i]);
    }
    for (uint32_t j = 0; j < demand->query_heads; j++) {
        memcpy(twin->label[j], twin_query(demand, j), demand->head_dim);
    }
    twin->labelled = true;
}

/* ---- the table ---- */

struct twin_kind {
    const char *policy;
    void (*access)(struct twin *twin, const struct demand *demand, struct outcome *outcome);
    twin_move touch, admit; /* of those without an access of their own */
};

static const struct twin_kind twins[] = {
    {"none", twin_none, NULL, NULL},
    {"lru", twin_lru, NULL, NULL},
    {"qsac", twin_qsac, NULL, NULL},
    {"prefix", twin_prefix, NULL, NULL},
    {"heavy-hitter", twin_heavy_hitter, NULL, NULL},
    {"window-maw", twin_window_maw, NULL, NULL},
    {"fifo", NULL, touch_nothing, admit_fifo},
    {"lfu", NULL, touch_lfu, admit_lfu},
    {"clock", NULL, touch_mark, admit_clock},
    {"sieve", NULL, touch_mark, admit_sieve},
    {"arc", NULL, touch_arc, admit_arc},
    {"s3fifo", NULL, touch_s3fifo, admit_s3fifo},
    {"lecar", NULL, touch_lecar, admit_lecar},
    {"opt", NULL, touch_nothing, admit_opt},
    {"opt:bypass", NULL, touch_nothing, admit_opt_bypass},
    {NULL, NULL, NULL, NULL},
};

/* The twin of a policy, or NULL. */
static const struct twin_kind *twin_find(const char *policy)
{
    for (const struct twin_kind *kind = twins; kind->policy; kind++) {
        if (strcmp(kind->policy, policy) == 0) {
            return kind;
        }
    }
    return NULL;
}

static void twin_access(struct twin *twin, const struct twin_kind *kind,
                        const struct demand *demand, struct outcome *outcome)
{
    outcome->attended.mass =
        demand->wanted_mass; /* unless the policy attends to what it chose itself */
    if (kind->access) {
        kind->access(twin, demand, outcome);
    } else {
        twin_moves(twin, demand, kind->touch, kind->admit, outcome);
    }
}
