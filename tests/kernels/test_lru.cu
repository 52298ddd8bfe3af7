/* Compares a cache that the GPU manages with the simulator's own LRU: hits, contents, the slots of
 * rows, and the order of slots. */
#include "kernel_test.h"

extern "C" {
#include "policy/policy.h"
}

#include <algorithm>
#include <numeric>

struct lru_shape {
    const char *name;
    uint32_t pairs, tokens, capacity, most, steps;
};

static const lru_shape lru_shapes[] = {
    {"that fills", 2, 900, 600, 300, 3},
    {"of several rounds", 2, 12000, 9000, 5000, 4},
    {"as large as what is wanted", 3, 100, 40, 40, 6},
    {"of one slot", 1, 5, 1, 1, 5},
};

#define ROW_WORDS 8 /* of 4 bytes */

/* The caches, and a policy for each. Pair p has cache pairs - 1 - p; the last cache belongs to no
 * pair. */
struct lru_caches {
    const lru_shape &shape;
    std::vector<uint32_t> caches, wanted, counts;
    std::vector<struct policy *> policies;
    on_gpu<uint32_t> slot_of, token_of, order, slots, missed, miss_counts, keys_to, values_to;

    explicit lru_caches(const lru_shape &shape)
        : shape(shape), caches(shape.pairs), wanted((size_t)shape.pairs * shape.most),
          counts(shape.pairs), slot_of(filled(shape.tokens, false)),
          token_of(filled(shape.capacity, false)), order(filled(shape.capacity, true)),
          slots(wanted.size()), missed(wanted.size()), miss_counts(shape.pairs), keys_to(rows()),
          values_to(rows())
    {
        for (uint32_t p = 0; p < shape.pairs; p++) {
            struct error why;
            struct policy_env env = {};
            caches[p] = shape.pairs - 1 - p;
            env.blocks = shape.tokens;
            env.capacity = shape.capacity;
            env.wanted = shape.most;
            env.order = POLICY_BATCH;
            policies.push_back(
                policy_create(policy_find("lru", nullptr, 0, &why), nullptr, &env, &why));
            must(policies[p] != nullptr, why);
        }
    }
    ~lru_caches()
    {
        for (struct policy *policy : policies) {
            policy_destroy(policy);
        }
    }
    std::vector<uint32_t> filled(uint32_t each, bool counting) const
    {
        std::vector<uint32_t> values((size_t)(shape.pairs + 1) * each, KERNEL_NOWHERE);
        for (size_t i = 0; counting && i < values.size(); i++) {
            values[i] = (uint32_t)(i % each);
        }
        return values;
    }
    size_t rows() const
    {
        return (size_t)(shape.pairs + 1) * shape.capacity * ROW_WORDS;
    }
};

/* Demands: the largest possible number of tokens, some, or none; more often than not tokens that
 * were wanted before. */
static void draw(lru_caches &all, generator &random)
{
    const lru_shape &shape = all.shape;
    std::vector<uint32_t> tokens(shape.tokens);
    for (uint32_t p = 0; p < shape.pairs; p++) {
        std::iota(tokens.begin(), tokens.end(), 0);
        uint32_t moved = shape.tokens / 4, first = (uint32_t)(random() % 3) * moved / 2;
        std::shuffle(tokens.begin(), tokens.end(), random);
        std::stable_partition(tokens.begin(), tokens.end(), [&](uint32_t token) {
            return token >= first && token < first + shape.tokens / 2;
        });
        uint32_t some = 1 + (uint32_t)(random() % shape.most), none = p > 0 ? 0 : some;
        const uint32_t counts[] = {shape.most, shape.most, some, none};
        all.counts[p] = counts[random() % 4];
        std::copy_n(tokens.begin(), all.counts[p], &all.wanted[(size_t)p * shape.most]);
    }
}

static uint32_t row_word(uint32_t pair, uint32_t token, uint32_t word, bool value)
{
    return (uint32_t)random_word(value ? 2 : 1, ((uint64_t)pair << 32 | token) * ROW_WORDS + word);
}

static std::vector<uint32_t> rows_of(const lru_shape &shape, bool value)
{
    std::vector<uint32_t> rows;
    for (uint32_t p = 0; p < shape.pairs; p++) {
        for (uint32_t token = 0; token < shape.tokens; token++) {
            for (uint32_t word = 0; word < ROW_WORDS; word++) {
                rows.push_back(row_word(p, token, word, value));
            }
        }
    }
    return rows;
}

/* A policy's misses, in the order in which they are wanted. */
static std::vector<uint32_t> miss(lru_caches &all, uint32_t p)
{
    const uint32_t *wanted = &all.wanted[(size_t)p * all.shape.most];
    struct policy *policy = all.policies[p];
    std::vector<uint32_t> places;
    for (uint32_t i = 0; i < all.counts[p]; i++) {
        if (!policy->kind->holds(policy, wanted[i])) {
            places.push_back(i);
        }
    }
    struct demand demand = {};
    struct outcome outcome;
    demand.units = wanted;
    demand.wanted = all.counts[p];
    if (demand.wanted > 0) {
        policy_access(policy, &demand, &outcome);
    }
    return places;
}

