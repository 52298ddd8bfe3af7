/* The geometry of a transformer: bytes and FLOPs of its weights, KV cache and operators.
 *
 * Read from a Hugging Face config.json. An unknown architecture is read by its keys: what they do
 * not say (norms, biases) is left out, and `known` is false. All figures are exact integers of one
 * GPU of those that share the model (parallel.h), the fullest one. Attention heads and FFN columns
 * are split over `tensor_parallel` GPUs; so are KV heads, until there are fewer than GPUs (then
 * replicated, unless the GPUs divide the tokens: parallel.h). MLA's latent KV is not split. Norms,
 * routers, DeepSeek's indexer and learned positions are replicated. The embedding and the output
 * head are split over the vocabulary. A result past 64 bits stays at UINT64_MAX.
 *
 * Decode reads every weight once a step, whatever the batch, except routed experts: of E experts
 * with k a token, b tokens read E · (1 − (1 − k/E)^b) of them on average (uniform routing). These
 * are the tokens of all data-parallel ranks, and a GPU reads those of the experts that it holds.
 *
 * A storage type applies to the matrices of the layers. Norms, biases, routers and the embedding
 * stay in bf16; so does the output head, unless quantization_config includes it, and so do the
 * modules that quantization_config exempts. */
#pragma once

#include "core/error.h"

#include <stdint.h>

struct files;
struct node;

/* Sums and products that stay at UINT64_MAX instead of wrapping: a size past 64 bits is too large
 * for any memory, and must never come out small. */
static inline uint64_t whole_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t whole_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* a / b, rounded up; a is far from UINT64_MAX. */
static inline uint64_t whole_share(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}

/* Storage types. Bits per value, scales included: nvfp4 4.5 (an 8-bit scale for 16 values), mxfp4 4.25 (one
 * for 32), int4 4.125 (an fp16 scale for 128, unless a config says otherwise: struct model_scales), int8 and
 * fp8 8. Scales of whole tensors, of outputs in 8 bits, or of blocks of 128 by 128 are not counted. Weights
 * of mxfp4-fp8 are those of mxfp4, which meet activations of fp8. */
enum dtype {
    DTYPE_BF16,
    DTYPE_FP8,
    DTYPE_INT8,
    DTYPE_INT4,
    DTYPE_MXFP4,
    DTYPE_MXFP4_FP8,
    DTYPE_NVFP4,
    DTYPE_COUNT
};
const char *dtype_name(enum dtype dtype);
bool dtype_find(const char *name, const char *file, int line, enum dtype *out, struct error *why);

/* Bytes that `count` values take, rounded up. */
uint64_t dtype_bytes(enum dtype dtype, uint64_t count);

/* How GPUs share a model beside tensor parallelism; parallel.h explains it. */
struct model_parallel {
    uint32_t data, experts, pipeline; /* >= 1 */
    bool all_to_all;  /* tokens are sent to the GPUs of their experts, instead of to all GPUs */
    double skew;      /* exponent of Zipf's law by which experts are chosen; 0: all alike */
    uint32_t context; /* parts of the KV of layers that keep every token; 0 is 1 */
};

struct model_options {
    int weights, kv; /* enum dtype, or -1: as the model says (quantization_config), else bf16 */
    uint32_t tensor_parallel;  /* >= 1 */
    const struct node *config; /* keys in place of those of config.json, or NULL; borrowed */
};

/* What a quantised checkpoint stores beside weights of `dtype`: `bits` of scale and zero point for each
 * `group` of an output's inputs (0: for all of them), and `order` bits for each input. */
struct model_scales {
    enum dtype dtype;
    uint32_t group, bits, order; /* bits 0: as the type has them */
};

/* Rows of layer_kind.h, which says what each keeps. */
enum attention_kind {
    ATTENTION_FULL,
    ATTENTION_SLIDING,
    ATTENTION_CHUNKED,
    ATTENTION_LINEAR,
    ATTENTION_MLA,
    ATTENTION_COMPRESSED,
    ATTENTION_NONE
};
enum { ATTENTION_KINDS = ATTENTION_NONE + 1 };

