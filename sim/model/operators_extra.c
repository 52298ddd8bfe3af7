/* What some decoders have in a layer beside attention and FFN (struct model_extras). Weights as in
 * the models' classes of Hugging Face transformers. */
#include "model/layer_kind.h"
#include "model/operator.h"

static bool has_token_inputs(const struct share *share)
{
    return share->model->extras.token_dim > 0;
}

static bool has_residual_rank(const struct share *share)
{
    return share->model->extras.residual_rank > 0;
}

static bool has_streams(const struct share *share)
{
    return share->model->extras.streams > 1;
}

/* The token's own input of the layer: its row of a table, a projection of the embedding, which
 * runs once for all layers, a gate, a projection back, and a norm. */
static void token_input(const struct share *share, struct model_operator *op)
{
    uint64_t dim = share->model->extras.token_dim;
    for (int i = 0; i < 3; i++) {
        operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, dim);
    }
    operator_read(op, share->hidden);
    operator_move(share, op, 3 * (share->hidden + dim));
}

/* Gemma 3n's LAuReL: to a low rank and back, and a norm. */
static void residual_rank(const struct share *share, struct model_operator *op)
{
    uint64_t rank = share->model->extras.residual_rank;
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, rank);
    operator_multiply(op, DTYPE_BF16, share->batch, rank, share->hidden);
    operator_read(op, share->hidden);
    operator_move(share, op, 2 * (share->hidden + rank));
}

/* Several streams of hidden states are mixed before and after a layer: by AltUp's small matrices, a
 * router and two norms; by hyper-connections around attention and around the FFN, of fp32. */
static void stream_mix(const struct share *share, struct model_operator *op)
{
    const struct model_extras *extras = &share->model->extras;
    uint64_t streams = extras->streams, all = streams * share->hidden;
    if (extras->hyper_connections) {
        uint64_t mixes = (2 + streams) * streams;
        operator_multiply(op, DTYPE_BF16, share->batch, all, 2 * 2 * mixes);
    } else {
        operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, streams);
        operator_read(op, streams * streams * (streams + 1) + 2 * share->hidden);
    }
    operator_move(share, op, 4 * all);
}

const struct operator_kind extra_operators[] = {
    {"residual_rank", MODEL_POST, has_residual_rank, residual_rank},
    {"token_input", MODEL_POST, has_token_inputs, token_input},
    {"stream_mix", MODEL_POST, has_streams, stream_mix},
    {0},
};
