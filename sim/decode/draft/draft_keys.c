#include "decode/draft/draft_keys.h"

#include "core/array.h"
#include "core/named.h"
#include "model/sharding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const draft_keys[] = {
    "count",      /* drafted tokens of a sequence in a step; 0: none */
    "method",     /* who drafts: a word of draft_methods */
    "model",      /* the model that drafts, with 'method: model' */
    "acceptance", /* the share of drafts that are accepted, if those before them were; or a list by
                   * position: the share of steps in which each was, as vLLM prints it */
    "lengths",    /* in place of 'acceptance': a task whose mean length is published for method and
                   * model */
    "rejected",   /* what rejected drafts ask of offloaded KV, which no recording has: a word of
                   * drafts_rejected_names */
    "overhead",   /* CPU time for each drafted token that the GPU waits for: an engine that drafts
                   * without CUDA graphs launches each pass anew */
    NULL,
};

static bool draft_keys_check(const struct node *map, struct error *why)
{
    if (map->kind == NODE_SCALAR) {
        node_error(map, why, "'drafts' is '%.60s'", map->text);
        return error_expect(why,
                            "none, or a map, such as {count: 3, method: eagle3, acceptance: 70%%}");
    }
    return node_check_keys(map, draft_keys, "drafts", why);
}

/* ---- acceptance ------------------------------------------------------------------------- */

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
static bool read_accepted(const struct node *map, const struct model *target, uint32_t count,
                          struct drafts *out, struct error *why)
{
    const struct node *acceptance = node_stated(map, "acceptance");
    const struct node *lengths = node_stated(map, "lengths");
    if ((acceptance == NULL) == (lengths == NULL)) {
        node_error(acceptance != NULL ? lengths : map, why,
                   acceptance != NULL ? "both 'acceptance' and 'lengths' of drafts"
                                      : "nothing says how many drafts are accepted");
        return error_expect(why, "either drafts.acceptance, such as 70%%, or drafts.lengths");
    }
    if (acceptance != NULL) {
        return read_acceptance(acceptance, count, out, why);
    }
    return lengths->kind == NODE_SCALAR
               ? draft_lengths_published(target->name, lengths->text, count, lengths->file,
                                         lengths->line, out, why)
               : node_error(lengths, why, "'lengths' is no name");
}

/* ---- the method ------------------------------------------------------------------------- */

/* The draft model, on the GPUs of its target. */
static bool draft_keys_read_model(const struct node *node, struct files *files,
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

static bool read_method(const struct node *map, struct files *files, const struct model *target,
                        struct drafts *out, struct error *why)
{
    int method = -1;
    const struct node *model = node_stated(map, "model");
    if (!node_word(map, "method", draft_methods, &method, why)) {
        return false;
    }
    if (method < 0) {
        node_error(map, why, "'drafts' says no method");
        return error_expect(why, "method: ngram, model, eagle3 or mtp");
    }
    out->method = (enum draft_method)method;
    if ((method == DRAFT_MODEL) != (model != NULL)) {
        node_error(model != NULL ? model : map, why,
                   model != NULL ? "a draft 'model' with method '%s'"
                                 : "method '%s' without the model that drafts",
                   draft_methods[method]);
        return error_expect(why, "both 'method: model' and 'model', or another method alone");
    }
    return model == NULL || draft_keys_read_model(model, files, target, out, why);
}

/* ---- all -------------------------------------------------------------------------------- */

static bool read_count(const struct node *map, uint32_t *count, struct error *why)
{
    uint64_t read = 0;
    if (!node_whole(map, "count", UNIT_COUNT, DRAFTS_MOST, &read, why)) {
        return false;
    }
    *count = (uint32_t)read;
    if (node_stated(map, "count") != NULL) {
        return true;
    }
    node_error(map, why, "'drafts' says no count");
    return error_expect(why, "count: drafted tokens of a step, from 0 to %d", DRAFTS_MOST);
}

static bool draft_keys_read_all(const struct node *map, struct files *files,
                                const struct model *target, struct drafts *out, struct error *why)
{
    uint32_t count;
    int rejected = REJECTED_ADJACENT;
    if (!draft_keys_check(map, why) || !read_count(map, &count, why)) {
        return false;
    }
    if (count == 0) {
        return true;
    }
    if (!node_word(map, "rejected", drafts_rejected_names, &rejected, why) ||
        !node_whole(map, "overhead", UNIT_NS, UINT32_MAX, &out->overhead, why) ||
        !read_method(map, files, target, out, why) ||
        !read_accepted(map, target, count, out, why)) {
        return false;
    }
    out->rejected = (enum drafts_rejected)rejected;
    return true;
}

bool drafts_read(const struct node *map, struct files *files, const struct model *target,
                 struct drafts *out, struct error *why)
{
    *out = (struct drafts){.count = 0};
    if (map == NULL || (map->kind == NODE_SCALAR && strcmp(map->text, "none") == 0) ||
        draft_keys_read_all(map, files, target, out, why)) {
        return true;
    }
    drafts_release(out);
    return false;
}

/* ---- writing ---------------------------------------------------------------------------- */

/* A path stays as it is. */
static bool put_draft_model(struct node *all, const struct node *said, struct error *why)
{
    char name[NAMED_SIZE];
    return said == NULL || !named_canonical(&named_model, said->text, name) ||
           node_set(all, "drafts.model", name, why);
}

bool drafts_put(struct node *all, const struct drafts *drafts, struct error *why)
{
    const struct node *map = node_get(all, "drafts");
    char count[16], overhead[24];
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
           put_draft_model(all, node_stated(map, "model"), why);
}
