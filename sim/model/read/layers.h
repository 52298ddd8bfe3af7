/* Readers for a family's heads, windows and FFNs in config.json. */
#pragma once

#include "model/read/architecture.h"

/* Upper bounds: values within them can be multiplied and allocated safely. Every real model is far
 * below. */
enum { LAYERS_MOST = 1024, HEADS_MOST = 1 << 16, EXPERTS_MOST = 1 << 16, SIZE_MOST = INT32_MAX };

#define READER(name)                                                                               \
    bool name(const struct fields *fields, const struct architecture *kind, struct model *model,   \
              struct error *why)

/* Heads. grouped: groups of query heads share K and V. undivided: hidden is split evenly over the
 * heads, as in OPT. latent: one latent K and V for all (MLA), with DeepSeek's indexer if the row
 * has one. hybrid: grouped, and those of linear layers (Qwen3-Next). by_keys: any of these, as the
 * keys are there that each needs (layers_keys.c). */
READER(heads_grouped);
READER(heads_undivided);
READER(heads_latent);
READER(heads_hybrid);
READER(heads_by_keys);

/* Windows. none: no layer has one. listed: "layer_types" says it for each layer, otherwise a
 * pattern does. above: only if "use_sliding_window" is on, for the layers above the first
 * "max_window_layers" (Qwen). all: every layer has that of "sliding_window"; null means none, and
 * the row says what an absent key means (Mistral, Phi). chunked: layers with positions attend to
 * their chunk, those without to everything (Llama 4). linear: layers without KV, but every
 * "full_attention_interval"-th one, or as "layer_types" says (Qwen3-Next). by_keys: as the keys say
 * that are there (layers_keys.c). */
READER(windows_none);
READER(windows_listed);
READER(windows_above);
READER(windows_all);
READER(windows_chunked);
READER(windows_linear);
READER(windows_by_keys);

/* FFNs. dense: all layers. routed: experts in all layers. sparse_step: experts every
 * "decoder_sparse_step" layers. after_dense: experts after the first "first_k_dense_replace"
 * layers, or as "mlp_layer_types" says, with shared ones. interleaved: experts, one of them shared,
 * every "interleave_moe_layer_step" layers, or those of "moe_layers" (Llama 4). sparse_shared:
 * as sparse_step, with a shared expert of its own width (Qwen3-Next). by_keys: as the keys say that
 * are there (ffn_keys.c). */
READER(ffn_dense);
READER(ffn_routed);
READER(ffn_sparse_step);
READER(ffn_after_dense);
READER(ffn_interleaved);
READER(ffn_sparse_shared);
READER(ffn_by_keys);

#undef READER

/* Copy the FFN of `from` into layer `i`, which keeps its attention. */
void layers_set_ffn(struct model *model, uint32_t i, const struct model_layer *from);

/* Fail unless `count`, the entries that the list `key` has, is the number of layers. */
bool layers_each(const struct fields *fields, const char *key, size_t count,
                 const struct model *model, struct error *why);

/* Set `why` to a complaint about the word (NULL: no text) that the list `key` has for a layer.
 * Returns false. */
bool layers_wrong_word(const struct fields *fields, const char *key, uint32_t layer,
                       const char *word, struct error *why);
