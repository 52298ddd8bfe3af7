/* What the rows of the operator tables are made of.
 *
 * Costs are of one GPU. A matrix product reads its weights once, reads and writes its activations
 * in bf16, and takes two FLOPs for each weight and row.
 */
#ifndef MODEL_OPERATOR_H
#define MODEL_OPERATOR_H

#include "model/model.h"
#include "model/module.h"

/* A layer as one GPU sees it; widths in values. */
struct share {
    const struct model *model;
    const struct model_layer *layer; /* NULL at the edge */
    uint64_t batch, attended; /* sequences, and tokens of all of them */
    uint64_t hidden, heads;
    uint64_t query, kv;   /* of one token: Q; K, and as much again V (not of MLA) */
    uint64_t ffn, shared; /* ffn: of one expert where the layer is routed */
    uint64_t kv_bytes;    /* of one token */
};

/* A row: the operator is there when `present` says so; `cost` adds to an operator that is empty but
 * for name and stage. A table ends with an empty row. */
struct operator_kind {
    const char *name;
    enum model_stage stage;
    bool (*present)(const struct share *share);
    void (*cost)(const struct share *share, struct model_operator *op);
};
extern const struct operator_kind attention_operators[], ffn_operators[];

bool operator_always(const struct share *share);
bool operator_four_norms(const struct share *share);

/* Activations of every sequence, read or written. */
void operator_move(const struct share *share, struct model_operator *op, uint64_t values);

/* A vector of bf16 weights. */
void operator_read(struct model_operator *op, uint64_t values);

/* A matrix product of `rows` rows with weights of `dtype`; with those of a module of the layer, for
 * the whole batch. */
void operator_multiply(struct model_operator *op, enum dtype dtype, uint64_t rows, uint64_t in,
                       uint64_t out);
void operator_project(const struct share *share, struct model_operator *op,
                      enum model_module module, uint64_t in, uint64_t out);

/* The norm before attention or FFN, which also adds the residual; one behind them. */
void operator_norm(const struct share *share, struct model_operator *op);
void operator_post_norm(const struct share *share, struct model_operator *op);

#endif
