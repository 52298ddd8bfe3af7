/* From rows to operators: a layer's are those of its attention, or of what it has instead, then
 * those of its FFN. */
#include "model/layer_kind.h"
#include "model/operator.h"
#include "model/whole.h"

void operator_move(const struct share *share, struct model_operator *op, uint64_t values)
{
    uint64_t bytes = dtype_bytes(DTYPE_BF16, whole_product(share->batch, values));
    op->data_bytes = whole_sum(op->data_bytes, bytes);
}

void operator_read(struct model_operator *op, uint64_t values)
{
    op->weight_bytes = whole_sum(op->weight_bytes, dtype_bytes(DTYPE_BF16, values));
}

static void add_widths(struct model_operator *op, uint64_t in, uint64_t out)
{
    bool one = op->matrices == 0 || op->in == in;
    op->in = one ? in : 0;
    op->out = one ? op->out + out : 0;
}

void operator_multiply(struct model_operator *op, enum dtype dtype, uint64_t batch, uint64_t in,
                       uint64_t out)
{
    uint64_t bytes = dtype_bytes(dtype, whole_product(in, out));
    add_widths(op, in, out);
    op->matrix = true;
    op->weights = bytes >= op->weight_bytes ? dtype : op->weights; /* of the most */
    op->matrices += bytes > 0; /* a layer may lack one: a value, a gate */
    op->rows = (double)batch;
    op->flops += 2.0 * (double)batch * (double)in * (double)out;
    op->weight_bytes = whole_sum(op->weight_bytes, bytes);
}

static enum dtype module_dtype(const struct share *share, enum model_module module)
{
    bool exempt = (share->layer->exempt >> module & 1) != 0;
    bool narrow = (share->layer->narrow >> module & 1) != 0;
    bool expert = module >= MODULE_EXPERT_GATE && module <= MODULE_EXPERT_DOWN;
    return exempt   ? DTYPE_BF16
           : narrow ? share->model->narrow
           : expert ? share->model->experts
                    : share->model->weights;
}

void operator_project(const struct share *share, struct model_operator *op,
                      enum model_module module, uint64_t in, uint64_t out)
{
    operator_multiply(op, module_dtype(share, module), share->batch, in, out);
}

static void norm_weights(const struct share *share, struct model_operator *op)
{
    operator_read(op, share->hidden * (share->model->norm_bias ? 2 : 1));
}

bool operator_always(const struct share *share)
{
    (void)share;
    return true;
}

bool operator_mixes(const struct share *share)
{
    return share->layer->attention != ATTENTION_NONE;
}

bool operator_four_norms(const struct share *share)
{
    return share->model->layer_norms == 4;
}

void operator_norm(const struct share *share, struct model_operator *op)
{
    norm_weights(share, op);
    uint64_t read = 2 * share->hidden, written = 2 * share->hidden; /* with the residual */
    operator_move(share, op, read + written);
}

void operator_post_norm(const struct share *share, struct model_operator *op)
{
    norm_weights(share, op);
    operator_move(share, op, 2 * share->hidden);
}

/* ---- edge ---- */

static void embedding(const struct share *share, struct model_operator *op)
{
    operator_move(share, op, (share->model->learned_positions ? 3 : 2) * share->hidden);
}

static void head(const struct share *share, struct model_operator *op)
{
    const struct model *model = share->model;
    uint64_t out = whole_share(model->vocabulary, model->tensor_parallel);
    bool plain = model->tied_embeddings || model->exempt_head;
    enum dtype dtype = model->narrow_head ? model->narrow : model->weights;
    operator_multiply(op, plain ? DTYPE_BF16 : dtype, share->batch, share->hidden, out);
    operator_move(share, op, share->hidden + out);
}

static bool has_stream_ends(const struct share *share)
{
    return share->model->extras.streams > 1 && !share->model->extras.hyper_connections;
}

