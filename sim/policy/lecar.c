/* LeCaR: at each eviction a random draw lets LRU or LFU choose; the odds learn from regret.
 *
 * G. Vietri et al., "Driving Cache Replacement with ML-based LeCaR", HotStorage 2018. Each of the
 * two has a history, as long as the cache, of the blocks that it evicted. A miss on a block evicted
 * t accesses ago was a mistake, of weight d^t: the odds of the other one rise by e^(rate d^t).
 * Constants are the paper's: rate .45, d = .005^(1 / capacity). Two rules are only in the authors'
 * code: a block that both would evict is remembered by neither, and the odds of either never fall
 * below a hundredth, because it could then never recover.
 *
 * The draws use a random stream of the environment's seed, so a replay repeats exactly. */
#include "core/random.h"
#include "policy/batch.h"
#include "policy/queues.h"

#include <math.h>

enum { RECENCY = QUEUE_HELD, GHOST_LRU = QUEUE_GHOST, GHOST_LFU = QUEUE_GHOST_2 };

static const double learning_rate = 0.45, discount_of_capacity = 0.005, odds_least = 0.01;

struct lecar {
    struct policy base;
    double discount; /* of a regret, per access */
    double odds;     /* probability that LRU evicts */
    uint64_t clock;  /* accesses so far */
    gsl_rng *random;
    struct queues queues;
    struct frequency frequency;
    uint64_t *left; /* [blocks] when a remembered block was evicted */
};

static void lecar_release(struct policy *policy)
{
    gsl_rng_free(((struct lecar *)policy)->random);
}

static bool lecar_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct lecar *lecar = (struct lecar *)policy;
    lecar->discount = pow(discount_of_capacity, 1.0 / env->capacity);
    lecar->odds = 0.5;
    lecar->random = random_stream(env->seed, "policy.lecar", 0, why);
    lecar->left = arrays_add(&policy->arrays, env->blocks, sizeof *lecar->left, why);
    queues_init(&lecar->queues, &policy->arrays, env->blocks, why);
    frequency_init(&lecar->frequency, &policy->arrays, env->blocks, env->capacity, why);
    return lecar->random != NULL;
}

static inline bool lecar_touch(struct policy *policy, uint32_t block)
{
    struct lecar *lecar = (struct lecar *)policy;
    lecar->clock++;
    if (!queues_hold(&lecar->queues, block)) {
        return false;
    }
    queue_remove(&lecar->queues, block);
    queue_push(&lecar->queues, RECENCY, block);
    frequency_touch(&lecar->frequency, block);
    return true;
}

static void lecar_evict(struct lecar *lecar)
{
    struct queues *queues = &lecar->queues;
    uint32_t oldest = queue_oldest(queues, RECENCY), least = frequency_least(&lecar->frequency);
    bool by_lru = gsl_rng_uniform(lecar->random) < lecar->odds;
    uint32_t block = by_lru ? oldest : least, history = by_lru ? GHOST_LRU : GHOST_LFU;
    queue_remove(queues, block);
    frequency_remove(&lecar->frequency, block);
    lecar->base.held--;
    if (oldest == least) {
        return;
    }
    if (queue_count(queues, history) == lecar->base.capacity) {
        queue_pop(queues, history);
    }
    queue_push(queues, history, block);
    lecar->left[block] = lecar->clock;
}

static inline bool lecar_admit(struct policy *policy, uint32_t block)
{
    struct lecar *lecar = (struct lecar *)policy;
    if (lecar->queues.place[block] != 0) {
        /* Forget a remembered block, and learn that its eviction was a mistake. */
        bool by_lru = queue_has(&lecar->queues, GHOST_LRU, block);
        double regret = pow(lecar->discount, (double)(lecar->clock - lecar->left[block]));
        double gain = exp(learning_rate * regret);
        double lru = by_lru ? lecar->odds : lecar->odds * gain;
        double lfu = by_lru ? (1 - lecar->odds) * gain : 1 - lecar->odds;
        lecar->odds = fmin(fmax(lru / (lru + lfu), odds_least), 1 - odds_least);
        queue_remove(&lecar->queues, block);
    }
    if (policy->held == lecar->base.capacity) {
        lecar_evict(lecar);
    }
    queue_push(&lecar->queues, RECENCY, block);
    frequency_add(&lecar->frequency, block);
    policy->held++;
    return true;
}

BATCH_ACCESS(lecar_access, lecar_touch, lecar_admit, true)

static bool lecar_holds(const struct policy *policy, uint32_t block)
{
    return queues_hold(&((const struct lecar *)policy)->queues, block);
}

const struct policy_kind policy_lecar = {
    .name = "lecar",
    .summary = "LRU or LFU evicts, drawn at random; the odds learn from regret",
    .draws_lots = true,
    .size = sizeof(struct lecar),
    .init = lecar_init,
    .access = lecar_access,
    .holds = lecar_holds,
    .release = lecar_release,
};
