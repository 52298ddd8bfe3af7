#include "decode/draft/drafts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/array.h"
#include "core/named.h"
#include "core/node.h"
#include "model/layer_kind.h"
#include "model/sharding.h"

static const char *const drafts_rejected_names[] = {
    [REJECTED_ADJACENT] = "adjacent", [REJECTED_BEFORE] = "before", NULL};

void drafts_set_positions(struct drafts *drafts, uint32_t count, const double *shares)
{
    drafts->count = count;
    for (uint32_t i = 0; i <= count; i++) {
        double reached = i == 0 ? 1 : shares[i - 1];
        drafts->accepted[i] = reached - (i < count ? shares[i] : 0);
    }
}

void drafts_set_rate(struct drafts *drafts, uint32_t count, double rate)
{
    double shares[DRAFTS_MOST], share = 1;
    for (uint32_t i = 0; i < count; i++) {
        share *= rate;
        shares[i] = share;
    }
    drafts_set_positions(drafts, count, shares);
}

double drafts_tokens(const struct drafts *drafts)
{
    double tokens = 1;
    for (uint32_t i = 1; i <= drafts->count; i++) {
        tokens += i * drafts->accepted[i];
    }
    return tokens;
}

/* Bisection: tokens rise with the rate. */
double drafts_rate_of(uint32_t count, double tokens)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        struct drafts drafts;
        drafts_set_rate(&drafts, count, (low + high) / 2);
        *(drafts_tokens(&drafts) < tokens ? &low : &high) = (low + high) / 2;
    }
    return high;
}

/* By the seed's number, moved on by the golden ratio each step. In any run of steps these lie evenly, so that
 * it accepts as many drafts as it should on average; independent numbers would be 5 % off in twenty steps. */
uint32_t drafts_accepted(const struct drafts *drafts, uint64_t seed, uint64_t step)
{
    static const uint64_t golden = 0x9E3779B97F4A7C15u; /* of 2^64 */
    uint64_t number = XXH64(&seed, sizeof seed, 0) + step * golden;
    double left = 1 - ldexp((double)(number >> 11), -53); /* 0 ... 1, without 0 */
    uint32_t accepted = drafts->count;
    double more = drafts->count > 0 ? drafts->accepted[accepted] : 1;
    while (accepted > 0 && left > more) { /* `more`: the probability of so many or more */
        accepted--;
        more += drafts->accepted[accepted];
    }
    return accepted;
}

void drafts_release(struct drafts *drafts)
{
    if (drafts->model != NULL) {
        model_release(drafts->model);
        free(drafts->model);
    }
    memset(drafts, 0, sizeof *drafts);
}

const char *const draft_methods[] = {
    [DRAFT_NGRAM] = "ngram", [DRAFT_MODEL] = "model", [DRAFT_EAGLE3] = "eagle3",
    [DRAFT_MTP] = "mtp",     [DRAFT_METHODS] = NULL,
};

/* Words of EAGLE-3's head: "draft_vocab_size" of yuhuili's, and of speculators and SpecForge by default. */
enum { HEAD_WORDS = 32000 };

/* Layers of the target whose hidden states EAGLE-3 joins. */
enum { FUSED_LAYERS = 3 };

/* Width of a dense FFN, as a multiple of the hidden state, for a model of experts alone: assumed, Qwen3's. */
enum { DENSE_WIDTH = 3 };

static uint32_t dense_width(const struct model *target)
{
    for (uint32_t l = 0; l < target->layer_count; l++) {
        if (!target->layers[l].routed && target->layers[l].ffn > 0) {
            return target->layers[l].ffn;
        }
    }
    return DENSE_WIDTH * target->hidden;
}

/* A model of one layer beside the target, on the GPUs of its last stage. */
static void single_layer(struct draft_network *network, const struct model *target)
{
    network->model = *target;
    /* The last layer that attends, without what it takes over from another layer. */
    uint32_t last = target->layer_count - 1;
    while (last > 0 && (target->layers[last].attention == ATTENTION_LINEAR ||
                        target->layers[last].attention == ATTENTION_NONE)) {
        last--;
    }
    network->layer = target->layers[last];
    network->layer.shares_kv = network->layer.shares_index = false;
    network->model.layers = &network->layer;
    network->model.layer_count = 1;
    network->model.importance = network->model.query_importance = NULL;
    network->model.extras = (struct model_extras){0};
    network->model.parallel.pipeline = 1;
}

