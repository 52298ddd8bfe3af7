/* From rows to operators: a layer's are those of its attention, or of what it has instead, then those of
 * its FFN. Costs are of one GPU. A matrix product reads its weights once, reads and writes its activations
 * in bf16, and takes two FLOPs for each weight and row. */
#include "model/layer_kind.h"
#include "model/sharding.h"

#include <math.h>

/* A layer as one GPU sees it, widths counted in values; and its operators so far. */
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
    struct model_experts experts;                    /* of a routed layer */
    uint64_t kv_bytes;                               /* of one entry, or a GPU's part of them */
    uint32_t parts;                                  /* GPUs that divide the entries */
    uint64_t linear_key, linear_value, linear_heads; /* K, V and value heads of a linear layer */
    struct model_operator *out;                      /* borrowed */
    size_t count;
    struct model_operator *op; /* the last one */
};

/* ---- the parts of an operator ------------------------------------------------------------------ */

static void operator_begin(struct share *share, const char *name, enum model_stage stage)
{
    share->op = &share->out[share->count++];
    *share->op = (struct model_operator){.name = name, .stage = stage};
}

/* A matrix product of all rows with weights of `dtype`. */
static void operator_multiply(struct share *share, enum dtype dtype, uint64_t in, uint64_t out)
{
    struct model_operator *op = share->op;
    uint64_t bytes = model_matrix_bytes(share->model, dtype, in, out);
    bool one = op->matrices == 0 || op->in == in;
    op->in = one ? in : 0;
    op->out = one ? op->out + out : 0;
    op->matrix = true;
    op->weights = bytes >= op->weight_bytes ? dtype : op->weights; /* of the most */
    op->matrices += bytes > 0; /* a layer may lack one: a value, a gate */
    op->rows = (double)share->batch;
    op->flops += 2.0 * (double)share->batch * (double)in * (double)out;
    op->weight_bytes = whole_sum(op->weight_bytes, bytes);
}

/* The same with the weights of a module of the layer. */
static void operator_project(struct share *share, enum model_module module, uint64_t in,
                             uint64_t out)
{
    const struct model *model = share->model;
    bool exempt = (share->layer->exempt >> module & 1) != 0;
    bool expert = module >= MODULE_EXPERT_GATE && module <= MODULE_EXPERT_DOWN;
    share->op->neurons = module >= MODULE_GATE && module <= MODULE_DOWN;
    operator_multiply(share,
                      exempt   ? DTYPE_BF16
                      : expert ? model->experts
                               : model->weights,
                      in, out);
}

/* It also reads so many bf16 weights; and of every row so many activations are read or written. */
static void operator_end(struct share *share, uint64_t weights, uint64_t activations)
{
    struct model_operator *op = share->op;
    uint64_t moved = dtype_bytes(DTYPE_BF16, whole_product(share->batch, activations));
    op->weight_bytes = whole_sum(op->weight_bytes, dtype_bytes(DTYPE_BF16, weights));
    op->data_bytes = whole_sum(op->data_bytes, moved);
}

/* And so many entries of the KV. */
static void operator_touch(struct share *share, uint64_t entries)
{
    share->op->data_bytes =
        whole_sum(share->op->data_bytes, whole_product(entries, share->kv_bytes));
}

static void operator_plain(struct share *share, const char *name, enum model_stage stage,
                           uint64_t weights, uint64_t activations)
{
    operator_begin(share, name, stage);
    operator_end(share, weights, activations);
}

/* A norm before attention or FFN adds the residual as well: `states` of hidden states are moved. */
static void operator_norm(struct share *share, const char *name, enum model_stage stage,
                          uint64_t states)
{
    uint64_t weights = share->hidden * (share->model->norm_bias ? 2 : 1);
    operator_plain(share, name, stage, weights, states * share->hidden);
}

