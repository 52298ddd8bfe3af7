#include "predict/scenario/resolve_size.h"

#include "predict/scenario/contexts.h"

#include <string.h>

#define MOST_BYTES ((uint64_t)1 << 53)
#define MOST_STEPS ((uint64_t)1 << 16) /* all are timed in one schedule */

const struct node *resolve_required(const struct node *root, const char *key, const char *example,
                                    struct error *why)
{
    const struct node *node = node_stated(root, key);
    if (node == NULL) {
        node_key_error(NULL, key, why, "'%s' is missing from the scenario", key);
        error_expect(why, "%s: %s, or --set %s=%s", key, example, key, example);
        return NULL;
    }
    return node;
}

/* A whole number of at least `least`. */
static bool resolve_size_read_whole(const struct node *root, const char *key, enum unit unit,
                                    uint64_t least, uint64_t most, uint64_t *out, struct error *why)
{
    if (!node_whole(root, key, unit, most, out, why)) {
        return false;
    }
    if (*out < least) {
        node_key_error(root, key, why, "'%s' of %llu is too small", key, (unsigned long long)*out);
        return error_expect(why, "a whole number from %llu to %llu", (unsigned long long)least,
                            (unsigned long long)most);
    }
    return true;
}

/* The same, or a word that stands for `meant`. If the key is absent, `*out` stays. */
static bool read_word_or_whole(const struct node *root, const char *key, const char *word,
                               int64_t meant, uint64_t least, uint64_t most, int64_t *out,
                               struct error *why)
{
    const struct node *node = node_get(root, key);
    uint64_t value = 0;
    if (node == NULL || node->kind == NODE_NULL) {
        return true;
    }
    if (node->kind == NODE_SCALAR && strcmp(node->text, word) == 0) {
        *out = meant;
        return true;
    }
    if (!resolve_size_read_whole(root, key, UNIT_COUNT, least, most, &value, why)) {
        return error_expect(why, "a whole number from %llu to %llu, or %s",
                            (unsigned long long)least, (unsigned long long)most, word);
    }
    *out = (int64_t)value;
    return true;
}

static bool says_none(const struct node *root, const char *key)
{
    const struct node *node = node_stated(root, key);
    return node == NULL || (node->kind == NODE_SCALAR && strcmp(node->text, "none") == 0);
}

/* Tokens of a sequence. If the key is absent or none, `*out` stays. */
static bool resolve_size_read_tokens(const struct node *root, const char *key, uint64_t *out,
                                     struct error *why)
{
    return says_none(root, key) ||
           resolve_size_read_whole(root, key, UNIT_TOKENS, 1, CONTEXTS_LONGEST / 2, out, why);
}

/* Room that replaces `given`. If the key is absent or none, `*out` stays 0; so the user may not set
 * 0. */
static bool read_room(const struct node *root, const char *key, enum unit unit, const char *given,
                      uint64_t *out, struct error *why)
{
    if (says_none(root, key)) {
        return true;
    }
    if (!node_whole(root, key, unit, MOST_BYTES, out, why)) {
        return false;
    }
    return *out > 0 || (node_key_error(root, key, why, "'%s' must not be 0", key),
                        error_expect(why, "more than 0, or none: %s", given));
}

#define BATCH_UNSAID (-1)

/* Read `prompt` and `output`. `*of_context`: each prompt follows from its context. */
static bool resolve_size_read_request(const struct node *root, struct setup *out, bool *of_context,
                                      struct error *why)
{
    const struct node *node = node_get(root, "prompt");
    *of_context = node != NULL && node->kind == NODE_SCALAR && strcmp(node->text, "context") == 0;
    if ((!*of_context && !resolve_size_read_tokens(root, "prompt", &out->prompt, why)) ||
        !resolve_size_read_tokens(root, "output", &out->output, why)) {
        return false;
    }
    if (out->output > 0 && out->prompt == 0 && !*of_context) {
        node_key_error(root, "output", why, "'output' needs 'prompt', which is missing");
        return error_expect(why, "'prompt' as well, such as prompt: 1920");
    }
    return true;
}

/* Read `context` and `batch`, or `contexts`. Decode of a request attends to prompt + 1 to prompt +
 * output tokens, so the default of the context is their mean. */
static bool read_contexts(const struct node *root, struct setup *out, struct error *why)
{
    int64_t batch = BATCH_UNSAID;
    if (!read_word_or_whole(root, "batch", "max", SETUP_BATCH_MAX, 1, CONTEXTS_MOST_BATCH, &batch,
                            why)) {
        return false;
    }
    if (contexts_text(root)) {
        return contexts_read(root, batch, out, why);
    }
    out->batch = batch == BATCH_UNSAID ? 1 : (uint32_t)batch;
    out->context = out->prompt + (out->output + 1) / 2;
    return (out->prompt > 0 || resolve_required(root, "context", "131072", why) != NULL) &&
           resolve_size_read_whole(root, "context", UNIT_TOKENS, 1, CONTEXTS_LONGEST, &out->context,
                                   why);
}

