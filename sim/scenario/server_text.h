/* What a server says about itself, as keys of a scenario: the start-up log of vLLM or SGLang, the
 * command that starts it, or its /metrics in Prometheus' text format.
 *
 *   (APIServer pid=1) INFO ... non-default args: {'model': 'Qwen/Qwen3-8B', 'max_num_seqs': 64}
 *   (EngineCore pid=7) INFO ... Initializing a V1 LLM engine (v0.19.0) with config: model='...', ...
 *   (EngineCore pid=7) INFO ... GPU KV cache size: 41,408 tokens
 *   [...] server_args=ServerArgs(model_path='...', tp_size=2, mem_fraction_static=0.85, ...)
 *   [...] max_total_num_tokens=430913, chunked_prefill_size=8192, ..., max_running_requests=2048, ...
 *   vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2 --max-num-seqs=64
 *   docker run ... vllm/vllm-openai:v0.19.0 --model meta-llama/Llama-3.1-8B
 *   vllm:cache_config_info{block_size="16",num_gpu_blocks="2588",...} 1.0
 *
 * A file may hold several of these; what stands later wins. Lines of other kinds are passed over. A
 * model stays the name that the server has for it: an id of Hugging Face or a path.
 */
#ifndef SCENARIO_SERVER_TEXT_H
#define SCENARIO_SERVER_TEXT_H

#include "base/error.h"

#include <stddef.h>

enum server_fact_id {
    FACT_MODEL,
    FACT_SYSTEM,
    FACT_ENGINE,
    FACT_TENSOR_PARALLEL,
    FACT_DATA_PARALLEL,
    FACT_PIPELINE_PARALLEL,
    FACT_EXPERT_PARALLEL,
    FACT_REPLICAS,
    FACT_MAX_SEQUENCES,
    FACT_BATCHED_TOKENS,
    FACT_HBM_USABLE,
    FACT_KV_DTYPE,
    FACT_WEIGHTS_DTYPE,
    FACT_KV_POOL,
    FACT_COUNT
};
extern const char *const server_fact_keys[FACT_COUNT]; /* "model", ..., "dtype.kv", ... */

struct server_fact {
    char value[256]; /* of the key; "": the text does not say */
    char said[40];   /* the server's name for it */
    int line;
};

struct server_facts {
    struct server_fact all[FACT_COUNT];
};

/* Read the `size` bytes of `text`; `file` names them in messages. Fails if nothing in them is a
 * server's, or if a value is invalid. */
bool server_text_read(const char *text, size_t size, const char *file, struct server_facts *out,
                      struct error *why);

#endif