/* The matrices of a decoder layer, as quantisation names them. */
enum model_module {
    MODULE_QUERY,
    MODULE_KEY,
    MODULE_VALUE,
    MODULE_OUTPUT,
    MODULE_QUERY_DOWN, /* MLA: to the latent and from it */
    MODULE_QUERY_UP,
    MODULE_KV_DOWN,
    MODULE_KV_UP,
    MODULE_INDEX_QUERY,
    MODULE_INDEX_KEY,
    MODULE_LINEAR_IN, /* linear layers */
    MODULE_LINEAR_OUT,
    MODULE_GATE, /* dense FFN */
    MODULE_UP,
    MODULE_DOWN,
    MODULE_SHARED_GATE,
    MODULE_SHARED_UP,
    MODULE_SHARED_DOWN,
    MODULE_EXPERT_GATE,
    MODULE_EXPERT_UP,
    MODULE_EXPERT_DOWN,
    MODULE_COUNT
};

/* Their names in models/architectures.yaml, which has those that checkpoints give them; ends with NULL. */
extern const char *const module_words[MODULE_COUNT + 1];

/* One decoder layer of the whole model (not yet split over GPUs). */
struct model_layer {
    enum attention_kind attention;
    uint32_t window; /* tokens, of a sliding, chunked or compressed layer */
    uint32_t ratio;  /* tokens of an entry of a compressed layer; 0: it has a window alone */
    uint32_t kv_heads, head_dim; /* its own; 0: those of the model */
    bool shares_kv;              /* reads the KV of an earlier layer, and keeps none */
    bool tied_value;             /* V has no weights: it is K before norm and positions */
    bool unrotated;              /* Q and K carry no positions, and no norm */
    bool shares_index;           /* attends to what the layer before selected */
    bool routed;                 /* mixture of experts */
    uint32_t ffn;                /* width of the dense FFN, or of one expert; 0: there is no FFN */
    uint32_t experts, experts_per_token, shared_experts;
    uint32_t exempt; /* bits of enum model_module: matrices left in bf16 */
};

/* Gated delta rule, Kimi's delta attention, Mamba-2. */
enum linear_kind { LINEAR_DELTA, LINEAR_KIMI, LINEAR_MAMBA, LINEAR_KINDS };

/* Heads of linear layers; all 0 if there are none. Of Mamba, K are its groups of B and C. */
struct model_linear {
    enum linear_kind kind;
    uint32_t key_heads, value_heads, key_dim, value_dim;
    uint32_t kernel;      /* tokens that the convolution sees */
    uint32_t state_bytes; /* of a value of the recurrent state */
    bool full_gate;       /* Kimi's output gate is one matrix, not two of a low rank */
};

/* What some decoders have beside layers of attention and FFN; all 0 if they do not. */
struct model_extras {
    uint32_t token_dim, token_vocabulary; /* an embedding of each token for each layer (Gemma 3n) */
    uint32_t residual_rank; /* a projection beside attention, of this rank (Gemma 3n's LAuReL) */
    uint32_t streams;       /* of hidden states: AltUp's, or DeepSeek-V4's hyper-connections */
    bool hyper_connections;
    uint32_t output_groups, output_lora; /* DeepSeek-V4's output: a low rank for each group */
    uint64_t encoders;                   /* weights of vision and audio, which cost memory only */
};

struct model {
    char name[64];
    char architecture[64];
    uint32_t layer_count, hidden, query_heads, kv_heads, vocabulary;
    uint32_t head_dim;        /* of MLA: the part of a query that carries no position */
    uint32_t trained_context; /* tokens; 0 unknown */
    bool learned_positions;   /* a context past the trained one cannot run (OPT) */
    bool known;               /* the architecture is a row, not read by its keys alone */
    bool gated_ffn, tied_embeddings, query_key_norm, attention_sinks;
    bool plain_query_key_norm; /* without weights */
    bool wide_query_key_norm;  /* over all heads together */
    bool gated_attention;      /* a gate of the output: it comes with Q, or with a latent */
    bool shared_gate;          /* the shared expert has a gate of its own */
    bool query_bias, output_bias, ffn_bias, router_bias, norm_bias; /* query_bias: Q, K and V */
    uint32_t layer_norms; /* of a layer: 2, 4 with norms after attention and FFN; 1: FFN has none */
    uint32_t kv_lora, query_lora;                /* MLA; 0 otherwise */
    uint32_t rope_dim;                           /* rotated part of a latent or compressed entry */
    uint32_t value_dim;                          /* of V, if it differs from K; 0: it does not */
    uint32_t index_heads, index_dim, index_topk; /* DeepSeek's own indexer; 0 otherwise */
    uint32_t expert_dim;                         /* width that experts read and write; 0: hidden */
    bool expert_latent_norm;                     /* with a norm of that width */
    struct model_linear linear;                  /* of linear layers */
    struct model_extras extras;
    bool own_code;         /* its files have code that an engine must be allowed to run */
    uint32_t stored_bytes; /* of a weight in its files; 0: it is quantised */
    uint64_t indexed;      /* bytes of its files by their index, if far off the config's; else 0 */
    uint64_t counted;      /* those of the config */
    struct model_layer *layers;      /* owned */
    enum dtype weights, experts, kv; /* experts: of routed ones, the same but in mixed formats */
    struct model_scales scales;
    uint32_t fp8_block; /* rows and columns of a checkpoint in fp8 that share a scale; 0: others */
    bool exempt_head;   /* the output head is in bf16 */
    uint32_t tensor_parallel;
    struct model_parallel parallel; /* 1 of each, until model_share() */
    float *importance;              /* [layer_count * kv_heads], 0 ... 1, owned; NULL: no table */
    float *query_importance; /* [layer_count * query_heads], by KV head, owned; NULL: none said */
    char importance_source[128];
    bool importance_drawn, queries_drawn; /* from the tables of other models */
};