/* AltUp makes each further stream of the embedding, and brings it back, by a matrix. */
static void stream_ends(const struct share *share, struct model_operator *op)
{
    uint64_t streams = 2 * ((uint64_t)share->model->extras.streams - 1);
    operator_multiply(op, DTYPE_BF16, share->batch, share->hidden, streams * share->hidden);
    operator_move(share, op, 2 * streams * share->hidden);
}

static const struct operator_kind edge_operators[] = {
    {"embedding", MODEL_EDGE, operator_always, embedding},
    {"stream_ends", MODEL_EDGE, has_stream_ends, stream_ends},
    {"norm", MODEL_EDGE, operator_always, operator_norm},
    {"head", MODEL_EDGE, operator_always, head},
    {0},
};

/* ---- layer and edge ---- */

/* A query of MLA has a rotated part beside its heads' own; a compressed one within them. */
static void operators_share_heads(const struct model *model, struct share *share)
{
    const struct model_layer *layer = share->layer;
    bool latent = layer->attention == ATTENTION_MLA;
    uint64_t key = layer_key_dim(model, layer), value = layer_value_dim(model, layer);
    share->kv_heads = whole_share(layer_kv_heads(model, layer), model->tensor_parallel);
    share->query = share->heads * (key + (latent ? model->rope_dim : 0));
    share->key = share->kv_heads * key;
    share->value = share->kv_heads * value;
    share->result = share->heads * value;
}

static struct share operators_share_of(const struct model *model, uint32_t layer,
                                       struct model_rows rows, uint64_t attended)
{
    struct share share = {
        .model = model,
        .batch = rows.own,
        .queries = rows.queries > 0 ? rows.queries : 1,
        .attended = attended,
        .routed = rows.all,
        .hidden = model->hidden,
        .heads = model_query_heads(model),
    };
    if (layer < model->layer_count) {
        share.layer = &model->layers[layer];
        operators_share_heads(model, &share);
        share.ffn = whole_share(share.layer->ffn, model->tensor_parallel);
        share.shared = whole_share((uint64_t)share.layer->shared_experts * share.layer->ffn,
                                   model->tensor_parallel);
        share.expert_dim = model->expert_dim > 0 ? model->expert_dim : model->hidden;
        share.kv_bytes = model_kv_entry_bytes(model, layer);
        share.parts = model_context_parts(model, layer);
        share.linear_heads = whole_share(model->linear.value_heads, model->tensor_parallel);
        share.linear_value = share.linear_heads * model->linear.value_dim;
        share.linear_key = whole_share(model->linear.key_heads, model->tensor_parallel) *
                           (uint64_t)model->linear.key_dim;
        if (share.layer->routed) {
            share.experts = model_experts_of(model, share.layer, rows.all);
        }
    }
    return share;
}

static size_t add_operators(const struct operator_kind *kinds, const struct share *share,
                            struct model_operator *out)
{
    size_t count = 0;
    for (const struct operator_kind *kind = kinds; kind->name != NULL; kind++) {
        if (kind->present(share)) {
            struct model_operator *op = &out[count++];
            *op = (struct model_operator){.name = kind->name, .stage = kind->stage};
            kind->cost(share, op);
        }
    }
    return count;
}

struct model_rows model_rows(const struct model *model, uint64_t batch)
{
    return (struct model_rows){batch, whole_product(batch, model->parallel.data), 1};
}

size_t model_operators(const struct model *model, uint32_t layer, uint64_t batch, uint64_t attended,
                       struct model_operator *out)
{
    return model_row_operators(model, layer, model_rows(model, batch), attended, out);
}

size_t model_row_operators(const struct model *model, uint32_t layer, struct model_rows rows,
                           uint64_t attended, struct model_operator *out)
{
    struct share share = operators_share_of(model, layer, rows, attended);
    if (share.layer == NULL) {
        return add_operators(edge_operators, &share, out);
    }
    const struct operator_kind *const tables[] = {attention_operators, linear_operators,
                                                  compressed_operators, ffn_operators,
                                                  extra_operators};
    size_t count = 0;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        count += add_operators(tables[i], &share, out + count);
    }
    return count;
}