static std::string check_misses(lru_caches &all)
{
    std::vector<uint32_t> counts = all.miss_counts.values(), missed = all.missed.values();
    std::string wrong;
    for (uint32_t p = 0; p < all.shape.pairs && wrong.empty(); p++) {
        std::vector<uint32_t> expected = miss(all, p);
        wrong = compare("misses of pair", p, counts[p], (double)expected.size(), 0);
        for (size_t i = 0; i < expected.size() && wrong.empty(); i++) {
            wrong = compare("miss", i, missed[(size_t)p * all.shape.most + i], expected[i], 0);
        }
    }
    return wrong;
}

/* A cache holds the same tokens as its policy, its tables agree, and its order ends with the wanted
 * tokens, worst first. */
static std::string check_cache(const lru_caches &all, uint32_t p)
{
    const lru_shape &shape = all.shape;
    size_t cache = all.caches[p];
    std::vector<uint32_t> slot_of = all.slot_of.values(), token_of = all.token_of.values();
    std::vector<uint32_t> order = all.order.values();
    std::vector<bool> there(shape.capacity);
    std::string wrong;
    for (uint32_t token = 0; token < shape.tokens && wrong.empty(); token++) {
        uint32_t slot = slot_of[cache * shape.tokens + token];
        bool held = all.policies[p]->kind->holds(all.policies[p], token);
        wrong = compare("holding token", token, slot != KERNEL_NOWHERE, held, 0);
        if (wrong.empty() && held) {
            wrong =
                compare("token of slot", slot, token_of[cache * shape.capacity + slot], token, 0);
        }
    }
    for (uint32_t i = 0; i < shape.capacity && wrong.empty(); i++) {
        uint32_t slot = order[cache * shape.capacity + i];
        wrong = slot < shape.capacity && !there[slot] ? "" : "a slot stands twice, or is none";
        there[slot % shape.capacity] = true;
    }
    for (uint32_t i = 0; i < all.counts[p] && wrong.empty(); i++) {
        uint32_t slot = order[cache * shape.capacity + shape.capacity - 1 - i];
        wrong = compare("newest", i, token_of[cache * shape.capacity + slot],
                        all.wanted[(size_t)p * shape.most + i], 0);
    }
    return wrong;
}

/* Every wanted token is in the slot that the kernel reported. */
static std::string check_rows(const lru_caches &all, uint32_t p)
{
    std::vector<uint32_t> slots = all.slots.values(), rows[2];
    rows[0] = all.keys_to.values();
    rows[1] = all.values_to.values();
    std::string wrong;
    for (uint32_t i = 0; i < all.counts[p] * ROW_WORDS * 2 && wrong.empty(); i++) {
        size_t place = (size_t)p * all.shape.most + i / ROW_WORDS / 2;
        uint32_t word = i / 2 % ROW_WORDS;
        wrong = compare(i % 2 ? "value of wanted" : "key of wanted", place,
                        rows[i % 2][(size_t)slots[place] * ROW_WORDS + word],
                        row_word(p, all.wanted[place], word, i % 2), 0);
    }
    return wrong;
}

static std::string check_step(lru_caches &all, const on_gpu<uint32_t> &caches,
                              const on_gpu<uint32_t> &keys, const on_gpu<uint32_t> &values)
{
    const lru_shape &shape = all.shape;
    on_gpu<uint32_t> wanted(all.wanted), counts(all.counts);
    const struct kernel_lru lru = {shape.pairs,       shape.capacity, shape.tokens, shape.most,
                                   caches.at,         wanted.at,      counts.at,    all.slot_of.at,
                                   all.token_of.at,   all.order.at,   all.slots.at, all.missed.at,
                                   all.miss_counts.at};
    MUST(kernel_lru_touch(&lru, nullptr, &why));
    MUST(kernel_lru_fetch(&lru, keys.at, values.at, all.keys_to.at, all.values_to.at,
                          ROW_WORDS * sizeof(uint32_t), 2, nullptr, &why));
    std::string wrong = check_misses(all);
    for (uint32_t p = 0; p < shape.pairs && wrong.empty(); p++) {
        wrong = check_cache(all, p);
        wrong = wrong.empty() ? check_rows(all, p) : wrong;
    }
    return wrong;
}

static std::string check_lru(const void *at, generator &random)
{
    const lru_shape &shape = *(const lru_shape *)at;
    lru_caches all(shape);
    on_gpu<uint32_t> caches(all.caches), keys(rows_of(shape, false)), values(rows_of(shape, true));
    std::string wrong;
    for (uint32_t step = 0; step < shape.steps && wrong.empty(); step++) {
        draw(all, random);
        wrong = check_step(all, caches, keys, values);
    }
    return wrong;
}

void lru_cases(std::vector<kernel_case> &cases)
{
    for (const lru_shape &shape : lru_shapes) {
        cases.push_back({std::string("LRU by the GPU, ") + shape.name, check_lru, &shape});
    }
}