static void eagle3_init(struct draft_network *network, const struct model *target)
{
    single_layer(network, target);
    struct model *model = &network->model;
    struct model_layer *layer = &network->layer;
    bool grouped = layer->attention <= ATTENTION_CHUNKED;
    layer->attention = grouped ? ATTENTION_FULL : layer->attention;
    layer->window = grouped ? 0 : layer->window;
    layer->ffn = dense_width(target);
    layer->routed = false;
    layer->experts = layer->experts_per_token = layer->shared_experts = 0;
    model->weights = model->experts = DTYPE_BF16;
    model->layer_norms = 2;
    model->tied_embeddings = false;
    model->vocabulary = HEAD_WORDS < target->vocabulary ? HEAD_WORDS : target->vocabulary;
    network->fused = (uint64_t)FUSED_LAYERS * target->hidden;
    network->doubled_input = true;
    network->own_head = true;
}

void draft_network_init(struct draft_network *network, enum draft_method method,
                        const struct model *target, const struct model *own)
{
    *network = (struct draft_network){.joined = 0};
    switch (method) {
    case DRAFT_MODEL:
        network->model = *own;
        network->own_head = true;
        break;
    case DRAFT_EAGLE3:
        eagle3_init(network, target);
        break;
    case DRAFT_MTP:
        single_layer(network, target);
        network->joined = 2 * (uint64_t)target->hidden;
        break;
    default:
        break;
    }
}

/* Q, K and V of a hidden state more. */
static uint64_t doubled_values(const struct draft_network *network)
{
    const struct model *model = &network->model;
    if (!network->doubled_input) {
        return 0;
    }
    uint64_t dim = layer_key_dim(model, &network->layer);
    uint64_t out = (model_query_heads(model) + 2ULL * model_kv_heads(model)) * dim;
    return whole_product(out, model->hidden);
}

uint64_t draft_network_projected(const struct draft_network *network, bool first)
{
    uint64_t width = network->joined + (first ? network->fused : 0);
    return whole_sum(whole_product(width, network->model.hidden), doubled_values(network));
}

/* The weights of a model of its own are all of its own. */
uint64_t draft_network_weight_bytes(const struct draft_network *network)
{
    const struct model *model = &network->model;
    if (model->layer_count != 1 || model->layers != &network->layer) {
        return model->layer_count > 0 ? model_weight_bytes(model) : 0;
    }
    uint64_t words = whole_share(model->vocabulary, model->tensor_parallel);
    uint64_t head = network->own_head ? whole_product(words, model->hidden) : 0;
    uint64_t values = whole_sum(draft_network_projected(network, true), head);
    return whole_sum(model_layer_weight_bytes(model, 0), dtype_bytes(DTYPE_BF16, values));
}

/* ---- published -------------------------------------------------------------------------- */

static const struct published {
    enum draft_method method;
    const char *model, *task;
    uint32_t drafts; /* of the first length */
    const char *configuration, *source;
    double tokens[DRAFTS_MOST]; /* 0 after the last one */
} published[] = {
#define PUBLISHED(method, model, task, drafts, configuration, source, ...)                         \
    {method, model, task, drafts, configuration, source, {__VA_ARGS__}},
#include "decode/draft/published.def"
#undef PUBLISHED
};

enum { PUBLISHED_ROWS = sizeof published / sizeof *published };

/* Is it this model, or a quantised form of it? */
static bool is_model(const char *model, const char *name)
{
    size_t length = strlen(name);
    return strncmp(model, name, length) == 0 && (model[length] == '\0' || model[length] == '-');
}

static uint32_t most_drafts(const struct published *row)
{
    uint32_t lengths = 1;
    while (lengths < DRAFTS_MOST && row->tokens[lengths] > 0) {
        lengths++;
    }
    return row->drafts + lengths - 1;
}

/* Say which tasks are published for the method and model. */
static bool expect_task(const char *model, enum draft_method method, const char *task,
                        struct error *why)
{
    const char *tasks[PUBLISHED_ROWS + 1];
    size_t count = 0;
    for (size_t i = 0; i < PUBLISHED_ROWS; i++) {
        if (published[i].method == method && is_model(model, published[i].model)) {
            tasks[count++] = published[i].task;
        }
    }
    tasks[count] = NULL;
    return count > 0 ? name_expect(task, NAMES(tasks), why) : error_expect(why, "'acceptance'");
}