/* ---- attention with grouped heads, or with MLA --------------------------------------------------
 *
 * MLA is the absorbed form that decode uses: queries move into the latent space, so that each latent is read
 * once for all heads (DeepSeek-V2, arXiv:2405.04434). */

/* With a tied value V is K. A layer that shares KV has all three, but keeps the query (vLLM's gemma4.py). */
static void grouped_in(struct share *share)
{
    const struct model *model = share->model;
    uint64_t query = share->query * (model->gated_attention ? 2 : 1);
    uint64_t value = share->layer->tied_value ? 0 : share->value;
    uint64_t out = query + share->key + value;
    operator_begin(share, "qkv", MODEL_PRE);
    operator_project(share, MODULE_QUERY, share->hidden, query);
    operator_project(share, MODULE_KEY, share->hidden, share->key);
    operator_project(share, MODULE_VALUE, share->hidden, value);
    operator_end(share, model->query_bias ? out : 0, share->hidden + out);
    if (model->query_key_norm && !share->layer->unrotated) {
        uint64_t both = share->query + share->key;
        uint64_t each = 2 * (uint64_t)layer_key_dim(model, share->layer);
        uint64_t weights = model->wide_query_key_norm ? both : each;
        operator_plain(share, "qk_norm", MODEL_PRE, model->plain_query_key_norm ? 0 : weights,
                       2 * both);
    }
}

/* For each head a product of (batch × from) and (from × latent). */
static void absorb(struct share *share, const char *name, enum model_stage stage, uint64_t from)
{
    uint64_t latent = share->model->kv_lora;
    operator_begin(share, name, stage);
    operator_project(share, MODULE_KV_UP, share->heads * from, latent);
    operator_end(share, 0, share->heads * (from + latent));
}

/* Projections to the latents of Q and of K and V, which are replicated, or to Q, and to a gate (Kimi-K3). */
static void latent_in(struct share *share)
{
    const struct model *model = share->model;
    uint64_t rank = model->query_lora, kv = (uint64_t)model->kv_lora + model->rope_dim;
    uint64_t query = rank > 0 ? rank : share->query;
    uint64_t gate = model->gated_attention ? share->result : 0;
    operator_begin(share, "qkv_down", MODEL_PRE);
    operator_project(share, rank > 0 ? MODULE_QUERY_DOWN : MODULE_QUERY, share->hidden, query);
    operator_project(share, MODULE_KV_DOWN, share->hidden, kv);
    operator_project(share, MODULE_QUERY, share->hidden, gate);
    operator_end(share, model->query_bias ? rank + kv : 0, share->hidden + query + kv + gate);
    operator_plain(share, "latent_norm", MODEL_PRE, rank + model->kv_lora,
                   2 * (rank + model->kv_lora));
    if (rank > 0) {
        operator_begin(share, "query_up", MODEL_PRE);
        operator_project(share, MODULE_QUERY_UP, rank, share->query);
        operator_end(share, 0, rank + share->query);
    }
    absorb(share, "absorb_key", MODEL_PRE, model->head_dim);
}

/* The index heads' weights stay in bf16 as a router does. */
static void index_tokens(struct share *share)
{
    const struct model *model = share->model;
    uint64_t dim = model->index_dim, out = model->index_heads * dim;
    operator_begin(share, "index_query", MODEL_PRE);
    operator_project(share, MODULE_INDEX_QUERY, model->query_lora, out);
    operator_end(share, 0, model->query_lora + out);
    operator_begin(share, "index_key", MODEL_PRE);
    operator_project(share, MODULE_INDEX_KEY, share->hidden, dim);
    operator_multiply(share, DTYPE_BF16, share->hidden, model->index_heads);
    operator_end(share, 0, share->hidden + dim + model->index_heads);
    operator_plain(share, "index_norm", MODEL_PRE, 2 * dim, 2 * dim);
}

