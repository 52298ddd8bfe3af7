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
 * FlashAttention 2 gives every sequence of a call as many blocks as the prompt with most rows has.
 * A sequence that decodes fills one of these with a single row, and leaves the others empty
 * (prompt_block each). Its query heads no longer share their KV in registers: they do in the L2,
 * if that holds the KV of one KV head of all sequences; otherwise those read HBM again that do not
 * run at the same time. (flash_fwd_launch_template.h, run_flash_splitkv_fwd: the grid.)
 */
#pragma once

#include "decode/cost/kernels.h"
#include "decode/setup.h"

enum { PROMPT_BLOCK = 64 };

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
};

/* Add the rows [start, start + tokens) of a prompt. The others of a call have the same layer. */
void prompt_attention_add(struct prompt_attention *work, const struct model *model, uint32_t layer,
                          uint64_t start, uint64_t tokens);

/* The time of the call. Without figures of prompts, and for linear attention, it is a product. */
struct kernel kernel_prompt_attention(const struct profile *profile,
                                      const struct prompt_attention *work);

/* Where the CPU attends to a part of the context, and with how many threads. decode/time/hybrid.h
 * shows how a step of such a layer runs.
 */

#define CPU_AVERAGE_BYTES 4.0 /* the average attention of an entry, kept beside it: fp32 */

/* Does the CPU attend to a part of this layer? */
bool cpu_attends(const struct setup *setup, uint32_t layer);

/* Does the CPU attend to all KV of this layer, which is loaded whole (decode/time/hybrid.h)? And
 * with how many threads for one GPU? */
bool cpu_attends_whole(const struct setup *setup, uint32_t layer);
uint32_t cpu_whole_threads(const struct setup *setup, struct trust *trust);

/* Threads of the CPU pool that attend for one GPU; 0 if the CPU attends to nothing. Lowers `trust`
 * to that of the host figures it reads. */
uint32_t cpu_attention_threads(const struct setup *setup, struct trust *trust);
