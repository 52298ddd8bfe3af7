/* What people pasted in public threads, shortened to the lines that count, and what is right of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/engine_of.h"

#include "model/kv_pools.h"
#include "predict/command/server_text.h"

#include <math.h>
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
     "hbm_usable=0.98 kv_pool_blocks=1381 loaded=67.7229GiB"},
    /* The length that the log says last is the one that is served; level 0 of the second scheduler has no
     * graphs. */
    {"vllm-project/vllm, v1/core/kv_cache_utils.py (Auto-fit)", "log",
     "(EngineCore pid=20) INFO 03-02 11:00:39 [core.py:93] Initializing a V1 LLM engine (v0.9.2) with config: "
     "model='Qwen/Qwen3-8B', max_seq_len=40960, tensor_parallel_size=1, enforce_eager=False, "
     "compilation_config={\"level\":0,\"use_cudagraph\":true}\n"
     "INFO [kv_cache_utils.py:1] Auto-fit max_model_len: reduced from 40960 to 12288 to fit in available GPU memory "
     "(5.3 GiB available for KV cache)\n"
     "INFO [kv_cache_utils.py:1] Overriding num_gpu_blocks=35640 with num_gpu_blocks_override=40000\n",
     "model=Qwen/Qwen3-8B system=vllm engine=vllm-0.9 compile=eager tensor_parallel=1 request_tokens=12288 "
     "kv_pool_blocks=40000"},
    /* The server's own ratio for this model, and a policy of prompts that only HiCache reads. */
    {"sgl-project/sglang, arg_groups/deepseek_v4_hook.py", "log",
     "[2026-08-07 17:32:46] Setting swa_full_tokens_ratio to 0.1 for DeepseekV4ForCausalLM.\n"
     "[2026-08-07 17:32:50] server_args=ServerArgs(model_path='deepseek-ai/DeepSeek-V4-Flash', tp_size=4, "
     "swa_full_tokens_ratio=0.1, mamba_full_memory_ratio=0.25, mamba_scheduler_strategy='no_buffer', "
     "hicache_storage_prefetch_policy='timeout')\n",
     "model=deepseek-ai/DeepSeek-V4-Flash system=sglang engine=sglang-0.5.23 tensor_parallel=4 window_ratio=0.1 "
     "state_ratio=0.25"},
    /* The words of the engine count, whatever was asked for. */
    {"vllm-project/vllm, model_executor/models/config.py of 0.13", "log",
     "INFO 02-12 19:46:23 [utils.py:253] non-default args: {'model': 'Qwen/Qwen3-Next-80B-A3B-Instruct', "
     "'enable_prefix_caching': True}\n"
     "INFO 02-12 19:46:30 [config.py:302] Hybrid or mamba-based model detected without support for prefix caching: "
     "disabling.\n",
     "model=Qwen/Qwen3-Next-80B-A3B-Instruct system=none"},
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
    {"vllm-project/vllm #16777, its arguments to the end", "log",
     "INFO 04-17 19:48:21 [api_server.py:1035] args: Namespace(model_tag='m', config='', lora_modules=None, "
     "model='m', num_lookahead_slots=0, disable_sliding_window=False, rope_theta=None, hf_overrides=None, "
     "enable_lora=False, max_loras=1, max_lora_rank=16, lora_extra_vocab_size=256, lora_dtype='auto', "
     "long_lora_scaling_factors=None, max_cpu_loras=None, max_prompt_adapters=1, max_prompt_adapter_token=0, "
     "num_scheduler_steps=1, scheduler_delay_factor=0.0, enable_chunked_prefill=None, max_num_partial_prefills=1, "
     "spec_decoding_acceptance_method='rejection_sampler', worker_cls='auto', worker_extension_cls='', "
     "scheduler_cls='vllm.core.scheduler.Scheduler', cuda_graph_sizes=[512], max_num_seqs=8)\n",
     "model=m system=vllm max_sequences=8"},
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
    /* Forms that documentation shows: an image of one's own, in stages; and a command that x-... keeps for
     * services. */
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
    {"vllm-project/vllm #34076", "command",
     "VLLM_PP_LAYER_PARTITION=16,32 CUDA_DEVICE_ORDER=PCI_BUS_ID CUDA_VISIBLE_DEVICES=0,1 vllm serve "
     "./Qwen/Qwen3-Coder-30B-A3B-Instruct-FP8 --gpu-memory-utilization 0.9 --pipeline-parallel-size 2\n",
     "command:1: 'VLLM_PP_LAYER_PARTITION': how GPUs share the model is not modelled so\n"
     "  expected: the command without it"},
    {"vllm-project/vllm #18390", "command",
     "sudo docker run --runtime nvidia --gpus all --shm-size=64g     -v ~/.cache/huggingface:/root/.cache/huggingface "
     "    -p 8000:8000     --ipc=host -e VLLM_WORKER_MULTIPROC_METHOD=spawn     substratusai/vllm-gh200:v0.8.3     "
     "--model meta-llama/Llama-3.1-405B-Instruct-FP8 --gpu-memory-utilization 0.975 --cpu-offload-gb 450\n",
     "model=meta-llama/Llama-3.1-405B-Instruct-FP8 system=vllm engine=vllm-0.8 hbm_usable=0.975 weights_outside=450GiB"},
    {"vllm-project/vllm #8903", "command",
     "docker run  --gpus all \\\n    -v /data/hf_cache/ \\\n    --env \"HUGGING_FACE_HUB_TOKEN=<token>\" \\\n"
     "    -p 8000:8000 \\\n    --ipc=host \\\n    vllm/vllm-openai:latest \\\n"
     "    --model meta-llama/Llama-3.2-11B-Vision-Instruct \\\n    --tensor-parallel-size 4 \\\n"
     "    --max-model-len 4096 \\\n    --download_dir /data/vllm_cache \\\n    --enforce-eager\n",
     "model=meta-llama/Llama-3.2-11B-Vision-Instruct system=vllm compile=eager tensor_parallel=4 request_tokens=4096"},
    {"vllm-project/vllm #13061", "log",
     "vllm serve --trust-remote-code --tensor_parallel_size 2 --gpu_memory_utilization=0.98  /root/m/R1-Distill-Qwen-14B\n",
     "model=/root/m/R1-Distill-Qwen-14B system=vllm tensor_parallel=2 hbm_usable=0.98"},
    {"vllm-project/vllm #15871", "log",
     "INFO 04-02 12:32:03 [config.py:1758] Chunked prefill is enabled with max_num_batched_tokens=8192.\n"
     "INFO 04-02 12:32:04 [core.py:61] Initializing a V1 LLM engine (v0.8.3.dev172+g2b93162f) with config: "
     "model='/home/user/DeepSeek-V2-Lite-Chat/', speculative_config=None\n"
     "ERROR 04-02 12:33:23 [core.py:380] ValueError: To serve at least one request with the models's max seq len "
     "(32768), (0.95 GiB KV cache is needed, which is larger than the available KV cache memory (0.93 GiB).\n",
     "log:3: the server failed: 'is larger than the available KV cache memory'\n"
     "  expected: the log of one that started"},
    {"vllm-project/vllm #5248", "log",
     "CUDA_VISIBLE_DEVICES=0,1 python -m vllm.entrypoints.api_server --model=\"/cm/deepseek-coder-6.7b-instruct/\" "
     "--tensor-parallel-size=2 --trust-remote-code --dtype=\"float16\"\n"
     "INFO 06-12 08:12:23 distributed_gpu_executor.py:45] # GPU blocks: 507, # CPU blocks: 1024\n",
     "model=/cm/deepseek-coder-6.7b-instruct/ system=vllm tensor_parallel=2 kv_pool_blocks=507"},
    {"vllm-project/vllm #38479", "command",
     "python -m vllm.entrypoints.openai.api_server --model q --max-num-seqs 4 --kv-cache-dtype turboquant_4bit_nc\n",
     "command:1: 'kv_cache_dtype' is 'turboquant_4bit_nc'\n  expected: auto, bfloat16, bf16, float16, fp8*, int8*, int4*, "
     "nvfp4*, fp4_e2m1*; or --set dtype.kv="},
    {"vllm-project/vllm #51454, shortened", "log",
     "INFO 08-07 21:32:22 [api_utils.py:339]  ▄▄ ▄█ █     █     █ ▀▄▀ █  version 0.25.0\n"
     "INFO 08-07 21:32:22 [api_utils.py:273] non-default args: {'model_tag': '/m', 'api_server_count': 8, 'model': '/m', "
     "'served_model_name': ['deepseek-v4-flash-0731'], 'data_parallel_size': 8, 'enable_expert_parallel': True, "
     "'block_size': 256, 'gpu_memory_utilization': 0.95, 'kv_cache_dtype': 'fp8', 'max_num_batched_tokens': 8192, "
     "'max_num_seqs': 256, 'moe_backend': 'deep_gemm_mega_moe'}\n",
     "model=/m system=vllm engine=vllm-0.25 data_parallel=8 expert_parallel=8 max_sequences=256 batched_tokens=8192 "
     "hbm_usable=0.95 dtype.kv=fp8 mechanisms.prefix_block=256tok"},
    {"vllm-project/vllm #51454, its attention", "log",
     "non-default args: {'model': '/m', 'attention_config': AttentionConfig(backend=None, flash_attn_version=None, "
     "indexer_kv_dtype=None)}\n",
     "model=/m system=vllm"},
    {"community-scripts/ProxmoxVED #2047, of journald", "log",
     "Aug 19 18:30:11 vllm vllm[8707]: (APIServer pid=8707) INFO 08-19 18:30:11 [api_utils.py:345]   █▄█▀ █  model   "
     "Qwen/Qwen2.5-0.5B-Instruct\n"
     "Aug 19 18:30:11 vllm vllm[8707]: (APIServer pid=8707) INFO 08-19 18:30:11 [api_utils.py:273] non-default args: "
     "{'model_tag': 'Qwen/Qwen2.5-0.5B-Instruct', 'host': '0.0.0.0', 'model': 'Qwen/Qwen2.5-0.5B-Instruct', "
     "'gpu_memory_utilization': 0.9}\n",
     "model=Qwen/Qwen2.5-0.5B-Instruct system=vllm hbm_usable=0.9"},
    {"RIDE-Lab/SAGE #405", "script",
     "#!/usr/bin/env bash\nset -euo pipefail\nif ! command -v vllm >/dev/null 2>&1; then\n"
     "    echo \"vllm not found, installing via conda...\"\n    conda install -y -c conda-forge vllm\nfi\n"
     "vllm serve meta-llama/Llama-2-13b-chat-hf --dtype auto --api-key token-abc123\n",
     "model=meta-llama/Llama-2-13b-chat-hf system=vllm"},
    {"Tanguille/cluster #4179, in a container", "vllm.yaml",
     "containers:\n  - image: docker.io/vllm/vllm-openai:v0.26.0\n    args:\n    - q\n    - --kv-cache-memory\n"
     "    - \"4294967296\"\n    - --trust-remote-code\n",
     "model=q system=vllm engine=vllm-0.26 kv_pool=4294967296B"},
    {"vllm-project/vllm-ascend #1543", "lws.yaml",
     "apiVersion: leaderworkerset.x-k8s.io/v1\nkind: LeaderWorkerSet\nspec:\n  replicas: 2\n  leaderWorkerTemplate:\n"
     "    size: 2\n    leaderTemplate:\n      spec:\n        containers:\n          - name: vllm-leader\n"
     "            image: vllm/vllm-openai:latest\n            command:\n              - sh\n              - -c\n"
     "              - \"bash multi-node-serving.sh leader; python3 -m vllm.entrypoints.openai.api_server --model m\"\n",
     "lws.yaml:6: a server on 2 machines is not modelled\n  expected: a server on one machine"},
    {"sgl-project/sglang #29575", "log",
     "[2026-06-28 15:16:45] max_total_num_tokens=2086558, chunked_prefill_size=8192, max_prefill_tokens=16384, "
     "max_running_requests=33, context_len=256000, available_gpu_mem=17.22 GB\n",
     "system=sglang engine=sglang-0.5.23 max_sequences=33 batched_tokens=8192 request_tokens=256000 kv_pool_tokens=2086558"},
    {"sgl-project/sglang #36452", "script",
     "    exec python3 -m sglang.launch_server \\\n          --model-path ${SGLANG_MODEL:-unsloth/Qwen3.8-27B-NVFP4} \\\n"
     "          --host 0.0.0.0\n",
     "model=unsloth/Qwen3.8-27B-NVFP4 system=sglang engine=sglang-0.5.23"},
    {"Agent-RL/ReCall #24", "command",
     "python3 -m sglang.launch_server \\\n    --served-model-name qwen-judge \\\n    --model-path /m/ReSearch-Qwen-7B \\\n"
     "    --tp 2 \\\n    --context-length 8192 \\\n    --enable-metrics \\\n    --dtype bfloat16 \\\n    --port 80 \\\n"
     "    --trust-remote-code \\\n    --disable-overlap \\\n    --disable-radix-cache\n",
     "model=/m/ReSearch-Qwen-7B system=sglang mechanisms.prefix=none engine=sglang-0.5.23 tensor_parallel=2 "
     "request_tokens=8192 overlap=no"},
    {"NVIDIA/TensorRT-LLM #7281", "command",
     "trtllm-serve nvidia/Llama-3.1-Nemotron-Nano-4B-v1.1 --tp_size 1 \\\n    --host 0.0.0.0 \\\n    --max_batch_size 8 \\\n"
     "    --max_seq_len 32768 \\\n    --extra_llm_api_options nemo-serve.yaml    \n",
     "command:5: '--extra_llm_api_options': its settings stand in a file, which is not read\n"
     "  expected: the command without it"},
    {"vllm-project/vllm #4462", "k8s.yaml",
     "spec:\n  containers:\n  - name: vllm\n    image: vllm/vllm-openai:0.4.1\n    command:\n"
     "    - \"python3 -m vllm.entrypoints.openai.api_server  --port 8080  --trust-remote-code --model "
     "/mnt/models/Qwen-14B-Chat --gpu-memory-utilization 0.95 --tensor-parallel-size 2\"\n",
     "model=/mnt/models/Qwen-14B-Chat system=vllm engine=vllm-0.4 tensor_parallel=2 hbm_usable=0.95"},
    {"vllm-project/vllm #1091", "entry.txt",
     "ENTRYPOINT [ \"python3\", \"-m\", \"vllm.entrypoints.openai.api_server\", \"--tensor-parallel-size\", \"1\", "
     "\"--host\", \"0.0.0.0\", \"--port\", \"8000\" ]\n",
     "system=vllm tensor_parallel=1"},
    {"HabanaAI/Gaudi-tutorials #150, its variables behind another image", "command",
     "docker run -it --rm \\\n     -p 8000:8000 \\\n     -e MODEL=meta-llama/Llama-3.1-70B-Instruct \\\n"
     "     -e DTYPE=bfloat16 \\\n     -e MAX_MODEL_LEN=8192 \\\n     --name vllm-server \\\n     my/vllm-v0.7.2:1.2\n",
     "command:1: 'MODEL': what the image makes of the variable is not known; 'MAX_MODEL_LEN': what the image makes "
     "of the variable is not known"},
    {"HabanaAI/Gaudi-tutorials #150, its image", "command",
     "docker run -it --rm -p 8000:8000 --name vllm-server vllm-v0.7.2-gaudi-ub24:1.21.1-16\n",
     "command:1: 'vllm-v0.7.2-gaudi-ub24:1.21.1-16' is an image for other machines\n"
     "  expected: an image for NVIDIA's GPUs: machines of others are not modelled"},
    {"vllm-project/vllm #15960, without its connector", "x.md",
     "How do run this with vLLM serve? \n `python3 -m vllm.entrypoints.openai.api_server --model /m/x/ --max-model-len "
     "4096 --gpu-memory-utilization 0.9`\nGives error \n",
     "model=/m/x/ system=vllm request_tokens=4096 hbm_usable=0.9"},
    {"vllm-project/vllm #38893", "x.md",
     "Example usage:\n```\nvllm serve google/gemma-4-26B-A4B-it \\\n  --tensor-parallel-size 2 \\\n"
     "  --max-num-seqs 64 \\\n```\n",
     "model=google/gemma-4-26B-A4B-it system=vllm tensor_parallel=2 max_sequences=64"},
    {"vllm-project/vllm #2248, a remark", "x.md",
     "Same issue when run deepseek-coder-33b-instruct model on two L40 GPUs (48G) with vllm 0.4.1.  \n```\n"
     "python -m vllm.entrypoints.openai.api_server --dtype float16 --trust-remote-code --model "
     "/models/deepseek-coder-33b-instruct  --port 8000 --host 0.0.0.0 --tensor-parallel-size 2\n```\n"
     "But use fastchat it works and leave about 30G free.\n",
     "model=/models/deepseek-coder-33b-instruct system=vllm engine=vllm-0.4 tensor_parallel=2"},
    {"vllm-project/vllm #4650", "x.txt",
     "I'm passing these engine args:\n\n```\n--model deepseek-ai/DeepSeek-Coder-V2-Instruct --trust-remote-code "
     "--max-model-len 64000 --tensor-parallel-size 8 --enforce-eager\n```\n",
     "x.txt:4: options of a server without its command\n"
     "  expected: 'vllm serve MODEL', or what else starts it, and the options as it has them"},
    {"koyeb/example-vllm", "Dockerfile",
     "FROM vllm/vllm-openai:latest\n\nENTRYPOINT python3 -m vllm.entrypoints.openai.api_server \\\n"
     "    --model ${MODEL_NAME:-meta-llama/Meta-Llama-3.1-8B-Instruct} \\\n    ${REVISION:+--revision \"$REVISION\"}\n",
     "model=meta-llama/Meta-Llama-3.1-8B-Instruct system=vllm"},
    {"jhlu2019/GustoBot", "x.sh",
     "export VLLM_USE_MODELSCOPE=true\n\n/home/kdsoft/miniconda3/envs/vllm-0.10.1/bin/vllm serve "
     "/data/models/Skywork-R1V3-38B \\\n  --trust_remote_code \\\n  --tensor-parallel-size 4 \\\n  --max-model-len "
     "16384\\\n  --served-model-name Skywork-R1V3-38B\n",
     "model=/data/models/Skywork-R1V3-38B system=vllm engine=vllm-0.10 tensor_parallel=4 request_tokens=16384"},
    {"vllm-project/vllm #9163", "x.py",
     "llm = LLM(model=\"meta-llama/Llama-3.2-11B-Vision-Instruct\", dtype=\"bfloat16\", gpu_memory_utilization=0.10, "
     "max_model_len=4096, enforce_eager=True)\n",
     "x.py:1: options of a server without its command\n"
     "  expected: 'vllm serve MODEL', or what else starts it, and the options as it has them"},
    /* A server of which an anchor makes two, and a stage that goes on with an earlier one, whose variables
     * the stage between them does not leave. */
    {"docs.docker.com, fragments", "compose.yaml",
     "services:\n  one: &one\n    image: vllm/vllm-openai:v0.20.0\n    command: [--model, m]\n    env_file: .env\n"
     "  two:\n    <<: *one\n    ports: [\"8001:8000\"]\n",
     "model=m system=vllm engine=vllm-0.20 replicas=2"},
    {"docs.docker.com, multi-stage builds", "Dockerfile",
     "FROM vllm/vllm-openai:v0.20.0 AS base\nENV LMCACHE_MAX_LOCAL_CPU_SIZE=7 LMCACHE_CHUNK_SIZE=512\n"
     "CMD [\"--model\", \"m\"]\nFROM python:3.12 AS tools\nENV LMCACHE_MAX_LOCAL_CPU_SIZE 9\n"
     "FROM base\nCMD [\"--model\", \"n\", \"--kv-transfer-config\", \"{\\\"kv_connector\\\": \\\"LMCacheConnectorV1\\\"}\"]\n",
     "model=n system=lmcache engine=vllm-0.20 host_memory=7GiB mechanisms.prefix_unit=512tok"},
    {"docs.docker.com, an ENTRYPOINT ends the CMD of the image below it", "Dockerfile",
     "FROM vllm/vllm-openai:v0.20.0 AS base\nCMD [\"--model\", \"m\"]\n"
     "FROM base\nENTRYPOINT [\"vllm\", \\\n  \"serve\", \"n\"]\n",
     "model=n system=vllm engine=vllm-0.20"},
    {"docs.docker.com, an ENTRYPOINT of a shell takes no CMD", "Dockerfile",
     "FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT vllm serve m\nCMD [\"--max-num-seqs\", \"16\"]\n",
     "model=m system=vllm engine=vllm-0.20"},
    {"kubernetes.io, a command of a word a line", "pod.yaml",
     "kind: Pod\nspec:\n  containers:\n  - image: vllm/vllm-openai:v0.20.0\n    command:\n    - vllm\n    - serve\n    - m\n"
     "    args:\n    - --max-model-len\n    - \"8192\"\n",
     "model=m system=vllm engine=vllm-0.20 request_tokens=8192"},
    {"systemd.exec(5)", "vllm.service",
     "[Service]\nEnvironmentFile=/etc/vllm.env\nEnvironment=\"LMCACHE_MAX_LOCAL_CPU_SIZE=20\" HF_HOME=/x\n"
     "ExecStart=/opt/venv/bin/vllm serve m --max-model-len 16384 \\\n    --kv-transfer-config.kv_connector LMCacheConnectorV1\n",
     "model=m system=lmcache request_tokens=16384 host_memory=20GiB"},
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