static void attention_operator(struct share *share, bool latent)
{
    const struct model *model = share->model;
    uint64_t in = share->query, out = share->result;
    if (latent) {
        in = share->heads * ((uint64_t)model->kv_lora + model->rope_dim);
        out = share->heads * model->kv_lora;
    }
    operator_begin(share, "attention", MODEL_ATTEND);
    share->op->matrix = true;
    share->op->rows =
        (double)share->heads * share->parts / (double)share->kv_heads * (double)share->queries;
    share->op->flops =
        (double)share->attended * (double)share->queries * (2.0 * ((double)in + (double)out));
    operator_end(share, model->attention_sinks ? share->heads : 0, share->parts * (in + out));
    operator_touch(share, share->attended);
}

static void attention_operators(struct share *share)
{
    const struct model *model = share->model;
    const struct model_layer *layer = share->layer;
    bool latent = layer->attention == ATTENTION_MLA;
    if (latent) {
        latent_in(share);
    } else {
        grouped_in(share);
    }
    if (!model->learned_positions && !layer->unrotated) {
        uint64_t values = latent ? (share->heads + 1) * model->rope_dim : share->query + share->key;
        operator_plain(share, "rope", MODEL_PRE, 0, 2 * values);
    }
    if (model->index_heads > 0 && !layer->shares_index) {
        index_tokens(share);
    }
    if (!layer->shares_kv) {
        uint64_t latents = (uint64_t)model->kv_lora + model->rope_dim;
        operator_plain(share, "kv_write", MODEL_PRE, 0,
                       latent ? latents : share->key + share->value);
        operator_touch(share, share->batch);
    }
    attention_operator(share, latent);
    if (latent) {
        absorb(share, "absorb_value", MODEL_POST, model->value_dim);
    }
    if (model->gated_attention) {
        operator_plain(share, "output_gate", MODEL_POST, 0, 3 * share->result);
    }
    operator_begin(share, "o", MODEL_POST);
    operator_project(share, MODULE_OUTPUT, share->result, share->hidden);
    operator_end(share, model->output_bias ? share->hidden : 0, share->result + share->hidden);
}

/* ---- linear layers: forms differ in what projects the hidden state ------------------------------ */

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

/* Kimi's decay, by two matrices of the rank of a head, and its output gate, alike or by one. */
static void linear_gates(struct share *share)
{
    uint64_t rank = share->model->linear.value_dim, value = share->linear_value;
    operator_begin(share, "linear_gates", MODEL_PRE);
    for (int ranked = share->model->linear.full_gate ? 1 : 2; ranked > 0; ranked--) {
        operator_project(share, MODULE_LINEAR_IN, share->hidden, rank);
        operator_project(share, MODULE_LINEAR_IN, rank, value);
    }
    if (share->model->linear.full_gate) {
        operator_project(share, MODULE_LINEAR_IN, share->hidden, value);
    }
    operator_end(share, value, share->hidden + 2 * (rank + value));
}

static void linear_operators(struct share *share)
{
    const struct model_linear *linear = &share->model->linear;
    const struct linear_form *form = &forms[linear->kind];
    uint64_t key = share->linear_key, value = share->linear_value, seen = 2 * key + value;
    uint64_t out = form->keys * key + form->values * value;
    uint64_t numbers = form->numbers * share->linear_heads;
    operator_begin(share, "linear_in", MODEL_PRE);
    operator_project(share, MODULE_LINEAR_IN, share->hidden, out);
    operator_multiply(share, DTYPE_BF16, share->hidden, numbers);
    operator_end(share, 0, share->hidden + out + numbers);
    if (form->channels) {
        linear_gates(share);
    }
    /* Over the last tokens' Q, K and V. What it keeps of them counts with the recurrent state. */
    operator_plain(share, "convolution", MODEL_PRE,
                   whole_product(seen, linear->kernel + form->conv_bias), 2 * seen);
    /* Each sequence's state is read, decayed, corrected by one token and written: elementwise work. */
    uint32_t layer = (uint32_t)(share->layer - share->model->layers);
    uint64_t moved = whole_product(2, model_state_bytes(share->model, layer));
    operator_plain(share, "delta_rule", MODEL_ATTEND, form->own * share->linear_heads,
                   2 * (key + value));
    share->op->data_bytes = whole_sum(share->op->data_bytes, whole_product(share->batch, moved));
    operator_plain(share, "gated_norm", MODEL_POST, form->wide_norm ? value : linear->value_dim,
                   3 * value);
    operator_begin(share, "linear_out", MODEL_POST);
    operator_project(share, MODULE_LINEAR_OUT, value, share->hidden);
    operator_end(share, 0, value + share->hidden);
}

