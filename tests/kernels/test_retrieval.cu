/* Tests scores of every kind, top-k, and labels. */
#include "kernel_test.h"

#include <algorithm>

enum score_kind { CENTROIDS, PAGES, CODES, HASHES };

struct score_shape {
    const char *name;
    enum score_kind kind;
    uint32_t pairs, group, dim, entries, parts; /* parts of a code, words of a hash */
};

static const score_shape score_shapes[] = {
    {"centroids of 128", CENTROIDS, 2, 4, 128, 67, 0},
    {"centroids of 64", CENTROIDS, 1, 9, 64, 130, 0},
    {"one centroid", CENTROIDS, 1, 1, 128, 1, 0},
    {"centroids of more than a CTA", CENTROIDS, 1, 16, 128, 1031, 0},
    {"pages of 128", PAGES, 2, 4, 128, 67, 0},
    {"pages of 64", PAGES, 1, 16, 64, 33, 0},
    {"pages of more than a CTA", PAGES, 1, 8, 128, 517, 0},
    {"codes of 2 parts", CODES, 2, 4, 64, 300, 2},
    {"codes of 4 parts", CODES, 1, 1, 64, 257, 4},
    {"codes of 8 parts", CODES, 1, 5, 128, 100, 8},
    {"codes of 16 parts", CODES, 2, 8, 128, 1, 16},
    {"codes of more than a CTA", CODES, 1, 3, 64, 8200, 2},
    {"hashes of 256 bits", HASHES, 2, 4, 0, 500, 8},
    {"hashes of 128 bits", HASHES, 1, 16, 0, 2100, 4},
};

static std::vector<uint32_t> random_words(generator &random, size_t count)
{
    std::vector<uint32_t> words(count);
    for (uint32_t &word : words) {
        word = (uint32_t)random();
    }
    return words;
}

struct score_data {
    std::vector<uint16_t> queries, rows; /* rows: centroids, pages, codebooks */
    std::vector<uint8_t> codes;
    std::vector<uint32_t> asked, hashes;
};

static score_data make_data(const score_shape &shape, generator &random)
{
    size_t units = (size_t)shape.pairs * shape.entries;
    score_data data;
    data.queries = normal_bf16(random, (size_t)shape.pairs * shape.group * shape.dim);
    if (shape.kind == CENTROIDS) {
        data.rows = normal_bf16(random, units * shape.dim);
    } else if (shape.kind == PAGES) {
        data.rows = normal_bf16(random, units * 2 * shape.dim);
        for (size_t i = 0; i < units * shape.dim; i++) {
            uint16_t *least = &data.rows[i / shape.dim * 2 * shape.dim + i % shape.dim];
            if (bf16_value(least[0]) > bf16_value(least[shape.dim])) {
                std::swap(least[0], least[shape.dim]);
            }
        }
    } else if (shape.kind == CODES) {
        data.rows = normal_bf16(random, (size_t)shape.pairs * 256 * shape.dim);
        data.codes.resize(units * shape.parts);
        for (uint8_t &code : data.codes) {
            code = (uint8_t)random();
        }
    } else {
        data.asked = random_words(random, (size_t)shape.pairs * shape.group * shape.parts);
        data.hashes = random_words(random, units * shape.parts);
    }
    return data;
}

static std::vector<float> scores_found(const score_shape &shape, const score_data &data)
{
    on_gpu<uint16_t> queries(data.queries), rows(data.rows);
    on_gpu<uint8_t> codes(data.codes);
    on_gpu<uint32_t> asked(data.asked), hashes(data.hashes);
    on_gpu<float> scores((size_t)shape.pairs * shape.entries);
    if (shape.kind == CODES) {
        MUST(kernel_score_codes(queries.at, rows.at, codes.at, shape.pairs, shape.group, shape.dim,
                                shape.parts, shape.entries, scores.at, nullptr, &why));
    } else if (shape.kind == HASHES) {
        MUST(kernel_score_hashes(asked.at, hashes.at, shape.pairs, shape.group, shape.parts,
                                 shape.entries, scores.at, nullptr, &why));
    } else {
        MUST((shape.kind == PAGES ? kernel_score_pages : kernel_score_centroids)(
            queries.at, rows.at, shape.pairs, shape.group, shape.dim, shape.entries, scores.at,
            nullptr, &why));
    }
    return scores.values();
}

