/* Attention of the prompts of a step in one layer: one call for all of them, and, in a server whose
 * engine does so, for the sequences that decode in the same step.
 *
 *   fixed + max(bytes, blocks)
 *   blocks = max(FLOPs, mean block) + last block - mean block + empty blocks
 *
 * A kernel takes PROMPT_BLOCK rows of one query head at a time and lets them attend to one token
 * after the other, prompt_token each. If there are more blocks than the GPU holds, their FLOPs
 * count: those of all rows, which cost as if each attended to prompt_extra more tokens. The blocks
 * that start last may be the longest ones, and then the GPU waits for them.
 *
 * FlashAttention 2 gives every sequence of a call as many blocks as the prompt with most rows has. A sequence
 * that decodes fills one of these with a single row, and leaves the others empty (prompt_block each). Its
 * query heads no longer share their KV in registers: they do in the L2, if that holds the KV of one KV head
 * of all sequences; otherwise those read HBM again that do not run at the same time.
 * (flash_fwd_launch_template.h, run_flash_splitkv_fwd: the grid.) Triton's kernels in SGLang load a tile of K
 * and V, then multiply (extend_attention.py, num_stages=1): each SM waits prompt_wait for it. */
#pragma once

#include "decode/cost/cost.h"
#include "decode/cost/kernel_time.h"
#include "decode/setup.h"

enum { PROMPT_BLOCK = 64, PROMPT_TILE = 128 };

struct prompt_attention {
    double heads, kv_heads; /* of a GPU */
    double token_flops;     /* of a row of one query head for each token that it attends to */
    double token_bytes;     /* of K and V of a token in one KV head */
    double flops, bytes;    /* of prompts: all rows; K, V, states, queries, outputs */
    double prompts, rows;   /* their number, and rows of all */
    double most_rows;       /* of one prompt */
    double blocks;          /* of prompts, for each query head */
    double block_tokens;    /* that these attend to, summed; each as much as its mean row */
    double longest;         /* tokens that a prompt's last row attends to, of the longest */
    double decodes;         /* sequences that decode in the same call */
    double decode_tokens;   /* that all of these attend to */
    bool waits;             /* mechanisms.prompt_waits */
};

/* Add the rows [start, start + tokens) of a prompt. The others of a call have the same layer. */
void prompt_attention_add(struct prompt_attention *work, const struct model *model, uint32_t layer,
                          uint64_t start, uint64_t tokens);

/* The time of the call. Without figures of prompts, and for linear attention, it is a product. */
struct kernel kernel_prompt_attention(const struct profile *profile,
                                      const struct prompt_attention *work);

/* Where the CPU attends to a part of the context, and with how many threads (decode/time/hybrid.h). */

#define CPU_AVERAGE_BYTES 4.0 /* the average attention of an entry, kept beside it: fp32 */

/* Does the CPU attend to a part of this layer? And is that what is selected of it? */
bool cpu_attends(const struct setup *setup, uint32_t layer);
bool cpu_attends_selected(const struct setup *setup, uint32_t layer);

/* Selections of a KV head to which the CPU attends one by one: one, or one of each query head. */
double cpu_selections(const struct setup *setup);

/* Does the CPU attend to all KV of this layer, which is loaded whole? With how many threads for one GPU? */
bool cpu_attends_whole(const struct setup *setup, uint32_t layer);
uint32_t cpu_whole_threads(const struct setup *setup, struct trust *trust);

/* Retrieval: the cost of finding a selection. Every system uses one formula with the constants of
 * its preset; a model's own indexer (DeepSeek-V3.2) uses the model's geometry.
 *
 *     an entry  holds   keys * a key + bytes         one a KV head and token, page or cluster
 *     scoring   moves   entries * (entry + scores)   bytes in HBM
 *               takes   2 FLOPs                      for each value compared, a query head
 *     top-k     sorts   a score an entry             of each KV head, or of each query head
 *
 * Codes (hash or product quantisation) are compared without matrix products: no FLOPs. */

/* Bytes of an entry of one KV head. */
double retrieval_entry_bytes(const struct setup *setup);

/* Copies of K, V and entries that `repeat_kv` makes for the query heads of one KV head; 0 if it
 * makes none. With MLA all heads read the same latents, so there are none. */
uint32_t retrieval_copies(const struct setup *setup);

/* Bytes of the scores that top-k sorts, for `entries` entries of KV heads and all queries. */
double retrieval_score_bytes(const struct setup *setup, double entries);

/* Scoring `entries` entries, those of all `pairs` (sequence, KV head) pairs, and top-k over the
 * scores of each query. The queries of a verification read the entries together. A model's own
 * indexer selects in one kernel, all others sort. */
struct kernel retrieval_cost(const struct setup *setup, double entries, double pairs);

/* Running the share of the query projection that speculation repeats. */
struct kernel retrieval_query_cost(const struct setup *setup);

/* The time to build a retrieval's index from the keys of a prompt, in prefill.
 *
 * An index in HBM takes a kernel that reads all keys once. Clusters take k-means on the GPU: each
 * iteration compares each key with the centroids of its segment.
 *
 * An index on the host is built there from the keys that leave HBM. PQCache (Zhang et al., SIGMOD 2025) uses
 * product quantisation, with `cluster_centroids` centroids for each head and subspace. `cluster_threads`
 * threads run Lloyd's k-means, which compares all keys with them in each iteration: in its public code as
 * many as the GPU's time for a layer hides, from `cluster_iterations` to `cluster_iterations_most`.
 * scikit-learn passes over the keys `cluster_passes` times besides. So only the training of the last layer
 * adds time, unless the minimum takes longer than a layer hides. */

/* Does the prefill run k-means on the host? */
bool index_build_by_cpu(const struct setup *setup);

/* The work of building a layer's index in one pass; all 0 at first. */
struct indexing {
    double rows, keys; /* tokens of prompts, and keys of all their KV heads */
    double compared;   /* pairs of a key and a centroid of its segment, an iteration */
};

/* Add `sequences` prompts of `prompt` tokens, if the layer has an index to build and not a model's own. */
void index_build_add(const struct setup *setup, uint32_t layer, uint64_t prompt, uint32_t sequences,
                     struct indexing *indexing);

/* The build on the GPU; costs nothing without an index in HBM. */
struct kernel index_build(const struct setup *setup, const struct indexing *indexing);

/* The build on the host, in ns, beside `hidden_ns` of the GPU; 0 without an index there. */
double index_build_host_ns(const struct setup *setup, const struct indexing *indexing,
                           double hidden_ns, struct trust *trust);
