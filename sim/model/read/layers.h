/* Heads, windows, FFNs and storage types of a model's layers, by the keys of its config.json. */
#pragma once

#include "model/read/architecture.h"

/* Upper bounds: values within them can be multiplied and allocated safely. Every real model is far
 * below. */
enum { LAYERS_MOST = 1024, HEADS_MOST = 1 << 16, EXPERTS_MOST = 1 << 16, SIZE_MOST = INT32_MAX };

/* Called in this order, for a model that has its class's values and its layers allocated. */
bool heads_read(const struct node *config, struct model *model, struct error *why);
bool windows_read(const struct node *config, const struct architecture *kind, struct model *model,
                  struct error *why);
bool ffn_read(const struct node *config, const struct architecture *kind, struct model *model,
              struct error *why);

/* Set weights, KV and exemptions from the "quantization_config" of the map around it (absent or null:
 * bf16); what is exempt is marked in the layers, which are read. Then the type of routed experts, where
 * "expert_dtype" states one. */
bool quantisation_read(const struct node *around, struct model *model, struct error *why);
bool quantisation_read_experts(const struct node *config, struct model *model, struct error *why);
