/* Attention with grouped heads or with MLA. MLA is the absorbed form that decode uses:
 * queries move into the latent space, so that each latent is read once for all heads (DeepSeek-V2,
 * arXiv:2405.04434). */
#include "model/layer_kind.h"
#include "model/operator.h"
#include "model/whole.h"

static bool latent(const struct share *share)
{
    return share->layer->attention == ATTENTION_MLA;
}

static bool grouped(const struct share *share)
{
    return layer_kinds[share->layer->attention].heads;
}

static bool attends(const struct share *share)
{
    return grouped(share) || latent(share);
}

static bool keeps(const struct share *share)
{
    return attends(share) && !share->layer->shares_kv;
}

static bool gated(const struct share *share)
{
    return share->model->gated_attention && attends(share);
}

static bool latent_query(const struct share *share)
{
    return share->model->query_lora > 0 && latent(share);
}

static bool rotary(const struct share *share)
{
    return !share->model->learned_positions && !share->layer->unrotated && attends(share);
}

static bool query_key_norm(const struct share *share)
{
    return share->model->query_key_norm && !share->layer->unrotated && grouped(share);
}

static bool indexed(const struct share *share)
{
    return share->model->index_heads > 0 && !share->layer->shares_index && attends(share);
}

/* With a tied value V is K. A layer that shares KV has K and V in its checkpoint, and engines
 * multiply by all three at once, though they keep the query alone (vLLM's gemma4.py). */
static void qkv(const struct share *share, struct model_operator *op)
{
    uint64_t query = share->query * (share->model->gated_attention ? 2 : 1);
    uint64_t value = share->layer->tied_value ? 0 : share->value;
    uint64_t out = query + share->key + value;
    operator_project(share, op, MODULE_QUERY, share->hidden, query);
    operator_project(share, op, MODULE_KEY, share->hidden, share->key);
    operator_project(share, op, MODULE_VALUE, share->hidden, value);
    operator_read(op, share->model->query_bias ? out : 0);
    operator_move(share, op, share->hidden + out);
}

static void qk_norm(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t each = (uint64_t)layer_key_dim(model, share->layer);
    uint64_t weights = model->wide_query_key_norm ? share->query + share->key : 2 * each;
    operator_read(op, model->plain_query_key_norm ? 0 : weights);
    operator_move(share, op, 2 * (share->query + share->key));
}

static void operators_attention_rope(const struct share *share, struct model_operator *op)
{
    uint64_t values =
        latent(share) ? (share->heads + 1) * share->model->rope_dim : share->query + share->key;
    operator_move(share, op, 2 * values);
}

/* Projections to the latents of Q and of K and V, or to Q itself, and to a gate of the output
 * (Kimi-K3). Replicated, except for Q itself and the gate. */
static void qkv_down(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t kv = (uint64_t)model->kv_lora + model->rope_dim;
    uint64_t query = model->query_lora > 0 ? model->query_lora : share->query;
    uint64_t gate = model->gated_attention ? share->result : 0;
    operator_project(share, op, model->query_lora > 0 ? MODULE_QUERY_DOWN : MODULE_QUERY,
                     share->hidden, query);
    operator_project(share, op, MODULE_KV_DOWN, share->hidden, kv);
    operator_project(share, op, MODULE_QUERY, share->hidden, gate);
    operator_read(op, model->query_bias ? (model->query_lora > 0 ? query : 0) + kv : 0);
    operator_move(share, op, share->hidden + query + kv + gate);
}

static void latent_norm(const struct share *share, struct model_operator *op)
{
    uint64_t values = (uint64_t)share->model->query_lora + share->model->kv_lora;
    operator_read(op, values);
    operator_move(share, op, 2 * values);
}

static void query_up(const struct share *share, struct model_operator *op)
{
    operator_project(share, op, MODULE_QUERY_UP, share->model->query_lora, share->query);
    operator_move(share, op, share->model->query_lora + share->query);
}

