/* What a model's page shows (`spillway list model`), and its tables. */
#pragma once

#include "tables/frame.h"
#include "model/model.h"
#include "server/server_engine.h"

struct model_page {
    struct model model;
    uint32_t context_parallel; /* GPUs that share the tokens of layers that keep all */
    struct server_engine engine;
    bool hybrid, caches;      /* the engine frees windows; it caches prefixes */
    uint64_t length, batched; /* tokens: of the longest sequence, of a step */
    double pool;              /* bytes of KV on a GPU; 0: not stated */
    double windowed, slots;   /* SGLang: tokens of the window pool for each full one; states */
};

/* A row for each kind of layer; for each part of the weights; for each context. NULL without
 * memory. */
struct frame *model_page_layers(const struct model_page *page, struct error *why);
struct frame *model_page_weights(const struct model_page *page, struct error *why);
struct frame *model_page_kept(const struct model_page *page, struct error *why);
