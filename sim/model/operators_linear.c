/* Linear layers. Their forms differ in what projects the hidden state: a form is a row. */
#include "model/operator.h"
#include "model/whole.h"

/* `keys`, `values`: how often the projection gives as much as K or V in all heads. `numbers`: and
 * numbers of each head, which stay in bf16. `own`: weights of each head in the recurrence. Gated
 * delta: Q, K, V and a gate; two numbers. Kimi's: Q, K and V, and each channel of a head decays by
 * itself. Mamba-2: B, C, x and a gate. */
static const struct linear_form {
    uint32_t keys, values, numbers, own;
    bool conv_bias, wide_norm, channels;
} forms[LINEAR_KINDS] = {
    [LINEAR_DELTA] = {2, 2, 2, 2, false, false, false},
    [LINEAR_KIMI] = {2, 1, 1, 1, false, false, true},
    [LINEAR_MAMBA] = {2, 2, 1, 3, true, true, false},
};

static bool operators_linear_present(const struct share *share)
{
    return share->layer->attention == ATTENTION_LINEAR;
}

static const struct linear_form *form_of(const struct share *share)
{
    return &forms[share->model->linear.kind];
}

static bool decays_by_channel(const struct share *share)
{
    return operators_linear_present(share) && form_of(share)->channels;
}

static void linear_in(const struct share *share, struct model_operator *op)
{
    const struct linear_form *form = form_of(share);
    uint64_t out = form->keys * share->linear_key + form->values * share->linear_value;
    uint64_t numbers = form->numbers * share->linear_heads;
    operator_project(share, op, MODULE_LINEAR_IN, share->hidden, out);
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, numbers);
    operator_move(share, op, share->hidden + out + numbers);
}

/* Kimi's decay, by two matrices of the rank of a head, and its output gate, alike or by one. */
static void linear_gates(const struct share *share, struct model_operator *op)
{
    uint64_t rank = share->model->linear.value_dim, value = share->linear_value;
    uint32_t ranked = share->model->linear.full_gate ? 1 : 2;
    for (uint32_t i = 0; i < ranked; i++) {
        operator_project(share, op, MODULE_LINEAR_IN, share->hidden, rank);
        operator_project(share, op, MODULE_LINEAR_IN, rank, value);
    }
    if (share->model->linear.full_gate) {
        operator_project(share, op, MODULE_LINEAR_IN, share->hidden, value);
    }
    operator_read(op, value);
    operator_move(share, op, share->hidden + 2 * (rank + value));
}

/* Over the last tokens' Q, K and V. What it keeps of them counts with the recurrent state. */
static void convolution(const struct share *share, struct model_operator *op)
{
    uint64_t values = 2 * share->linear_key + share->linear_value;
    operator_read(op, whole_product(values, share->model->linear.kernel));
    operator_read(op, form_of(share)->conv_bias ? values : 0);
    operator_move(share, op, 2 * values);
}

/* Each sequence's state is read, decayed, corrected by one token and written: elementwise work. */
static void delta_rule(const struct share *share, struct model_operator *op)
{
    uint32_t layer = (uint32_t)(share->layer - share->model->layers);
    uint64_t moved = whole_product(2, model_state_bytes(share->model, layer));
    operator_read(op, form_of(share)->own * share->linear_heads);
    operator_move(share, op, 2 * (share->linear_key + share->linear_value));
    op->data_bytes = whole_sum(op->data_bytes, whole_product(share->batch, moved));
}

static void gated_norm(const struct share *share, struct model_operator *op)
{
    operator_read(op,
                  form_of(share)->wide_norm ? share->linear_value : share->model->linear.value_dim);
    operator_move(share, op, 3 * share->linear_value);
}

static void linear_out(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_LINEAR_OUT, share->linear_value, share->hidden);
    operator_move(share, op, share->linear_value + share->hidden);
}

const struct operator_kind linear_operators[] = {
    {"linear_in", MODEL_PRE, operators_linear_present, linear_in},
    {"linear_gates", MODEL_PRE, decays_by_channel, linear_gates},
    {"convolution", MODEL_PRE, operators_linear_present, convolution},
    {"delta_rule", MODEL_ATTEND, operators_linear_present, delta_rule},
    {"gated_norm", MODEL_POST, operators_linear_present, gated_norm},
    {"linear_out", MODEL_POST, operators_linear_present, linear_out},
    {0},
};