/* Load by name (models/NAME.json), by the path of a config.json or its folder, or by a Hugging Face id;
 * X.heads.tsv beside X.json is the importance of its heads. `file`, `line`: where the name stood. On failure
 * `out` holds nothing to release. */
bool model_load(struct files *files, const char *name, const struct model_options *options,
                const char *file, int line, struct model *out, struct error *why);

/* Draw importances that a model's table does not say, of heads at the same depth of models whose tables ship.
 * Each of MODEL_DRAWS draws takes its KV heads from another model, so that a range over draws is one over
 * models. Query heads are like those of Llama-2-7B, the only ones that somebody trained one by one: each
 * has a KV head of its own. A group keeps the KV that any of its heads needs, so its most important one is
 * as important as the KV head; without `queries` they are left out. */
enum { MODEL_DRAWS = 3 };
bool model_draw_importance(struct files *files, uint64_t seed, uint32_t draw, bool queries,
                           struct model *model, struct error *why);
void model_release(struct model *model);

/* KV heads of a layer with full attention on the fullest GPU (MLA: one); and query heads. */
uint32_t model_kv_heads(const struct model *model);
uint32_t model_query_heads(const struct model *model);

/* Query heads for each KV head, on one GPU. */
double model_query_group(const struct model *model);

/* Bytes on one GPU. kv_head: K and V of one token of one KV head of a layer with full attention. kept_token:
 * of one token in all its heads. kv_entry: what attention in `layer` reads for an entry (layer_kind.h), its
 * own or of the layer that it shares KV with. kv_token: what a token adds to what `layer` keeps while it
 * keeps all; kv_tokens: of all layers. state: what one sequence takes in a layer whatever its length.
 * layer_kv: what `layer` keeps of a sequence of `context` tokens; kv: what all layers keep. activation: a
 * checkpoint of one token's activations in a layer, which is not split. The keys of DeepSeek's indexer count
 * as metadata of the retrieval, not as KV, but in compressed layers; index: those of a whole sequence. */
uint64_t model_kv_head_bytes(const struct model *model);
uint64_t model_kept_token_bytes(const struct model *model);
uint64_t model_kv_entry_bytes(const struct model *model, uint32_t layer);
uint64_t model_kv_token_bytes(const struct model *model, uint32_t layer);
uint64_t model_kv_tokens_bytes(const struct model *model);
uint64_t model_state_bytes(const struct model *model, uint32_t layer);
uint64_t model_layer_kv_bytes(const struct model *model, uint32_t layer, uint64_t context);
uint64_t model_kv_bytes(const struct model *model, uint64_t context);
uint64_t model_index_bytes(const struct model *model, uint64_t context);
uint64_t model_activation_bytes(const struct model *model);

/* Entries that `layer` keeps at `context`, tokens in most kinds: of chunks, the most that it ever keeps. */
uint64_t model_layer_tokens(const struct model *model, uint32_t layer, uint64_t context);

/* Tokens that it attends to: those it keeps; of chunks, past the first, the mean over a chunk. */
uint64_t model_layer_attended(const struct model *model, uint32_t layer, uint64_t context);

/* Does `layer` keep less than every token: a window, a chunk, a state, compressed entries, another's KV? */
bool model_layer_local(const struct model *model, uint32_t layer);

/* Is `layer` built like the one before it, so that all figures but the heads' importance hold for it, too? */
bool model_layer_repeats(const struct model *model, uint32_t layer);

