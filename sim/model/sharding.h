/* How several GPUs share a model: which part of it each of them has.
 *
 *   tensor_parallel    GPUs that split heads and FFN columns, and add up what they computed
 *   data_parallel      ranks of such GPUs; each has sequences of its own. Those of a dense model
 *                      share nothing. Those of a mixture of experts share the experts: the tokens
 *                      of all ranks pass through them together, so the ranks step together
 *   expert_parallel    groups into which the GPUs of all ranks are divided; each group has a part
 *                      of the experts, and its GPUs split their columns. With 1 every GPU has some
 *                      columns of every expert; with as many as GPUs each has whole experts
 *   decode_context_parallel
 *                      parts into which GPUs with equal KV heads divide the tokens of a sequence,
 *                      one token each in turn. Each attends to its tokens with the queries of all
 *                      of them (exchange.h). Windows, states and an indexer's keys stay whole. The
 *                      most that vLLM allows: each GPU keeps a KV head
 *   pipeline_parallel  stages, one after the other, of as many layers each; if there are more, those before
 *                      the last have one more (vLLM's get_pp_indices). A stage works on other sequences
 *                      than the one before it
 *
 * A *pass* is what one rank computes in one trip through all stages; `batch` counts the sequences of a pass.
 * While all ranks and stages are busy, data_parallel x pipeline_parallel x batch sequences are under way, and
 * each gets a token in the time of a pass. A GPU of P stages holds a P-th of the layers and the KV of P
 * passes in them: as many bytes as that of one pass in all layers.
 *
 * Assumed: stages take equal time, ranks have equally many sequences, tokens choose their experts by
 * chance, some experts are popular (parallel.c), and no GPU waits for another but in the exchanges:
 * there for the fullest group of experts. */
#pragma once

#include "model/model.h"

/* Share the model beside its tensor parallelism. `origin` and `line` say where it was named. */
bool model_share(struct model *model, const struct model_parallel *parallel, const char *origin,
                 int line, struct error *why);

/* Parts of the KV in `layer`: 1 if it does not keep every token. */
uint32_t model_context_parts(const struct model *model, uint32_t layer);

uint32_t model_gpus(const struct model *model);

/* The first layer of a stage of the pipeline; of the stage behind the last, the number of layers. */
uint32_t model_stage_begin(const struct model *model, uint32_t stage);

/* Has some layer experts? */
bool model_is_routed(const struct model *model);

/* Passes under way at a time: one for each rank and stage. */
uint32_t model_passes(const struct model *model);

/* Do the data-parallel ranks share experts? Then they step together. */
bool model_shares_experts(const struct model *model);

/* What one GPU has of the experts of a routed layer, the fullest one. With a skew, experts are
 * dealt out by how often they are chosen, so that every group has frequent and rare ones. */
struct model_experts {
    uint32_t held;    /* experts, whole or in columns */
    uint64_t columns; /* of each */
    double visits;    /* of them by a token, on average */
    double unread;    /* share of them that no token visits, on average */
};

/* `tokens` of all ranks choose experts independently of each other. */
struct model_experts model_experts_of(const struct model *model, const struct model_layer *layer,
                                      uint64_t tokens);

/* The expected largest of `draws` from a standard normal distribution; between powers of two along their
 * logarithm, and from 256 on that of 256. */
double model_largest_of(uint32_t draws);
