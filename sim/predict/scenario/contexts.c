/* Contexts are counted, sorted, and compared with `batch`. */
#include "predict/scenario/contexts.h"

#include "decode/plan/resident.h"
#include "core/array.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SHARE_UNITS 1e6 /* units that shares are counted in */

/* The contexts read so far. */
struct context_counts {
    const struct node *node; /* of the key, for messages */
    uint64_t contexts[SETUP_MOST_COHORTS], sequences[SETUP_MOST_COHORTS];
    uint32_t count;
    uint64_t all;             /* sequences, or units of shares */
    bool is_list, are_shares; /* neither: numbers of sequences */
};

bool contexts_text(const struct node *root)
{
    return node_stated(root, "contexts") != NULL;
}

/* Keep contexts sorted; there are few different ones. */
static bool contexts_add(struct context_counts *counts, const struct node *node, uint64_t context,
                         uint64_t sequences, struct error *why)
{
    uint32_t at = 0;
    while (at < counts->count && counts->contexts[at] < context) {
        at++;
    }
    if (at == counts->count || counts->contexts[at] != context) {
        if (counts->count == SETUP_MOST_COHORTS) {
            node_error(node, why, "'contexts' has more than %d values", SETUP_MOST_COHORTS);
            return error_expect(why, "contexts rounded so that some are equal");
        }
        for (uint32_t i = counts->count++; i > at; i--) {
            counts->contexts[i] = counts->contexts[i - 1];
            counts->sequences[i] = counts->sequences[i - 1];
        }
        counts->contexts[at] = context;
        counts->sequences[at] = 0;
    }
    counts->sequences[at] += sequences;
    counts->all += sequences;
    return true;
}

static bool read_context(const struct node *node, const char *text, uint64_t *out,
                         struct error *why)
{
    if (!units_parse_whole(text, UNIT_TOKENS, CONTEXTS_LONGEST, node->file, node->line, "contexts",
                           out, why)) {
        return false;
    }
    return *out > 0 || node_error(node, why, "a context of 0 tokens");
}

static bool contexts_read_list(struct context_counts *counts, struct error *why)
{
    counts->is_list = true;
    for (size_t i = 0; i < counts->node->count; i++) {
        const struct node *node = counts->node->children[i];
        uint64_t context;
        if (node->kind != NODE_SCALAR) {
            node_error(node, why, "'contexts' has an item that is not a context");
            return error_expect(why, "one context per sequence, such as [4K, 128K, 128K]");
        }
        if (!read_context(node, node->text, &context, why) ||
            !contexts_add(counts, node, context, 1, why)) {
            return false;
        }
    }
    return true;
}

/* Read a number of sequences, or a share of them. */
static bool contexts_read_count(struct context_counts *counts, const struct node *node,
                                uint64_t *out, struct error *why)
{
    struct quantity many = {.unit = UNIT_COUNT};
    bool good = node->kind == NODE_SCALAR && quantity_parse(node->text, &many);
    bool share = many.unit == UNIT_SHARE;
    *out = good && many.value < 1e9 ? (uint64_t)llround(many.value * (share ? SHARE_UNITS : 1)) : 0;
    if (!good || *out == 0 || (!share && (double)*out != many.value) ||
        (!share && many.unit != UNIT_COUNT)) {
        node_error(node, why, "'%s' is not a number of sequences", good ? node->text : node->key);
        return error_expect(why, "a whole number of at least 1, or a share of the batch: 25%%");
    }
    if (counts->count > 0 && share != counts->are_shares) {
        node_error(node, why, "'contexts' mixes numbers of sequences and shares of the batch");
        return error_expect(why, "either numbers or shares");
    }
    counts->are_shares = share;
    return true;
}

static bool read_map(struct context_counts *counts, struct error *why)
{
    for (size_t i = 0; i < counts->node->count; i++) {
        const struct node *node = counts->node->children[i];
        uint64_t context, sequences;
        if (!read_context(node, node->key, &context, why) ||
            !contexts_read_count(counts, node, &sequences, why) ||
            !contexts_add(counts, node, context, sequences, why)) {
            return false;
        }
    }
    if (counts->are_shares && fabs((double)counts->all - SHARE_UNITS) > SETUP_MOST_COHORTS) {
        node_error(counts->node, why, "the shares of 'contexts' add up to %.6g %%",
                   100 * (double)counts->all / SHARE_UNITS);
        return error_expect(why, "100 %%");
    }
    return true;
}

/* ---- the batch ---- */

/* Divide the counts by their greatest common divisor. */
static void reduce(struct context_counts *counts)
{
    uint64_t divisor = counts->all;
    for (uint32_t i = 0; i < counts->count; i++) {
        uint64_t a = divisor, b = counts->sequences[i];
        while (b > 0) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        divisor = a;
    }
    for (uint32_t i = 0; i < counts->count; i++) {
        counts->sequences[i] /= divisor;
    }
}