/* The score of query row `row` (a pair's head) and unit `unit` (a pair's entry). */
static double score_expected(const score_shape &shape, const score_data &data, size_t row,
                             size_t unit)
{
    size_t dim = shape.dim, parts = shape.parts;
    if (shape.kind == HASHES) {
        return twin_hash_score(&data.asked[row * parts], &data.hashes[unit * parts], shape.parts);
    }
    std::vector<float> query = floats_of(&data.queries[row * dim], dim);
    switch (shape.kind) {
    case CENTROIDS:
        return twin_centroid_score(query.data(), &data.rows[unit * dim], shape.dim);
    case PAGES:
        return twin_page_score(query.data(), &data.rows[unit * 2 * dim],
                               &data.rows[(unit * 2 + 1) * dim], shape.dim);
    default:
        return twin_code_score(query.data(), &data.rows[unit / shape.entries * 256 * dim],
                               &data.codes[unit * parts], shape.parts, shape.dim);
    }
}

static std::string check_scores(const void *at, generator &random)
{
    const score_shape &shape = *(const score_shape *)at;
    score_data data = make_data(shape, random);
    std::vector<float> found = scores_found(shape, data);
    std::string wrong;
    for (size_t unit = 0; unit < found.size() && wrong.empty(); unit++) {
        double expected = -INFINITY;
        for (size_t head = 0; head < shape.group; head++) {
            size_t row = unit / shape.entries * shape.group + head;
            expected = fmax(expected, score_expected(shape, data, row, unit));
        }
        wrong = compare("score", unit, found[unit], expected, 1e-3);
    }
    return wrong;
}

enum score_values { NORMAL, FEW, EQUAL, HUGE_AND_TINY, RISING };

struct topk_shape {
    const char *name;
    uint32_t rows, count, k;
    enum score_values values;
};

/* A tile has 8192 scores. In the emulator a launch has 6 CTAs, for 3 multiprocessors. */
static const topk_shape topk_shapes[] = {
    {"1 of 1", 2, 1, 1, NORMAL},
    {"1 of 31", 1, 31, 1, NORMAL},
    {"all of 513", 1, 513, 513, NORMAL},
    {"410 of 4096", 3, 4096, 410, NORMAL},
    {"of few values", 2, 4000, 1999, FEW},
    {"of equals", 1, 1000, 17, EQUAL},
    {"of any magnitude and sign", 2, 3000, 1500, HUGE_AND_TINY},
    {"all but one of a tile", 3, 8191, 819, NORMAL},
    {"a tile", 2, 8192, 8192, HUGE_AND_TINY},
    {"a tile and one", 3, 8193, 820, NORMAL},
    {"all of a tile and one", 2, 8193, 8193, FEW},
    {"the last one of several tiles", 1, 16385, 1, RISING},
    {"several tiles", 2, 32769, 3277, NORMAL},
    {"several tiles of few values", 3, 50001, 20001, FEW},
    {"several tiles of equals", 2, 40000, 39999, EQUAL},
    {"several tiles of any magnitude", 1, 33000, 16500, HUGE_AND_TINY},
    {"more tiles than CTAs", 3, 81921, 16385, RISING},
    {"more tiles of few values than CTAs", 1, 90001, 40000, FEW},
};

static float make_score(enum score_values values, size_t place, generator &random)
{
    float value = normal(random);
    switch (values) {
    case FEW:
        return roundf(value) * 0.5f; /* zeros of both signs, too */
    case EQUAL:
        return -7;
    case RISING:
        return (float)place;
    case HUGE_AND_TINY:
        return random() % 100 == 0 ? -INFINITY : ldexpf(value, (int)(random() % 250) - 125);
    default:
        return value;
    }
}

static std::string check_row(const float *scores, const topk_shape &shape, const uint32_t *chosen)
{
    std::vector<bool> taken(shape.count);
    std::vector<uint32_t> best(shape.k);
    std::vector<float> found(shape.k);
    for (uint32_t i = 0; i < shape.k; i++) {
        if (chosen[i] >= shape.count || taken[chosen[i]]) {
            return "chosen " + std::to_string(i) + " is " + std::to_string(chosen[i]) +
                   ", out of the row or twice there";
        }
        taken[chosen[i]] = true;
        found[i] = scores[chosen[i]];
    }
    std::sort(found.begin(), found.end(), [](float a, float b) { return a > b; });
    MUST(twin_topk(scores, shape.count, shape.k, best.data(), &why));
    std::string wrong;
    for (uint32_t i = 0; i < shape.k && wrong.empty(); i++) {
        wrong = compare("score", i, found[i], scores[best[i]], 0);
    }
    return wrong;
}

