/* DeepSeek-V4's attention: one vector of a token is its K and its V, for all heads; beside a window
 * it attends to entries of several tokens, all of them or those that an indexer selects. Weights as
 * in the model's class of Hugging Face transformers. */
#include "model/layer_kind.h"
#include "model/operator.h"
#include "model/whole.h"

static bool compressed(const struct share *share)
{
    return share->layer->attention == ATTENTION_COMPRESSED;
}

static bool compresses(const struct share *share)
{
    return compressed(share) && share->layer->ratio > 0;
}

static bool selects(const struct share *share)
{
    return compressed(share) && layer_selects(share->model, share->layer);
}

static uint64_t compressed_sequences(const struct share *share)
{
    return share->batch / share->queries;
}

/* Entries of the sequences beside their windows. */
static uint64_t compressed_held(const struct share *share)
{
    uint64_t window = whole_product(compressed_sequences(share), share->layer->window);
    return share->attended > window ? share->attended - window : 0;
}

/* Entries that one query of each sequence attends to. */
static uint64_t compressed_attended(const struct share *share)
{
    uint64_t held = compressed_held(share);
    uint64_t chosen = whole_product(compressed_sequences(share), share->model->index_topk);
    return share->attended - held + (selects(share) && chosen < held ? chosen : held);
}

static void compressed_qkv(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t rank = model->query_lora, dim = layer_key_dim(model, share->layer);
    operator_project(share, op, MODULE_QUERY_DOWN, share->hidden, rank);
    operator_project(share, op, MODULE_QUERY_UP, rank, share->query);
    operator_project(share, op, MODULE_KV_DOWN, share->hidden, dim);
    operator_read(op, rank + dim);
    operator_move(share, op, share->hidden + 2 * rank + share->query + dim);
}

/* Values and the weights by which they are averaged, twice as wide where entries overlap. */
static void compressor(const struct share *share, struct model_operator *op)
{
    uint64_t parts = selects(share) ? 2 : 1, dim = layer_key_dim(share->model, share->layer);
    uint64_t out = parts * (dim + (selects(share) ? share->model->index_dim : 0));
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, 2 * out);
    operator_read(op, share->layer->ratio * out + dim);
    operator_move(share, op, share->hidden + 2 * out);
}

static void compressed_index(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t out = (uint64_t)model->index_heads * model->index_dim;
    operator_project(share, op, MODULE_INDEX_QUERY, model->query_lora, out);
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, model->index_heads);
    operator_move(share, op, model->query_lora + out + share->hidden + model->index_heads);
}

static void compressed_score(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t keys = compressed_held(share);
    op->flops = 2.0 * (double)(keys * share->queries) * model->index_heads * model->index_dim;
    op->data_bytes = whole_product(keys, layer_index_entry(model, share->layer));
}

static void compressed_write(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, layer_key_dim(share->model, share->layer));
    op->data_bytes = whole_sum(op->data_bytes, whole_product(share->batch, share->kv_bytes));
}

static void compressed_attention(const struct share *share, struct model_operator *op)
{
    uint64_t attended = compressed_attended(share) * share->queries;
    uint64_t read = selects(share) ? attended : compressed_attended(share);
    op->matrix = true;
    op->rows = (double)(share->heads * share->queries);
    op->flops = 4.0 * (double)attended * (double)share->query;
    operator_read(op, share->heads);
    operator_move(share, op, 2 * share->query);
    op->data_bytes = whole_sum(op->data_bytes, whole_product(read, share->kv_bytes));
}

/* Each group of heads passes through a low rank of its own, then all of them together. */
static void compressed_output(const struct share *share, struct model_operator *op)
{
    const struct model_extras *extras = &share->model->extras;
    uint64_t ranks = whole_share((uint64_t)extras->output_groups * extras->output_lora,
                                 share->model->tensor_parallel);
    operator_project(share, op, MODULE_OUTPUT, share->query, extras->output_lora);
    operator_project(share, op, MODULE_OUTPUT, ranks, share->hidden);
    operator_move(share, op, share->query + 2 * ranks + share->hidden);
}

const struct operator_kind compressed_operators[] = {
    {"qkv", MODEL_PRE, compressed, compressed_qkv},
    {"compressor", MODEL_PRE, compresses, compressor},
    {"index_query", MODEL_PRE, selects, compressed_index},
    {"kv_write", MODEL_PRE, compressed, compressed_write},
    {"index_score", MODEL_ATTEND, selects, compressed_score},
    {"attention", MODEL_ATTEND, compressed, compressed_attention},
    {"o", MODEL_POST, compressed, compressed_output},
    {0},
};
