#include "calibrate/mini/check.h"

#include "core/array.h"
#include "calibrate/kernels/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Largest number in a buffer (host/buffer.h). */
#define LARGEST 0.125

/* Sums of about ten thousand products in fp32 differ from double precision by about 1e-6 of their
 * terms; one wrong token of 32 thousand has a weight of 3e-5. */
#define TOLERANCE 1e-5

/* Kernels round each weight to bf16, by about 2^-10 of the weight. Over n tokens these errors add
 * up to about 0.001 / sqrt(n) of the largest value; the tolerance is ten times 0.001. One wrong
 * token of n has a weight of 1 / n. If n is so large that the error is within the tolerance, the
 * NaN rows reveal it. */
#define KERNEL_TOLERANCE 0.01

/* If K and V are made from activations, each number was rounded to bf16 two or three times, by
 * about 2^-9 of the number. Errors of values add up like those of weights; errors of keys change
 * each weight by about 2^-8. */
#define MADE_TOLERANCE 0.03

static const enum mini_tokens tokens_of[MINIATURE_COUNT] = {
    [MINIATURE_QSAC] = MINI_REUSED,           [MINIATURE_STREAM] = MINI_WHOLE,
    [MINIATURE_GPU_FULL] = MINI_WHOLE,        [MINIATURE_GPU_FULL_GRAPH] = MINI_WHOLE,
    [MINIATURE_GPU_STREAM] = MINI_WHOLE,      [MINIATURE_GPU_STREAM_PAGEABLE] = MINI_WHOLE,
    [MINIATURE_GPU_ACTIVATIONS] = MINI_MADE,  [MINIATURE_GPU_QSAC_COPY] = MINI_REUSED,
    [MINIATURE_GPU_QSAC_STORE] = MINI_REUSED,
    /* all others: MINI_WANTED */
};

static double tolerance_of(const struct mini *mini, enum miniature_id id)
{
    bool whole = tokens_of[id] == MINI_WHOLE || tokens_of[id] == MINI_MADE;
    uint32_t tokens =
        whole ? (uint32_t)mini->shape.context : mini_head_demand(&mini->heads[0], 0)->count;
    double kernel = tokens_of[id] == MINI_MADE ? MADE_TOLERANCE : KERNEL_TOLERANCE;
    return miniature_kinds[id].site == MINIATURE_GPU ? kernel / sqrt(tokens) : TOLERANCE;
}

static size_t mini_check_place(const struct mini *mini, uint32_t step, uint32_t layer,
                               uint32_t head)
{
    size_t number = ((size_t)step * mini->shape.layers + layer) * mini->shape.kv_heads + head;
    return number * mini->shape.head_dim;
}

/* The query head, counted in the layer, that is checked for this KV head. */
static uint32_t mini_check_query_of(const struct mini *mini, uint32_t step, uint32_t layer,
                                    uint32_t head)
{
    uint32_t group = mini->attention.group;
    return head * group + (step + layer) % group;
}

/* ---- which tokens ---- */

/* The demand of the last fetch before or at a step, found by running the policy from the start;
 * `end` is that step of the trace. */
static bool last_fetched(const struct mini_check *check, const struct mini_head *head, uint32_t end,
                         const struct mini_demand **out, struct error *why)
{
    const struct policy_kind *kind = policy_find("qsac", NULL, 0, why);
    struct policy *policy = kind ? policy_create(kind, NULL, check->env, why) : NULL;
    bool played = policy != NULL;
    for (uint32_t s = 0; played && s <= end; s++) {
        const struct mini_demand *demand = &head->demands[s];
        const struct demand seen = {.units = demand->units,
                                    .wanted = demand->count,
                                    .scale = demand->scale,
                                    .query = demand->query,
                                    .query_heads = head->query_heads,
                                    .head_dim = head->query_dim,
                                    .query_stride = 1};
        struct outcome outcome;
        policy_access(policy, &seen, &outcome);
        *out = outcome.reused ? *out : demand;
    }
    policy_destroy(policy);
    return played;
}

static bool expect_head(struct mini_check *check, enum mini_tokens tokens, uint32_t step,
                        uint32_t layer, uint32_t h, struct error *why)
{
    const struct mini *mini = check->mini;
    const struct mini_head *head = &mini_heads(mini, layer)[h];
    const struct mini_demand *demand = mini_head_demand(head, step);
    if (tokens == MINI_REUSED &&
        !last_fetched(check, head, (uint32_t)(demand - head->demands), &demand, why)) {
        return false;
    }
    bool whole = tokens == MINI_WHOLE || tokens == MINI_MADE;
    uint32_t dim = mini->shape.head_dim;
    size_t first = whole ? h * mini->shape.context * dim : 0;
    const uint16_t *keys = (const uint16_t *)(const void *)mini->layers[layer].kv.bytes + first;
    size_t query = mini_place(mini, step, layer) + mini_check_query_of(mini, step, layer, h);
    double *expected = check->expected[tokens] + mini_check_place(mini, step, layer, h);
    if (tokens == MINI_MADE) {
        return made_attend(&mini->made, check->products, layer, h, mini->queries + query * dim,
                           keys, keys + (size_t)mini->row_count * dim, mini->shape.context,
                           expected, why);
    }
    const struct twin_kv kv = {
        .keys = keys,
        .values = keys + (size_t)mini->row_count * dim,
        .type = KV_BF16,
        .dim = dim,
        .stride = dim,
        .list = whole ? NULL : demand->ordered,
        .count = whole ? (uint32_t)mini->shape.context : demand->count,
    };
    double lse;
    twin_attend(&kv, mini->queries + query * dim, 1 / sqrt(dim), expected, &lse);
    return true;
}

