/* What the responses of a server say about the top-k indices that they hold. Internal to this
 * folder.
 *
 * SGLang, `--enable-return-indexer-topk` and "return_indexer_topk" in a request (pull request
 * 24392; read at sgl-project/sglang, python/sglang/srt/state_capturer/ at 0564b52):
 *
 *   - `meta_info` of a response of /generate has `prompt_tokens`, `completion_tokens` and
 *     `indexer_topk` (managers/tokenizer_manager.py). Several prompts or answers give an array of
 *     responses. A chat completion with "return_meta_info" has `meta_info` in each of `choices`.
 *   - `indexer_topk` is base64 of little-endian int32 of shape (tokens, layers, k). `tokens` are
 *     prompt_tokens + completion_tokens - 1: all but the last one, which was never an input
 *     (base.py, BaseTopkCapturer.get_topk; batch_result_processor.py).
 *   - `layers` are all layers of DeepSeek-V3.2 and GLM: a layer that reuses the indices of an
 *     earlier one has a copy of them (forward_mla.py). Of DeepSeek-V4 they are the layers with an
 *     index over 4 tokens each (configs/model_config.py, get_num_indexer_layers). The response does
 *     not give their number; SGLang's branch for training has it as `indexer_topk_num_layers` (pull
 *     request 26684).
 *   - An index is a position in the sequence where top-k and page table are not fused
 *     (SGLANG_DSA_FUSE_TOPK=0, and wherever HiSparse decodes), else the number of a slot of the
 *     KV pool (layers/attention/dsa/dsa_topk_backend.py, topk_transform). -1 is padding. The
 *     indices of a row are a set: its order means nothing.
 *   - Rows of prompt tokens are not always captured: dense prefill of short prompts selects
 *     nothing. Those of generated tokens are. */
#ifndef TRACE_IMPORT_INDEXER_RESPONSES_H
#define TRACE_IMPORT_INDEXER_RESPONSES_H

#include "trace/import/import.h"

#define INDEXER_KEY "indexer_topk"

/* One answer. Its steps are the tokens from `context` up to `tokens`. */
struct indexer_response {
    uint32_t request; /* its number in the file, from 1 */
    int line;
    uint64_t number;  /* of its long string (json_objects.h) */
    uint32_t tokens;  /* that have a row */
    uint32_t context; /* of the trace: tokens before the first step */
    uint32_t layers, k;
    uint32_t units; /* of the trace: the largest one plus 1 */
};

struct indexer_responses {
    struct indexer_response *items; /* owned; only those that have a step, in the file's order */
    uint32_t count;
    size_t capacity;
};

/* Read all responses of the file but their indices. Responses that hold none, or have impossible
 * numbers, are faults in the report, which also counts those without a step. Release frees what
 * was read, also after a failure. */
bool indexer_responses_read(const char *path, const struct import_options *options,
                            struct indexer_responses *responses, struct import_report *report,
                            struct error *why);
void indexer_responses_release(struct indexer_responses *responses);

#endif
