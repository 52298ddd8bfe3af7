/* The FFN: dense, or routed to experts with or without shared ones. Only experts that a token
 * visits are read (model_experts_of). */
#include "model/operator.h"
#include "model/whole.h"

#include <math.h>

static bool routed(const struct share *share)
{
    return share->layer->routed;
}

static bool shares_experts(const struct share *share)
{
    return share->layer->shared_experts > 0;
}

static bool dense(const struct share *share)
{
    return !share->layer->routed && share->layer->ffn > 0;
}

static bool ffn_has_norm(const struct share *share)
{
    return (dense(share) || routed(share)) && share->model->layer_norms > 1;
}

static bool ffn_four_norms(const struct share *share)
{
    return ffn_has_norm(share) && operator_four_norms(share);
}

static bool narrows(const struct share *share)
{
    return routed(share) && share->expert_dim != share->hidden;
}

static bool dense_gated(const struct share *share)
{
    return dense(share) && share->model->gated_ffn;
}

static bool dense_plain(const struct share *share)
{
    return dense(share) && !share->model->gated_ffn;
}

static void gate_up(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_GATE, share->hidden, share->ffn);
    operator_project(share, op, MODULE_UP, share->hidden, share->ffn);
    operator_read(op, share->model->ffn_bias ? 2 * share->ffn : 0);
    operator_move(share, op, share->hidden + 2 * share->ffn);
}

static void up(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_UP, share->hidden, share->ffn);
    operator_read(op, share->model->ffn_bias ? share->ffn : 0);
    operator_move(share, op, share->hidden + share->ffn);
}

static void activation(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, (share->model->gated_ffn ? 3 : 2) * share->ffn);
}

static void down(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_DOWN, share->ffn, share->hidden);
    operator_read(op, share->model->ffn_bias ? share->hidden : 0);
    operator_move(share, op, share->ffn + share->hidden);
}

static void router(const struct share *share, struct model_operator *op)
{
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, share->layer->experts);
    if (share->model->shared_gate) {
        operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, 1);
    }
    operator_read(op, share->model->router_bias ? share->layer->experts : 0);
    operator_move(share, op, share->hidden + share->layer->experts);
}

static void operators_ffn_route(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, share->layer->experts + 2 * (uint64_t)share->layer->experts_per_token);
}

/* The gate, if FFNs have one, and the matrix beside it. */
static void ffn_project_up(const struct share *share, struct model_operator *op,
                           enum model_module gate, uint64_t in, uint64_t out)
{
    if (share->model->gated_ffn) {
        operator_project(share, op, gate, in, out);
    }
    operator_project(share, op, gate + 1, in, out);
    operator_move(share, op, in + (share->model->gated_ffn ? 2 : 1) * out);
}

static void shared_gate_up(const struct share *share, struct model_operator *op)
{
    ffn_project_up(share, op, MODULE_SHARED_GATE, share->hidden, share->shared);
}

static void shared_activation(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, 3 * share->shared);
}

static void shared_down(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_SHARED_DOWN, share->shared, share->hidden);
    operator_move(share, op, share->shared + share->hidden);
}

/* One expert of a GPU, for the tokens of all ranks. */
static struct share of_experts(const struct share *share)
{
    struct share experts = *share;
    experts.batch = share->routed;
    experts.ffn = share->experts.columns;
    return experts;
}

/* `values` for each visit. */
static uint64_t visited(const struct share *share, uint64_t values)
{
    double whole = (double)values * share->experts.visits;
    return whole < (double)UINT64_MAX ? (uint64_t)llround(whole) : UINT64_MAX;
}

/* Turn an operator of one expert and the tokens of all ranks into one of all experts that the GPU
 * holds: each token visits some of them, and only visited experts are read. */
static void spread_over_experts(const struct share *share, struct model_operator *op)
{
    const struct model_experts *experts = &share->experts;
    double read = experts->held * (1.0 - experts->unread);
    uint64_t held = whole_product(op->weight_bytes, experts->held);
    uint64_t unread = (uint64_t)llround((double)held * experts->unread);
    op->weight_bytes = unread < held ? held - unread : 0;
    op->matrices *= experts->held;
    op->data_bytes = visited(share, op->data_bytes);
    op->flops *= experts->visits;
    op->rows = read > 0 ? (double)share->routed * experts->visits / read : 0;
    op->grouped = true;
}

/* Experts that work in a narrower space: the tokens go there once, before they are sent. */
static void experts_narrow(const struct share *share, struct model_operator *op)
{
    operator_multiply(op, share->model->weights, share->batch, share->hidden, share->expert_dim);
    operator_read(op, share->model->expert_latent_norm ? share->expert_dim : 0);
    operator_move(share, op, share->hidden + share->expert_dim);
}

static void experts_widen(const struct share *share, struct model_operator *op)
{
    operator_multiply(op, share->model->weights, share->batch, share->expert_dim, share->hidden);
    operator_move(share, op, share->hidden + share->expert_dim);
}

static void experts_gate_up(const struct share *share, struct model_operator *op)
{
    struct share one = of_experts(share);
    ffn_project_up(&one, op, MODULE_EXPERT_GATE, one.expert_dim, one.ffn);
    operator_read(op, one.model->ffn_bias ? 2 * one.ffn : 0);
    spread_over_experts(share, op);
}

static void experts_activation(const struct share *share, struct model_operator *op)
{
    struct share one = of_experts(share);
    operator_move(&one, op, 3 * one.ffn);
    op->data_bytes = visited(share, op->data_bytes);
}

static void experts_down(const struct share *share, struct model_operator *op)
{
    struct share one = of_experts(share);
    operator_project(&one, op, MODULE_EXPERT_DOWN, one.ffn, one.expert_dim);
    operator_read(op, one.model->ffn_bias ? one.hidden : 0);
    operator_move(&one, op, one.ffn + one.hidden);
    spread_over_experts(share, op);
}

/* Add up the outputs of a token's experts and of the shared ones. */
static void operators_ffn_combine(const struct share *share, struct model_operator *op)
{
    uint64_t read = share->layer->experts_per_token + (shares_experts(share) ? 1U : 0U);
    operator_move(share, op, (read + 1) * share->hidden);
}

const struct operator_kind ffn_operators[] = {
    {"norm", MODEL_POST, ffn_has_norm, operator_norm},
    {"gate_up", MODEL_POST, dense_gated, gate_up},
    {"up", MODEL_POST, dense_plain, up},
    {"activation", MODEL_POST, dense, activation},
    {"down", MODEL_POST, dense, down},
    {"router", MODEL_POST, routed, router},
    {"route", MODEL_POST, routed, operators_ffn_route},
    {"shared_gate_up", MODEL_POST, shares_experts, shared_gate_up},
    {"shared_activation", MODEL_POST, shares_experts, shared_activation},
    {"shared_down", MODEL_POST, shares_experts, shared_down},
    {"experts_narrow", MODEL_POST, narrows, experts_narrow},
    {"experts_gate_up", MODEL_POST, routed, experts_gate_up},
    {"experts_activation", MODEL_POST, routed, experts_activation},
    {"experts_down", MODEL_POST, routed, experts_down},
    {"experts_widen", MODEL_POST, narrows, experts_widen},
    {"combine", MODEL_POST, routed, operators_ffn_combine},
    {"ffn_norm", MODEL_POST, ffn_four_norms, operator_post_norm},
    {0},
};
