/* What a server says about itself, as keys of a scenario: the start-up log of vLLM or SGLang, the
 * command that starts it, or its /metrics in Prometheus' text format.
 *
 *   (APIServer pid=1) INFO ... non-default args: {'model': 'Qwen/Qwen3-8B', 'max_num_seqs': 64}
 *   (EngineCore pid=7) INFO ... Initializing a V1 LLM engine (v0.19.0) with config: model='...'...
 *   (EngineCore pid=7) INFO ... GPU KV cache size: 41,408 tokens
 *   [...] server_args=ServerArgs(model_path='...', tp_size=2, mem_fraction_static=0.85, ...)
 *   [...] max_total_num_tokens=430913, chunked_prefill_size=8192, ..., max_running_requests=2048
 *   vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2 --max-num-seqs=64
 *   docker run ... vllm/vllm-openai:v0.19.0 --model meta-llama/Llama-3.1-8B
 *   vllm:cache_config_info{block_size="16",num_gpu_blocks="2588",...} 1.0
 *
 * A file may hold several of these, but only one command; what stands later wins. Lines of other
 * kinds are passed over, and so is a command behind '#'. A model stays the name that the server has
 * for it: an id of Hugging Face or a path.
 *
 * An option of a command that changes nothing in a scenario is returned as unused. An unknown
 * option with a name near that of a used one is an error. No value of such an option is repeated
 * anywhere: it may be a secret.
 */
#pragma once

#include "core/error.h"
#include "predict/command/server_program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Keys that code reads or fills in, in the order in which they are told, and facts that are no key;
 * then those that only options set (server_program.h). */
enum stated_key_id {
    STATED_MODEL,
    STATED_SYSTEM,
    STATED_PREFIX,
    STATED_ENGINE,
    STATED_COMPILE,
    STATED_TENSOR_PARALLEL,
    STATED_DATA_PARALLEL,
    STATED_PIPELINE_PARALLEL,
    STATED_EXPERT_PARALLEL,
    STATED_REPLICAS,
    STATED_MAX_SEQUENCES,
    STATED_BATCHED_TOKENS,
    STATED_REQUEST_TOKENS,
    STATED_HBM_USABLE,
    STATED_KV_DTYPE,
    STATED_WEIGHTS_DTYPE,
    STATED_KV_POOL,
    STATED_FACTS,
    STATED_KV_BLOCKS = STATED_FACTS,
    STATED_BLOCK_TOKENS,
    STATED_WHOLE_EXPERTS,
    STATED_SHARED_RANKS,
    STATED_RANK_COUNT,
    STATED_KNOWN,
    STATED_MOST = STATED_KNOWN + 16
};

struct stated_key {
    const char *key; /* of a scenario: "model", "dtype.kv"; NULL behind the last */
    char value[256]; /* "": the text does not say */
    char said[64];   /* the server's name for it */
    int line;
    bool typed; /* in a command */
};

/* Options of a command that no key follows from, by their names alone: "--swap-space". A value may
 * be a secret. */
enum { SERVER_UNUSED = 64 };
struct server_unused {
    int count; /* of all; the rest is that of the first SERVER_UNUSED */
    struct server_unused_option {
        char name[64];
        int line;
        bool harmless; /* it cannot change what is predicted */
    } all[SERVER_UNUSED];
};

struct stated_keys {
    struct stated_key all[STATED_MOST];
    struct server_unused unused;
};

/* Read `in` to its end, which messages call `file`, however long it is. Fails if nothing in it is a
 * server's, if a value is invalid or missing, if two commands start servers, and (a usage error) if
 * an unknown option resembles a used one. */
bool server_text_read(FILE *in, const char *file, struct stated_keys *out, struct error *why);

/* ---- for the two files that read it ---- */

/* Everything that was said so far, and where the text is read. A switch has the value "yes" or
 * "no", or that of its row; the others that of their key. */
struct server_text {
    const char *file;
    int line;
    bool typed;          /* in a command, where 0 is no way to leave a number open */
    int command_line;    /* where the command begins; 0: none so far */
    const char *failure; /* what a log's line says of a server that failed; NULL: it runs */
    int failed_line;
    const struct server_program *programs, *program; /* all; the server's, NULL: not known */
    size_t program_count;
    struct stated_key all[STATED_MOST];
    struct server_unused unused;
};

/* What the values of an option are, for a message. */
const char *server_setting_expected(const struct server_option *option);

/* Does it have no value of its own on a command line? */
bool server_setting_is_switch(const struct server_option *option);

/* Take the value that the server gives an option which is read. None, null and "" say nothing. `used`
 * (may be NULL) becomes false if the value is valid but has no counterpart in a scenario. Fails if
 * the value is invalid. */
bool server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said, bool *used, struct error *why);
