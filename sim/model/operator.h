/* The parts from which the rows of the operator tables are made.
 *
 * Costs are of one GPU. A matrix product reads its weights once, reads and writes its activations
 * in bf16, and takes two FLOPs for each weight and row.
 */
#pragma once

#include "model/model.h"
#include "model/module.h"
#include "model/sharding.h"

/* A layer as one GPU sees it; widths are counted in values. */
struct share {
    const struct model *model;
    const struct model_layer *layer; /* NULL at the edge */
    uint64_t batch;                  /* rows */
    uint64_t queries;                /* rows of one sequence, which read its KV together */
    uint64_t attended;               /* tokens that all sequences read */
    uint64_t routed;                 /* rows of all ranks, which share experts */
    uint64_t hidden, heads;
    uint64_t query, key, value;                      /* of one token: Q, K and V */
    uint64_t result, kv_heads;                       /* what attention gives; KV heads */
    uint64_t ffn, shared;                            /* dense; shared experts */
    struct model_experts experts;                    /* of a routed layer */
    uint64_t expert_dim;                             /* width that experts read and write */
    uint64_t kv_bytes;                               /* of one entry, or a GPU's part of them */
    uint32_t parts;                                  /* GPUs that divide the entries */
    uint64_t linear_key, linear_value, linear_heads; /* K, V and value heads of a linear layer */
};

/* A row: the operator exists when `present` says so; `cost` adds to an operator in which only name
 * and stage are set. A table ends with an empty row. */
struct operator_kind {
    const char *name;
    enum model_stage stage;
    bool (*present)(const struct share *share);
    void (*cost)(const struct share *share, struct model_operator *op);
};
extern const struct operator_kind attention_operators[], linear_operators[], compressed_operators[],
    ffn_operators[], extra_operators[];

/* Always; in a layer that mixes tokens, by attention or a state; after attention and FFN. */
bool operator_always(const struct share *share);
bool operator_mixes(const struct share *share);
bool operator_four_norms(const struct share *share);

/* Add the activations, read or written, of every row: `values` for each. */
void operator_move(const struct share *share, struct model_operator *op, uint64_t values);

/* Add a vector of `values` bf16 weights. */
void operator_read(struct model_operator *op, uint64_t values);

/* Add a matrix product: multiply takes `rows` rows and weights of `dtype`; project takes the whole
 * batch and the weights of one module of the layer. */
void operator_multiply(struct model_operator *op, enum dtype dtype, uint64_t rows, uint64_t in,
                       uint64_t out);
void operator_project(const struct share *share, struct model_operator *op,
                      enum model_module module, uint64_t in, uint64_t out);

/* norm: before attention or FFN; it also adds the residual. post_norm: after attention or FFN. */
void operator_norm(const struct share *share, struct model_operator *op);
void operator_post_norm(const struct share *share, struct model_operator *op);
