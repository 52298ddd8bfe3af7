/* What a layer keeps of a sequence, as rows: a kind of layer is a row, and each figure of it comes
 * from one function of that row; NULL is 0. Bytes are of one GPU.
 *
 * An *entry* is what attention reads at once: K and V of a token in all KV heads of the GPU, the
 * latent of a token, or what a compressed layer keeps for `ratio` tokens. A layer keeps `entries`
 * of them and, whatever the sequence's length, `fixed` bytes.
 *
 *   full        entries of all tokens
 *   sliding     of the last `window` tokens
 *   chunked     of those since the last multiple of `window`
 *   linear      none, but a state: of a delta rule (arXiv:2412.06464), of Kimi's delta attention
 *               (arXiv:2510.26692) or of Mamba-2 (arXiv:2405.21060), and what its convolution sees
 *   latent      of all tokens, one latent for all heads (arXiv:2405.04434)
 *   compressed  of the last `window` tokens, and one for every `ratio` tokens; with the smallest
 *               ratio of the model also a key of the indexer (DeepSeek-V4)
 *   none        nothing: the layer has an FFN alone
 */
#pragma once

#include "model/model.h"

struct layer_kind {
    const char *name;
    const char *keeps; /* of a sequence, in words */
    bool heads;        /* of K and V, each with those of its tokens */
    bool local;        /* keeps no entry for every token, so that nothing of it can be offloaded */
    uint64_t (*entry)(const struct model *model, const struct model_layer *layer);
    uint64_t (*entries)(const struct model_layer *layer, uint64_t context);
    uint64_t (*fixed)(const struct model *model, const struct model_layer *layer);
    /* FLOPs of attention over the first `tokens` of a prompt, and of one query over one entry. */
    double (*prompt_flops)(const struct model *model, const struct model_layer *layer,
                           uint64_t tokens);
    double (*token_flops)(const struct model *model, const struct model_layer *layer);
};
extern const struct layer_kind layer_kinds[ATTENTION_KINDS];

/* Does it keep K and V of some of the last tokens? */
bool layer_slides(const struct model_layer *layer);

/* KV heads of a layer, of the whole model, and the values of K and of V in one of them. */
uint32_t layer_kv_heads(const struct model *model, const struct model_layer *layer);
uint32_t layer_key_dim(const struct model *model, const struct model_layer *layer);
uint32_t layer_value_dim(const struct model *model, const struct model_layer *layer);

/* Bytes of a key of the indexer: 0 in a layer without one. */
uint64_t layer_index_entry(const struct model *model, const struct model_layer *layer);

/* Does a compressed layer select among its entries, as an indexer does? */
bool layer_selects(const struct model *model, const struct model_layer *layer);