/* ---- DeepSeek-V4's attention --------------------------------------------------------------------
 *
 * One vector of a token is its K and its V, for all heads; beside a window it attends to entries of several
 * tokens, all of them or those that an indexer selects. Weights as in the model's class of Hugging Face
 * transformers. */

static void compressed_in(struct share *share, bool selects)
{
    const struct model *model = share->model;
    uint64_t rank = model->query_lora, dim = layer_key_dim(model, share->layer);
    operator_begin(share, "qkv", MODEL_PRE);
    operator_project(share, MODULE_QUERY_DOWN, share->hidden, rank);
    operator_project(share, MODULE_QUERY_UP, rank, share->query);
    operator_project(share, MODULE_KV_DOWN, share->hidden, dim);
    operator_end(share, rank + dim, share->hidden + 2 * rank + share->query + dim);
    if (share->layer->ratio > 0) {
        /* Values and the weights by which they are averaged, twice as wide where entries overlap. */
        uint64_t out = selects ? 2 * (dim + model->index_dim) : dim;
        operator_begin(share, "compressor", MODEL_PRE);
        operator_multiply(share, DTYPE_BF16, share->hidden, 2 * out);
        operator_end(share, share->layer->ratio * out + dim, share->hidden + 2 * out);
    }
    if (selects) {
        uint64_t out = (uint64_t)model->index_heads * model->index_dim;
        operator_begin(share, "index_query", MODEL_PRE);
        operator_project(share, MODULE_INDEX_QUERY, rank, out);
        operator_multiply(share, DTYPE_BF16, share->hidden, model->index_heads);
        operator_end(share, 0, rank + out + share->hidden + model->index_heads);
    }
    operator_plain(share, "kv_write", MODEL_PRE, 0, dim);
    operator_touch(share, share->batch);
}

static void compressed_attend(struct share *share, bool selects)
{
    const struct model *model = share->model;
    uint64_t sequences = share->batch / share->queries;
    uint64_t window = whole_product(sequences, share->layer->window);
    uint64_t held = share->attended > window ? share->attended - window : 0; /* beside windows */
    uint64_t chosen = whole_product(sequences, model->index_topk);
    /* Entries that one query of each sequence attends to. */
    uint64_t one = share->attended - held + (selects && chosen < held ? chosen : held);
    if (selects) {
        operator_begin(share, "index_score", MODEL_ATTEND);
        share->op->flops =
            2.0 * (double)(held * share->queries) * model->index_heads * model->index_dim;
        share->op->data_bytes = whole_product(held, layer_index_entry(model, share->layer));
    }
    operator_begin(share, "attention", MODEL_ATTEND);
    share->op->matrix = true;
    share->op->rows = (double)(share->heads * share->queries);
    share->op->flops = 4.0 * (double)(one * share->queries) * (double)share->query;
    operator_end(share, share->heads, 2 * share->query);
    operator_touch(share, selects ? one * share->queries : one);
}