/* For each head a product of (batch × from) and (from × to). */
static void absorb(const struct share *share, struct model_operator *op, uint64_t from, uint64_t to)
{
    operator_project(share, op, MODULE_KV_UP, share->heads * from, to);
    operator_move(share, op, share->heads * (from + to));
}

static void absorb_key(const struct share *share, struct model_operator *op)
{
    absorb(share, op, share->model->head_dim, share->model->kv_lora);
}

static void absorb_value(const struct share *share, struct model_operator *op)
{
    absorb(share, op, share->model->value_dim, share->model->kv_lora);
}

static void index_query(const struct share *share, struct model_operator *op)
{
    uint64_t out = (uint64_t)share->model->index_heads * share->model->index_dim;
    operator_project(share, op, MODULE_INDEX_QUERY, share->model->query_lora, out);
    operator_move(share, op, share->model->query_lora + out);
}

/* The key, and the weights of the index heads, which stay in bf16 as a router does. */
static void index_key(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    operator_project(share, op, MODULE_INDEX_KEY, share->hidden, model->index_dim);
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, model->index_heads);
    operator_move(share, op, share->hidden + model->index_dim + model->index_heads);
}

static void index_norm(const struct share *share, struct model_operator *op)
{
    operator_read(op, 2 * (uint64_t)share->model->index_dim);
    operator_move(share, op, 2 * (uint64_t)share->model->index_dim);
}

static void kv_write(const struct share *share, struct model_operator *op)
{
    uint64_t latents = (uint64_t)share->model->kv_lora + share->model->rope_dim;
    operator_move(share, op, latent(share) ? latents : share->key + share->value);
    op->data_bytes = whole_sum(op->data_bytes, whole_product(share->batch, share->kv_bytes));
}

static void operators_attention_set(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t in = share->query, out = share->result;
    double per_token = 2.0 * ((double)in + (double)out);
    if (latent(share)) {
        in = share->heads * ((uint64_t)model->kv_lora + model->rope_dim);
        out = share->heads * model->kv_lora;
        per_token = 2.0 * ((double)in + (double)out);
    }
    op->matrix = true;
    op->rows =
        (double)share->heads * share->parts / (double)share->kv_heads * (double)share->queries;
    op->flops = (double)share->attended * (double)share->queries * per_token;
    operator_read(op, model->attention_sinks ? share->heads : 0);
    operator_move(share, op, share->parts * (in + out));
    op->data_bytes = whole_sum(op->data_bytes, whole_product(share->attended, share->kv_bytes));
}

static void output(const struct share *share, struct model_operator *op)
{
    uint64_t in = share->result;
    operator_project(share, op, MODULE_OUTPUT, in, share->hidden);
    operator_read(op, share->model->output_bias ? share->hidden : 0);
    operator_move(share, op, in + share->hidden);
}

static void output_gate(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, 3 * share->result);
}

const struct operator_kind attention_operators[] = {
    {"norm", MODEL_PRE, operator_mixes, operator_norm},
    {"qkv", MODEL_PRE, grouped, qkv},
    {"qk_norm", MODEL_PRE, query_key_norm, qk_norm},
    {"qkv_down", MODEL_PRE, latent, qkv_down},
    {"latent_norm", MODEL_PRE, latent, latent_norm},
    {"query_up", MODEL_PRE, latent_query, query_up},
    {"absorb_key", MODEL_PRE, latent, absorb_key},
    {"rope", MODEL_PRE, rotary, operators_attention_rope},
    {"index_query", MODEL_PRE, indexed, index_query},
    {"index_key", MODEL_PRE, indexed, index_key},
    {"index_norm", MODEL_PRE, indexed, index_norm},
    {"kv_write", MODEL_PRE, keeps, kv_write},
    {"attention", MODEL_ATTEND, attends, operators_attention_set},
    {"absorb_value", MODEL_POST, latent, absorb_value},
    {"output_gate", MODEL_POST, gated, output_gate},
    {"o", MODEL_POST, attends, output},
    {"attention_norm", MODEL_POST, operator_four_norms, operator_post_norm},
    {0},
};