/* The first layer that is like this one in that sense. */
uint32_t model_layer_first(const struct model *model, uint32_t layer);

/* Weight bytes that one GPU holds: of all, in the fullest stage; of one layer; of a matrix of `dtype`, with
 * its scales; of embedding, final norm and head, if one stage has them all, with encoders. */
uint64_t model_weight_bytes(const struct model *model);
uint64_t model_layer_weight_bytes(const struct model *model, uint32_t layer);
uint64_t model_matrix_bytes(const struct model *model, enum dtype dtype, uint64_t in, uint64_t out);
uint64_t model_edge_weight_bytes(const struct model *model);

/* Parameters of the whole model, with encoders. */
uint64_t model_parameters(const struct model *model);

/* How many weights a whole model has, by part: all, those that one token uses, and their bytes. */
enum model_part_id {
    PART_EMBEDDING, /* tables of words and positions, the final norm, and a head of its own */
    PART_MIXERS,    /* attention, or what a layer has in its place, with norms */
    PART_FFN,       /* dense and shared */
    PART_EXPERTS,   /* routed, with their routers */
    PART_ENCODERS,  /* of images and sound, about (read/config.c) */
    MODEL_PARTS
};
extern const char *const model_part_names[MODEL_PARTS];

struct model_part {
    uint64_t total, active;      /* weights; a token uses one row of a table */
    uint64_t bytes[DTYPE_COUNT]; /* on all GPUs together if nothing is copied, by type */
};

void model_parts(const struct model *model, struct model_part parts[MODEL_PARTS]);

/* Where an operator runs in a layer's decode. */
enum model_stage { MODEL_PRE, MODEL_ATTEND, MODEL_POST, MODEL_EDGE, MODEL_STAGE_COUNT };

/* One operator of a decode step on one GPU, fused about as serving engines do. */
struct model_operator {
    const char *name; /* "qkv", "rope", "attention", "o", "gate_up", "experts_down", ... */
    enum model_stage stage;
    double flops; /* of matrix products and attention; elementwise work is in the bytes */
    double rows; /* of a matrix product: tokens; tokens of one expert; query heads of one KV head */
    uint64_t weight_bytes; /* read once */
    uint64_t matrices;     /* that hold the weights, of like size: Q, K, V, or all experts' */
    uint64_t data_bytes;   /* activations and KV, read and written */
    uint64_t in, out;      /* widths of the product: its matrices that read the same stand side by
                              side; of one expert; 0 if they read different activations */
    bool matrix;           /* a matrix product: runs on the tensor cores */
    bool grouped;          /* of experts: one product for each of those chosen */
    bool neurons;          /* of a dense FFN */
    enum dtype weights;    /* the type of a product's weights */
};
#define MODEL_MOST_OPERATORS 32

/* The rows of a pass: one rank's own, and those of all ranks that share experts with it. `queries`
 * rows are of one sequence and read its KV together, as when drafts are verified; 0 is 1. */
struct model_rows {
    uint64_t own, all;
    uint64_t queries;
};

/* `batch` rows when every rank has as many. */
struct model_rows model_rows(const struct model *model, uint64_t batch);

/* Write the operators of `layer` (layer_count: embedding, norm, head) in program order when `rows` attend to
 * `attended` tokens, those read together counted once. Returns their number, at most MODEL_MOST_OPERATORS.
 * The indexer's scoring and selection belong to the retrieval. */
size_t model_row_operators(const struct model *model, uint32_t layer, struct model_rows rows,
                           uint64_t attended, struct model_operator *out);

/* The same of `batch` sequences when every rank has as many. */
size_t model_operators(const struct model *model, uint32_t layer, uint64_t batch, uint64_t attended,
                       struct model_operator *out);

/* FLOPs to prefill one sequence on one GPU: half the square, local layers their window, DeepSeek's its
 * selection and the indexer's scores. Only the last token goes through the head. */
double model_prefill_flops(const struct model *model, uint64_t tokens);

/* The FLOPs of attention in one layer; the rest are those of its operators with `tokens` rows. */
double model_prefill_attention_flops(const struct model *model, uint32_t layer, uint64_t tokens);

/* Bytes of the states that a layer of linear attention moves, once for every MODEL_LINEAR_CHUNK tokens. */
#define MODEL_LINEAR_CHUNK 64
double model_prefill_state_bytes(const struct model *model, uint32_t layer, uint64_t tokens);