/* What a simple reader overlooks: each is read right, or refused by a message that begins so. */
#define ARGS                                                                                       \
    "server_args=ServerArgs(model_path='m', schedule_conservativeness=1.0, radix_eviction_policy='lru', "
/* of a version of August 2026 */
#define NEWEST "retraction_policy='length', elastic_ep_scale_timeout=600, dllm_fdfo=True, "
#define LMCACHE "{\\\"kv_connector\\\":\\\"LMCacheConnectorV1\\\"}"
#define IMAGE "image: vllm/vllm-openai:v0.20.0"
#define CONTAINER "{containers: [{" IMAGE ", args: [--model, m]}]}\n"
static const struct {
    const char *what, *file, *text, *begins;
} overlooked[] = {
    {"a loop of several servers", "x.sh", "for i in 0 1; do\n  vllm serve m --port 800$i &\ndone\n",
     "x.sh:2: a loop or a function may start several servers"},
    {"in one line", "x.sh", "for ((i=0; i<2; i++)); do vllm serve m & done",
     "x.sh:1: a loop or a function"},
    {"by another program", "x.sh", "seq 0 3 | xargs -P4 -I{} vllm serve m --port 800{}",
     "x.sh:1: a loop or a function"},
    {"a function", "x.sh", "start() {\n  vllm serve m --port $1 &\n}\nstart 1\nstart 2\n",
     "x.sh:2: a loop or a function"},
    {"tasks", "x.sh", "srun --ntasks=2 vllm serve m", "x.sh:1: a loop or a function"},
    {"a loop in a loop", "x.sh",
     "for g in 0 1; do\n  while read x; do echo $x; done < list\n  vllm serve m\ndone\n",
     "x.sh:3: a loop or a function"},
    {"a function by its word", "x.sh", "function start {\n  vllm serve m\n}\nstart\n",
     "x.sh:2: a loop or a function"},
    {"a function with capitals", "x.sh",
     "Start_Server() {\n  [ -f x ] || { exit 1; }\n  vllm serve m\n}\n",
     "x.sh:3: a loop or a function"},
    {"tasks in short", "x.sh", "srun -N 1 -n 4 vllm serve m", "x.sh:1: a loop or a function"},
    {"a loop in a comment", "x.sh", "# Start it; for use in production\nvllm serve m\n",
     "model=m system=vllm"},
    {"a loop of Python", "x.sh", "python3 - <<EOF\nfor x in d:\n  print(x)\nEOF\nvllm serve m\n",
     "model=m system=vllm"},
    {"a number of another program", "x.sh", "conda run -n py3 nice -n 10 vllm serve m",
     "model=m system=vllm"},
    {"another command's xargs", "x.sh", "seq 3 | xargs echo; vllm serve m", "model=m system=vllm"},
    {"a text of a Compose file", "x.yaml",
     "a:\n  b:\n    " IMAGE "\n    command: |\n      --model m\n      --tensor-parallel-size 2\n",
     "model=m system=vllm engine=vllm-0.20 tensor_parallel=2"},
    {"with a variable", "x.yaml",
     "a:\n  b:\n    " IMAGE "\n    command: |\n      --model m\n      --tensor-parallel-size $TP\n",
     "x.yaml:6: 'tensor_parallel_size' is '$TP'"},
    {"a comment within a unit's command", "x.service",
     "[Service]\nExecStart=/bin/vllm serve m \\\n  # two\n  ; GPUs\n  --tensor-parallel-size 2\n",
     "model=m system=vllm tensor_parallel=2"},
    {"and an image's", "Dockerfile",
     "FROM vllm/vllm-openai:v0.20.0\nCMD vllm serve m \\\n  # two GPUs\n  --tensor-parallel-size 2\n",
     "model=m system=vllm engine=vllm-0.20 tensor_parallel=2"},
    {"a shell's ends the command", "x.sh",
     "vllm serve m \\\n  # two GPUs\n  --tensor-parallel-size 2\n",
     "x.sh:3: '--tensor-parallel-size' stands outside the command"},
    {"variables within a quoted command", "x.sh",
     "ssh gpu 'export LMCACHE_MAX_LOCAL_CPU_SIZE=80; LMCACHE_CHUNK_SIZE=64 vllm serve m --kv-transfer-config " LMCACHE
     "'\n",
     "model=m system=lmcache host_memory=80GiB mechanisms.prefix_unit=64tok"},
    {"variables of fish", "x.fish", "set -gx LMCACHE_MAX_LOCAL_CPU_SIZE 80\nvllm serve m\n",
     "x.fish:1: 'LMCACHE_MAX_LOCAL_CPU_SIZE' is set in a way that is not read"},
    {"variables of csh", "x.csh", "setenv LMCACHE_CHUNK_SIZE 64\nvllm serve m\n",
     "x.csh:1: 'LMCACHE_CHUNK_SIZE' is set in a way that is not read"},
    {"variables of PowerShell", "x.ps1", "$env:LMCACHE_CHUNK_SIZE=\"64\"\nvllm serve m\n",
     "x.ps1:1: 'LMCACHE_CHUNK_SIZE' is set in a way that is not read"},
    {"variables of Python", "x.py",
     "os.environ[\"LMCACHE_CHUNK_SIZE\"] = \"64\"\nos.system(\"vllm serve m\")\n",
     "x.py:1: 'LMCACHE_CHUNK_SIZE' is set in a way that is not read"},
    {"variables that are exported by name, and a sentence", "x.sh",
     "export LMCACHE_CHUNK_SIZE\necho $LMCACHE_CHUNK_SIZE is the environment's\nvllm serve m\n",
     "model=m system=vllm"},
    {"variables of another program", "x.sh",
     "LMCACHE_MAX_LOCAL_CPU_SIZE=80 python other.py\nvllm serve m --kv-transfer-config " LMCACHE
     "\n",
     "model=m system=lmcache host_memory=5GiB"},
    {"a variable's default", "x.sh",
     ": ${LMCACHE_MAX_LOCAL_CPU_SIZE:=80}\nvllm serve m --kv-transfer-config " LMCACHE "\n",
     "x.sh:1: 'LMCACHE_MAX_LOCAL_CPU_SIZE' is '80}'"},
    {"a variable in a branch", "x.sh", "if a; then LMCACHE_CHUNK_SIZE=64; fi\nvllm serve m\n",
     "x.sh:1: 'LMCACHE_CHUNK_SIZE' is set in a branch"},
    {"a variable behind a branch in a branch", "x.sh",
     "if a; then\n  if b\n  then c\n  fi\n  export LMCACHE_CHUNK_SIZE=64\nfi\nvllm serve m\n",
     "x.sh:5: 'LMCACHE_CHUNK_SIZE' is set in a branch"},
    {"a variable behind a sentence", "x.sh",
     "if a; then b; fi\nFirst install it, then set:\nexport LMCACHE_CHUNK_SIZE=64\nvllm serve m --kv-transfer-config " LMCACHE
     "\n",
     "model=m system=lmcache host_memory=5GiB mechanisms.prefix_unit=64tok"},
    {"supervisord", "x.conf",
     "[program:v]\ncommand=vllm serve m\nenvironment=VLLM_USE_V1=\"0\"\nnumprocs=4\n",
     "x.conf:3: supervisord's 'environment' is not read; supervisord's 'numprocs' is not read"},
    {"a loop within a quoted command", "x.sh", "bash -c 'for i in 0 1; do vllm serve m & done'\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"a command on several machines", "x.sh", "pdsh -w n[1-4] vllm serve m\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"copies of a deployment", "x.sh",
     "kubectl create deployment v --image=i --replicas=3 -- vllm serve m\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"processes of a manager", "x.sh", "pm2 start \"vllm serve m -tp 2\" --name v -i 2\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"an alias, whose calls are not read", "x.sh",
     "alias vs='vllm serve -tp 2'\nvs m --max-num-seqs 16\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"the same server on two machines", "x.sh",
     "ssh gpu1 'vllm serve m'\nssh gpu2 'vllm serve m'\n",
     "x.sh:2: a second command starts a server"},
    {"objects that others of the text made are the same server", "x.yaml",
     "kind: List\nitems:\n"
     "- kind: Pod\n  metadata: {name: v-1-x, ownerReferences: [{kind: ReplicaSet, name: v-1}]}\n  spec: " CONTAINER
     "- kind: ReplicaSet\n  metadata: {name: v-1, ownerReferences: [{kind: Deployment, name: v}]}\n"
     "  spec: {replicas: 2, template: {spec: " CONTAINER "}}\n"
     "- kind: ReplicaSet\n  metadata: {name: v-0, ownerReferences: [{kind: Deployment, name: v}]}\n"
     "  spec: {replicas: 0, template: {spec: " CONTAINER "}}\n"
     "- kind: Deployment\n  metadata: {name: v}\n  spec: {replicas: 2, template: {spec: " CONTAINER
     "}}\n",
     "model=m system=vllm engine=vllm-0.20 replicas=2"},
    {"a Deployment's Pods without its ReplicaSet", "x.yaml",
     "kind: Pod\nmetadata: {name: v-1-x, ownerReferences: [{kind: ReplicaSet, name: v-1}]}\nspec: " CONTAINER
     "---\nkind: Deployment\nmetadata: {name: v}\nspec: {replicas: 1, template: {spec: " CONTAINER
     "}}\n",
     "model=m system=vllm engine=vllm-0.20"},
    {"Pods of an owner that is not there are its copies, but for one that failed", "x.yaml",
     "kind: Pod\nmetadata: {name: v-1-x, ownerReferences: [{kind: ReplicaSet, name: v-1}]}\nspec: " CONTAINER
     "---\nkind: Pod\nmetadata: {name: v-1-y, ownerReferences: [{kind: ReplicaSet, name: v-1}]}\nspec: " CONTAINER
     "---\nkind: Pod\nmetadata: {name: v-1-z, ownerReferences: [{kind: ReplicaSet, name: v-1}]}\nspec: " CONTAINER
     "status: {phase: Failed}\n",
     "model=m system=vllm engine=vllm-0.20 replicas=2"},
    {"options beside a container's", "x.yaml",
     "spec:\n  a: {" IMAGE ", command: [vllm, serve, m], extraArgs: [--max-num-seqs, 16]}\n",
     "x.yaml:2: '--max-num-seqs' stands outside the command"},
    {"options below a container's", "x.yaml",
     "spec:\n  " IMAGE "\n  command: [vllm, serve, m]\n  configs: [{args: [--max-num-seqs, 16]}]\n",
     "x.yaml:4: '--max-num-seqs' stands outside the command"},
    {"settings as a manifest names them", "x.yaml",
     "spec:\n  a: {" IMAGE ", command: [vllm, serve, m]}\n  engine:\n    tensorParallelSize: 2\n",
     "x.yaml:4: 'tensor_parallel_size' stands in a line that nothing reads"},
    {"options of an annotation", "x.yaml",
     "metadata: {annotations: {a: --max-num-seqs 16}}\nspec: " CONTAINER,
     "x.yaml:1: '--max-num-seqs' stands outside the command"},
    {"a Kustomization beside what it changes", "x.yaml",
     "spec: " CONTAINER
     "---\nkind: Kustomization\nimages: [{name: vllm/vllm-openai, newTag: v0.19.1}]\n",
     "x.yaml:3: a Kustomization changes what stands here"},
    {"a page's source", "x.md", "<code>vllm serve m &#45;&#45;max-num-seqs&nbsp;6</code>\n",
     "model=m system=vllm max_sequences=6"},
    {"quotes of a page's source", "log",
     "non-default args: {&#39;model&#39;: &#39;m&#39;, &quot;max_num_seqs&quot;: 16}\n",
     "model=m system=vllm max_sequences=16"},
    {"a mark of HTML before an option", "x.md", "vllm serve m <span>--max-num-seqs</span> 16\n",
     "x.md:1: '<span>' stands for something else"},
    {"a placeholder of one word", "x.sh", "vllm serve m <options>\n",
     "x.sh:1: '<options>' stands for something else"},
    {"a placeholder in the model's place", "x.sh", "vllm serve <your_model> --max-num-seqs 16\n",
     "system=vllm max_sequences=16"},
    {"a redirection is none", "x.sh", "vllm serve m </dev/null >log --max-num-seqs 16\n",
     "model=m system=vllm max_sequences=16"},
    {"two units of systemd", "log",
     "Nov 30 01:00:00 h vllm@0[12]: INFO non-default args: {'model': 'm'}\n"
     "Nov 30 01:00:00 h vllm@1[13]: INFO non-default args: {'model': 'm'}\n",
     "log:2: settings of 'vllm@0' and of 'vllm@1'"},
    {"what LMCache logs without its settings", "log",
     "non-default args: {'model': 'm'}\nLMCache INFO: Creating LMCacheEngine instance\n",
     "log:2: 'Creating LMCacheEngine', but no line states 'system'"},
    {"a server of prompts alone", "log",
     "server_args=ServerArgs(model_path='m')\nPrefill batch, #new-seq: 1, #transferring-req: 1\n",
     "log:2: '#transferring-req: ': prompts and decodes on servers of their own"},
    {"a GPU whose memory kvcached shares", "log",
     "non-default args: {'model': 'm'}\n[kvcached][INFO] Successfully patched vllm\n",
     "log:2: '[kvcached] ... patched vllm': the GPU is shared with others"},
    {"metrics of a server with a connector", "metrics",
     "vllm:cache_config_info{num_gpu_blocks=\"9\"} 1.0\n"
     "vllm:external_prefix_cache_queries_total{model_name=\"m\"} 12.0\n",
     "metrics:2: 'external_prefix_cache_queries_total' is '12.0': prefixes are kept outside the GPU"},
    {"metrics of a server with stages", "metrics",
     "sglang:max_total_num_tokens{model_name=\"m\",pp_rank=\"0\"} 9.0\n"
     "sglang:max_total_num_tokens{model_name=\"m\",pp_rank=\"1\"} 9.0\n",
     "metrics:2: 'pp_rank' is '1': the metrics are of several GPUs"},
    {"a router's option that is not known", "x.sh",
     "vllm serve m &\nvllm-router --static-backends http://a:1,http://b:1 --host h\n",
     "x.sh:2: the router's 'static_backends' is not modelled"},
    {"a text of Python is no log", "x.py", "f\"expect_server_args={server_args}\"\n",
     "x.py: no line is a server's"},
    {"an AMD GPU's device", "compose.yaml",
     "services:\n  a:\n    image: vllm/vllm-openai\n    command: [--model, m]\n    devices: [/dev/kfd, /dev/dri]\n",
     "compose.yaml:5: '/dev/kfd': machines of others than NVIDIA are not modelled"},
    {"all of a connector's settings", "log",
     "non-default args: {'model': 'm', 'kv_transfer_config': KVTransferConfig(kv_connector='OffloadingConnector', "
     "kv_role='kv_both', kv_parallel_size=1, kv_connector_extra_config={'cpu_bytes_to_use': 40000000000})}\n",
     "model=m system=vllm-offload host_memory=40000000000B"},
    {"a slice of a GPU", "x.yaml",
     "spec: {containers: [{" IMAGE
     ", args: [m], resources: {limits: {nvidia.com/mig-3g.40gb: 1}}}]}\n",
     "x.yaml:1: 'nvidia.com/mig-': a slice of a GPU is not modelled"},
    {"a slice of Slurm's", "x.sh", "#SBATCH --gres=gpu:a100_3g.40gb:1\nvllm serve m\n",
     "x.sh:1: '3g.40gb': a slice of a GPU is not modelled"},
    {"a slice of docker's", "x.sh",
     "docker run --gpus '\"device=0:1\"' vllm/vllm-openai:v0.19.0 --model m\n",
     "x.sh:1: a slice of a GPU is not modelled"},
    {"tasks of Slurm", "x.sh", "#SBATCH --ntasks=4\nsrun vllm serve m\n",
     "x.sh:2: a loop or a function may start several servers"},
    {"an array of Slurm", "x.sh", "#SBATCH --array=0-3\nvllm serve m\n",
     "x.sh:1: an array of tasks may start several servers"},
    {"one of Slurm's tasks", "x.sh", "#SBATCH --ntasks=4\nsrun -n 1 vllm serve m\n",
     "model=m system=vllm"},
    {"a router and the servers behind it", "x.sh",
     "vllm serve m &\nvllm-router --worker-urls http://a:1 http://b:1 --policy cache_aware\n",
     "model=m system=vllm replicas=2 routing=prefix-load"},
    {"a router that starts its servers", "x.sh",
     "python -m sglang_router.launch_server --model-path m --dp-size 4 --router-balance-rel-threshold 1.2\n",
     "model=m system=sglang engine=sglang-0.5.23 replicas=4 routing=prefix-load balance_rel_threshold=1.2"},
    {"and its policy", "x.sh",
     "python -m sglang_router.launch_server --model-path m --dp-size 4 --router-policy round_robin\n",
     "model=m system=sglang engine=sglang-0.5.23 replicas=4 routing=round-robin"},
    {"a router that is installed", "x.sh", "pip install vllm-router --upgrade\nvllm serve m\n",
     "model=m system=vllm"},
    {"tasks that one option counts and another not", "x.sh",
     "srun --ntasks-per-node=1 -n 4 vllm serve m\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"a task on each node", "x.sh", "srun -N 2 vllm serve m\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"a task on each node of Slurm's", "x.sh",
     "#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\nsrun --ntasks-per-node=1 vllm serve m\n",
     "x.sh:3: a loop or a function may start several servers"},
    {"one of Slurm's nodes", "x.sh",
     "#SBATCH --nodes=2\nsrun --nodes=1 --ntasks=1 -w n1 vllm serve m\n", "model=m system=vllm"},
    {"Swarm's copy on each node", "x.yaml",
     "services: {v: {" IMAGE ", command: [m], deploy: {mode: global}}}\n",
     "x.yaml:1: a copy runs on each node"},
    {"copies of a quoted command", "x.sh",
     "seq 0 3 | xargs -P4 -I{} sh -c \"vllm serve m --port 800{}\"\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"a function whose brace stands in the next line", "x.sh",
     "serve()\n{\n  vllm serve m\n}\nserve &\nserve &\n",
     "x.sh:3: a loop or a function may start several servers"},
    {"a function that ended, in a line with others", "x.sh",
     "echo a; log() { echo b; }; vllm serve m\n", "model=m system=vllm"},
    {"and a function before it", "x.sh", "log()\n{\n  echo a\n}\nvllm serve m\n",
     "model=m system=vllm"},
    {"levels that contradict", "x.sh", "vllm serve m -O0 -O 3\n", "x.sh:1: '"},
    {"Compose knows no comment in a command", "x.yaml",
     "services: {v: {" IMAGE ", command: '--model m # --max-num-seqs 4 -tp 2'}}\n",
     "x.yaml:1: '#' stands without an option"},
    {"a comment among continued lines", "x.sh",
     "vllm serve m \\\n # -tp 2 \\\n --kv-cache-dtype fp8\n",
     "x.sh:3: '--kv-cache-dtype' stands outside the command"},
    {"a variable that grows", "x.sh",
     "CMD=\"vllm serve m\"\nCMD=\"$CMD --kv-cache-dtype fp8\"\neval $CMD\n",
     "model=m system=vllm dtype.kv=fp8"},
    {"a variable that may grow", "x.sh",
     "CMD=\"vllm serve m\"\n[ -n \"$1\" ] && CMD=\"$CMD --kv-cache-dtype fp8\"\n$CMD\n",
     "x.sh:2: '--kv-cache-dtype' stands outside the command"},
    {"a variable with options behind it", "x.sh", "SERVE=\"vllm serve m\"\n$SERVE -tp 2\n",
     "model=m system=vllm tensor_parallel=2"},
    {"such a variable behind other programs", "x.sh",
     "C=\"vllm serve m\"\nX=1 nohup timeout 1h $C --max-num-seqs 8 > log 2>&1 &\n",
     "model=m system=vllm max_sequences=8"},
    {"such a variable in quotes", "x.sh",
     "C=\"vllm serve m\"\ntmux send-keys -t x \"exec $C --max-num-seqs 8\" C-m\n",
     "model=m system=vllm max_sequences=8"},
    {"such a variable beside an unknown one", "x.sh", "C=\"vllm serve m\"\nbash -c \"$C $EXTRA\"\n",
     "x.sh:2: '$EXTRA' stands without an option"},
    {"such a variable in a loop", "x.sh",
     "C=\"vllm serve m\"\nfor i in 0 1; do CUDA_VISIBLE_DEVICES=$i $C --port 800$i & done\n",
     "x.sh:2: a loop or a function may start several servers"},
    {"such a variable twice", "x.sh",
     "C=\"vllm serve m\"\nCUDA_VISIBLE_DEVICES=0 $C &\nCUDA_VISIBLE_DEVICES=1 $C &\n",
     "x.sh:3: a second command starts a server"},
    {"Knative's least copies", "x.yaml",
     "metadata: {annotations: {autoscaling.knative.dev/min-scale: '3'}}\nspec:\n  containers:\n  - " IMAGE
     "\n    args: [--model, m]\n",
     "x.yaml:1: an autoscaler decides how many copies run"},
    {"Ansible's loop around a container", "x.yml",
     "- docker_container:\n    " IMAGE "\n    command: --model m\n  loop: [0, 1]\n",
     "x.yml:1: a loop starts several copies"},
    {"copies that Compose is asked for", "x.md",
     "vllm serve m\n\n    docker compose up -d --scale vllm=3\n",
     "x.md:3: it may start several copies"},
    {"copies that Kubernetes is asked for", "x.md",
     "kubectl scale deployment vllm --replicas=4\nvllm serve m\n",
     "x.md:1: it may start several copies"},
    {"no copies asked for", "x.md", "kubectl scale deployment vllm --replicas 0\nvllm serve m\n",
     "model=m"},
    {"slower clocks", "x.sh", "nvidia-smi -ac 5001,705\nvllm serve m\n", "x.sh:1: '"},
    {"less power", "x.sh", "dcgmi config --set -P 200\nvllm serve m\n", "x.sh:1: '"},
    {"such a variable that is only printed", "x.sh",
     "C=\"vllm serve m\"\necho \"runs $C as it is\"\n$C --max-num-seqs 8\n",
     "model=m system=vllm max_sequences=8"},
    {"an array of words", "x.sh", "cmd=(\nvllm serve m # small\n--kv-cache-dtype fp8\n)\n",
     "model=m system=vllm dtype.kv=fp8"},
    {"a variable of Compose's own shell is not the container's", "x.yaml",
     "a:\n  " IMAGE "\n  environment: {TP: 2}\n  command: [--model, '${M:-m}', -tp, '${TP}']\n",
     "x.yaml:4: 'tp' is '${TP}'"},
    {"but its shell's are", "x.yaml",
     "a:\n  " IMAGE "\n  environment: {A: --kv-cache-dtype fp8}\n  entrypoint: ''\n"
     "  command: bash -c \"vllm serve m $$A\"\n",
     "model=m system=vllm engine=vllm-0.20 dtype.kv=fp8"},
    {"variables of Kubernetes", "x.yaml",
     "a:\n- " IMAGE "\n  env: [{name: TP, value: '2'}]\n  args: [--model, m, -tp, $(TP)]\n",
     "model=m system=vllm engine=vllm-0.20 tensor_parallel=2"},
    {"that stand elsewhere", "x.yaml",
     "a:\n- " IMAGE "\n  env: [{name: TP, valueFrom: {}}]\n  args: [--model, m, -tp, $(TP)]\n",
     "x.yaml:4: 'tp' is '$(TP)'"},
    {"another array of options", "x.sh", "vllm serve m \"${ARGS[@]}\"\n",
     "x.sh:1: '${ARGS[@]}' stands without an option"},
    {"options of other programs, and of a sentence", "x.sh",
     "vllm serve m\nvllm bench serve --model m --tensor-parallel-size 4\n"
     "Use `--kv-cache-dtype fp8` for more room.\n- `--max-num-seqs`: how many\n"
     "| --max-num-seqs | 256 |\n",
     "model=m system=vllm"},
    {"redirections before options", "x.sh",
     "vllm serve m 2>&1 -tp 2 >log < /dev/null --kv-cache-dtype fp8 | tee x\n",
     "model=m system=vllm tensor_parallel=2 dtype.kv=fp8"},
    {"a copy on each node", "x.yaml",
     "kind: DaemonSet\nspec: {template: {spec: {containers: [{" IMAGE ", args: [m]}]}}}\n",
     "x.yaml:1: a copy runs on each node\n  expected: --set replicas=N"},
    {"as many copies as are needed", "x.yaml",
     "spec: {minReplicas: 1, maxReplicas: 6, containers: [{" IMAGE ", args: [m]}]}\n",
     "x.yaml:1: an autoscaler decides how many copies run\n  expected: --set replicas=N"},
    {"no copy", "x.yaml", "spec: {replicas: 0, containers: [{" IMAGE ", args: [m]}]}\n",
     "x.yaml:1: 'replicas' is '0'\n  expected: --set replicas=N"},
    {"copies of a task", "x.yaml", "spec: {parallelism: 3, containers: [{" IMAGE ", args: [m]}]}\n",
     "model=m system=vllm engine=vllm-0.20 replicas=3"},
    {"an autoscaler", "x.yaml",
     "spec: {minReplicas: 4, scaleTargetRef: {name: a}}\n---\ncontainers:\n- " IMAGE
     "\n  args: [--model, m]\n",
     "x.yaml:1: an autoscaler decides how many copies run\n  expected: --set replicas=N"},
    {"an option that stands twice", "x.sh",
     "vllm serve m --kv-cache-dtype fp8 -q fp8 -O0 --max-cudagraph-capture-size 0 --kv-offloading-size 9 -tp x "
     "--kv-cache-dtype auto --quantization compressed-tensors -O3 --max-cudagraph-capture-size 512 "
     "--kv-offloading-size 0 --tensor-parallel-size 2",
     "model=m system=vllm tensor_parallel=2"},
    {"a connector that is replaced", "x.sh",
     "vllm serve m --kv-transfer-config '{\"kv_connector\": \"OffloadingConnector\", "
     "\"kv_connector_extra_config\": {\"cpu_bytes_to_use\": 1, \"eviction_policy\": \"arc\"}}' "
     "--kv-transfer-config '{\"kv_connector\": \"OffloadingConnector\"}'",
     "model=m system=vllm-offload"},
    {"SGLang's option that stands twice", "x.sh",
     "sglang serve --model m --enable-hierarchical-cache --hicache-storage-backend mooncake "
     "--attention-backend triton --attention-backend fa3 --hicache-storage-backend file",
     "model=m system=sglang-hicache engine=sglang-0.5.23 mechanisms.prefix_disk=arrive"},
    {"a rank of several", "x.sh", "vllm serve m -dp 4 --data-parallel-rank $RANK",
     "x.sh:1: '--data-parallel-rank': how GPUs share"},
    {"a variable without a blank", "x.sh",
     "docker run -eVLLM_USE_V1=0 vllm/vllm-openai:v0.20.0 --model m",
     "x.sh:1: 'VLLM_USE_V1' is '0'"},
    {"a loop that ended", "x.sh", "for x in a b; do\n  echo $x\ndone\nvllm serve m\n",
     "model=m system=vllm"},
    {"a server that is started again", "x.sh", "while true; do\n  vllm serve m\n  sleep 5\ndone\n",
     "model=m system=vllm"},
    {"several refusals", "x.sh", "vllm serve m --enable-lora --hf-overrides '{}' --no-such 4 -tp 0",
     "x.sh:1: '--enable-lora': adapters are not modelled; '--hf-overrides': types and sizes of parts are not "
     "modelled; unknown option '--no-such'; 'tp' is '0'"},
    {"several, whose order does not matter", "x.sh", "vllm serve m --no-such 4 --enable-lora",
     "x.sh:1: unknown option '--no-such'; '--enable-lora': adapters are not modelled"},
    {"a default of vLLM 0.7", "log",
     "Initializing a V0 LLM engine (v0.7.2) with config: model='m', chunked_prefill_enabled=False,",
     "model=m system=vllm engine=vllm-0.7"},
    {"a refusal of an earlier start", "log",
     "vLLM API server version 0.20.0\nnon-default args: {'model': 'm', 'enable_lora': True}\n"
     "vLLM API server version 0.20.0\nnon-default args: {'model': 'n'}\n",
     "model=n system=vllm engine=vllm-0.20"},
    {"a length that was fitted", "log",
     "non-default args: {'model': 'm', 'max_model_len': -1}\n LLM engine (v0.17.1) with config: model='m', "
     "max_seq_len=262144\nAuto-fit max_model_len: reduced from 262144 to 98304\nGPU KV cache size: 98,304 tokens\n",
     "model=m system=vllm engine=vllm-0.17 request_tokens=98304 kv_pool_tokens=98304"},
    {"a log of TensorRT-LLM", "log",
     "trtllm-serve m\n[TensorRT-LLM][INFO] [MemUsageChange] Allocated 24.35 GiB for max tokens in paged KV cache "
     "(199488).\n",
     "log:2: '[TensorRT-LLM]': its logs are not read, but its command is, and --set kv_pool_tokens=N"},
    {"what a script says of its start", "log",
     "Starting trtllm-serve for model openai/gpt-oss-120b on port 8355...\n[TRT-LLM] [I] x\n",
     "log:2: '[TRT-LLM]': its logs are not read, but its command is"},
    {"SGLang's usual settings", "log", ARGS NEWEST "swa_full_tokens_ratio=0.8)",
     "model=m system=sglang engine=sglang-0."},
    {"another share of windows", "log", ARGS "swa_full_tokens_ratio=0.2)",
     "model=m system=sglang engine=sglang-0.5.23 window_ratio=0.2"},
    {"another policy", "log", "server_args=ServerArgs(model_path='m', radix_eviction_policy='lfu')",
     "log:1: 'radix_eviction_policy': it is a state"},
    {"another schedule", "log",
     "server_args=ServerArgs(model_path='m', schedule_conservativeness=0.3)",
     "log:1: 'schedule_conservativeness': these limits"},
    {"smaller prompts in a step", "log",
     "server_args=ServerArgs(model_path='m', max_prefill_tokens=4096)",
     "log:1: 'max_prefill_tokens': these limits"},
    {"steps one after the other", "log",
     "server_args=ServerArgs(model_path='m', disable_overlap_schedule=True)",
     "model=m system=sglang engine=sglang-0.5.23 overlap=no"},
    {"prompts whole", "log", "server_args=ServerArgs(model_path='m', chunked_prefill_size=-1)",
     "log:1: 'chunked_prefill_size' is -1\n"},
    {"pages of SGLang without HiCache", "x.sh", "sglang serve --model-path m --page-size 64",
     "model=m system=sglang engine=sglang-0.5.23 mechanisms.prefix_block=64tok"},
    {"prompts in another order", "log",
     "server_args=ServerArgs(model_path='m', schedule_policy='dfs-weight')",
     "log:1: 'schedule_policy' is 'dfs-weight'"},
    {"ranks that send tokens, vLLM", "x.sh",
     "vllm serve m -dp 4 -ep --all2all-backend deepep_low_latency",
     "model=m system=vllm data_parallel=4 expert_parallel=4 expert_exchange=all-to-all"},
    {"ranks that gather them", "x.sh",
     "vllm serve m -dp 4 -ep --all2all-backend allgather_reducescatter",
     "model=m system=vllm data_parallel=4 expert_parallel=4"},
    {"ranks that send tokens, SGLang", "x.sh",
     "sglang serve --model m --tp 8 --dp 8 --enable-dp-attention --moe-a2a-backend deepep",
     "model=m system=sglang engine=sglang-0.5.23 tensor_parallel=1 data_parallel=8 expert_parallel=8 "
     "expert_exchange=all-to-all"},
    {"a CPU", "log", " with config: model='m', device_config=cpu, max_seq_len=8\n",
     "log:1: 'device_config' is 'cpu'"},
    {"a variable that changes memory", "x.sh", "VLLM_MLA_DISABLE=1 vllm serve m",
     "x.sh:1: 'VLLM_MLA_DISABLE': it is"},
    {"a variable that stands elsewhere", "x.yaml",
     "a:\n- " IMAGE "\n  args: [--model, m, --kv-offloading-backend, lmcache]\n  env:\n"
     "  - {name: LMCACHE_MAX_LOCAL_CPU_SIZE, valueFrom: {configMapKeyRef: {name: c, key: size}}}\n",
     "x.yaml:2: 'LMCACHE_MAX_LOCAL_CPU_SIZE' is '$(valueFrom)'"},
    {"SGLang's image", "x.yaml",
     "a:\n- image: lmsysorg/sglang:v0.5.15-cu126\n  command: [sh, -c]\n  args: [sglang serve --model-path m]\n",
     "model=m system=sglang engine=sglang-0.5.15"},
    {"a slice of a GPU", "x.yaml",
     "a:\n- " IMAGE "\n  args: [--model, m]\n  resources: {limits: {nvidia.com/mig-3g.40gb: 1}}\n",
     "x.yaml:4: 'nvidia.com/mig-': a slice of a GPU is not modelled"},
    {"a slice by a node's label", "x.yaml",
     "nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB-MIG-3g.20gb}\ncontainers:\n- " IMAGE
     "\n  args: [m]\n",
     "x.yaml:1: '3g.20gb': a slice of a GPU is not modelled"},
    {"a slice by a claim", "x.yaml",
     "requests: [{name: g, exactly: {deviceClassName: mig.nvidia.com}}]\n---\ncontainers:\n- " IMAGE
     "\n  args: [m]\n",
     "x.yaml:1: 'mig.nvidia.com': a slice of a GPU is not modelled"},
    {"a part of a GPU's memory", "x.yaml",
     "a:\n- " IMAGE "\n  args: [m]\n  resources: {limits: {nvidia.com/gpumem: 20000}}\n",
     "x.yaml:4: '/gpumem': a slice of a GPU is not modelled"},
    {"GPUs in turn", "x.yaml",
     "kind: ConfigMap\ndata:\n  any: |-\n    sharing:\n      timeSlicing: {}\n---\ncontainers:\n- " IMAGE
     "\n  args: [m]\n",
     "x.yaml:5: 'timeSlicing:': a GPU that others share is not modelled"},
    {"a fraction of a GPU", "x.yaml",
     "metadata: {annotations: {gpu-fraction: '0.5'}}\ncontainers:\n- " IMAGE "\n  args: [m]\n",
     "x.yaml:1: 'gpu-fraction': a slice of a GPU is not modelled"},
    {"a slice of Compose's", "x.yaml",
     "services: {v: {" IMAGE
     ", command: [m], deploy: {resources: {reservations: {devices: [{device_ids: ['0:1']}]}}}}}\n",
     "x.yaml:1: a slice of a GPU is not modelled"},
    {"another maker's GPU", "x.yaml",
     "a:\n- " IMAGE "\n  args: [m]\n  resources: {limits: {amd.com/gpu: 1}}\n",
     "x.yaml:4: 'amd.com/gpu': machines of others than NVIDIA are not modelled"},
    {"KServe's replicas", "x.yaml",
     "minReplicas: 2\ncontainers:\n- " IMAGE "\n  args: [--model, m]\n",
     "model=m system=vllm engine=vllm-0.20 replicas=2"},
    {"a shell's text between two keys", "x.yaml",
     "a:\n- " IMAGE
     "\n  args:\n  - vllm serve m --max-model-len 4096\n  command: [/bin/bash, -c]\n",
     "model=m system=vllm engine=vllm-0.20 request_tokens=4096"},
    {"values of a Helm chart", "values.yaml",
     "servingEngineSpec:\n  modelSpec:\n  - {repository: vllm/vllm-openai, tag: v0.19.0, modelURL: m}\n",
     "values.yaml: no container of it starts a server\n  expected: an 'image' with a server's 'command' or 'args'; "
     "of a Helm chart what 'helm template' prints"},
    {"a manifest in JSON", "x.json",
     "{\"apiVersion\": \"v1\", \"kind\": \"Pod\", \"spec\": {\"containers\": [{\"image\": "
     "\"vllm/vllm-openai:v0.20.0\", \"args\": [\"--model\", \"m\"]}]}}",
     "model=m system=vllm engine=vllm-0.20"},
    {"variables of an image that installs the program", "Dockerfile",
     "ARG V=0.8.5\nFROM python:3.12\nARG V\nENV M=m\nENV N=$M\nRUN pip install vllm==${V}\nCMD vllm serve $N\n",
     "model=m system=vllm engine=vllm-0.8"},
    {"a unit's variables", "x.service",
     "[Service]\nEnvironment=\"MODEL=m\" SEQS=64\nExecStart=/bin/vllm serve ${MODEL} --max-num-seqs $SEQS\n",
     "model=m system=vllm max_sequences=64"},
    {"a variable that vLLM's own image does not read", "x.sh",
     "docker run -e TENSOR_PARALLEL_SIZE=8 vllm/vllm-openai:v0.20.0 --model m\n",
     "model=m system=vllm engine=vllm-0.20"},
    {"one that an image of one's own may read", "x.yaml",
     "containers:\n- image: my/vllm:1\n  args: [--model, m]\n"
     "  env: [{name: EXTRA_ARGS, value: -tp 8}, {name: PORT, value: '80'}]\n",
     "x.yaml:2: 'EXTRA_ARGS': what the image makes of the variable is not known\n"},
    {"a variable beside the option itself", "x.sh",
     "docker run -e MAX_MODEL_LEN=8192 my/vllm:1 --model m --max-model-len 8192\n",
     "model=m system=vllm request_tokens=8192"},
    {"another machine's image of a server's own command", "x.yaml",
     "a:\n- image: rocm/vllm:rocm6.4_vllm_0.9.1\n  command: [vllm, serve, m]\n",
     "x.yaml:2: 'rocm/vllm:rocm6.4_vllm_0.9.1' is an image for other machines"},
    {"a manifest that is no YAML, and speaks of a Secret", "x.yaml",
     "a:\n- " IMAGE "\n  args: [m, -tp\n# its token: kind: Secret\n", "x.yaml:5: not YAML"},
    {"more host memory than a container has", "x.yaml",
     "a:\n- " IMAGE
     "\n  args: [m, --kv-offloading-size, '64']\n  resources: {limits: {memory: 32Gi}}\n",
     "x.yaml:2: 'kv_offloading_size' is 64GiB, more than the memory of its container\n"
     "  expected: less than 32 GiB"},
    {"a variable that is called after a memory", "x.yaml",
     "a:\n- " IMAGE
     "\n  args: [m, --kv-offloading-size, '64']\n  env: [{name: my_memory, value: '3'}]\n",
     "model=m system=vllm-offload engine=vllm-0.20 host_memory=64GiB"},
    {"and as much as it has", "x.sh",
     "docker run --memory=64g vllm/vllm-openai:v0.20.0 m --kv-offloading-size 64\n",
     "model=m system=vllm-offload engine=vllm-0.20 host_memory=64GiB"},
    {"servers behind a router in a container", "x.yaml",
     "services:\n  r: {image: lmsysorg/sgl-model-gateway, command: python -m sglang_router.launch_router "
     "--worker-urls http://a:1 http://b:1}\n"
     "  a: {image: 'lmsysorg/sglang:v0.5.9', command: python -m sglang.launch_server --model-path m}\n",
     "model=m system=sglang engine=sglang-0.5.9 replicas=2 routing=prefix-load"},
    {"as much as a limit of Kubernetes has", "x.yaml",
     "a:\n- " IMAGE
     "\n  args: [m, --kv-offloading-size, '30']\n  resources: {limits: {memory: 32G, nvidia.com/gpu: '1'}}\n",
     "x.yaml:2: 'kv_offloading_size' is 30GiB, more than the memory of its container\n  expected: less than 29.8 GiB"},
    {"more GPUs than a container of Kubernetes has", "x.yaml",
     "a:\n- " IMAGE "\n  args: [m, -tp, '4']\n  resources: {limits: {nvidia.com/gpu: 2}}\n",
     "x.yaml:2: the server is on 4 GPUs of a machine, and sees 2"},
    {"more than it requests", "x.yaml",
     "a:\n- " IMAGE "\n  args: [m, -tp, '4']\n  resources: {requests: {nvidia.com/gpu: 2}}\n",
     "x.yaml:2: the server is on 4 GPUs of a machine, and sees 2"},
    {"more than a service has", "x.yaml",
     "services: {v: {" IMAGE
     ", command: [m, -tp, '4'], deploy: {resources: {reservations: {devices: [{count: 2}]}}}}}\n",
     "x.yaml:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"more than those that a service names", "x.yaml",
     "services: {v: {" IMAGE
     ", command: [m, -tp, '4'], deploy: {resources: {reservations: {devices: "
     "[{device_ids: ['0', '2']}]}}}}}\n",
     "x.yaml:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"of those that a default names", "x.yaml",
     "services: {v: {" IMAGE
     ", command: [m, -tp, '4'], deploy: {resources: {reservations: {devices: "
     "[{device_ids: ['${G:-0,1}', '2']}]}}}}}\n",
     "x.yaml:1: the server is on 4 GPUs of a machine, and sees 3"},
    {"but not of those that are not known", "x.yaml",
     "services: {v: {" IMAGE
     ", command: [m, -tp, '4'], deploy: {resources: {reservations: {devices: "
     "[{device_ids: ['${G:?no}', '2']}]}}}}}\n",
     "model=m system=vllm"},
    {"what a script asks Slurm for, in its variables", "x.sh",
     "#SBATCH --gpus-per-node=8\n#SBATCH --nodes=2\nTP=$SLURM_GPUS_ON_NODE\n"
     "ray start --head\nvllm serve m -tp $TP -pp ${SLURM_NNODES:-1}\n",
     "model=m system=vllm tensor_parallel=8 pipeline_parallel=2"},
    {"and where the nodes share it", "x.sh",
     "#SBATCH --gpus=8 --nodes=2\nray start --head\nvllm serve m -tp ${SLURM_GPUS_ON_NODE} -pp 2\n",
     "model=m system=vllm tensor_parallel=4 pipeline_parallel=2"},
    {"more than a job of Slurm's has", "x.sh",
     "#SBATCH --mem=32768\nsrun vllm serve m --kv-offloading-size 64\n",
     "x.sh:1: 'kv_offloading_size' is 64GiB, more than"},
    {"processes of MPI", "x.sh", "mpirun -np 4 vllm serve m\n",
     "x.sh:1: a loop or a function may start several servers"},
    {"processes of one server", "x.sh",
     "mpirun -n 4 trtllm-llmapi-launch trtllm-serve m --tp_size 4\n",
     "model=m system=tensorrt-llm engine=tensorrt-llm-1.0 tensor_parallel=4"},
    {"a slower GPU", "x.sh", "sudo nvidia-smi -i 0 -pl 300\nvllm serve m\n",
     "x.sh:1: 'nvidia-smi ...  -pl ': a GPU with less power is not modelled"},
    {"a version of what carries vLLM", "x.sh",
     "docker run nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.5.0 vllm serve m\n",
     "model=m system=vllm"},
    {"PowerShell's lines", "x.ps1", "vllm serve m `\n  -tp 2 `\n  --kv-cache-dtype fp8\n",
     "model=m system=vllm tensor_parallel=2 dtype.kv=fp8"},
    {"Windows' lines", "x.bat", "vllm serve m ^\r\n  -tp 2\r\n",
     "model=m system=vllm tensor_parallel=2"},
    {"a log of PowerShell's", "x.log", "\xff\xfev", "x.log: the text is in UTF-16\n"},
    {"words that stand for a variable that is set", "x.sh", "TP=2\nvllm serve m ${TP:+-tp $TP}\n",
     "model=m system=vllm tensor_parallel=2"},
    {"an image whose own command a shell replaces", "x.sh",
     "docker run vllm:0.1.7 bash -c \"cd /app && ./run.sh /m\"\n", "x.sh: no line is a server's"},
    {"KV on the host, by variables", "x.sh", "export TENSORRT_LLM_USE_FLEXKV=1\ntrtllm-serve m\n",
     "x.sh:1: 'TENSORRT_LLM_USE_FLEXKV': KV in host memory is not modelled for it"},
    {"a version of Red Hat's server", "x.yaml",
     "a:\n- image: registry.redhat.io/rhaiis/vllm-cuda-rhel9:3.0.0\n  command: [vllm, serve, m]\n",
     "model=m system=vllm"},
    {"what follows a quoted command", "x.sh",
     "bash -c \"vllm serve m --max-num-seqs 64\" > log 2>&1 &\ntmux attach\n",
     "model=m system=vllm max_sequences=64"},
    {"keys that are sent behind one", "x.sh",
     "tmux send-keys -t v \"vllm serve m --max-num-seqs 64\" C-m\n",
     "model=m system=vllm max_sequences=64"},
    {"a quote within a quoted command", "x.sh",
     "ssh h 'vllm serve m --chat-template '\\''a b'\\'' -tp 2'\n",
     "model=m system=vllm tensor_parallel=2"},
    {"an image that is built", "compose.yaml",
     "services:\n  v:\n    build: .\n    command: vllm serve m -tp 2\n",
     "model=m system=vllm tensor_parallel=2"},
    {"weights beyond a container's memory", "x.sh",
     "docker run -m 16g vllm/vllm-openai:v0.20.0 m -tp 2 --cpu-offload-gb 10\n",
     "x.sh:1: 'cpu_offload_gb' is 10GiB, more than the memory of its container"},
    {"more blanks than one", "x.sh", "docker run  vllm/vllm-openai:v0.20.0 m\n",
     "model=m system=vllm engine=vllm-0.20"},
    {"and between a server's words", "x.sh", "vllm   serve m\n", "model=m system=vllm"},
    {"a variable behind an option that changes nothing", "x.yaml",
     "a:\n  v:\n    " IMAGE
     "\n    command: --model m --host 0.0.0.0 --port ${PORT} ${EXTRA_ARGS}\n",
     "x.yaml:4: '${EXTRA_ARGS}' stands without an option\n"},
    {"in a list", "x.yaml",
     "a:\n  v:\n    " IMAGE "\n    command: [--model, m, --served-model-name, q, '${ARGS}']\n",
     "x.yaml:4: '${ARGS}' stands without an option\n"},
    {"and behind a switch", "x.sh", "vllm serve m --disable-log-requests $ARGS\n",
     "x.sh:1: '$ARGS' stands without an option\n"},
    {"an option without its dashes", "x.sh", "vllm serve m --seed 42 tensor-parallel-size 2\n",
     "x.sh:1: 'tensor-parallel-size' stands without an option; '2' stands"},
    {"an autoscaler of KEDA", "x.yaml",
     "containers:\n- " IMAGE "\n  args: [m]\n---\nspec: {minReplicaCount: 1, maxReplicaCount: 8}\n",
     "x.yaml:5: an autoscaler decides"},
    {"of Knative", "x.yaml",
     "annotations: {autoscaling.knative.dev/maxScale: '6'}\ncontainers:\n- " IMAGE
     "\n  args: [m]\n",
     "x.yaml:1: an autoscaler decides"},
    {"requests that Knative holds back", "x.yaml",
     "containerConcurrency: 4\ncontainers:\n- " IMAGE "\n  args: [m]\n",
     "x.yaml:1: 'containerConcurrency': "},
    {"a file of a container", "x.sh", "apptainer exec --nv vllm-openai_v0.8.5.sif vllm serve m\n",
     "model=m system=vllm engine=vllm-0.8"},
    {"of enroot", "x.sh",
     "srun --container-image=/i/vllm+vllm-openai+v0.8.5.sqsh bash -c \"vllm serve m\"\n",
     "model=m system=vllm engine=vllm-0.8"},
    {"of another maker's machine", "x.sh",
     "apptainer exec vllm_rocm6.3.1_vllm0.8.3.sif vllm serve m\n",
     "x.sh:1: 'vllm_rocm6.3.1_vllm0.8.3.sif' is an image for other machines"},
    {"an environment", "x.sh", "conda activate vllm-0.8.5\nvllm serve m\n",
     "model=m system=vllm engine=vllm-0.8"},
    {"a version that is not vLLM's", "x.sh", "docker run my/vllm:1.4.0 m\n", "model=m system=vllm"},
    {"a GPU that is divided", "x.sh", "nvidia-smi -i 0 -mig 1; vllm serve m\n",
     "x.sh:1: 'nvidia-smi ... -mig 1': a slice of a GPU is not modelled"},
    {"a GPU that is shared", "x.sh", "nvidia-cuda-mps-control -d\nvllm serve m\n",
     "x.sh:1: 'nvidia-cuda-mps-control': a GPU that others share is not modelled"},
    {"a secret that is to be filled in", "x.yaml",
     "containers:\n- " IMAGE
     "\n  args: [m]\n---\nkind: Secret\nstringData:\n  token: {{HF_TOKEN}}\n",
     "model=m system=vllm engine=vllm-0.20"},
    {"a script in a ConfigMap", "x.yaml",
     "kind: ConfigMap\ndata: {run.sh: vllm serve m}\n---\ncontainers:\n- " IMAGE
     "\n  command: [bash, /run.sh]\n",
     "x.yaml: no container of it starts a server"},
};

