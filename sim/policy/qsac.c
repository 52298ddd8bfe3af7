/* QSAC: a head's cached set is reused as it is while the head's query stays similar to the query for which
 * the set was fetched (query-similarity-aware caching, of CLO and LiteCache).
 *
 * Each query head of a KV head's group keeps a label: its query when the set was last fetched. A step
 * compares queries with labels (CLO, equations 7 to 10; LiteCache, 2 to 5):
 *
 *     sim_j     = cosine of query j and its label
 *     aggregate = sum of s_j / sum of (s_j / sim_j), s_j the importance of query head j
 *     reuse  if   aggregate >= cos(theta),  theta = s^power acos(eta) + (1 - s^power) pi, s of the KV head
 *
 * A reuse fetches nothing. A miss fetches the whole wanted set, without looking up what is held, and makes
 * the queries the new labels. Labels change only on a miss, so a slow drift adds up until it causes one. The
 * first access always misses. An unimportant head (s = 0) reuses its first set forever.
 *
 * The printed aggregate has a pole where cosines are not positive: it passes 1 for .28 and -.6. The paper
 * wants low cosines to decide, and equal ones to stay what they are. So where a head that counts (s_j > 0)
 * has no positive cosine, the aggregate is the least one, which it also tends to as the least nears 0.
 *
 * A set larger than the cache could never be reused, so a capacity below the demand is an error.
 *
 * The tokens of a verification are one group: all their queries are compared with the labels, and all reuse
 * the set, or their union is fetched. Of that as much is kept as the cache holds, best first, and the first
 * token's queries, which are in the sequence whatever is rejected, are the new labels. No paper says what a
 * head does there; this is the rule for groups, applied to them. */

#include "policy/policy.h"
#include "trace/stats.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { ETA, POWER, ADAPTIVE, AGGREGATE };

static const struct policy_param qsac_params[] = {
    {"eta", 0.8, 0, 1, "cosine that the most important head needs"},
    {"power", 3, 0, 16, "how fast the threshold falls with importance"},
    {"adaptive", 1, 0, 1, "0: eta is the threshold of every head"},
    {"aggregate", 0, 0, 1, "over the query heads: 0 harmonic mean, 1 minimum"},
    {NULL, 0, 0, 0, NULL},
};

struct qsac {
    struct policy base;
    uint32_t query_heads, head_dim, tokens;
    bool minimum; /* is the aggregate, not the harmonic mean */
    double threshold;
    double *weight;        /* [query_heads] importance; equal weights if all are 0 */
    int8_t *label;         /* [query_heads][head_dim] */
    double *label_squared; /* [query_heads] squared length */
    bool labelled;
    uint32_t *set; /* [held] the set as fetched */
    bool *in_set;  /* [blocks] */
};

bool qsac_weighs_kv_heads(const double *values)
{
    return values[ADAPTIVE] != 0;
}

bool qsac_weighs_query_heads(const double *values)
{
    return values[AGGREGATE] == 0;
}

double qsac_threshold(const double *values, double importance)
{
    if (!qsac_weighs_kv_heads(values)) {
        return values[ETA];
    }
    if (importance == 0) {
        return -INFINITY;
    }
    const double pi = acos(-1.0);
    double share = pow(importance, values[POWER]);
    return cos(share * acos(values[ETA]) + (1 - share) * pi);
}

static bool qsac_check(const struct policy_env *env, struct error *why)
{
    const double *values = env->values;
    if (values[ADAPTIVE] != floor(values[ADAPTIVE]) ||
        values[AGGREGATE] != floor(values[AGGREGATE])) {
        error_usage(why, NULL, 0, "policy 'qsac' has adaptive %g, aggregate %g", values[ADAPTIVE],
                    values[AGGREGATE]);
        return error_expect(why, "whole numbers");
    }
    if (env->capacity < env->wanted) {
        error_set(why, NULL, 0, "policy 'qsac' has a cache of %u blocks, but a head wants %u",
                  env->capacity, env->wanted);
        return error_expect(why, "a budget of at least the selection ('1x')");
    }
    for (uint32_t j = 0; env->importance && j < env->query_heads; j++) {
        if (!(env->importance[j] >= 0 && env->importance[j] <= 1)) {
            error_set(why, NULL, 0, "the importance of a head is %g", (double)env->importance[j]);
            return error_expect(why, "a number from 0 to 1");
        }
    }
    return true;
}

