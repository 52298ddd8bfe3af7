/* Contexts are counted, sorted, and compared with `batch`. */
#include "predict/scenario/resolve.h"

#include "decode/plan/resident.h"

#include <inttypes.h>
#include <math.h>

enum { BATCH_UNSAID = -1 };
#define SHARE_UNITS 1e6 /* units that shares are counted in */

/* The contexts read so far. */
struct context_counts {
    const struct node *node; /* of the key, for messages */
    uint64_t contexts[SETUP_MOST_COHORTS], sequences[SETUP_MOST_COHORTS];
    uint32_t count;
    uint64_t all;             /* sequences, or units of shares */
    bool is_list, are_shares; /* neither: numbers of sequences */
};

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

/* Items of a list are contexts of one sequence each; keys of a map have their number. */
static bool read_counts(struct context_counts *counts, struct error *why)
{
    for (size_t i = 0; i < counts->node->count; i++) {
        const struct node *node = counts->node->children[i];
        uint64_t context, sequences = 1;
        if (counts->is_list && node->kind != NODE_SCALAR) {
            node_error(node, why, "'contexts' has an item that is not a context");
            return error_expect(why, "one context per sequence, such as [4K, 128K, 128K]");
        }
        if (!units_parse_whole(counts->is_list ? node->text : node->key, UNIT_TOKENS,
                               CONTEXTS_LONGEST, node->file, node->line, "contexts", &context,
                               why) ||
            (context == 0 && !node_error(node, why, "a context of 0 tokens")) ||
            (!counts->is_list && !contexts_read_count(counts, node, &sequences, why)) ||
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

static bool meet_batch(const struct scenario *scenario, int64_t batch,
                       struct context_counts *counts, struct error *why)
{
    if (counts->is_list && batch == SETUP_BATCH_MAX) {
        scenario_error(scenario, "batch", why,
                       "'contexts' lists the sequences, so the batch is given");
        return error_expect(why, "a map such as {4K: 25%%, 128K: 75%%}; as many as fit are taken");
    }
    if (batch == SETUP_BATCH_MAX) {
        reduce(counts);
        return true;
    }
    if (counts->are_shares && batch == BATCH_UNSAID) {
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
        scenario_error(scenario, "batch", why,
                       "'batch' is %" PRId64 ", but 'contexts' has %" PRIu64 " sequences", batch,
                       counts->all);
        return error_expect(why, "one of both keys, or the same number");
    }
    return true;
}

/* Read `contexts`, which is set, into `out->cohorts`, or a single one into `out->context`, and the batch. */
static bool contexts_read(const struct scenario *scenario, struct setup *out, struct error *why)
{
    int64_t batch = (int64_t)scenario_stated(&scenario->values, "batch", BATCH_UNSAID);
    struct context_counts counts = {.node = node_get(scenario->root, "contexts")};
    uint64_t sequences = 0;
    double tokens = 0;
    if (scenario_states(scenario, "context")) {
        node_error(counts.node, why, "both 'context' and 'contexts' are given");
        return error_expect(why, "one of them");
    }
    if (counts.node->kind == NODE_SCALAR || counts.node->count == 0) {
        node_error(counts.node, why, "'contexts' must be a list or a map");
        return error_expect(why, "a list [4K, 128K, 128K], or a map {4K: 1, 128K: 2}");
    }
    counts.is_list = counts.node->kind == NODE_LIST;
    if (!read_counts(&counts, why) || !meet_batch(scenario, batch, &counts, why)) {
        return false;
    }
    for (uint32_t i = 0; i < counts.count; i++) {
        tokens += (double)counts.contexts[i] * (double)counts.sequences[i];
        sequences += counts.sequences[i];
    }
    out->context = (uint64_t)llround(tokens / (double)sequences); /* the mean */
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

bool resolve_missing(const char *key, const char *example, struct error *why)
{
    node_key_error(NULL, key, why, "'%s' is missing from the scenario", key);
    return error_expect(why, "%s: %s, or --set %s=%s", key, example, key, example);
}

/* Decode attends to prompt + 1 to prompt + output tokens, so the default of the context is their mean. */
static bool find_contexts(const struct scenario *scenario, struct setup *out, struct error *why)
{
    if (scenario_states(scenario, "contexts")) {
        return contexts_read(scenario, out, why);
    }
    if (out->context == 0 && out->prompt == 0) {
        resolve_missing("context", "131072", why);
        return error_expect(why, "context: 131072, or --set context=131072; or a workload");
    }
    out->context = out->context > 0 ? out->context : out->prompt + (out->output + 1) / 2;
    return true;
}

/* The prompt of a sequence that reaches `context` in the middle of its output. */
static bool find_prompt(const struct scenario *scenario, uint64_t context,
                        const struct setup *setup, uint64_t *prompt, struct error *why)
{
    uint64_t half = (setup->output + 1) / 2;
    if (context <= half) {
        scenario_error(scenario, "output", why,
                       "a context of %llu tokens leaves no prompt before half of an output of %llu",
                       (unsigned long long)context, (unsigned long long)setup->output);
        return error_expect(why, "an output of less than %llu", (unsigned long long)(2 * context));
    }
    *prompt = context - half;
    return true;
}

static bool find_prompts(const struct scenario *scenario, struct setup *out, struct error *why)
{
    for (uint32_t i = 0; i < out->cohort_count; i++) {
        struct setup_cohort *cohort = &out->cohorts[i];
        if (!find_prompt(scenario, cohort->context, out, &cohort->prompt, why)) {
            return false;
        }
    }
    return find_prompt(scenario, out->context, out, &out->prompt, why);
}

static bool check_prompts(const struct scenario *scenario, const struct setup *setup,
                          struct error *why)
{
    struct setup_cohort longest = setup_cohort(setup, setup_cohort_count(setup) - 1);
    uint64_t last = longest.prompt + setup->output;
    if (setup->prompt > 0 && setup->cohorts != NULL && longest.prompt == 0) {
        scenario_error(scenario, "prompt", why,
                       "'contexts' differ, so their sequences cannot have the same prompt");
        return error_expect(why, "prompt: context, which is all tokens before half the output");
    }
    if (longest.prompt > 0 && setup->model.learned_positions &&
        last > setup->model.trained_context) {
        scenario_error(scenario, "prompt", why,
                       "'%s' has learned positions and cannot run %llu tokens", setup->model.name,
                       (unsigned long long)last);
        return error_expect(why, "'prompt' and 'output' that add up to at most %u",
                            setup->model.trained_context);
    }
    if (setup->context < setup->prompt) {
        scenario_error(scenario, setup->cohorts != NULL ? "contexts" : "context", why,
                       "a context of %llu tokens is shorter than the prompt",
                       (unsigned long long)setup->context);
        return error_expect(why, "at least the prompt's %llu", (unsigned long long)setup->prompt);
    }
    return true;
}

/* The lengths of a context that grows. Prompts and outputs have a context of their own, in their middle. */
static bool find_lengths(const struct scenario *scenario, struct setup *out, struct error *why)
{
    static const char *const others[] = {"contexts", "prompt",   "output",
                                         "drafts",   "workload", NULL};
    for (size_t i = 0; others[i] != NULL; i++) {
        if (scenario_states(scenario, others[i])) {
            scenario_error(scenario, "grows", why, "both 'grows' and '%s' are given", others[i]);
            return error_expect(why, "one of them: a context grows by a token a step");
        }
    }
    if (out->grows >= out->context) {
        scenario_error(scenario, "grows", why,
                       "a context of %llu tokens cannot grow by %llu to its end",
                       (unsigned long long)out->context, (unsigned long long)out->grows);
        return error_expect(why, "at most %llu", (unsigned long long)out->context - 1);
    }
    return setup_grow(out, why);
}

bool resolve_size(const struct scenario *scenario, struct setup *out, struct error *why)
{
    scenario_values_fill(&scenario->values, SCENARIO_SETUP, out);
    bool of_context = out->prompt == (uint64_t)SETUP_PROMPT_OF_CONTEXT;
    out->prompt = of_context ? 0 : out->prompt;
    if (out->output > 0 && out->prompt == 0 && !of_context) {
        scenario_error(scenario, "output", why, "'output' needs 'prompt', which is missing");
        return error_expect(why, "'prompt' as well, such as prompt: 1920");
    }
    return find_contexts(scenario, out, why) && (!of_context || find_prompts(scenario, out, why)) &&
           check_prompts(scenario, out, why) &&
           (out->grows == 0 || find_lengths(scenario, out, why));
}

bool contexts_put(struct node *root, const struct setup *setup, struct error *why)
{
    char text[SETUP_MOST_COHORTS * 32] = "{";
    size_t used = 1;
    bool one = setup->cohorts == NULL || setup_grows(setup);
    node_remove(root, one ? "contexts" : "context");
    if (one) {
        return scenario_key_write(root, "context", setup, why);
    }
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        const struct setup_cohort *cohort = &setup->cohorts[i];
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%" PRIu64 ": %" PRIu32,
                                 i > 0 ? ", " : "", cohort->context, cohort->sequences);
    }
    snprintf(text + used, sizeof text - used, "}");
    return node_set(root, "contexts", text, why);
}