static std::string check_topk(const void *at, generator &random)
{
    const topk_shape &shape = *(const topk_shape *)at;
    std::vector<float> scores((size_t)shape.rows * shape.count);
    for (size_t i = 0; i < scores.size(); i++) {
        scores[i] = make_score(shape.values, i, random);
    }
    on_gpu<float> gpu_scores(scores);
    on_gpu<uint32_t> chosen((size_t)shape.rows * shape.k);
    on_gpu<uint8_t> scratch(std::vector<uint8_t>(kernel_topk_scratch(shape.rows)));
    std::string wrong;
    for (int turn = 0; turn < 2 && wrong.empty(); turn++) { /* again with the same scratch memory */
        MUST(kernel_topk(gpu_scores.at, shape.rows, shape.count, shape.k, chosen.at, scratch.at,
                         nullptr, &why));
        std::vector<uint32_t> found = chosen.values();
        for (size_t row = 0; row < shape.rows && wrong.empty(); row++) {
            wrong = check_row(&scores[row * shape.count], shape, &found[row * shape.k]);
        }
    }
    return wrong;
}

struct label_shape {
    const char *name;
    uint32_t pairs, group, dim;
};

static const label_shape label_shapes[] = {
    {"groups of 4", 12, 4, 128},
    {"single heads", 7, 1, 64},
    {"groups of 16", 5, 16, 128},
};

/* Pairs by turns: a query near its label, one across it, a null label, heads of weight 0. */
static std::string check_labels(const void *at, generator &random)
{
    const label_shape &shape = *(const label_shape *)at;
    size_t pairs = shape.pairs, group = shape.group, dim = shape.dim;
    std::vector<uint16_t> queries = normal_bf16(random, pairs * group * dim), labels = queries;
    std::vector<float> weights(pairs * group, 1), threshold(pairs, 0.8f);
    for (size_t i = 0; i < labels.size(); i++) {
        size_t pair = i / (group * dim);
        float noise = pair % 4 == 1 ? 30.0f : 0.1f * (float)(pair % 8);
        labels[i] = pair % 4 == 3 ? 0 : bf16_of(bf16_value(labels[i]) + noise * normal(random));
    }
    for (size_t i = 0; i < weights.size(); i++) {
        weights[i] = i % group > 0 && i % 3 == 0 ? 0 : 0.25f + (float)(i % 4);
    }
    on_gpu<uint16_t> gpu_queries(queries), gpu_labels(labels);
    on_gpu<float> gpu_weights(weights), gpu_threshold(threshold), similarity(pairs);
    on_gpu<uint32_t> reuse(pairs);
    MUST(kernel_compare_labels(gpu_queries.at, gpu_labels.at, gpu_weights.at, gpu_threshold.at,
                               shape.pairs, shape.group, shape.dim, similarity.at, reuse.at,
                               nullptr, &why));
    std::vector<float> found = similarity.values();
    std::vector<uint32_t> reused = reuse.values();
    std::vector<uint16_t> after = gpu_labels.values();
    std::string wrong;
    for (size_t pair = 0; pair < pairs && wrong.empty(); pair++) {
        size_t first = pair * group * dim;
        double expected = twin_similarity(&queries[first], &labels[first], &weights[pair * group],
                                          shape.group, shape.dim);
        wrong = compare("similarity", pair, found[pair], expected, 1e-5);
        if (wrong.empty()) {
            wrong = compare("reuse", pair, reused[pair], found[pair] >= threshold[pair], 0);
        }
        for (size_t i = first; i < first + group * dim && wrong.empty(); i++) {
            wrong = compare("label", i, after[i], reused[pair] ? labels[i] : queries[i], 0);
        }
    }
    return wrong;
}

void retrieval_cases(std::vector<kernel_case> &cases)
{
    for (const score_shape &shape : score_shapes) {
        cases.push_back({std::string("scores, ") + shape.name, check_scores, &shape});
    }
    for (const topk_shape &shape : topk_shapes) {
        cases.push_back({std::string("top-k, ") + shape.name, check_topk, &shape});
    }
    for (const label_shape &shape : label_shapes) {
        cases.push_back({std::string("labels, ") + shape.name, check_labels, &shape});
    }
}