/* Turn shares into whole sequences. */
static bool contexts_deal(struct context_counts *counts, uint32_t batch, struct error *why)
{
    int64_t shares[SETUP_MOST_COHORTS], dealt[SETUP_MOST_COHORTS];
    for (uint32_t i = 0; i < counts->count; i++) {
        shares[i] = (int64_t)(counts->sequences[i] * batch);
    }
    apportion(shares, counts->count, (uint32_t)counts->all, batch, dealt);
    for (uint32_t i = 0; i < counts->count; i++) {
        if (dealt[i] == 0) {
            node_error(counts->node, why, "none of %u sequences has %" PRIu64 " tokens", batch,
                       counts->contexts[i]);
            return error_expect(why, "a larger batch, or fewer contexts");
        }
        counts->sequences[i] = (uint64_t)dealt[i];
    }
    return true;
}

static bool meet_batch(const struct node *root, int64_t batch, struct context_counts *counts,
                       struct error *why)
{
    const struct node *said = node_get(root, "batch");
    if (counts->is_list && batch == SETUP_BATCH_MAX) {
        node_error(said, why, "'contexts' lists the sequences, so the batch is given");
        return error_expect(why, "a map such as {4K: 25%%, 128K: 75%%}; as many as fit are taken");
    }
    if (batch == SETUP_BATCH_MAX) {
        reduce(counts);
        return true;
    }
    if (counts->are_shares && batch < 0) {
        node_error(counts->node, why, "'contexts' has shares, but 'batch' is missing");
        return error_expect(why, "'batch' as well, such as batch: 8 or max");
    }
    if (counts->are_shares) {
        return contexts_deal(counts, (uint32_t)batch, why);
    }
    if (counts->all > CONTEXTS_MOST_BATCH) {
        return node_error(counts->node, why, "'contexts' has more than %" PRIu64 " sequences",
                          CONTEXTS_MOST_BATCH);
    }
    if (batch >= 0 && (uint64_t)batch != counts->all) {
        node_error(said, why, "'batch' is %" PRId64 ", but 'contexts' has %" PRIu64 " sequences",
                   batch, counts->all);
        return error_expect(why, "one of both keys, or the same number");
    }
    return true;
}

/* The mean context, rounded. */
static uint64_t contexts_mean(const struct context_counts *counts, uint64_t *sequences)
{
    double tokens = 0;
    *sequences = 0;
    for (uint32_t i = 0; i < counts->count; i++) {
        tokens += (double)counts->contexts[i] * (double)counts->sequences[i];
        *sequences += counts->sequences[i];
    }
    return (uint64_t)llround(tokens / (double)*sequences);
}

bool contexts_read(const struct node *root, int64_t batch, struct setup *out, struct error *why)
{
    struct context_counts counts = {.node = node_get(root, "contexts")};
    uint64_t sequences;
    if (node_stated(root, "context") != NULL) {
        node_error(counts.node, why, "both 'context' and 'contexts' are given");
        return error_expect(why, "one of them");
    }
    if (counts.node->kind == NODE_SCALAR || counts.node->count == 0) {
        node_error(counts.node, why, "'contexts' must be a list or a map");
        return error_expect(why, "a list [4K, 128K, 128K], or a map {4K: 1, 128K: 2}");
    }
    if (!(counts.node->kind == NODE_LIST ? contexts_read_list : read_map)(&counts, why) ||
        !meet_batch(root, batch, &counts, why)) {
        return false;
    }
    out->context = contexts_mean(&counts, &sequences);
    out->batch = batch == SETUP_BATCH_MAX ? SETUP_BATCH_MAX : (uint32_t)sequences;
    if (counts.count == 1) {
        return true;
    }
    out->cohorts = array_zeroed(counts.count, sizeof *out->cohorts, why);
    if (out->cohorts == NULL) {
        return false;
    }
    out->cohort_count = counts.count;
    for (uint32_t i = 0; i < counts.count; i++) {
        out->cohorts[i].context = counts.contexts[i];
        out->cohorts[i].sequences = (uint32_t)counts.sequences[i];
    }
    return true;
}

bool contexts_put(struct node *root, const struct setup *setup, struct error *why)
{
    char text[SETUP_MOST_COHORTS * 32] = "{";
    size_t used = 1;
    if (setup->cohorts == NULL) {
        node_remove(root, "contexts");
        snprintf(text, sizeof text, "%" PRIu64, setup->context);
        return node_set(root, "context", text, why);
    }
    node_remove(root, "context");
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        const struct setup_cohort *cohort = &setup->cohorts[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 ": %" PRIu32,
                                 i > 0 ? ", " : "", cohort->context, cohort->sequences);
    }
    snprintf(text + used, sizeof text - used, "}");
    return node_set(root, "contexts", text, why);
}
