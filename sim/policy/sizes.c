#include "policy/sizes.h"

#include <stdlib.h>
#include <string.h>

#include "policy/stack.h"

/* From this many caches on, one stack is faster than separate policies. */
enum { WORTH_ONE_STACK = 3 };

struct policy_sizes {
    struct arrays arrays;
    uint32_t count;
    uint32_t policy_count;    /* 1 for all sizes, one each, or none: there is a stack */
    struct policy **policies; /* [policy_count] */
    struct stack *stack;
    uint32_t *capacity; /* [count] ascending */
    uint32_t *held;     /* [count] of the stack's caches */
    uint32_t touched;   /* different blocks, so far */
    uint32_t
        *least;     /* [blocks + 1] the smallest cache of at least so many blocks; 0 blocks: none */
    uint32_t *hits; /* [count + 1] of a demand, by the smallest cache that hits; scratch */
    uint32_t *promoted; /* [count + 1] the same for touched blocks that are held */
};

static bool create_each(struct policy_sizes *sizes, const struct policy_kind *kind,
                        const double *values, struct policy_env env, struct error *why)
{
    sizes->policy_count = kind->ignores_capacity && sizes->count > 0 ? 1 : sizes->count;
    sizes->policies = arrays_add(&sizes->arrays, sizes->policy_count, sizeof(struct policy *), why);
    bool good = !sizes->arrays.failed;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        env.capacity = sizes->capacity[i];
        sizes->policies[i] = policy_create(kind, values, &env, why);
        good = sizes->policies[i] != NULL;
    }
    return good;
}

static bool create_stack(struct policy_sizes *sizes, uint32_t blocks, struct error *why)
{
    sizes->stack = stack_create(blocks, why);
    sizes->held = arrays_add(&sizes->arrays, sizes->count, sizeof *sizes->held, why);
    sizes->least = arrays_add(&sizes->arrays, (size_t)blocks + 1, sizeof *sizes->least, why);
    sizes->hits = arrays_add(&sizes->arrays, (size_t)sizes->count + 1, sizeof *sizes->hits, why);
    sizes->promoted =
        arrays_add(&sizes->arrays, (size_t)sizes->count + 1, sizeof *sizes->promoted, why);
    if (sizes->stack == NULL || sizes->arrays.failed) {
        return false;
    }
    sizes->least[0] = sizes->count;
    for (uint32_t size = 0, deep = 1; deep <= blocks; deep++) {
        while (size < sizes->count && sizes->capacity[size] < deep) {
            size++;
        }
        sizes->least[deep] = size;
    }
    return true;
}

struct policy_sizes *policy_sizes_create(const struct policy_kind *kind, const double *values,
                                         const struct policy_env *env, const uint32_t *capacities,
                                         uint32_t count, struct error *why)
{
    struct policy_sizes *sizes = array_zeroed(1, sizeof *sizes, why);
    if (sizes == NULL) {
        return NULL;
    }
    sizes->count = count;
    sizes->capacity = arrays_add(&sizes->arrays, count, sizeof *sizes->capacity, why);
    bool good = !sizes->arrays.failed;
    if (good) {
        memcpy(sizes->capacity, capacities, count * sizeof *capacities);
        bool one = kind == &policy_lru && env->order == POLICY_BATCH && count >= WORTH_ONE_STACK;
        good = one ? create_stack(sizes, env->blocks, why)
                   : create_each(sizes, kind, values, *env, why);
    }
    if (!good) {
        policy_sizes_destroy(sizes);
        return NULL;
    }
    return sizes;
}

void policy_sizes_destroy(struct policy_sizes *sizes)
{
    if (sizes == NULL) {
        return;
    }
    stack_destroy(sizes->stack);
    for (uint32_t i = 0; sizes->policies != NULL && i < sizes->policy_count; i++) {
        policy_destroy(sizes->policies[i]);
    }
    arrays_release(&sizes->arrays);
    free(sizes);
}

/* A cache that is smaller than the demand touches only the demand's best blocks, and promotes those of
 * them that it held. */
static void ask_stack(struct policy_sizes *sizes, const struct demand *demand,
                      struct outcome *outcomes)
{
    uint32_t hit = 0, promoted = 0;
    memset(sizes->hits, 0, (sizes->count + 1) * sizeof *sizes->hits);
    memset(sizes->promoted, 0, (sizes->count + 1) * sizeof *sizes->promoted);
    for (uint32_t i = 0; i < demand->wanted; i++) {
        uint32_t depth = stack_depth(sizes->stack, demand->units[i]);
        uint32_t holds = sizes->least[depth], touches = sizes->least[i + 1];
        sizes->touched += depth == 0;
        sizes->hits[holds]++;
        sizes->promoted[holds > touches ? holds : touches]++;
    }
    stack_access(sizes->stack, demand);
    for (uint32_t i = 0; i < sizes->count; i++) {
        uint32_t capacity = sizes->capacity[i], before = sizes->held[i];
        uint32_t touched = demand->wanted < capacity ? demand->wanted : capacity;
        hit += sizes->hits[i];
        promoted += sizes->promoted[i];
        sizes->held[i] = sizes->touched < capacity ? sizes->touched : capacity;
        outcomes[i] = (struct outcome){
            .hit = hit,
            .missed = demand->wanted - hit,
            .admitted = touched - promoted,
            .evicted = before + touched - promoted - sizes->held[i],
            .lookups = demand->wanted,
            .updates = promoted,
            .inserts = touched - promoted,
            .attended = demand_wanted(demand),
        };
    }
}

void policy_sizes_access(struct policy_sizes *sizes, const struct demand *demand,
                         struct outcome *outcomes)
{
    if (sizes->stack != NULL) {
        ask_stack(sizes, demand, outcomes);
        return;
    }
    for (uint32_t i = 0; i < sizes->policy_count; i++) {
        policy_access(sizes->policies[i], demand, &outcomes[i]);
    }
    for (uint32_t i = sizes->policy_count; i < sizes->count; i++) {
        outcomes[i] = outcomes[0];
    }
}

uint32_t policy_sizes_held(const struct policy_sizes *sizes, uint32_t size)
{
    return sizes->stack != NULL ? sizes->held[size]
                                : sizes->policies[sizes->policy_count > 1 ? size : 0]->held;
}

bool policy_sizes_check(const struct policy_sizes *sizes, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        good = policy_check(sizes->policies[i], why);
    }
    return good;
}