static void what_changes_memory_or_time_is_not_overlooked(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(overlooked); i++) {
        const char *got = keys_of(overlooked[i].text, overlooked[i].file);
        if (strncmp(got, overlooked[i].begins, strlen(overlooked[i].begins)) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", overlooked[i].what, got, overlooked[i].begins);
        }
    }
}

/* Pools that threads state twice: in bytes of a GPU, which are rounded to `digit`, and in tokens or
 * requests. */
static const struct {
    const char *thread, *model;
    enum dtype kv;
    uint32_t gpus;
    const char *engine; /* NULL: none that divides the pool among groups of layers */
    uint64_t length, tokens;
    double gib, digit;
    double requests; /* of the length; 0: unsaid */
} pools[] = {
    {"vllm-project/vllm #10517", "llama-3.1-8b", DTYPE_BF16, 1, NULL, 20000, 1952 * 16, 3.81, .01,
     1.56},
    {"LMCache/LMCache #1739", "qwen3-14b", DTYPE_BF16, 1, NULL, 32768, 42656, 6.51, .01, 1.30},
    {"LMCache/LMCache #1372", "qwen3-4b", DTYPE_BF16, 1, NULL, 32768, 32768, 4.50, .01, 1},
    {"vllm-project/vllm #34076", "qwen3-30b-a3b", DTYPE_BF16, 1, NULL, 262144, 262144, 24.0, .1, 1},
    {"vllm-project/vllm #34076, what fits", "qwen3-30b-a3b", DTYPE_BF16, 1, NULL, 34736, 34736,
     3.18, .01, 1},
    {"kaito-project/kaito #2132", "mistral-small-4-119b", DTYPE_BF16, 2, NULL, 1048576, 1048576,
     22.5, .1, 1},
    {"kaito-project/kaito #2132, what fits", "mistral-small-4-119b", DTYPE_BF16, 2, NULL, 810208,
     810208, 17.39, .01, 1},
    {"vllm-project/vllm #21348, SGLang", "qwen3-235b-a22b-fp8", DTYPE_BF16, 4, NULL, 1, 367404,
     2 * 8.23, .02, 0},
    {"NVIDIA/TensorRT-LLM #1400", "llama-2-7b", DTYPE_BF16, 1, NULL, 1, 132608,
     69524783104. / (1 << 30), 1e-9, 0},
    {"vllm-project/vllm #40691", "qwen3.5-27b", DTYPE_BF16, 1, "vllm-0.19", 32768, 290864, 0, 0,
     33.04},
    {"ovg-project/kvcached #215", "gemma-3-4b", DTYPE_BF16, 1, "vllm-0.11", 3072, 317136, 0, 0,
     102.78},
    {"mitchross/talos-argocd-proxmox #1995", "qwen3.8-27b", DTYPE_FP8, 2, "vllm-0.29", 131072,
     302921, 4.99, .03, 2.31},
};