bool draft_lengths_published(const char *model, const char *task, uint32_t count, const char *file,
                             int line, struct drafts *drafts, struct error *why)
{
    const struct published *row = NULL;
    for (size_t i = 0; row == NULL && i < PUBLISHED_ROWS; i++) {
        bool same = published[i].method == drafts->method && is_model(model, published[i].model) &&
                    name_same(published[i].task, task);
        row = same ? &published[i] : NULL;
    }
    if (row == NULL) {
        error_input(why, file, line, "no lengths of '%s' are published for '%s' and task '%.60s'",
                    draft_methods[drafts->method], model, task);
        return expect_task(model, drafts->method, task, why);
    }
    if (count > most_drafts(row)) {
        error_input(why, file, line, "lengths of '%s' are published for fewer than %u drafts", task,
                    count);
        return error_expect(why, "'drafts.count' of at most %u", most_drafts(row));
    }
    uint32_t of = count < row->drafts ? row->drafts : count;
    drafts_set_rate(drafts, count, drafts_rate_of(of, row->tokens[of - row->drafts]));
    snprintf(drafts->source, sizeof drafts->source, "%s (%s)", row->source, row->configuration);
    return true;
}

enum { USUAL_DRAFTS = 3 };

bool draft_lengths_usual(const char *model, char *text, size_t size)
{
    const struct published *row = NULL;
    for (size_t i = 0; row == NULL && i < PUBLISHED_ROWS; i++) {
        bool usable = published[i].method != DRAFT_MODEL && is_model(model, published[i].model);
        row = usable ? &published[i] : NULL;
    }
    if (row == NULL) {
        return false;
    }
    bool covered = row->drafts <= USUAL_DRAFTS && most_drafts(row) >= USUAL_DRAFTS;
    snprintf(text, size, "{count: %u, method: %s, lengths: %s}",
             covered ? USUAL_DRAFTS : row->drafts, draft_methods[row->method], row->task);
    return true;
}

/* ---- keys of a scenario ----------------------------------------------------------------- */

/* The map as it is written. */
struct draft_map {
    uint32_t count;           /* drafted tokens of a sequence in a step; 0: none */
    int method;               /* who drafts; -1: nobody says */
    const struct node *model; /* that drafts, with 'method: model' */
    /* The share of drafts accepted after those before them, or vLLM's list by position. */
    const struct node *acceptance;
    const struct node *lengths; /* in its place: a task whose length is published */
    int rejected;               /* enum drafts_rejected */
    uint64_t
        overhead; /* ns of the CPU for each drafted token that the GPU waits for: an engine that
                        * drafts without CUDA graphs launches each pass anew */
};

static const struct node_field draft_fields[] = {
    NODE_FIELD("count", SMALL, draft_map, count, .unit = UNIT_COUNT, .most = DRAFTS_MOST,
               .needed = true),
    NODE_FIELD("method", WORD, draft_map, method, .words = draft_methods),
    NODE_FIELD("model", NODE, draft_map, model),
    NODE_FIELD("acceptance", NODE, draft_map, acceptance),
    NODE_FIELD("lengths", NODE, draft_map, lengths),
    NODE_FIELD("rejected", WORD, draft_map, rejected, .words = drafts_rejected_names),
    NODE_FIELD("overhead", WHOLE, draft_map, overhead, .unit = UNIT_NS, .most = UINT32_MAX),
    {.key = NULL}};

static bool read_share(const struct node *node, double *out, struct error *why)
{
    struct quantity share;
    bool good = node->kind == NODE_SCALAR && quantity_parse(node->text, &share) &&
                (share.unit == UNIT_SHARE || share.unit == UNIT_COUNT) && share.value >= 0 &&
                share.value <= 1;
    *out = good ? share.value : 0;
    if (good) {
        return true;
    }
    node_error(node, why, "an 'acceptance' is '%.60s'",
               node->kind == NODE_SCALAR ? node->text : "no share");
    return error_expect(why, "a share from 0%% to 100%%");
}

static bool read_positions(const struct node *list, uint32_t count, struct drafts *out,
                           struct error *why)
{
    double shares[DRAFTS_MOST];
    if (list->count < count) {
        node_error(list, why, "'acceptance' has %zu positions, and 'count' is %u", list->count,
                   count);
        return error_expect(why, "a share for each of %u drafts", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!read_share(list->children[i], &shares[i], why)) {
            return false;
        }
        if (i > 0 && shares[i] > shares[i - 1]) {
            node_error(list->children[i], why, "'acceptance' rises from %g to %g", shares[i - 1],
                       shares[i]);
            return error_expect(why, "shares of all steps, which fall: a draft can be accepted "
                                     "only if those before it were");
        }
    }
    drafts_set_positions(out, count, shares);
    return true;
}

static bool read_acceptance(const struct node *node, uint32_t count, struct drafts *out,
                            struct error *why)
{
    double rate = 0;
    if (node->kind == NODE_LIST) {
        return read_positions(node, count, out, why);
    }
    if (!read_share(node, &rate, why)) {
        return false;
    }
    drafts_set_rate(out, count, rate);
    return true;
}