static void compressed_operators(struct share *share)
{
    const struct model_extras *extras = &share->model->extras;
    bool selects = layer_selects(share->model, share->layer);
    /* Each group of heads passes through a low rank of its own, then all of them together. */
    uint64_t ranks = whole_share((uint64_t)extras->output_groups * extras->output_lora,
                                 share->model->tensor_parallel);
    compressed_in(share, selects);
    compressed_attend(share, selects);
    operator_begin(share, "o", MODEL_POST);
    operator_project(share, MODULE_OUTPUT, share->query, extras->output_lora);
    operator_project(share, MODULE_OUTPUT, ranks, share->hidden);
    operator_end(share, 0, share->query + 2 * ranks + share->hidden);
}

/* ---- the FFN: dense, or routed to experts with or without shared ones --------------------------- */

/* The gate, if FFNs have one, and the matrix beside it. */
static void project_up(struct share *share, const char *name, enum model_module gate, uint64_t in,
                       uint64_t out, uint64_t bias)
{
    operator_begin(share, name, MODEL_POST);
    if (share->model->gated_ffn) {
        operator_project(share, gate, in, out);
    }
    operator_project(share, gate + 1, in, out);
    operator_end(share, bias, in + (share->model->gated_ffn ? 2 : 1) * out);
}

static void project_down(struct share *share, const char *name, enum model_module module,
                         uint64_t in, uint64_t out, bool bias)
{
    operator_begin(share, name, MODEL_POST);
    operator_project(share, module, in, out);
    operator_end(share, bias ? share->hidden : 0, in + share->hidden);
}

static void dense_operators(struct share *share)
{
    const struct model *model = share->model;
    uint64_t ffn = whole_share(share->layer->ffn, model->tensor_parallel);
    uint64_t ups = model->gated_ffn ? 2 : 1;
    project_up(share, model->gated_ffn ? "gate_up" : "up", MODULE_GATE, share->hidden, ffn,
               model->ffn_bias ? ups * ffn : 0);
    operator_plain(share, "activation", MODEL_POST, 0, (ups + 1) * ffn);
    project_down(share, "down", MODULE_DOWN, ffn, share->hidden, model->ffn_bias);
}

static void router_operators(struct share *share)
{
    uint64_t experts = share->layer->experts;
    operator_begin(share, "router", MODEL_POST);
    operator_multiply(share, DTYPE_BF16, share->hidden, experts);
    if (share->model->shared_gate) {
        operator_multiply(share, DTYPE_BF16, share->hidden, 1);
    }
    operator_end(share, share->model->router_bias ? experts : 0, share->hidden + experts);
    operator_plain(share, "route", MODEL_POST, 0,
                   experts + 2 * (uint64_t)share->layer->experts_per_token);
}

static void shared_operators(struct share *share)
{
    uint64_t width = whole_share((uint64_t)share->layer->shared_experts * share->layer->ffn,
                                 share->model->tensor_parallel);
    project_up(share, "shared_gate_up", MODULE_SHARED_GATE, share->hidden, width, 0);
    operator_plain(share, "shared_activation", MODEL_POST, 0, 3 * width);
    project_down(share, "shared_down", MODULE_SHARED_DOWN, width, share->hidden, false);
}

/* What is moved for one expert is moved for each visit. */
static void visit_experts(struct share *share)
{
    double whole = (double)share->op->data_bytes * share->experts.visits;
    share->op->data_bytes = whole < (double)UINT64_MAX ? (uint64_t)llround(whole) : UINT64_MAX;
}

/* Make one expert's product of the tokens of all ranks one of all the GPU's experts (model_experts_of()). */
static void spread_over_experts(struct share *share)
{
    const struct model_experts *experts = &share->experts;
    struct model_operator *op = share->op;
    double read = experts->held * (1.0 - experts->unread);
    uint64_t held = whole_product(op->weight_bytes, experts->held);
    uint64_t unread = (uint64_t)llround((double)held * experts->unread);
    op->weight_bytes = unread < held ? held - unread : 0;
    op->matrices *= experts->held;
    op->flops *= experts->visits;
    op->rows = read > 0 ? (double)share->routed * experts->visits / read : 0;
    op->grouped = true;
    visit_experts(share);
}

