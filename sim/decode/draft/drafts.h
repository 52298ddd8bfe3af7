/* Speculative decoding: a step verifies drafted tokens, and yields those that the model accepts.
 *
 *     step      |..draft's passes..|..one verification of n + 1 rows a sequence..|
 *     yields    the accepted drafts, in order up to the first rejected one, and one token more
 *
 * Of `count` = n drafts a step accepts a, 0 ... n, with the probability accepted[a]; it yields a + 1 tokens.
 * Drafts are a chain: the second one can be accepted only after the first. Trees of drafts are not modelled.
 * Y. Leviathan, M. Kalman, Y. Matias, "Fast Inference from Transformers via Speculative Decoding", ICML 2023
 * (arXiv:2211.17192): equation 1 is drafts_tokens() of one rate.
 *
 * The method says what drafts cost. */
#pragma once

#include <stdint.h>

#include "core/error.h"
#include "model/model.h"

/* How tokens are drafted, and what that costs: the network which a method runs, as a model.
 *
 *     ngram    a look-up in the sequence's own tokens: no network, no memory
 *     model    a smaller model with KV of its own
 *     eagle3   one dense layer of the target's shape, which reads the target's hidden states, and a
 *              head for the most frequent words (Y. Li et al., "EAGLE-3", arXiv:2503.01840; vLLM's
 *              model_executor/models/llama_eagle3.py)
 *     mtp      one more layer of the target and its head (DeepSeek-V3, arXiv:2412.19437, section
 *              2.2; vLLM's model_executor/models/deepseek_mtp.py)
 *
 * n drafts take n passes, one after the other. The first has a row for each row of the verification
 * before it, because the network needs KV of the tokens that were accepted; the others have a row a
 * sequence (vLLM's v1/spec_decode/eagle.py; SGLang's speculative/eagle_worker.py). */

struct files;
struct node;

enum draft_method { DRAFT_NGRAM, DRAFT_MODEL, DRAFT_EAGLE3, DRAFT_MTP, DRAFT_METHODS };
extern const char *const draft_methods[DRAFT_METHODS + 1]; /* ends with NULL */

/* The network of a method. `model` points into it, or borrows the layers of another: do not copy a
 * network, and do not release its model. */
struct draft_network {
    struct model model;       /* its layers and its head; 0 layers: there is none */
    struct model_layer layer; /* of a single layer */
    uint64_t joined;    /* width that is projected to `hidden` before the first layer; 0: none */
    uint64_t fused;     /* the same, in the first pass alone */
    bool doubled_input; /* Q, K and V read a hidden state and an embedding, side by side */
    bool own_head;      /* else the target's */
};

/* The network by which `method` drafts for `target`; `own` is the model of DRAFT_MODEL. Both outlive it. */
void draft_network_init(struct draft_network *network, enum draft_method method,
                        const struct model *target, const struct model *own);

/* Weights that a GPU holds beside the target's, in bytes. */
uint64_t draft_network_weight_bytes(const struct draft_network *network);

/* Weights of the projections of a pass, in values: `first` of the first one. */
uint64_t draft_network_projected(const struct draft_network *network, bool first);

enum { DRAFTS_MOST = 32 };

/* Demands of rejected drafts are in no recording. They lie between two bounds. */
enum drafts_rejected {
    REJECTED_ADJACENT, /* those of the recorded steps that follow, as of accepted drafts */
    REJECTED_BEFORE,   /* those of the step before: nothing beyond them */
};

struct drafts {
    uint32_t count;                   /* drafted tokens of a sequence in a step; 0: none */
    double accepted[DRAFTS_MOST + 1]; /* probabilities, which add up to 1 */
    enum draft_method method;
    struct model *model; /* of DRAFT_MODEL; owned. NULL: another method */
    uint64_t overhead;   /* ns of CPU time a drafted token, which the GPU waits for */
    enum drafts_rejected rejected;
    char source[256]; /* of published lengths, with its configuration; "": the user's */
};

/* Each of `count` drafts is accepted with probability `rate`, if those before it were. */
void drafts_set_rate(struct drafts *drafts, uint32_t count, double rate);

/* Draft i is accepted in the share shares[i] of steps, as vLLM prints it by position; shares fall. */
void drafts_set_positions(struct drafts *drafts, uint32_t count, const double *shares);

/* The rate at which `count` drafts yield `tokens` tokens a step, 1 ... count + 1. */
double drafts_rate_of(uint32_t count, double tokens);

/* Tokens that a step yields on average, 1 ... count + 1. */
double drafts_tokens(const struct drafts *drafts);

/* Drafts that step `step` accepts: the quantile at a number that `seed` and `step` alone decide, so that
 * better drafts are never accepted less often. These numbers lie evenly: a short run accepts its share. */
uint32_t drafts_accepted(const struct drafts *drafts, uint64_t seed, uint64_t step);

void drafts_release(struct drafts *drafts);

/* Set the distribution of `count` drafts so that a step yields as many tokens on average as published.def
 * says for the method, a model and a task: each draft is accepted at the same rate, if those before it were;
 * for other counts, at the rate of the next larger number. `file` and `line`: where `task` stood. */
bool draft_lengths_published(const char *model, const char *task, uint32_t count, const char *file,
                             int line, struct drafts *drafts, struct error *why);

/* Write the map `drafts` of the first published lengths for a model, whose method needs no draft model:
 * "{count: 3, method: eagle3, lengths: mt-bench}". Returns false if there are none. */
bool draft_lengths_usual(const char *model, char *text, size_t size);

/* The keys of a scenario's map `drafts`: read into struct drafts, and written canonically.
 *
 *     drafts: {count: 3, method: eagle3, acceptance: 70%}
 *     drafts: {count: 3, method: eagle3, acceptance: [74%, 53%, 36%]}
 *     drafts: {count: 3, method: eagle3, lengths: mt-bench}
 *     drafts: {count: 3, method: model, model: qwen3-1.7b, acceptance: 70%} */
/* Read `map` (NULL, "none", or a count of 0: no drafts). `target` is the model that verifies. The caller
 * releases `out` with drafts_release(); after a failure there is nothing to release. */
bool drafts_read(const struct node *map, struct files *files, const struct model *target,
                 struct drafts *out, struct error *why);

/* Write the map `drafts` of the resolved scenario `all` so that it reproduces `drafts`, or remove it. */
bool drafts_put(struct node *all, const struct drafts *drafts, struct error *why);