static bool expect_all(struct mini_check *check, enum mini_tokens tokens, struct error *why)
{
    const struct miniature *shape = &check->mini->shape;
    if (check->expected[tokens] != NULL) {
        return true;
    }
    check->expected[tokens] =
        array_zeroed(mini_check_place(check->mini, shape->steps, 0, 0), sizeof(double), why);
    bool good = check->expected[tokens] != NULL;
    if (good && tokens == MINI_MADE) {
        check->products = made_products(&check->mini->made, why);
        good = check->products != NULL;
    }
    for (uint32_t step = 0; good && step < shape->steps; step++) {
        for (uint32_t layer = 0; good && layer < shape->layers; layer++) {
            for (uint32_t h = 0; good && h < shape->kv_heads; h++) {
                good = expect_head(check, tokens, step, layer, h, why);
            }
        }
    }
    return good;
}

/* ---- comparing ---- */

static double mini_check_difference(const struct mini_check *check, enum mini_tokens tokens,
                                    uint32_t step, uint32_t layer, uint32_t head)
{
    const struct mini *mini = check->mini;
    size_t query = mini_place(mini, step, layer) + mini_check_query_of(mini, step, layer, head);
    const float *out = mini->out + query * mini->shape.head_dim;
    const double *expected = check->expected[tokens] + mini_check_place(mini, step, layer, head);
    double worst = 0;
    for (uint32_t i = 0; i < mini->shape.head_dim; i++) {
        double apart = fabs((double)out[i] - expected[i]) / LARGEST;
        worst = apart <= worst ? worst : isnan(apart) ? INFINITY : apart;
    }
    return worst;
}

static bool check_outputs(struct mini_check *check, enum miniature_id id, double *worst,
                          struct error *why)
{
    const struct miniature *shape = &check->mini->shape;
    enum mini_tokens tokens = tokens_of[id];
    double tolerance = tolerance_of(check->mini, id);
    if (!expect_all(check, tokens, why)) {
        return false;
    }
    for (uint32_t step = 0; step < shape->steps; step++) {
        for (uint32_t layer = 0; layer < shape->layers; layer++) {
            for (uint32_t head = 0; head < shape->kv_heads; head++) {
                double apart = mini_check_difference(check, tokens, step, layer, head);
                *worst = fmax(*worst, apart);
                if (apart > tolerance) {
                    error_set(
                        why, NULL, 0,
                        "'%s' has a wrong output at step %u, layer %u, KV head %u: off by %.3g",
                        miniature_kinds[id].name, step, layer, head, apart);
                    return error_expect(why, "at most %.2g of the largest value", tolerance);
                }
            }
        }
    }
    return true;
}

/* The last layer's rows are still staged: keys, then values. */
static bool check_gathered(const struct mini_check *check, enum miniature_id id, struct error *why)
{
    const struct mini *mini = check->mini;
    uint32_t layer = mini->shape.layers - 1, wanted = 0, row = 0;
    for (uint32_t h = 0; h < mini->shape.kv_heads; h++) {
        wanted += mini_head_demand(&mini_heads(mini, layer)[h], mini->shape.steps - 1)->count;
    }
    for (uint32_t i = 0; i < 2 * wanted; i++, row++) {
        uint32_t from = mini->rows[i % wanted] + (i < wanted ? 0 : mini->row_count);
        if (memcmp(mini->staging.bytes + row * mini->row_bytes,
                   mini->layers[layer].kv.bytes + from * mini->row_bytes, mini->row_bytes) != 0) {
            return error_set(why, NULL, 0, "'%s' gathered a wrong row: %u of layer %u",
                             miniature_kinds[id].name, i, layer);
        }
    }
    return true;
}

bool mini_check(struct mini_check *check, enum miniature_id id, double *worst, struct error *why)
{
    *worst = 0;
    switch (id) {
    case MINIATURE_MANAGER:
        return true;
    case MINIATURE_GATHER:
        return check_gathered(check, id, why);
    default:
        return check_outputs(check, id, worst, why);
    }
}

void mini_check_release(struct mini_check *check)
{
    free(check->products);
    for (int i = 0; i < MINI_TOKENS; i++) {
        free(check->expected[i]);
    }
}
