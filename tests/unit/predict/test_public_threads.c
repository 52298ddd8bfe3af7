/* What people pasted in public threads, shortened to the lines that count, and what is right of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/command/server_text.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { TEXT = 1024 };

/* The keys as "key=value ..."; or the message. */
static const char *keys_of(const char *text, const char *file)
{
    static char out[TEXT];
    static struct stated_keys keys;
    struct error why;
    size_t used = 0;
    FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    assert_non_null(in);
    bool read = server_text_read(in, file, NULL, 0, &keys, &why);
    fclose(in);
    out[0] = '\0';
    if (!read) {
        error_format(&why, out, TEXT);
        return out;
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys.all[id];
        if (key->value[0] != '\0') {
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s=%s", used > 0 ? " " : "",
                                     key->key, key->value);
        }
    }
    return out;
}

static const struct {
    const char *thread, *file, *text, *keys;
} threads[] = {
    /* 1381 blocks of 16 tokens are the 10.79 requests of 2048 that it logs. */
    {"vllm-project/vllm #12569", "log",
     "VLLM_USE_V1=1 vllm serve neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8 --max-model-len 2048 "
     "--gpu-memory-utilization 0.98\n"
     "INFO 01-30 03:18:12 gpu_model_runner.py:848] Loading model weights took 67.7229 GB\n"
     "INFO 01-30 03:19:14 kv_cache_utils.py:395] # GPU blocks: 1381\n"
     "INFO 01-30 03:19:14 kv_cache_utils.py:398] Maximum concurrency for 2048 tokens per request: 10.79x\n",
     "model=neuralmagic/Meta-Llama-3.1-70B-Instruct-quantized.w8a8 system=vllm request_tokens=2048 "
     "hbm_usable=0.98 kv_pool_blocks=1381"},
    /* The same pool before and after the change: 127 626 blocks of 16 tokens. */
    {"vllm-project/vllm #13596, before", "log",
     "vllm serve m\nINFO 02-20 00:01:02 kv_cache_utils.py:522] # GPU blocks: 127626\n",
     "model=m system=vllm kv_pool_blocks=127626"},
    {"vllm-project/vllm #13596, after", "log",
     "vllm serve m\nINFO 02-19 23:56:55 kv_cache_utils.py:524] GPU KV cache size: 2,042,016 tokens\n",
     "model=m system=vllm kv_pool_tokens=2042016"},
    {"vllm-project/vllm #10517", "log",
     "Initializing an LLM engine (v0.5.4) with config: model='/mnt/models/models--meta-llama--llama-3-1-70b-instruct', "
     "speculative_config=None, tokenizer='/mnt/models/x', skip_tokenizer_init=False, tokenizer_mode=auto, revision=None, "
     "rope_scaling=None, rope_theta=None, trust_remote_code=False, dtype=torch.float16, max_seq_len=131072, "
     "load_format=LoadFormat.AUTO, tensor_parallel_size=2, pipeline_parallel_size=1\n",
     "model=/mnt/models/models--meta-llama--llama-3-1-70b-instruct system=vllm engine=vllm-0.5 tensor_parallel=2 "
     "request_tokens=131072"},
    {"vllm-project/vllm #16777", "log",
     "root@6aa49b1572ea:~# CUDA_VISIBLE_DEVICES=1,2,3  vllm serve /root/llm/cohere/c4ai-command-a-03-2025 -tp=2 "
     "--gpu-memory-utilization 0.95 --swap-space 8 --max-num-seqs=1\n"
     "INFO 04-17 19:48:21 [api_server.py:1034] vLLM API server version 0.8.4\n"
     "INFO 04-17 19:48:21 [api_server.py:1035] args: Namespace(subparser='serve', "
     "model_tag='/root/llm/cohere/c4ai-command-a-03-2025', config='', host=None, port=8000, lora_modules=None, "
     "prompt_adapters=None, model='/root/llm/cohere/c4ai-command-a-03-2025', task='auto', tokenizer=None)\n",
     "model=/root/llm/cohere/c4ai-command-a-03-2025 system=vllm engine=vllm-0.8 tensor_parallel=2 max_sequences=1 "
     "hbm_usable=0.95"},
    {"vllm-project/vllm #28228", "command",
     "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True VLLM_USE_V1=1 CUDA_VISIBLE_DEVICES=0,1 \\\n"
     "      vllm serve cyankiwi/Kimi-Linear-48B-A3B-Instruct-AWQ-4bit \\\n"
     "      --port 8111 --gpu-memory-utilization 0.95 --max_model_len 120000 --tensor_parallel 2 "
     "--enable_prefix_caching \\\n"
     "      --max_num_batched_tokens 64000 --max-num-seqs 8 --trust-remote-code --enable-auto-tool-choice\n",
     "model=cyankiwi/Kimi-Linear-48B-A3B-Instruct-AWQ-4bit system=vllm tensor_parallel=2 max_sequences=8 "
     "batched_tokens=64000 request_tokens=120000 hbm_usable=0.95"},
    {"vllm-project/vllm #51041, without its drafts", "compose.yaml",
     "services:\n  vllm:\n"
     "    image: swr.cn-north-4.myhuaweicloud.com/ddn-k8s/docker.io/vllm/vllm-openai:v0.26.0-cu129\n"
     "    volumes:\n      - /hdd2/ltg/models/DeepSeek-V4-Flash-0731:/model\n"
     "    deploy:\n      resources:\n        reservations:\n          devices:\n            - driver: nvidia\n"
     "              device_ids: ['2', '3', '5', '6']\n"
     "    command: >\n      /model\n      --trust-remote-code\n      --kv-cache-dtype fp8\n      --block-size 256\n"
     "      --enable-expert-parallel\n      --tensor-parallel-size 4\n      --max-num-batched-tokens 8192\n"
     "      --gpu-memory-utilization 0.9\n      --max-num-seqs 32\n      --tokenizer-mode deepseek_v4\n",
     "model=/model system=vllm engine=vllm-0.26 tensor_parallel=4 expert_parallel=4 max_sequences=32 "
     "batched_tokens=8192 hbm_usable=0.9 dtype.kv=fp8 mechanisms.prefix_block=256tok"},
    {"vllm-project/vllm #51041, its drafts", "command",
     "vllm serve /model --speculative-config '{\"method\":\"dspark\",\"num_speculative_tokens\":7}'",
     "command:1: 'speculative_config.method' is 'dspark'\n  expected: ngram, eagle3, *mtp, draft_model"},
    {"vllm-project/vllm #3435", "docker-compose.yaml",
     "services:\n  vllm:\n    image: vllm/vllm-openai:latest\n    command: --model mistralai/Mistral-7B-v0.1\n"
     "    environment:\n      - HUGGING_FACE_HUB_TOKEN=\"key\"\n    deploy:\n      resources:\n        reservations:\n"
     "          devices:\n            - driver: nvidia\n              count: 1\n",
     "model=mistralai/Mistral-7B-v0.1 system=vllm"},
    {"vllm-project/vllm #3435, its log", "log",
     "vllm-1  | ValueError: The model's max seq len (32768) is larger than the maximum number of tokens that can be "
     "stored in KV cache (16832). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`\n",
     "log:1: the server failed: 'is larger than the maximum number of tokens that can be stored in KV cache'\n"
     "  expected: the log of one that started"},
    {"vllm-project/vllm #32809", "docker-compose.yaml",
     "services:\n  vllm:\n    image: vllm/vllm-openai:latest\n    command: >\n      --model Qwen/Qwen3-0.6B\n"
     "      --cc '{\"mode\": 3}'\n",
     "model=Qwen/Qwen3-0.6B system=vllm"},
    {"vllm-project/vllm #39734", "log",
     "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:299]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version "
     "0.19.1rc1.dev301+g60995c05b\n"
     "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:299]   █▄█▀ █     █     █     █  model   "
     "google/gemma-4-31B-it\n"
     "(APIServer pid=1327189) INFO 04-15 07:22:41 [utils.py:233] non-default args: {'model_tag': "
     "'google/gemma-4-31B-it', 'chat_template': 'examples/tool_chat_template_gemma4.jinja', "
     "'model': 'google/gemma-4-31B-it'}\n",
     "model=google/gemma-4-31B-it system=vllm engine=vllm-0.19"},
    /* Forms that documentation shows: an image of one's own, in stages; and a command that x-... keeps for services. */
    {"docs.docker.com, ENTRYPOINT and CMD in lists", "Dockerfile",
     "FROM python:3.12 AS build\nCMD [\"python\"]\n\nFROM vllm/vllm-openai:v0.20.0\nENV VLLM_USE_V1=1\n"
     "ENTRYPOINT [\"vllm\", \"serve\"]\nCMD [\"Qwen/Qwen3-8B\", \\\n     \"--max-model-len\", \"8192\"]\n",
     "model=Qwen/Qwen3-8B system=vllm engine=vllm-0.20 request_tokens=8192"},
    {"docs.docker.com, CMD behind the image's own ENTRYPOINT", "deploy/vllm.Dockerfile",
     "FROM --platform=linux/amd64 vllm/vllm-openai:v0.20.0 AS serve\nCMD [\"--model\", \"Qwen/Qwen3-8B\"]\n",
     "model=Qwen/Qwen3-8B system=vllm engine=vllm-0.20"},
    {"docs.docker.com, x- and its anchors", "compose.yaml",
     "x-base: &base\n  image: vllm/vllm-openai:v0.20.0\n  command: [--model, Qwen/Qwen3-8B, --max-model-len, auto]\n"
     "services:\n  one:\n    <<: *base\n    ports: [\"8000:8000\"]\n",
     "model=Qwen/Qwen3-8B system=vllm engine=vllm-0.20"},
    {"sgl-project/sglang #2742", "command",
     "python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-8B-Instruct --tp 4 "
     "--nccl-init sgl-dev-0:50000 --nnodes 2 --node-rank 1",
     "command:1: '--nnodes': how GPUs share the model is not modelled so\n  expected: the command without it"},
};

static void what_people_pasted_is_read_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(threads); i++) {
        const char *got = keys_of(threads[i].text, threads[i].file);
        if (strcmp(got, threads[i].keys) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", threads[i].thread, got, threads[i].keys);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_people_pasted_is_read_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