/* One of both, and not the other. */
static bool read_accepted(const struct node *map, const struct draft_map *said,
                          const struct model *target, struct drafts *out, struct error *why)
{
    const struct node *acceptance = said->acceptance, *lengths = said->lengths;
    if ((acceptance == NULL) == (lengths == NULL)) {
        node_error(acceptance != NULL ? lengths : map, why,
                   acceptance != NULL ? "both 'acceptance' and 'lengths' of drafts"
                                      : "nothing says how many drafts are accepted");
        return error_expect(why, "either drafts.acceptance, such as 70%%, or drafts.lengths");
    }
    if (acceptance != NULL) {
        return read_acceptance(acceptance, said->count, out, why);
    }
    return lengths->kind == NODE_SCALAR
               ? draft_lengths_published(target->name, lengths->text, said->count, lengths->file,
                                         lengths->line, out, why)
               : node_error(lengths, why, "'lengths' is no name");
}

/* The draft model, on the GPUs of its target. */
static bool drafts_read_model(const struct node *node, struct files *files,
                              const struct model *target, struct drafts *out, struct error *why)
{
    const struct model_options options = {
        .weights = -1, .kv = -1, .tensor_parallel = target->tensor_parallel};
    struct model_parallel parallel = target->parallel;
    parallel.pipeline = 1;
    parallel.experts = 1;
    out->model = array_zeroed(1, sizeof *out->model, why);
    if (out->model == NULL) {
        return false;
    }
    if (!model_load(files, node->text, &options, node->file, node->line, out->model, why)) {
        free(out->model);
        out->model = NULL;
        return false;
    }
    return model_share(out->model, &parallel, node->file, node->line, why);
}

static bool read_method(const struct node *map, const struct draft_map *said, struct files *files,
                        const struct model *target, struct drafts *out, struct error *why)
{
    const struct node *model = said->model;
    if (said->method < 0) {
        node_error(map, why, "'drafts' says no method");
        return error_expect(why, "method: ngram, model, eagle3 or mtp");
    }
    out->method = (enum draft_method)said->method;
    if ((out->method == DRAFT_MODEL) != (model != NULL)) {
        node_error(model != NULL ? model : map, why,
                   model != NULL ? "a draft 'model' with method '%s'"
                                 : "method '%s' without the model that drafts",
                   draft_methods[out->method]);
        return error_expect(why, "both 'method: model' and 'model', or another method alone");
    }
    return model == NULL || drafts_read_model(model, files, target, out, why);
}

bool drafts_read(const struct node *map, struct files *files, const struct model *target,
                 struct drafts *out, struct error *why)
{
    struct draft_map said = {.method = -1};
    *out = (struct drafts){.count = 0};
    if (map == NULL || (map->kind == NODE_SCALAR && strcmp(map->text, "none") == 0)) {
        return true;
    }
    if (map->kind == NODE_SCALAR) {
        node_error(map, why, "'drafts' is '%.60s'", map->text);
        return error_expect(why,
                            "none, or a map, such as {count: 3, method: eagle3, acceptance: 70%%}");
    }
    if (node_fields_read(map, draft_fields, "drafts", &said, why) &&
        (said.count == 0 || (read_method(map, &said, files, target, out, why) &&
                             read_accepted(map, &said, target, out, why)))) {
        out->rejected = (enum drafts_rejected)said.rejected;
        out->overhead = said.count > 0 ? said.overhead : 0;
        return true;
    }
    drafts_release(out);
    return false;
}

bool drafts_put(struct node *all, const struct drafts *drafts, struct error *why)
{
    const struct node *map = node_get(all, "drafts"), *said = node_stated(map, "model");
    char count[16], overhead[24], name[NAMED_SIZE];
    if (drafts->count == 0) {
        node_remove(all, "drafts");
        return true;
    }
    snprintf(count, sizeof count, "%u", drafts->count);
    snprintf(overhead, sizeof overhead, "%" PRIu64 "ns", drafts->overhead);
    return node_set(all, "drafts.count", count, why) &&
           node_set(all, "drafts.method", draft_methods[drafts->method], why) &&
           node_set(all, "drafts.overhead", overhead, why) &&
           node_set(all, "drafts.rejected", drafts_rejected_names[drafts->rejected], why) &&
           /* A path stays as it is. */
           (said == NULL || !named_canonical(&named_model, said->text, name) ||
            node_set(all, "drafts.model", name, why));
}
