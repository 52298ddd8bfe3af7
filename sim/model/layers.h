/* Readers of what config.json says about a family's heads, windows and FFNs. */
#ifndef MODEL_LAYERS_H
#define MODEL_LAYERS_H

#include "model/architecture.h"

/* Ranges: whatever passes them can be multiplied and allocated safely, and every real model does.
 */
enum { LAYERS_MOST = 1024, HEADS_MOST = 1 << 16, EXPERTS_MOST = 1 << 16, SIZE_MOST = INT32_MAX };

#define READER(name)                                                                               \
    bool name(const struct fields *fields, const struct architecture *kind, struct model *model,   \
              struct error *why)

/* Heads: K and V shared by groups of query heads; hidden split evenly over them, as OPT's; a latent
 * K and V for all (MLA), with DeepSeek's indexer where the row has one. */
READER(heads_grouped);
READER(heads_undivided);
READER(heads_latent);

/* Windows: none; layer by layer in "layer_types", else by a pattern; only where
 * "use_sliding_window" is on, above the first "max_window_layers" (Qwen). */
READER(windows_none);
READER(windows_listed);
READER(windows_above);

/* FFNs: dense everywhere; experts everywhere; experts every "decoder_sparse_step" layers; experts
 * after the first "first_k_dense_replace" layers, with shared ones. */
READER(ffn_dense);
READER(ffn_routed);
READER(ffn_sparse_step);
READER(ffn_after_dense);

#undef READER

#endif