/* Experts that work in a narrower space: the tokens go there once, before they are sent. */
static void cross_widths(struct share *share, const char *name, uint64_t in, uint64_t out,
                         uint64_t norm)
{
    operator_begin(share, name, MODEL_POST);
    operator_multiply(share, share->model->weights, in, out);
    operator_end(share, norm, in + out);
}

static void expert_operators(struct share *share)
{
    const struct model *model = share->model;
    uint64_t hidden = share->hidden, own = share->batch, columns = share->experts.columns;
    uint64_t dim = model->expert_dim > 0 ? model->expert_dim : hidden;
    if (dim != hidden) {
        cross_widths(share, "experts_narrow", hidden, dim, model->expert_latent_norm ? dim : 0);
    }
    share->batch = share->routed; /* one expert, for the tokens of all ranks */
    project_up(share, "experts_gate_up", MODULE_EXPERT_GATE, dim, columns,
               model->ffn_bias ? 2 * columns : 0);
    spread_over_experts(share);
    operator_plain(share, "experts_activation", MODEL_POST, 0, 3 * columns);
    visit_experts(share);
    project_down(share, "experts_down", MODULE_EXPERT_DOWN, columns, dim, model->ffn_bias);
    spread_over_experts(share);
    share->batch = own;
    if (dim != hidden) {
        cross_widths(share, "experts_widen", dim, hidden, 0);
    }
    /* The outputs of a token's experts and of the shared ones are added up. */
    uint64_t read = share->layer->experts_per_token + (share->layer->shared_experts > 0 ? 1U : 0U);
    operator_plain(share, "combine", MODEL_POST, 0, (read + 1) * hidden);
}

static void ffn_operators(struct share *share)
{
    const struct model_layer *layer = share->layer;
    bool dense = !layer->routed && layer->ffn > 0, any = dense || layer->routed;
    if (any && share->model->layer_norms > 1) {
        operator_norm(share, "norm", MODEL_POST, 4);
    }
    if (dense) {
        dense_operators(share);
    }
    if (layer->routed) {
        router_operators(share);
    }
    if (layer->shared_experts > 0) {
        shared_operators(share);
    }
    if (layer->routed) {
        expert_operators(share);
    }
    if (any && share->model->layer_norms == 4) {
        operator_norm(share, "ffn_norm", MODEL_POST, 2);
    }
}

/* ---- beside attention and FFN (struct model_extras) ----------------------------------------------
 *
 * Weights as in the models' classes of Hugging Face transformers. */

/* Several streams of hidden states are mixed before and after a layer: by AltUp's small matrices, a
 * router and two norms; by hyper-connections around attention and around the FFN, of fp32. */
static void mix_streams(struct share *share, uint64_t streams)
{
    uint64_t all = streams * share->hidden, weights = 0;
    operator_begin(share, "stream_mix", MODEL_POST);
    if (share->model->extras.hyper_connections) {
        operator_multiply(share, DTYPE_BF16, all, 2 * 2 * (2 + streams) * streams);
    } else {
        operator_multiply(share, DTYPE_BF16, share->hidden, streams);
        weights = streams * streams * (streams + 1) + 2 * share->hidden;
    }
    operator_end(share, weights, 4 * all);
}

static void extra_operators(struct share *share)
{
    const struct model_extras *extras = &share->model->extras;
    uint64_t hidden = share->hidden, rank = extras->residual_rank, dim = extras->token_dim;
    if (rank > 0) { /* Gemma 3n's LAuReL: to a low rank and back, and a norm */
        operator_begin(share, "residual_rank", MODEL_POST);
        operator_multiply(share, DTYPE_BF16, hidden, rank);
        operator_multiply(share, DTYPE_BF16, rank, hidden);
        operator_end(share, hidden, 2 * (hidden + rank));
    }
    /* The token's own input: its row of a table, a projection of the embedding, a gate, one back, a norm. */
    if (dim > 0) {
        operator_begin(share, "token_input", MODEL_POST);
        for (int i = 0; i < 3; i++) {
            operator_multiply(share, DTYPE_BF16, hidden, dim);
        }
        operator_end(share, hidden, 3 * (hidden + dim));
    }
    if (extras->streams > 1) {
        mix_streams(share, extras->streams);
    }
}