static void pools_of_threads_are_those_of_their_models(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(pools); i++) {
        const struct model_options options = {
            .weights = -1, .kv = (int)pools[i].kv, .tensor_parallel = pools[i].gpus};
        struct model model;
        struct error why;
        assert_true(model_load(NULL, pools[i].model, &options, NULL, 0, &model, &why));
        double tokens = (double)pools[i].tokens, length = (double)pools[i].length;
        double bytes = tokens * (double)model_kv_tokens_bytes(&model), requests = tokens / length,
               slack = .006;
        if (pools[i].engine != NULL) {
            const struct server_engine engine = engine_of(pools[i].engine);
            struct kv_limits limits = kv_limits_of(
                &engine.groups, 8192, model.linear.key_heads == 0 || engine.caches_states);
            struct kv_groups groups;
            assert_true(kv_groups_plan(&model, &limits, &groups, &why));
            bytes = kv_groups_logged_bytes(&groups, &limits, pools[i].tokens, pools[i].length);
            /* The log leaves out blocks that are not enough for a token of each group. */
            double each = (double)kv_groups_blocks(&groups, &limits, pools[i].length);
            slack += groups.groups / each;
            requests = floor(bytes / (double)groups.block_bytes) / each;
        }
        double off = fabs(bytes / (1 << 30) - pools[i].gib);
        if ((pools[i].gib > 0 && off > pools[i].digit) ||
            (pools[i].requests > 0 && fabs(requests - pools[i].requests) > slack)) {
            fail_msg("%s: %.4f GiB, %.3f requests", pools[i].thread, bytes / (1 << 30), requests);
        }
        model_release(&model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_people_pasted_is_read_right),
        cmocka_unit_test(what_changes_memory_or_time_is_not_overlooked),
        cmocka_unit_test(pools_of_threads_are_those_of_their_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