static bool qsac_init(struct policy *policy, const struct policy_env *env, struct error *why)
{
    struct qsac *qsac = (struct qsac *)policy;
    uint32_t heads = env->query_heads;
    if (!qsac_check(env, why)) {
        return false;
    }
    qsac->tokens = env->tokens > 0 ? env->tokens : 1;
    qsac->query_heads = heads;
    qsac->head_dim = env->head_dim;
    qsac->minimum = env->values[AGGREGATE] == 1;
    qsac->weight = arrays_add(&policy->arrays, heads, sizeof *qsac->weight, why);
    qsac->label = arrays_add(&policy->arrays, (size_t)heads * env->head_dim, 1, why);
    qsac->label_squared = arrays_add(&policy->arrays, heads, sizeof *qsac->label_squared, why);
    qsac->set = arrays_add(&policy->arrays, env->capacity, sizeof *qsac->set, why);
    qsac->in_set = arrays_add(&policy->arrays, env->blocks, sizeof *qsac->in_set, why);
    double sum = 0; /* of the weights: importances, or equal ones if all are 0 */
    for (uint32_t j = 0; !policy->arrays.failed && j < heads; j++) {
        sum += qsac->weight[j] = env->importance ? (double)env->importance[j] : 1.0;
    }
    for (uint32_t j = 0; !policy->arrays.failed && sum == 0 && j < heads; j++) {
        qsac->weight[j] = 1;
    }
    qsac->threshold =
        qsac_threshold(env->values, env->kv_importance ? (double)*env->kv_importance : sum / heads);
    return true;
}

/* The query of the group's head `j` at this demand's step. */
static const int8_t *qsac_query_of(const struct demand *demand, uint32_t j)
{
    return demand->query + (size_t)j * demand->query_stride * demand->head_dim;
}

/* The demands of the tokens: of one, its own. */
static const struct demand *tokens_of(const struct demand *demand, uint32_t *count)
{
    *count = demand->member_count > 0 ? demand->member_count : 1;
    return demand->member_count > 0 ? demand->members : demand;
}

/* Compare all queries with their labels: one number for their cosines, in which scales cancel. A null vector is
 * similar to nothing. */
static bool labels_match(struct qsac *qsac, const struct demand *demand)
{
    uint32_t tokens, heads = qsac->query_heads, dim = qsac->head_dim;
    const struct demand *token = tokens_of(demand, &tokens);
    double weights = 0, inverse = 0, least = 1;
    for (uint32_t i = 0; qsac->labelled && i < tokens * heads; i++) {
        uint32_t j = i % heads;
        double weight = qsac->minimum ? 1 : qsac->weight[j];
        if (weight > 0) {
            const int8_t *query = qsac_query_of(&token[i / heads], j);
            double squared = trace_dot(query, query, dim) * qsac->label_squared[j];
            double product = trace_dot(query, qsac->label + (size_t)j * dim, dim);
            double cosine = squared > 0 ? fmax(product / sqrt(squared), -1) : 0;
            least = fmin(least, cosine);
            weights += weight;
            inverse += weight / cosine;
        }
    }
    return qsac->labelled &&
           (qsac->minimum || least <= 0 ? least : weights / inverse) >= qsac->threshold;
}

static void qsac_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    struct qsac *qsac = (struct qsac *)policy;
    uint32_t tokens, before = policy->held;
    const struct demand *first = tokens_of(demand, &tokens);
    assert((demand->wanted <= qsac->base.capacity || tokens > 1) && tokens <= qsac->tokens &&
           demand->query_heads == qsac->query_heads);
    outcome->lookups = tokens * qsac->query_heads;
    if (labels_match(qsac, demand)) {
        outcome->reused = true;
        outcome->hit = demand->wanted;
        outcome->attended = demand_set(demand, qsac->in_set, policy->held);
        outcome->members = demand_members_attended(demand, qsac->in_set, policy->held);
        return;
    }
    for (uint32_t j = 0; j < qsac->query_heads; j++) {
        const int8_t *query = qsac_query_of(first, j);
        memcpy(qsac->label + (size_t)j * qsac->head_dim, query, qsac->head_dim);
        qsac->label_squared[j] = trace_dot(query, query, qsac->head_dim);
    }
    qsac->labelled = true;
    for (uint32_t i = 0; i < qsac->base.held; i++) {
        qsac->in_set[qsac->set[i]] = false;
    }
    uint32_t kept = demand->wanted < qsac->base.capacity ? demand->wanted : qsac->base.capacity;
    for (uint32_t i = 0; i < kept; i++) {
        qsac->in_set[qsac->set[i] = demand->units[i]] = true;
    }
    qsac->base.held = kept;
    outcome->missed = demand->wanted;
    outcome->admitted = outcome->inserts = policy->held;
    outcome->evicted = before;
    outcome->updates = qsac->query_heads;
    outcome->attended = demand_wanted(demand);
}

const struct policy_kind policy_qsac = {
    .name = "qsac",
    .summary = "a head's set is reused while its query is similar",
    .params = qsac_params,
    .needs_queries = true,
    .ignores_capacity = true,
    .size = sizeof(struct qsac),
    .init = qsac_init,
    .access = qsac_access,
};