/* The prompt of a sequence that reaches `context` in the middle of its output. */
static bool find_prompt(const struct node *root, uint64_t context, const struct setup *setup,
                        uint64_t *prompt, struct error *why)
{
    uint64_t half = (setup->output + 1) / 2;
    if (context <= half) {
        node_key_error(root, "output", why,
                       "a context of %llu tokens leaves no prompt before half of an output of %llu",
                       (unsigned long long)context, (unsigned long long)setup->output);
        return error_expect(why, "an output of less than %llu", (unsigned long long)(2 * context));
    }
    *prompt = context - half;
    return true;
}

static bool find_prompts(const struct node *root, struct setup *out, struct error *why)
{
    if (out->cohorts == NULL) {
        return find_prompt(root, out->context, out, &out->prompt, why);
    }
    for (uint32_t i = 0; i < out->cohort_count; i++) {
        struct setup_cohort *cohort = &out->cohorts[i];
        if (!find_prompt(root, cohort->context, out, &cohort->prompt, why)) {
            return false;
        }
    }
    return find_prompt(root, out->context, out, &out->prompt, why);
}

static bool check_prompts(const struct node *root, const struct setup *setup, struct error *why)
{
    struct setup_cohort longest = setup_cohort(setup, setup_cohort_count(setup) - 1);
    uint64_t last = longest.prompt + setup->output;
    if (setup->prompt > 0 && setup->cohorts != NULL && longest.prompt == 0) {
        node_key_error(root, "prompt", why,
                       "'contexts' differ, so their sequences cannot have the same prompt");
        return error_expect(why, "prompt: context, which is all tokens before half the output");
    }
    if (longest.prompt > 0 && setup->model.learned_positions &&
        last > setup->model.trained_context) {
        node_key_error(root, "prompt", why, "'%s' has learned positions and cannot run %llu tokens",
                       setup->model.name, (unsigned long long)last);
        return error_expect(why, "'prompt' and 'output' that add up to at most %u",
                            setup->model.trained_context);
    }
    if (setup->context < setup->prompt) {
        node_key_error(root, setup->cohorts != NULL ? "contexts" : "context", why,
                       "a context of %llu tokens is shorter than the prompt",
                       (unsigned long long)setup->context);
        return error_expect(why, "at least the prompt's %llu", (unsigned long long)setup->prompt);
    }
    return true;
}

bool resolve_size(const struct node *root, struct setup *out, struct error *why)
{
    int64_t steps = SETUP_STEPS_ALL, warmup = SETUP_WARMUP_AUTO;
    bool of_context;
    out->seed = SETUP_SEED;
    if (!resolve_size_read_request(root, out, &of_context, why) || !read_contexts(root, out, why) ||
        (of_context && !find_prompts(root, out, why)) || !check_prompts(root, out, why) ||
        !read_word_or_whole(root, "steps", "all", SETUP_STEPS_ALL, 1, MOST_STEPS, &steps, why) ||
        !read_word_or_whole(root, "warmup", "auto", SETUP_WARMUP_AUTO, 0, UINT32_MAX, &warmup,
                            why) ||
        !node_whole(root, "seed", UNIT_COUNT, MOST_BYTES, &out->seed, why) ||
        !read_room(root, "kv_pool_tokens", UNIT_TOKENS, "what fits", &out->kv_pool_tokens, why)) {
        return false;
    }
    out->steps = (uint32_t)steps;
    out->warmup = warmup;
    return true;
}

bool resolve_rooms(const struct node *root, struct setup *out, struct error *why)
{
    bool good = node_quantity(root, "hbm_usable", UNIT_SHARE, &out->hbm_usable, why) &&
                node_whole(root, "hbm_reserve", UNIT_BYTES, MOST_BYTES, &out->hbm_reserve, why);
    for (int tier = TIER_HOST; good && tier < TIER_COUNT; tier++) {
        good = read_room(root, tier_kinds[tier].room, UNIT_BYTES, "the profile's", &out->room[tier],
                         why);
    }
    if (!good) {
        return false;
    }
    return (out->hbm_usable > 0 && out->hbm_usable <= 1) ||
           (node_key_error(root, "hbm_usable", why, "'hbm_usable' is not a share of HBM"),
            error_expect(why, "above 0 and at most 100%%"));
}