static void edge_operators(struct share *share)
{
    const struct model *model = share->model;
    uint64_t hidden = share->hidden, words = whole_share(model->vocabulary, model->tensor_parallel);
    operator_plain(share, "embedding", MODEL_EDGE, 0, (model->learned_positions ? 3 : 2) * hidden);
    if (model->extras.streams > 1 && !model->extras.hyper_connections) {
        /* AltUp makes each further stream of the embedding, and brings it back, by a matrix. */
        uint64_t out = 2 * ((uint64_t)model->extras.streams - 1) * hidden;
        operator_begin(share, "stream_ends", MODEL_EDGE);
        operator_multiply(share, DTYPE_BF16, hidden, out);
        operator_end(share, 0, 2 * out);
    }
    operator_norm(share, "norm", MODEL_EDGE, 4);
    bool plain = model->tied_embeddings || model->exempt_head;
    operator_begin(share, "head", MODEL_EDGE);
    operator_multiply(share, plain ? DTYPE_BF16 : model->weights, hidden, words);
    operator_end(share, 0, hidden + words);
}

/* ---- layer and edge ---- */

/* A query of MLA has a rotated part beside its heads' own; a compressed one within them. */
static void share_layer(struct share *share, uint32_t index)
{
    const struct model *model = share->model;
    const struct model_linear *linear = &model->linear;
    const struct model_layer *layer = &model->layers[index];
    bool latent = layer->attention == ATTENTION_MLA;
    uint64_t key = layer_key_dim(model, layer), value = layer_value_dim(model, layer);
    share->layer = layer;
    share->heads = model_query_heads(model);
    share->kv_heads = whole_share(layer_kv_heads(model, layer), model->tensor_parallel);
    share->query = share->heads * (key + (latent ? model->rope_dim : 0));
    share->key = share->kv_heads * key;
    share->value = share->kv_heads * value;
    share->result = share->heads * value;
    share->kv_bytes = model_kv_entry_bytes(model, index);
    share->parts = model_context_parts(model, index);
    share->linear_heads = whole_share(linear->value_heads, model->tensor_parallel);
    share->linear_value = share->linear_heads * linear->value_dim;
    share->linear_key =
        whole_share(linear->key_heads, model->tensor_parallel) * (uint64_t)linear->key_dim;
    if (layer->routed) {
        share->experts = model_experts_of(model, layer, share->routed);
    }
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
    struct share share = {.model = model,
                          .batch = rows.own,
                          .queries = rows.queries > 0 ? rows.queries : 1,
                          .attended = attended,
                          .routed = rows.all,
                          .hidden = model->hidden,
                          .out = out};
    if (layer == model->layer_count) {
        edge_operators(&share);
        return share.count;
    }
    share_layer(&share, layer);
    enum attention_kind kind = share.layer->attention;
    if (kind != ATTENTION_NONE) {
        operator_norm(&share, "norm", MODEL_PRE, 4);
    }
    if (layer_kinds[kind].heads || kind == ATTENTION_MLA) {
        attention_operators(&share);
    }
    if (model->layer_norms == 4) {
        operator_norm(&share, "attention_norm", MODEL_POST, 2);
    }
    if (kind == ATTENTION_LINEAR) {
        linear_operators(&share);
    } else if (kind == ATTENTION_COMPRESSED) {
        compressed_operators(&share);
    }
    ffn_operators(&share);
    extra_operators(&share);
    return share.count;
}
