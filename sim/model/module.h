/* The matrices of a decoder layer, as quantisation names them. */
#pragma once

enum model_module {
    MODULE_QUERY,
    MODULE_KEY,
    MODULE_VALUE,
    MODULE_OUTPUT,
    MODULE_QUERY_DOWN, /* MLA: to the latent and from it */
    MODULE_QUERY_UP,
    MODULE_KV_DOWN,
    MODULE_KV_UP,
    MODULE_INDEX_QUERY,
    MODULE_INDEX_KEY,
    MODULE_LINEAR_IN, /* linear layers */
    MODULE_LINEAR_OUT,
    MODULE_GATE, /* dense FFN */
    MODULE_UP,
    MODULE_DOWN,
    MODULE_SHARED_GATE,
    MODULE_SHARED_UP,
    MODULE_SHARED_DOWN,
    MODULE_EXPERT_GATE,
    MODULE_EXPERT_UP,
    MODULE_EXPERT_DOWN,
    MODULE_COUNT
};

/* Their names in models/architectures.yaml, which has those that checkpoints give them; ends with NULL. */
extern const char *const module_words[MODULE_COUNT + 1];
