/* What logs, commands and metrics of servers say, as keys of a scenario. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/command/server_text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct error why;

enum { TEXT = 1024 };

static bool read_text(const char *text, struct stated_keys *keys)
{
    FILE *in = tmpfile();
    assert_non_null(in);
    fputs(text, in);
    rewind(in);
    bool read = server_text_read(in, "f", NULL, 0, keys, &why);
    fclose(in);
    return read;
}

/* Returns false with the message in `out`, which is empty otherwise. */
static bool read_keys(const char *text, struct stated_keys *keys, char out[TEXT])
{
    out[0] = '\0';
    if (!read_text(text, keys)) {
        error_format(&why, out, TEXT);
        return false;
    }
    return true;
}

/* The keys of a text as "key=value@line ..."; or the message. */
static const char *keys_of(const char *text)
{
    static char out[TEXT];
    struct stated_keys keys;
    size_t used = 0;
    if (!read_keys(text, &keys, out)) {
        return out;
    }
    for (int id = 0; id < STATED_MOST; id++) {
        const struct stated_key *key = &keys.all[id];
        if (key->value[0] != '\0') {
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%s=%s@%d",
                                     used > 0 ? " " : "", key->key, key->value, key->line);
        }
    }
    return out;
}

static const struct {
    const char *what, *text, *keys;
} cases[] = {
    {"a command of two lines, with its options in both spellings",
     "x\nvllm serve org/m --tensor-parallel-size 2 \\\n  --max-num-seqs=64\n",
     "model=org/m@2 system=vllm@0 tensor_parallel=2@2 max_sequences=64@3"},
    {"short options, quotes, an environment, and what follows the command",
     "A=1 vllm serve 'org/m' -tp 4 -q awq_marlin > log; load --max-num-seqs 9",
     "model=org/m@1 system=vllm@0 tensor_parallel=4@1 dtype.weights=int4@1 checkpoint=yes@1"},
    {"comments, which go on in no next line",
     "# vllm serve org/m \\\n#   --no-such 4 \\\nLEN=4k # \\\nLEN=8k\n# one \\\nvllm serve m --max-model-len $LEN",
     "model=m@6 system=vllm@0 request_tokens=8000@6"},
    {"nor in a Dockerfile",
     "FROM vllm/vllm-openai:v0.19.0\n# one \\\nENTRYPOINT vllm serve m -tp 2\n",
     "model=m@3 system=vllm@0 engine=vllm-0.19@3 tensor_parallel=2@3"},
    {"what a shell puts in the place of commands",
     "vllm serve m --host $(hostname -I | cut -d. -f1) --api-key `cat key | head -n 1` -tp 4",
     "model=m@1 system=vllm@0 tensor_parallel=4@1"},
    {"letters of other programs' options",
     "IP=$(scontrol show hostnames \"$JOB\" | head -n 1)\nvllm serve m -tp 2",
     "model=m@2 system=vllm@0 tensor_parallel=2@2"},
    {"the model as an option", "python -m vllm.entrypoints.openai.api_server --model m",
     "model=m@1 system=vllm@0"},
    {"k is a thousand, K 1024", "vllm serve m --max-num-batched-tokens 8k --max-num-seqs 1K",
     "model=m@1 system=vllm@0 max_sequences=1024@1 batched_tokens=8000@1"},
    {"the longest request", "vllm serve m --max-model-len 32K",
     "model=m@1 system=vllm@0 request_tokens=32768@1"},
    {"the longest that fits", "vllm serve m --max-model-len auto", "model=m@1 system=vllm@0"},
    {"fractions of decimal units are vLLM's: 25.6k, 1m",
     "vllm serve m --max-model-len 25.6k --max-num-batched-tokens 0.5m --max-num-seqs 1.001k",
     "model=m@1 system=vllm@0 max_sequences=1001@1 batched_tokens=500000@1 request_tokens=25600@1"},
    {"vLLM's M is 1024 * 1024", "vllm serve m --max-model-len 1M",
     "model=m@1 system=vllm@0 request_tokens=1048576@1"},
    {"SGLang's M is a million, its Ki 1024",
     "sglang serve --model-path m --context-length 1M --chunked-prefill-size 8Ki",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 batched_tokens=8192@1 request_tokens=1000000@1"},
    {"types of two bytes are the model's own",
     "vllm serve m --dtype half\nLLM with config: model='m', dtype=torch.bfloat16, x=1",
     "model=m@2 system=vllm@0"},
    {"other names of settings",
     "sglang serve --model-path m --enable-hicache --tp 8 "
     "--attn-dp-size 4",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 tensor_parallel=2@1 "
     "data_parallel=4@1 shared_ranks=yes@1"},
    {"the type that SGLang's cache came to",
     "server_args=ServerArgs(model_path='m', kv_cache_dtype='auto')\n"
     "KV Cache is allocated. dtype: torch.float8_e4m3fn, #tokens: 721408, KV size: 29.1 GB\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 dtype.kv=fp8@2 kv_pool_tokens=721408@2 kv_memory=29.1GiB@2"},
    {"a traceback, which starts nothing",
     "server_args=ServerArgs(model_path='m', tp_size=4)\n    x = _launch_subprocesses(server_args=server_args)\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=4@1"},
    {"a pool and weights, and those of drafts",
     "Load weight end. type=A, mem usage=7.5 GB.\nKV Cache is allocated. #tokens: 95, K size: 3.46 GB, V size: 3 GB\n"
     "Load weight end. type=B, mem usage=0.3 GB.\nKV Cache is allocated. #tokens: 95, K size: 1.08 GB, V size: 1 GB",
     "system=sglang@0 engine=sglang-0.5.23@0 kv_pool_tokens=95@4 kv_memory=6.46GiB@2 loaded=7.5GiB@1 class=A@1"},
    {"a pool that SGLang allocates, beside the sizes of graphs and no prefix cache, and what it says in the end",
     "server_args=ServerArgs(model_path='m')\nTree cache initialized: source=default impl=ChunkCache x=False\n"
     "KV Cache is allocated. #tokens: 90, K size: 1 GB, V size: 1 GB\nCapture cuda graph bs [1, 2, 4]\n",
     "model=m@1 system=sglang@0 mechanisms.prefix=none@2 engine=sglang-0.5.23@0 kv_pool_tokens=90@3 kv_memory=2GiB@3 "
     "graph_sequences=4@4"},
    {"weights by which free memory shrinks, but not those of drafts",
     "server_args=ServerArgs(model_path='m')\n[T TP0] Load weight begin. avail mem=78.50 GB\n"
     "[T TP0] Load weight end. type=A, avail mem=60.00 GB\nLoad weight begin. avail mem=9.00 GB\n"
     "Load weight end. type=B, avail mem=8.00 GB\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 loaded=18.50GiB@3 class=A@3"},
    {"lines within JSON, of logfmt and of CSV",
     "{\"log\": \"INFO [c.py:1] Using max model len 16384\\n\", \"stream\": \"stderr\"}\n"
     "level=info msg=\"INFO [c.py:1] non-default args: {'model': 'm', 'max_num_seqs': 16}\"\n"
     "2025,\"INFO Chunked prefill is enabled with max_num_batched_tokens=2048.\"\n"
     "2025,\"INFO LLM engine (v0.9.2) with config: model='m', compilation_config={\"\"level\"\":3,"
     "\"\"cudagraph_capture_sizes\"\":[64,1]}\"\n",
     "model=m@4 system=vllm@0 engine=vllm-0.9@4 max_sequences=16@2 batched_tokens=2048@3 request_tokens=16384@1 "
     "graph_sequences=64@4"},
    {"ranks of an earlier start, beside the command",
     "vllm serve m -tp 2\nnon-default args: {'model': 'm'}\n(Worker_TP3 pid=9) INFO x\n"
     "non-default args: {'model': 'm'}\n(Worker_TP1 pid=9) INFO x\n",
     "model=m@4 system=vllm@0 tensor_parallel=2@1"},
    {"the KV's type as a kernel says it, and a version of words in a log's line",
     "INFO [utils.py:299] vLLM version 0.20.0\nnon-default args: {'model': 'm'}\n"
     "INFO [flashinfer.py:780] FlashInfer resolved query dtypes: prefill=torch.bfloat16, "
     "kv_cache_dtype=torch.float8_e4m3fn, arch=sm121\n",
     "model=m@2 system=vllm@0 engine=vllm-0.20@1 dtype.kv=fp8@3"},
    {"the pool that it says in the end counts",
     "server_args=ServerArgs(model_path='m')\nmax_total_num_tokens=95, x=1\nKV Cache is allocated. #tokens: 90\n"
     "Capture decode CUDA graph begin. backend=full, num_tokens_per_bs=1, bs=[1, 2, ..., 34]\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 kv_pool_tokens=95@2 graph_sequences=34@4"},
    {"attention without graphs", "sglang serve --model-path m --attention-backend torch_native",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 compile=eager@1"},
    {"several sizes of graphs", "sglang serve --model-path m --cuda-graph-bs 1 16 8 --tp 2",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 graph_sequences=16@1"},
    {"states that are allocated are no setting",
     "server_args=ServerArgs(model_path='m')\n[2026-02-27 17:10:28 TP0] Mamba Cache is allocated. "
     "max_mamba_cache_size: 82, conv_state size: 0.13GB\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0"},
    {"a list of packages, which is no metrics",
     "python -m sglang.launch_server --model-path m\nsglang: 0.4.10\nvllm: Module Not Found\nvllm: 0.6.3",
     "model=m@1 system=sglang@0 engine=sglang-0.4.10@2"},
    {"weights outside that a log tells", "vllm serve m\nTotal CPU offloaded parameters: 7.98 GBs",
     "model=m@1 system=vllm@0 weights_outside=7.98GiB@2"},
    {"batches beyond the largest graph",
     "max_total_num_tokens=95, x=1\nDecode batch. #running-req: 13, cuda graph: False, x",
     "system=sglang@0 engine=sglang-0.5.23@0 kv_pool_tokens=95@1"},
    {"a cache's shape, which is no adapter",
     "max_total_num_tokens=95, x=1\nKV cache: MLA(kv_lora=512, rope=64) layers=2",
     "system=sglang@0 engine=sglang-0.5.23@0 kv_pool_tokens=95@1"},
    {"GPUs of several tasks", "#SBATCH --ntasks=4 --gpus-per-task=1\nvllm serve m -tp 4",
     "model=m@2 system=vllm@0 tensor_parallel=4@2"},
    {"GPUs that a step asks for itself",
     "#SBATCH --gpus-per-task=1\nsrun -n 1 --gpus=4 vllm serve m -tp 4",
     "model=m@2 system=vllm@0 tensor_parallel=4@2"},
    {"GPUs that a command counts",
     "#PBS -l select=1:ngpus=4\nTP=`nvidia-smi -L | wc -l`\nvllm serve m -tp $TP",
     "model=m@3 system=vllm@0 tensor_parallel=4@3"},
    {"GPUs that CUDA shows, counted",
     "export CUDA_VISIBLE_DEVICES=0,1\nvllm serve m -tp \"$(echo $CUDA_VISIBLE_DEVICES | tr ',' '\\n' | wc -l)\"",
     "model=m@2 system=vllm@0 tensor_parallel=2@2"},
    {"tasks of Slurm",
     "#SBATCH --nodes=1 --ntasks-per-node=4 --gpus-per-task=1\nvllm serve m -tp ${SLURM_NTASKS:-1}",
     "model=m@2 system=vllm@0 tensor_parallel=4@2"},
    {"GPUs that are unset again",
     "export CUDA_VISIBLE_DEVICES=0\nunset CUDA_VISIBLE_DEVICES\nvllm serve m -tp 2",
     "model=m@3 system=vllm@0 tensor_parallel=2@3"},
    {"GPUs by their names, whose runtime is not asked",
     "NVIDIA_VISIBLE_DEVICES=void\nCUDA_VISIBLE_DEVICES=GPU-6a4a45dc-ecb9-6afd-7352-32af35190630,GPU-6a4a45dc-ecb9-6afd-7352-32af35190631,GPU-6a4a45dc-ecb9-6afd-7352-32af35190632,GPU-6a4a45dc-ecb9-6afd-7352-32af35190633,GPU-6a4a45dc-ecb9-6afd-7352-32af35190634,GPU-6a4a45dc-ecb9-6afd-7352-32af35190635,GPU-6a4a45dc-ecb9-6afd-7352-32af35190636,GPU-6a4a45dc-ecb9-6afd-7352-32af35190637\nvllm serve m -tp 8",
     "model=m@3 system=vllm@0 tensor_parallel=8@3"},
    {"comments behind the backslashes of a command",
     "vllm serve m \\\n  --port 80 \\   # usual\n  -tp 2 \\ # two\n  --max-num-seqs 8\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@3 max_sequences=8@4"},
    {"GPUs that another program sees",
     "vllm serve m -tp 2\nCUDA_VISIBLE_DEVICES=1 python3 bench.py\nexport CUDA_VISIBLE_DEVICES=0",
     "model=m@1 system=vllm@0 tensor_parallel=2@1"},
    {"options of another program",
     "#SBATCH --gpus=all\nnumactl -N 0 -m 1 vllm serve m -tp 2 --kv-offloading-size 64",
     "model=m@2 system=vllm-offload@2 tensor_parallel=2@2 host_memory=64GiB@2"},
    {"stages that Ray puts on other machines",
     "CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 2 -pp 2 --distributed-executor-backend ray",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 pipeline_parallel=2@1"},
    {"GPUs of all that Ray starts", "ray start --head --num-gpus=2\nvllm serve m -tp 2 -pp 2",
     "model=m@2 system=vllm@0 tensor_parallel=2@2 pipeline_parallel=2@2"},
    {"an option that a set variable brings",
     "L=4096\nE=\nvllm serve m ${L:+--max-model-len \"$L\"} ${E:+-tp 8} ${F:+-tp 4} -pp 2",
     "model=m@3 system=vllm@0 pipeline_parallel=2@3 request_tokens=4096@3"},
    {"a manifest in a post, whose server failed",
     "I run:\n```yaml\nservices:\n  v:\n    image: vllm/vllm-openai:v0.19.0\n    entrypoint: vllm serve\n"
     "    command: m\n      --kv-cache-dtype fp8\n```\n`torch.OutOfMemoryError: CUDA out of memory`",
     "model=m@7 system=vllm@0 engine=vllm-0.19@5 dtype.kv=fp8@7"},
    {"a part of a manifest in a post",
     "Setup:\n`      containers:\n        - image: vllm/vllm-openai:v0.19.0\n          args:\n            - m\n"
     "            - '--dtype'\n            - float16\n`\n",
     "model=m@5 system=vllm@0 engine=vllm-0.19@3"},
    {"a manifest without a name",
     "services:\n  v:\n    image: vllm/vllm-openai:v0.19.0\n    command: m\n",
     "model=m@4 system=vllm@0 engine=vllm-0.19@3"},
    {"the server's version beside another program's",
     "pip install sglang[all]==0.5.2\npip install vllm==0.8.5\npython -m sglang.launch_server --model-path m",
     "model=m@3 system=sglang@0 engine=sglang-0.5.2@0"},
    {"a stage on each of two machines",
     "#SBATCH --nodes=2\n#SBATCH --gres=gpu:2\nvllm serve m -tp 2 -pp 2",
     "model=m@3 system=vllm@0 tensor_parallel=2@3 pipeline_parallel=2@3"},
    {"a sentence before the command", "vllm serve command:\nvllm serve m",
     "model=m@2 system=vllm@0"},
    {"experts that a log tells",
     "vllm serve m -tp 2\n(Worker_TP0_EP0 pid=5) INFO Available KV cache memory: 2 GiB",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 expert_parallel=2@2 kv_pool=2GiB@2"},
    {"experts whose exchange says where they lie",
     "sglang serve --model-path m --tp 2 --moe-a2a-backend deepep\n[2025-12-26 23:01:33 TP1 EP1] Init",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 expert_parallel=2@1"},
    {"a Dockerfile's blank behind a backslash",
     "FROM vllm/vllm-openai:v0.20.0\nENTRYPOINT vllm serve m \\ \n --max-num-seqs 3 \\ \n --dtype auto",
     "model=m@2 system=vllm@0 engine=vllm-0.20@2 max_sequences=3@2"},
    {"a tier that a log tells",
     "max_total_num_tokens=95, x=1\nAllocating 120.00 GB host memory for hierarchical KV cache.",
     "system=sglang-hicache@2 engine=sglang-0.5.23@0 kv_pool_tokens=95@1"},
    {"a metric's empty object", "vllm:vllm_config_info{additional_config=\"{}\",model=\"m\"} 1.0",
     "model=m@1 system=vllm@0"},
    {"the largest graph that vLLM measures",
     "vllm serve m\nProfiling CUDA graph memory: PIECEWISE=1 (largest=6), FULL=1 (largest=6)\n",
     "model=m@1 system=vllm@0 graph_sequences=6@2"},
    {"a version in bold letters", "- **vLLM**: v0.8.5\nsglang 0.5.2\nvllm serve m",
     "model=m@3 system=vllm@0 engine=vllm-0.8@1"},
    {"a version in a list of packages", "vllm      0.8.5     pypi_0\nvllm serve m",
     "model=m@2 system=vllm@0 engine=vllm-0.8@1"},
    {"a version in another script",
     "vllm \xe7\x89\x88\xe6\x9c\xac\xef\xbc\x9a"
     "0.8.5\nvllm serve m",
     "model=m@2 system=vllm@0 engine=vllm-0.8@1"},
    {"a version in a sentence", "I run vllm `0.8.5` here, with\nvllm serve m",
     "model=m@2 system=vllm@0 engine=vllm-0.8@1"},
    {"a version that collect_env prints", "vLLM Version    : 0.10.1.dev1259+g5a\nvllm serve m",
     "model=m@2 system=vllm@0 engine=vllm-0.10@1"},
    {"a version with one equals sign", "Vllm=0.8.4\nvllm serve m",
     "model=m@2 system=vllm@0 engine=vllm-0.8@1"},
    {"what is installed counts before words",
     "vllm 0.8.5 fails\npip install vllm==0.11.0\nvllm serve m",
     "model=m@3 system=vllm@0 engine=vllm-0.11@2"},
    {"a version behind the command", "sglang serve --model-path m\nsglang version: 0.5.3",
     "model=m@1 system=sglang@0 engine=sglang-0.5.3@2"},
    {"a version to come",
     "WARNING 12-19 17:39:29 [utils.py:79] x is deprecated and will be removed in vLLM v0.12.0\nvllm serve m",
     "model=m@2 system=vllm@0"},
    {"numbers that are no version, and versions of others",
     "vllm: 2.7x faster, vllm 0.85 s, my-vllm 3.0.0, vllm_router 0.1.2\nvllm serve m",
     "model=m@2 system=vllm@0"},
    {"shortened options, and flags without a value, of SGLang 0.4",
     "python -m sglang.launch_server --model-path m --tp 8 --enable-ep-moe --speculative-algo EAGLE3 "
     "--mem-fraction-static .8",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=8@1 expert_parallel=8@1 "
     "hbm_usable=0.8@1 drafts.method=eagle3@1"},
    {"whole experts and their exchange, by a flag",
     "sglang serve --model-path m --tp 8 --dp 8 --enable-dp-attention --enable-deepep-moe --port 1",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=1@1 data_parallel=8@1 "
     "expert_parallel=8@1 expert_exchange=all-to-all@1 shared_ranks=yes@1"},
    {"as many processes for texts as ranks", "vllm serve m -dp 4 --api-server-count 4",
     "model=m@1 system=vllm@0 data_parallel=4@1"},
    {"the largest CUDA graph", "sglang serve --model-path m --cuda-graph-max-bs 4",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 graph_sequences=4@1"},
    {"the largest CUDA graph of vLLM", "vllm serve m -O '{\"max_cudagraph_capture_size\": 8}'",
     "model=m@1 system=vllm@0 graph_sequences=8@1"},
    {"steps that overlap", "vllm serve m --async-scheduling",
     "model=m@1 system=vllm@0 overlap=yes@1"},
    {"steps that do not", "sglang serve --model-path m --disable-overlap-schedule --port 1",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 overlap=no@1"},
    {"a file of variables beside a tier that states none of its own",
     "source lm.env; sglang serve --model-path m --enable-hicache",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0"},
    {"the version that a script installs",
     "pip install 'vllm[flashinfer]==0.9.2'\n# pip install vllm==0.11.0\nvllm serve m",
     "model=m@3 system=vllm@0 engine=vllm-0.9@1"},
    {"JSON within the quotes of a shell's command",
     "bash -c \"vllm serve m --kv-transfer-config '{\\\"kv_connector\\\":\\\"OffloadingConnector\\\"}'\"",
     "model=m@1 system=vllm-offload@1"},
    {"sizes of CUDA graphs, of which the largest counts",
     "vllm serve m -O '{\"cudagraph_capture_sizes\": [1, 8, 4]}'",
     "model=m@1 system=vllm@0 graph_sequences=8@1"},
    {"sizes of CUDA graphs in a log",
     "LLM engine (v0.10.1) with config: model='m', compilation_config={\"level\":3,\"cudagraph_capture_sizes\":[512,504],"
     "\"max_capture_size\":512}, x=1",
     "model=m@1 system=vllm@0 engine=vllm-0.10@1 graph_sequences=512@1"},
    {"a command in brackets", "( export LMCACHE_CHUNK_SIZE=64; vllm serve m -tp +2 )",
     "model=m@1 system=vllm@0 tensor_parallel=2@1"},
    {"variables of CUDA that change nothing",
     "CUDA_VISIBLE_DEVICES=$GPUS CUDA_LAUNCH_BLOCKING=0 vllm serve m", "model=m@1 system=vllm@0"},
    {"switches that are off",
     "vllm serve m --no-enforce-eager --disable-prefix-caching "
     "--disable-expert-parallel --device-memory-utilization 0.8 --kv-cache-dtype nvfp4",
     "model=m@1 system=none@1 hbm_usable=0.8@1 dtype.kv=nvfp4@1"},
    {"no prefix cache, KV in fp8, blocks of 32 tokens",
     "vllm serve m --no-enable-prefix-caching --kv-cache-dtype fp8_e5m2 --block-size 32 "
     "--num-gpu-blocks-override 100",
     "model=m@1 system=none@1 dtype.kv=fp8@1 kv_pool_blocks=100@1 mechanisms.prefix_block=32tok@1"},
    {"lines of a log: the version, what was typed, what was logged",
     "non-default args: {'model_tag': 'a', 'model': 'org/m', 'gpu_memory_utilization': 0.85}\n"
     "Chunked prefill is enabled with max_num_batched_tokens=2048.\n"
     "LLM engine (v0.21.0) with config: model='org/m', tensor_parallel_size=2, "
     "data_parallel_size=1, quantization=None, kv_cache_dtype=auto, x=1\n"
     "GPU KV cache size: 41,408 tokens\n",
     "model=org/m@3 system=vllm@0 engine=vllm-0.21@3 tensor_parallel=2@3 batched_tokens=2048@2 "
     "hbm_usable=0.85@1 kv_pool_tokens=41408@4"},
    {"a log's list in several lines",
     "non-default args: {'model': 'm', 'max_num_seqs': 8,\n 'tensor_parallel_size': 2,\n"
     " 'kv_cache_dtype': 'fp8'}\nGPU KV cache size: 41,408 tokens\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 max_sequences=8@1 dtype.kv=fp8@1 kv_pool_tokens=41408@4"},
    {"lines behind a log's list that ends in a line of its own and has a typesetter's quotes",
     "non-default args: {\xe2\x80\x98model\xe2\x80\x99: \xe2\x80\x98m\xe2\x80\x99, \xe2\x80\x98max_num_seqs\xe2\x80\x99: 8\n}\n"
     "GPU KV cache size: 41,408 tokens\n",
     "model=m@1 system=vllm@0 max_sequences=8@1 kv_pool_tokens=41408@3"},
    {"a log's list that is wrapped behind a key",
     "server_args=ServerArgs(model_path='m', kv_cache_dtype=\n'fp8_e4m3', tp_size=\n2, c='d')\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 dtype.kv=fp8@1"},
    {"SGLang's arguments as a dictionary, of the last of two starts",
     "server_args={'model_path': 'a', 'tp_size': 4, 'enable_lora': True}\n"
     "server_args={'model_path': 'm', 'tp_size': 2, 'kv_cache_dtype': 'fp8_e4m3', 'disable_cuda_graph': True}\n",
     "model=m@2 system=sglang@0 engine=sglang-0.5.23@0 compile=eager@2 tensor_parallel=2@2 dtype.kv=fp8@2"},
    {"what the options of graphs came to, beside defaults of parts that are off",
     "server_args=ServerArgs(model_path='m', dcp_size=1, offload_group_size=-1, offload_mode='cpu', "
     "init_expert_location='trivial', cuda_graph_config=CudaGraphConfig(decode=PhaseConfig(backend='full', max_bs=8, "
     "bs=[1, 8]), prefill=PhaseConfig(backend='disabled', max_bs=4096)), cuda_graph_max_bs_decode=None)\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 graph_sequences=8@1"},
    {"no graphs",
     "server_args=ServerArgs(model_path='m', cuda_graph_config=CudaGraphConfig("
     "decode=PhaseConfig(backend='disabled', max_bs=None)))\n",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 compile=eager@1"},
    {"sizes of graphs in a list",
     "server_args=ServerArgs(model_path='m', cuda_graph_bs=[1, 2, 16, 4], tp_size=2)",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 graph_sequences=16@1"},
    {"defaults of parts that are off, as an older version has them",
     "server_args=ServerArgs(model_path='m', max_loras_per_batch=8, lora_backend='triton', ds_heavy_channel_num=32, "
     "ep_dispatch_algorithm='static', eplb_algorithm='auto', cuda_graph_max_bs=160, cuda_graph_bs=[1, 2, 160], "
     "disaggregation_mode='null', disaggregation_prefill_pp=1, num_reserved_decode_tokens=512, tp_size=2)",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 graph_sequences=160@1"},
    {"no graphs by an option", "sglang serve --model-path m --cuda-graph-backend-decode disabled",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 compile=eager@1"},
    {"quotes that a typesetter made, and that JSON escaped",
     "non-default args: {\xe2\x80\x99model\xe2\x80\x99: \xe2\x80\x98m\xe2\x80\x99, "
     "\xe2\x80\x9cmax_num_seqs\xe2\x80\x9d: 64}\n{\"log\": \"(v0.11.0) with config: model='m', "
     "compilation_config={\\\"level\\\":3,\\\"max_capture_size\\\":128}\\n\"}\n",
     "model=m@2 system=vllm@0 max_sequences=64@1 graph_sequences=128@2"},
    {"members of enumerations",
     "non-default args: {'model': 'm', 'optimization_level': <OptimizationLevel.O0: 0>, 'load_format': "
     "<LoadFormat.DUMMY: 'dummy'>}",
     "model=m@1 system=vllm@0 compile=eager@1"},
    {"and behind what tells the line",
     "LLM engine (v0.11.0) with config:\nmodel='m', max_seq_len=16384,\n tensor_parallel_size=2\n"
     "GPU KV cache size:\n 36,480 tokens\n",
     "model=m@1 system=vllm@0 engine=vllm-0.11@1 tensor_parallel=2@1 request_tokens=16384@1 "
     "kv_pool_tokens=36480@4"},
    {"and of vLLM",
     "non-default args: {'model': 'm', 'kv_cache_dtype':\n 'fp8', 'max_num_seqs':\n  48}\n",
     "model=m@1 system=vllm@0 max_sequences=48@1 dtype.kv=fp8@1"},
    {"a list that a terminal wrapped within words",
     "non-default args: {'model': 'm', 'tensor_par\nallel_size': 1\n6}\n",
     "model=m@1 system=vllm@0 tensor_parallel=16@1"},
    {"a list that no bracket ends, wrapped at one width",
     "INFO 1-15 LLM engine (v0.6.6) with config: model='m', max_seq_len=3276\n"
     "8,   tensor_parallel_size=2, pipeline_parallel_size=3, quantization=fp\n"
     "8, enforce_eager=True\nINFO 1-15 max_seq_len=32768\n# GPU blocks: 1\n",
     "model=m@1 system=vllm@0 engine=vllm-0.6@1 compile=eager@1 tensor_parallel=2@1 pipeline_parallel=3@1 "
     "request_tokens=32768@1 dtype.weights=fp8@1 kv_pool_blocks=1@5"},
    {"what a log says in words of its own",
     "GPU KV cache size: 900 tokens\nINFO kv.py:637] Maximum concurrency for 40,000 tokens per request: 13.02x\n"
     "Cudagraph is disabled under eager mode\nUsing fp8_e4m3 data type to store kv cache. It is\n"
     "Asynchronous scheduling is disabled.\n",
     "system=vllm@0 compile=eager@3 request_tokens=40000@2 dtype.kv=fp8@4 kv_pool_tokens=900@1 overlap=no@5"},
    {"a length that it mentions gives way to a setting",
     "INFO config.py:1472] Using max model len 7000\nINFO config.py:1472] Using max model len 2048\n"
     " with config: model='m', max_seq_len=6000, x=1\nMaximum concurrency for 5000 tokens per request: 1.0x\n",
     "model=m@3 system=vllm@0 request_tokens=6000@3"},
    {"the cache's type of SGLang", "[1] Using KV cache dtype: torch.float8_e4m3fn\n",
     "system=sglang@0 engine=sglang-0.5.23@0 dtype.kv=fp8@1"},
    {"V0's share of memory, and a hybrid pool that is allocated as a whole",
     "the current vLLM instance can use total_gpu_memory (79.19GiB) x gpu_memory_utilization (0.95) = 71.27GiB\n"
     "Since, enforce-eager is enabled, async output\nTurning off hybrid kv cache manager because x\n"
     "Current kv cache memory in use is 24.38 GiB.\n",
     "system=vllm@0 compile=eager@2 hbm_usable=0.95@1 kv_pool=24.38GiB@4 hybrid_kv=no@3"},
    {"the step's tokens that drafts leave, and a pool in bytes",
     " with config: model='m', speculative_config={'method': 'mtp', 'num_spec_tokens': 3}, x=1\n"
     "max_num_scheduled_tokens is set to 2048 based on the speculative decoding settings.\n"
     "Current kv cache memory in use is 9318930329 bytes.\n",
     "model=m@1 system=vllm@0 batched_tokens=2048@2 kv_pool=8.67893018666655GiB@3 drafts.method=mtp@1 "
     "drafts.count=3@1"},
    {"a connector that starts",
     "GPU KV cache size: 9 tokens\nCreating v1 connector with name: LMCacheConnectorV1 and x\n"
     "LMCache Configuration: {'max_local_cpu_size': '20.0 GB'}\n",
     "system=lmcache@2 kv_pool_tokens=9@1 host_memory=20GiB@3"},
    {"another program's own words for what is read",
     " with config: model='m', quantization=gptq_marlin, x=1\nINFO x.core kwargs: {'quantization': 'Int4'}\n",
     "model=m@1 system=vllm@0 checkpoint=yes@1"},
    {"ranks within what is stated",
     "(EngineCore_DP1 pid=9) (Worker_PP1_TP3 pid=4) INFO x\n(VllmWorker rank=7 pid=5) INFO x\n"
     " with config: model='m', tensor_parallel_size=4, pipeline_parallel_size=2, data_parallel_size=2\n",
     "model=m@3 system=vllm@0 tensor_parallel=4@3 data_parallel=2@3 pipeline_parallel=2@3"},
    {"lines of a log that a terminal wrapped at one width, as words of its own and as a pool",
     "INFO 01-15 10:00:00 [x.py:1] LLM engine (v0.1\n1.0) with config: model='m', x=1\n"
     "INFO 01-15 10:00:00 [x.py:1] GPU KV cache siz\ne: 36,480 tokens\n"
     "INFO 01-15 10:00:00 [x.py:1] Cudagraph is dis\nabled under eager mode\n",
     "model=m@1 system=vllm@0 engine=vllm-0.11@1 compile=eager@5 kv_pool_tokens=36480@3"},
    {"variables behind a line of a log are no rest of it",
     "INFO a.py:3] With:\nVLLM_USE_V1=0\nvllm serve m\n",
     "f:2: 'VLLM_USE_V1' is '0'\n  expected: 1"},
    {"and that an editor wrapped at words",
     "INFO 1-15 [x.py:1] vLLM API server version\n0.11.0\nINFO 1-15 [x.py:1] non-default args: {'model':\n"
     "'m', 'max_num_seqs' : 3}\nINFO 1-15 [xy.py:123] GPU KV cache size:\n36,480 tokens\n",
     "model=m@3 system=vllm@0 engine=vllm-0.11@1 max_sequences=3@3 kv_pool_tokens=36480@5"},
    {"a list without what marks a log's: what nothing else says is read",
     "INFO x.core Loading m with {'max_num_seqs': 256, 'gpu_memory_utilization': 0.9, 'tensor_parallel_size': 1}\n"
     "LLM engine (v0.8.3) with config: model='m', max_seq_len=4096, x=1\nquantization: fp8\n",
     "model=m@2 system=vllm@0 engine=vllm-0.8@2 max_sequences=256@1 request_tokens=4096@2 hbm_usable=0.9@1 "
     "dtype.weights=fp8@3"},
    {"sentences that advise, other programs' commands, comments, and what was read already",
     " with config: model='m', max_seq_len=4096, tensor_parallel_size=2\n"
     "INFO a.py:9] To fit, increase --gpu-memory-utilization from 0.7 to 0.8 or set max_num_seqs=64.\n"
     "Consider --max-num-seqs 8. It has max_model_len of 4096 and --tensor-parallel-size=2.\n"
     "python3 client.py --max-model-len 900\n# --max-model-len 8192\n"
     "INFO logger.py:39] Received request 1: prompt: 'max_num_seqs=64 and --enforce-eager'\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 request_tokens=4096@1"},
    {"a shell's prompt in continued lines is no redirection",
     "$ vllm serve m \\\n>   -tp 2 \\\n> --max-num-seqs \\\n> 4\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@2 max_sequences=4@3"},
    {"but without a prompt it may be one", "vllm serve m -tp 2 \\\n> log.txt\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@1"},
    {"variables count as they are when the command runs",
     "export LMCACHE_MAX_LOCAL_CPU_SIZE=20 LMCACHE_CHUNK_SIZE=64\nunset LMCACHE_CHUNK_SIZE\n"
     "export LMCACHE_MAX_LOCAL_CPU_SIZE=80\n"
     "vllm serve m --kv-transfer-config '{\"kv_connector\": \"LMCacheConnectorV1\"}'\n",
     "model=m@4 system=lmcache@4 host_memory=80GiB@3"},
    {"a script's own variables, quoted, in braces, and with a default",
     "MODEL=m # small\nexport TP=2\nEXTRA=\"--max-num-seqs 8\n --enforce-eager\"\n"
     "vllm serve \"$MODEL\" -tp ${TP:-4} $EXTRA --max-model-len ${LENGTH:-4096}\n",
     "model=m@5 system=vllm@0 compile=eager@5 tensor_parallel=2@5 max_sequences=8@5 "
     "request_tokens=4096@5"},
    {"and with defaults in quotes of their own",
     "MODEL=${MODEL:-\"m\"}\nexport CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-\"0,1,2,3\"}\n"
     "EXTRA=${EXTRA:-'--max-num-seqs 8'}\n"
     "vllm serve $MODEL -tp \"${TP:-\"4\"}\" $EXTRA --max-model-len ${LENGTH:-\"4096\"} "
     "--served-model-name ${NAME:-\"a b\"}\n",
     "model=m@4 system=vllm@0 tensor_parallel=4@4 max_sequences=8@4 request_tokens=4096@4"},
    {"a script's lists of words, which grow",
     "ARGS=(serve m\n  -tp 2 # both (all)\n)\nARGS+=(--max-num-seqs 8)\nvllm \"${ARGS[@]}\"\n",
     "model=m@5 system=vllm@0 tensor_parallel=2@5 max_sequences=8@5"},
    {"a script's own arguments", "exec vllm serve m --port 1 \"$@\"", "model=m@1 system=vllm@0"},
    {"a command in a comment, before or behind the one that counts",
     "# vllm serve a --max-num-seqs 1\nvllm serve b --max-num-seqs 2 # was: vllm serve c\n",
     "model=b@2 system=vllm@0 max_sequences=2@2"},
    {"metrics: blocks and a model's name",
     "# HELP vllm:cache_config_info x\n"
     "vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",num_gpu_blocks=\"2588\"} 1.0\n"
     "vllm:num_requests_running{engine=\"0\",model_name=\"org/m\"} 3.0\n",
     "model=org/m@3 system=vllm@0 kv_pool_blocks=2588@2"},
    {"a log that says the pool's bytes of a GPU and no tokens",
     "LLM engine (v0.19.0) with config: model='m', x=1\nAvailable KV cache memory: 34.90 GiB\n",
     "model=m@1 system=vllm@0 engine=vllm-0.19@1 kv_pool=34.9GiB@2"},
    {"tokens count before bytes",
     "LLM engine (v0.19.0) with config: model='m', x=1\nAvailable KV cache memory: 34.90 GiB\n"
     "GPU KV cache size: 41,408 tokens\n",
     "model=m@1 system=vllm@0 engine=vllm-0.19@1 kv_pool_tokens=41408@3 kv_memory=34.9GiB@2"},
    {"a pool in bytes", "vllm serve m --kv-cache-memory-bytes 25G",
     "model=m@1 system=vllm@0 kv_pool=26843545600B@1"},
    {"vLLM 0.6: all arguments, and blocks",
     "vLLM API server version 0.6.3.post1\n"
     "args: Namespace(host=None, model='org/m', kv_cache_dtype='auto', max_model_len=8192, block_size=16, "
     "swap_space=4, cpu_offload_gb=0, num_gpu_blocks_override=None, max_num_seqs=256, num_lookahead_slots=0, "
     "enable_lora=False)\n"
     "Initializing an LLM engine (v0.6.3.post1) with config: model='org/m', speculative_config=None, "
     "max_seq_len=8192, enable_prefix_caching=False, x=1)\n"
     "# GPU blocks: 27896, # CPU blocks: 2048\n",
     "model=org/m@3 system=none@3 engine=vllm-0.6@3 max_sequences=256@2 request_tokens=8192@3 kv_pool_blocks=27896@4"},
    {"of a log of two starts the last counts",
     "vLLM API server version 0.18.0\n"
     "non-default args: {'model': 'm', 'max_num_seqs': 64, 'kv_offloading_size': 12.0}\n"
     "GPU KV cache size: 100,000 tokens\n"
     "vLLM API server version 0.19.0\n"
     "non-default args: {'model': 'm'}\n",
     "model=m@5 system=vllm@0 engine=vllm-0.19@4"},
    {"a crash repeats settings behind a start",
     "INFO non-default args: {'model': 'm', 'max_num_seqs': 64}\n"
     "INFO [core.py:1] Initializing a V1 LLM engine (v0.12.0) with config: model='m', max_seq_len=4096\n"
     "INFO GPU KV cache size: 910,464 tokens\n"
     "ERROR [dump_input.py:69] Dumping input data for V1 LLM engine (v0.12.0) with config: model='m', max_seq_len=9\n"
     "ERROR [dump_input.py:76] Dumping scheduler output for model execution: SamplingParams(n=1, max_tokens=5)\n",
     "model=m@2 system=vllm@0 engine=vllm-0.12@2 max_sequences=64@1 request_tokens=4096@2 kv_pool_tokens=910464@3"},
    {"what a command says holds for all starts",
     "vllm serve m --max-num-seqs 4\nvLLM API server version 0.18.0\nGPU KV cache size: 9 tokens\n"
     "vLLM API server version 0.19.0\nGPU KV cache size: 8 tokens\n",
     "model=m@1 system=vllm@0 engine=vllm-0.19@4 max_sequences=4@1 kv_pool_tokens=8@5"},
    {"an image of another registry, by its digest",
     "docker run --name vllm -v ~/.cache/vllm:/root/.cache/vllm reg.local:5000/vllm/vllm-openai@sha256:ab --model m",
     "model=m@1 system=vllm@0"},
    {"an image of one's own; the model stands alone", "podman run --rm team/my-vllm:3 org/m -tp 2",
     "model=org/m@1 system=vllm@0 tensor_parallel=2@1"},
    {"SGLang's arguments and its pool",
     "server_args=ServerArgs(model_path='org/m', tp_size=8, mem_fraction_static=0.8, "
     "max_running_requests=None, chunked_prefill_size=-1, enable_hierarchical_cache=True)\n"
     "max_total_num_tokens=430913, chunked_prefill_size=8192, max_running_requests=2048, c=1\n",
     "model=org/m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 tensor_parallel=8@1 "
     "max_sequences=2048@2 batched_tokens=8192@2 hbm_usable=0.8@1 kv_pool_tokens=430913@2"},
    {"SGLang's command and its metric",
     "python3 -m sglang.launch_server --model-path org/m --tp 2\n"
     "sglang:max_total_num_tokens{model_name=\"other\"} 1000.0\n",
     "model=org/m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 kv_pool_tokens=1000@2"},
    {"SGLang's ranks without attention of their own are servers of their own",
     "python3 -m sglang.launch_server --model-path m --tp 2 --dp 4",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 replicas=4@1"},
    {"SGLang without its radix tree", "sglang serve --model-path m --disable-radix-cache",
     "model=m@1 system=sglang@0 mechanisms.prefix=none@1 engine=sglang-0.5.23@0"},
    {"a log that says that SGLang's radix tree is there",
     "server_args=ServerArgs(model_path='m', disable_radix_cache=False, ep_size=1)",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0"},
    {"ranks and stages; experts are spread over all ranks of vLLM",
     "vllm serve m -tp 2 -dp 4 -pp 3 --enable-expert-parallel",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 data_parallel=4@1 pipeline_parallel=3@1 "
     "expert_parallel=8@1"},
    {"vLLM's -ep is a switch, SGLang's --ep a number", "vllm serve m -ep -tp 2",
     "model=m@1 system=vllm@0 tensor_parallel=2@1 expert_parallel=2@1"},
    {"vLLM without torch.compile", "vllm serve m --enforce-eager",
     "model=m@1 system=vllm@0 compile=eager@1"},
    {"the tag of an image of another registry",
     "docker run registry.corp.local:5000/mirror/vllm-openai:v0.29.0 m",
     "model=m@1 system=vllm@0 engine=vllm-0.29@1"},
    {"the program's version within a tag",
     "docker run --name x:1.2.3 team/vllm:cu12.4_vllm_0.9.1 vllm serve m",
     "model=m@1 system=vllm@0 engine=vllm-0.9@1"},
    {"a tag without v", "docker run own/vllm:0.9.1-cu129 m",
     "model=m@1 system=vllm@0 engine=vllm-0.9@1"},
    {"SGLang's image",
     "docker run lmsysorg/sglang:v0.5.2-cu126 python3 -m sglang.launch_server --model-path m",
     "model=m@1 system=sglang@0 engine=sglang-0.5.2@1"},
    {"a tag that is a month", "docker run nvcr.io/nvidia/vllm:26.01-py3 vllm serve m",
     "model=m@1 system=vllm@0"},
    {"a tag that is a version of something else", "docker run team/vllm:cu12.4 m",
     "model=m@1 system=vllm@0"},
    {"a version of one's own image", "docker run team/my-vllm:3.0.0 m", "model=m@1 system=vllm@0"},
    {"engines of metrics are ranks, and the least of their pools counts",
     "vllm:cache_config_info{engine=\"0\",num_gpu_blocks=\"7000\"} 1.0\n"
     "vllm:cache_config_info{engine=\"1\",num_gpu_blocks=\"7010\"} 1.0\n"
     "vllm:cache_config_info{engine=\"2\",num_gpu_blocks=\"6990\"} 1.0\n"
     "vllm:num_requests_running{engine=\"2\",model_name=\"m\"} 3.0\n",
     "model=m@4 system=vllm@0 data_parallel=3@3 kv_pool_blocks=6990@3"},
    {"the least of what a log says of its workers counts",
     "non-default args: {'model': 'm', 'tensor_parallel_size': 4}\nGPU KV cache size: 1,000 tokens\nGPU KV cache size: 900 tokens\n"
     "GPU KV cache size: 950 tokens\n",
     "model=m@1 system=vllm@0 tensor_parallel=4@1 kv_pool_tokens=900@3"},
    {"the least of the metrics of one engine counts",
     "vllm:cache_config_info{engine=\"0\",num_gpu_blocks=\"7000\"} 1.0\n"
     "vllm:cache_config_info{engine=\"0\",num_gpu_blocks=\"7010\",model_name=\"m\"} 1.0\n",
     "model=m@2 system=vllm@0 kv_pool_blocks=7000@1"},
    {"an image with its tag", "docker run --gpus all \\\n vllm/vllm-openai:v0.22.1 --model org/m",
     "model=org/m@2 system=vllm@0 engine=vllm-0.22@1"},
    {"quotes that wrap, and what follows them",
     "vllm serve m --compilation-config '{\"a\": 1,\n  \"b\": 2}' --max-num-seqs 64 \\\n -tp 2\n"
     "GPU KV cache size: 41,408 tokens\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@3 max_sequences=64@2 kv_pool_tokens=41408@4"},
    {"a quote that nothing closes",
     "vllm serve isn't up\nGPU KV cache size: 41,408 tokens\nsome text\n",
     "model=isnt up@1 system=vllm@0 kv_pool_tokens=41408@2"},
    {"backslashes as a shell reads them",
     "vllm serve 'it'\\''s' --served-model-name \"a\\\"b\" -tp 2",
     "model=it's@1 system=vllm@0 tensor_parallel=2@1"},
    {"lines of Windows", "vllm serve m \\\r\n -tp 2\r\nGPU KV cache size: 41,408 tokens\r\n",
     "model=m@1 system=vllm@0 tensor_parallel=2@2 kv_pool_tokens=41408@3"},
    {"LMCache, whose sizes are those of each rank; its default is 5 GiB",
     "export LMCACHE_CHUNK_SIZE=512\nLMCACHE_MAX_LOCAL_CPU_SIZE=60 vllm serve m -tp 2 --kv-transfer-config "
     "'{\"kv_connector\": \"LMCacheConnectorV1\", \"kv_role\": \"kv_both\"}'",
     "model=m@2 system=lmcache@2 tensor_parallel=2@2 host_memory=120GiB@2 mechanisms.prefix_unit=512tok@1"},
    {"LMCache in vLLM's own words, after a container's variables",
     "docker run -e LMCACHE_LOCAL_DISK=file:///d --env=LMCACHE_MAX_LOCAL_DISK_SIZE=1.5 vllm/vllm-openai:v0.19.0 m "
     "-pp 3 --kv-offloading-size 12 --kv-offloading-backend lmcache",
     "model=m@1 system=lmcache@1 engine=vllm-0.19@1 pipeline_parallel=3@1 host_memory=12GiB@1 disk_space=4.5GiB@1 "
     "mechanisms.prefix_disk=arrive@1"},
    {"vLLM's own offloading is of all ranks; the GPU may keep no prefixes",
     "vllm serve m -tp 2 --kv-offloading-size 12 --no-enable-prefix-caching",
     "model=m@1 system=vllm-offload@1 mechanisms.prefix=host@1 tensor_parallel=2@1 host_memory=12GiB@1"},
    {"the connector's own words",
     "vllm serve m --block-size 64 --kv-transfer-config '{\"kv_connector\": \"OffloadingConnector\", "
     "\"kv_connector_extra_config\": {\"cpu_bytes_to_use\": 21474836480, \"eviction_policy\": \"arc\"}}'",
     "model=m@1 system=vllm-offload@1 host_memory=21474836480B@1 mechanisms.prefix_block=64tok@1 "
     "mechanisms.prefix_eviction=arc@1 mechanisms.prefix_pins=no@1"},
    {"the same with a dot, and shortened names",
     "vllm serve m --kv-transfer-config.kv_connector OffloadingConnector --tensor-parallel 2 --max-model 8k",
     "model=m@1 system=vllm-offload@1 tensor_parallel=2@1 request_tokens=8000@1"},
    {"weights on the host", "vllm serve m --cpu-offload-gb 80",
     "model=m@1 system=vllm@0 weights_outside=80GiB@1"},
    {"drafts",
     "vllm serve m -sc '{\"method\": \"eagle3\", \"model\": \"e\", \"num_speculative_tokens\": 3}'",
     "model=m@1 system=vllm@0 drafts.method=eagle3@1 drafts.count=3@1"},
    {"a drafter without a method is a model",
     "vllm serve m --speculative-config '{\"model\": \"d\", \"num_speculative_tokens\": 3}'",
     "model=m@1 system=vllm@0 drafts.method=model@1 drafts.model=d@1 drafts.count=3@1"},
    {"a log's connector and drafts",
     "non-default args: {'model': 'm', 'kv_transfer_config': KVTransferConfig(kv_connector='LMCacheConnectorV1', "
     "kv_buffer_size=1e9, kv_rank=None, kv_connector_extra_config={}), 'cpu_offload_gb': 10.0}\n"
     "LLM engine (v0.19.0) with config: model='m', speculative_config=SpeculativeConfig(method='eagle3', model='e', "
     "num_spec_tokens=3), kv_cache_dtype=auto, x=1\n"
     "LMCache Configuration: {'max_local_cpu_size': 5.0}",
     "model=m@2 system=lmcache@1 engine=vllm-0.19@2 host_memory=5GiB@3 drafts.method=eagle3@2 weights_outside=10GiB@1 "
     "drafts.count=3@2"},
    {"a log's offloading as a map",
     "non-default args: {'model': 'm', 'kv_transfer_config': {'kv_connector': 'OffloadingConnector', "
     "'kv_connector_extra_config': {'cpu_bytes_to_use': 1000}}}",
     "model=m@1 system=vllm-offload@1 host_memory=1000B@1"},
    {"limits of a command of ranks that share layers are those of all",
     "sglang serve --model-path m --tp 8 --dp 4 --enable-dp-attention --max-running-requests 64 "
     "--chunked-prefill-size 8192",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 tensor_parallel=2@1 data_parallel=4@1 max_sequences=16@1 "
     "batched_tokens=2048@1 shared_ranks=yes@1"},
    {"HiCache of ranks that share layers",
     "sglang serve --model-path m --tp 8 --dp 8 --enable-dp-attention --enable-hicache --hicache-size 100",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 tensor_parallel=1@1 data_parallel=8@1 "
     "host_memory=800GB@1 shared_ranks=yes@1"},
    {"HiCache of servers of their own",
     "sglang serve --model-path m --tp 4 --dp 2 --enable-hicache --hicache-size 100",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 tensor_parallel=4@1 replicas=2@1 "
     "host_memory=400GB@1"},
    {"HiCache: 10^9 bytes of each rank",
     "sglang serve --model-path m --tp 4 --enable-hierarchical-cache --hicache-size 30 --page-size 64 "
     "--hicache-write-policy write_through_selective --hicache-mem-layout page_first",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 tensor_parallel=4@1 host_memory=120GB@1 "
     "mechanisms.prefix_unit=64tok@1 mechanisms.prefix_write=fill@1 mechanisms.prefix_asked=2@1"},
    {"HiCache's write-back: a step waits for what it evicts",
     "sglang serve --model-path m --enable-hierarchical-cache --hicache-size 30 --hicache-write-policy write_back",
     "model=m@1 system=sglang-hicache@1 engine=sglang-0.5.23@0 host_memory=30GB@1 "
     "mechanisms.prefix_write=evict@1"},
    {"methods that convert a plain checkpoint", "vllm serve m --quantization ptpc_fp8",
     "model=m@1 system=vllm@0 dtype.weights=fp8@1"},
    {"bitsandbytes has four bits", "vllm serve m -q bitsandbytes",
     "model=m@1 system=vllm@0 dtype.weights=int4@1"},
    {"SGLang's methods that do so", "sglang serve --model-path m --quantization w8a8_int8",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0 dtype.weights=int8@1"},
    {"SGLang 0.4's log has settings of drafts without any",
     "server_args=ServerArgs(model_path='m', speculative_algorithm=None, speculative_num_steps=5, "
     "speculative_eagle_topk=4)",
     "model=m@1 system=sglang@0 engine=sglang-0.5.23@0"},
    {"LMCache's settings in a log, in GiB of each rank",
     "non-default args: {'model': 'm', 'tensor_parallel_size': 2, 'kv_transfer_config': "
     "KVTransferConfig(kv_connector='LMCacheConnectorV1', kv_rank=None)}\n"
     "LMCache INFO: LMCache Configuration: {'chunk_size': 128, 'local_cpu': True, 'max_local_cpu_size': '60.0 GB', "
     "'local_disk': None, 'max_local_disk_size': '0 GB', 'remote_url': None}\n",
     "model=m@1 system=lmcache@1 tensor_parallel=2@1 host_memory=120GiB@2 mechanisms.prefix_unit=128tok@2"},
    {"the version of LMCache's image is its own", "docker run lmcache/vllm-openai:v0.3.9 m",
     "model=m@1 system=vllm@0"},
    {"unless the tag names vLLM", "docker run lmcache/vllm-openai:v0.3.9-vllm0.11.0 m",
     "model=m@1 system=vllm@0 engine=vllm-0.11@1"},
    {"no CUDA graphs, in JSON that wraps",
     "vllm serve m --compilation-config '{\"mode\": 3,\n \"cudagraph_mode\": \"NONE\"}'",
     "model=m@1 system=vllm@0 compile=eager@1"},
    {"no CUDA graphs, with a dot", "vllm serve m -O.cudagraph_mode=NONE",
     "model=m@1 system=vllm@0 compile=eager@1"},
    {"a level alone", "vllm serve m -O 0", "model=m@1 system=vllm@0 compile=eager@1"},
    {"a log's CUDA graphs",
     "LLM with config: model='m', enforce_eager=False, compilation_config={'mode': <CompilationMode.VLLM_COMPILE: 3>, "
     "'cudagraph_mode': <CUDAGraphMode.NONE: 0>}",
     "model=m@1 system=vllm@0 compile=eager@1"},
    {"and with them",
     "LLM with config: model='m', compilation_config={\"level\":3,\"cudagraph_mode\":[2,1],\"use_cudagraph\":true}",
     "model=m@1 system=vllm@0"},
    {"and with them at level 0, in the first scheduler",
     "Initializing a V0 LLM engine (v0.7.3) with config: model='m', enforce_eager=False, "
     "compilation_config={\"level\":0,\"splitting_ops\":[]}",
     "model=m@1 system=vllm@0 engine=vllm-0.7@1"},
    {"a start without a banner forgets the one before",
     "LLM engine (v0.11.0) with config: model='a', enforce_eager=True, kv_cache_dtype=fp8\n"
     "non-default args: {'model': 'm', 'max_num_seqs': 32}\n"
     "LLM engine (v0.11.0) with config: model='m', enforce_eager=False, kv_cache_dtype=auto\n",
     "model=m@3 system=vllm@0 engine=vllm-0.11@3 max_sequences=32@2"},
    {"an engine that starts again",
     "(EngineCore_DP0 pid=9) LLM engine (v0.11.0) with config: model='a', quantization=fp8\n"
     "GPU KV cache size: 900 tokens\n"
     "(EngineCore_DP0 pid=9) LLM engine (v0.11.0) with config: model='m', quantization=None\n"
     "GPU KV cache size: 1,000 tokens\n",
     "model=m@3 system=vllm@0 engine=vllm-0.11@3 kv_pool_tokens=1000@4"},
    {"ranks of one start",
     "non-default args: {'model': 'm', 'max_num_seqs': 32}\n"
     "(EngineCore_DP1 pid=9) LLM engine (v0.11.0) with config: model='m', data_parallel_size=2\n"
     "(EngineCore_DP0 pid=8) LLM engine (v0.11.0) with config: model='m', data_parallel_size=2\n",
     "model=m@3 system=vllm@0 engine=vllm-0.11@3 data_parallel=2@3 max_sequences=32@1"},
    {"the same command again, behind a prompt and with a redirection",
     "vllm serve \"org/m\" -tp 2\n\n(venv) a@b:~/c$ vllm serve 'org/m' -tp 2 > log 2>&1\n",
     "model=org/m@1 system=vllm@0 tensor_parallel=2@1"},
    {"the same command again, with JSON",
     "vllm serve m -O '{\"level\": 3}'\nvllm serve m -O '{\"level\": 3}'\n",
     "model=m@1 system=vllm@0"},
    {"a server's example, and settings of adapters that every log has",
     "  Example: sglang serve --model-path <model> [options]\n"
     "server_args=ServerArgs(model_path='m', lora_paths=None, record_nolora_graph=True, schedule_policy='lpm')\n",
     "model=m@2 system=sglang@0 engine=sglang-0.5.23@0"},
    {"versions of what NVIDIA's machines have none of, and a comment",
     "ROCM used to build PyTorch: N/A\nROCM Version: Could not collect\nNeuron: Disabled\nModel name: AMD EPYC 9654\n"
     "# docker pull rocm/vllm-dev\nvllm serve m\n",
     "model=m@6 system=vllm@0"},
    {"variables that are used, and code that reads them",
     "echo $VLLM_USE_V1 ${VLLM_USE_V1}\nif envs.VLLM_USE_V1:\nVLLM_USE_V1 is set to 1\nvllm serve m\n",
     "model=m@4 system=vllm@0"},
    {"names inside others are not settings",
     "vllm:x{served_model_name=\"no\",hf_model=\"no\",model_name=\"m\"} 1",
     "model=m@1 system=vllm@0"},
};

/* A value that cannot be read does not matter if its key is overridden. */
static void values_that_are_overridden_need_not_be_valid(void **state)
{
    (void)state;
    static const char *const sets[] = {"request_tokens=8K", "tensor_parallel=2",
                                       "dtype.weights=bf16"};
    struct stated_keys keys;
    FILE *in = tmpfile();
    assert_non_null(in);
    fputs("vllm serve m --max-model-len $LEN -tp x --dtype $D --max-num-seqs 4\n", in);
    for (uint32_t count = 0; count <= COUNT(sets); count++) {
        rewind(in);
        assert_int_equal(server_text_read(in, "f", sets, count, &keys, &why), count == COUNT(sets));
    }
    assert_string_equal(keys.all[STATED_MAX_SEQUENCES].value, "4");
    fclose(in);
}

/* A model that --set names takes one word's place, and not that of options. */
static void variables_of_options_are_no_model(void **state)
{
    (void)state;
    static const char *const texts[] = {"vllm serve ${VLLM_ARGS}",
                                        "vllm serve $MODEL $MORE",
                                        "vllm serve $MORE org/m",
                                        "vllm serve $MORE --model org/m",
                                        "vllm serve \"${SERVE[@]}\"",
                                        "vllm serve --model $MODEL $4",
                                        "sglang serve --model-path $MODEL -tp 2 $QUANT",
                                        "sglang serve $FOO --tp 2"};
    const char *set = "model=qwen3-8b";
    struct stated_keys keys;
    for (size_t i = 0; i <= COUNT(texts); i++) {
        char text[TEXT];
        snprintf(text, sizeof text, "%s\n", i < COUNT(texts) ? texts[i] : "vllm serve $1 -tp 2");
        FILE *in = fmemopen(text, strlen(text), "r");
        assert_non_null(in);
        bool read = server_text_read(in, "f", &set, 1, &keys, &why);
        fclose(in);
        assert_true(read == (i == COUNT(texts)));
        assert_true(read || strstr(why.found, " stands without an option") != NULL);
    }
    assert_string_equal(keys.unused[0].names, "$1");
}

static void keys_are_keys_with_their_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *got = keys_of(cases[i].text);
        if (strcmp(got, cases[i].keys) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", cases[i].what, got, cases[i].keys);
        }
    }
}

/* The options that change nothing as "NAME, ..."; or the message. */
static const char *unused_of(const char *text)
{
    static char out[TEXT];
    struct stated_keys keys;
    size_t used = 0;
    if (!read_keys(text, &keys, out)) {
        return out;
    }
    for (const struct server_unused *of = keys.unused; of->reason != NULL; of++) {
        used += (size_t)snprintf(out + used, sizeof out - used, "%s%s", used > 0 ? ", " : "",
                                 of->names);
    }
    return out;
}

static const struct {
    const char *text, *unused;
} unused[] = {
    {"server_args=ServerArgs(model_path='m', new_one=True, old_one=None)\n", "new_one, version"},
    {"LLM engine (v0.11.0) with config: model='m', new_one=NewConfig(part=True), x=0\n", "new_one"},
    {"GPU KV cache size: 900 tokens\nYou may set --max-num-seqs 8.\n", "--max-num-seqs, version"},
    {"vllm serve m --max-num-seqs 4 -tp 2", "version"},
    {"vllm serve m --swap-space 4 --enforce-eager", "--swap-space, version"},
    {"x\nvllm serve m --swap-space 1000 \\\n --seed -1 \\\n -tp 2 \\\n --log-a a 'b c' >log 2>&1",
     "--swap-space, --seed, --log-a, version"},
    {"non-default args: {'model_tag': 'm', 'no_such': {'a': 1}, 'middleware': ['a=b'], 'max_num_seqs': 8}, x: 1",
     "model_tag, middleware, no_such, version"},
    {"vllm serve m --no-such 1",
     "f:1: unknown option '--no-such'\n  expected: an option of vLLM, or the command without it"},
    {"vllm serve m --enable-lora",
     "f:1: '--enable-lora': adapters are not modelled\n  expected: the command without it"},
    {"vllm serve m --speculative-config '{\"prompt_lookup_max\": 4}' 2>&1 | tee --help",
     "speculative_config.prompt_lookup_max, version"},
    {"vllm serve m --kv-transfer-config '{\"kv_connector\": \"LMCacheConnectorV1\", \"no_such\": 1}'",
     "f:1: 'kv_transfer_config.no_such': the connector's setting is not modelled\n  expected: the command without it"},
    {"vllm serve m --kv-transfer-config '{\"kv_connector\": \"NixlConnector\"}'",
     "f:1: 'kv_transfer_config.kv_connector' is 'NixlConnector'\n  expected: OffloadingConnector, LMCacheConnectorV1, LMCacheMPConnector"},
    {"vllm serve m --speculative-config '{\"num_speculative_tokens\": [5]}'",
     "f:1: 'speculative_config.num_speculative_tokens' is a list\n  expected: a whole number above 0"},
    {"vllm serve m --kv-transfer-config '{x:abc: 1}'",
     "f:1: 'kv_transfer_config.x': the connector's setting is not modelled\n  expected: the command without it"},
    {"vllm serve m --kv-transfer-config NixlConnector",
     "f:1: '--kv-transfer-config' is not read\n  expected: an object in JSON"},
    {"LMCACHE_CHUNK_SIZE=128 vllm serve m", "LMCACHE_CHUNK_SIZE, version"},
    {"vllm serve m --compilation-config.mode 3 -O.cudagraph_mode=FULL",
     "--compilation-config.mode, --compilation-config.cudagraph_mode, version"},
    {"vllm serve m --quantization compressed-tensors --kv-cache-dtype auto --dtype bfloat16",
     "--quantization, version"},
    {"vllm serve m -O '{\"cudagraph_mode\": \"PIECEWISE\"}' -O.custom_ops=x",
     "--compilation-config.cudagraph_mode, -O.custom_ops, version"},
    {"sglang serve --model-path m --speculative-num-steps 3 --speculative-eagle-topk 4",
     "speculative_eagle_topk, speculative_num_steps, version"},
    {"vllm serve m '--enable-chunked-prefill' '--chat-template' '' \"--port\" 1 '-tp=2'",
     "--enable-chunked-prefill, --chat-template, --port, version"},
    {"vllm serve m --enable-chunked-prefill --num-scheduler-steps 1",
     "--enable-chunked-prefill, --num-scheduler-steps, version"},
    {"vllm 0.8.5 runs\nvllm 0.9.2 fails\nvllm serve m", "0.9.2"},
    {"GPU KV cache size: 900 tokens\nTraceback (most recent call last):\n",
     "Traceback (most recent call last), version"},
    {"GPU KV cache size: 900 tokens\nApplication startup complete.\nTraceback (most recent call last):\n",
     "version"},
    {"- name: VLLM_USE_V1\n  value: \"1\"\nvllm serve m", "VLLM_USE_V1, version"},
    {"export $(grep -v '^#' .env | xargs)\nvllm serve m", "EnvironmentFile, version"},
    {"LMCACHE_CHUNK_SIZE=64\nunset LMCACHE_CHUNK_SIZE\nvllm serve m", "version"},
    {"# export VLLM_USE_V1=0\nvllm serve m", "VLLM_USE_V1, version"},
    {"You should set VLLM_PP_LAYER_PARTITION to 10,22.\nvllm serve m",
     "VLLM_PP_LAYER_PARTITION, version"},
    {"sglang serve --model-path m --enable-dp-attention --tp 8", "enable_dp_attention, version"},
    {"vllm serve m --block-size 32", "version"},
    {"server_args=ServerArgs(model_path='m', schedule_policy='lpm')", "--schedule-policy, version"},
    {"sglang-0.4.6\nsglang serve --model-path m", ""},
    {"vLLM API server version 0.1.dev5290+g7c5a2f8\nvllm serve m", "version"},
    {"vllm serve m --max-num-seqs 4 5",
     "f:1: '5' stands without an option\n  expected: options of vLLM, each with its value"},
};

static void options_without_effect_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(unused); i++) {
        const char *got = unused_of(unused[i].text);
        if (strcmp(got, unused[i].unused) != 0) {
            fail_msg("'%s':\n%s\nnot\n%s", unused[i].text, got, unused[i].unused);
        }
    }
}

/* A log of weeks is read to its end. */
static void long_texts_are_read_whole(void **state)
{
    (void)state;
    struct stated_keys keys;
    FILE *in = tmpfile();
    assert_non_null(in);
    for (int i = 0; i < 200000; i++) {
        fprintf(
            in,
            "INFO 11-27 10:00:00 a line of a log in which a server says nothing of itself, number %d\n",
            i);
    }
    fputs("vllm serve m -tp 2\n", in);
    assert_true(ftell(in) > 16 << 20);
    rewind(in);
    bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
    fclose(in);
    assert_true(read);
    assert_int_equal(keys.all[STATED_TENSOR_PARALLEL].line, 200001);
}

/* Texts of some megabytes, such as a line that is full of settings or a list that was wrapped, take no
 * minutes. */
static void long_lines_are_read_once(void **state)
{
    (void)state;
    static const struct {
        const char *begins, *again;
        int count;
    } texts[] = {
        {"", "we have max_num_seqs=3 here. And there max_model_len: 4096. ", 20000},
        {"INFO 11-29 12:00:00 [utils.py:1] non-default args: {'x': 1,\n",
         "e=1, a=2, b=3, c=4, d=5, e=6, f=7, g=8, h=9, i=1, j=2, k=3, l=4, m=5,\n", 30000},
        {"", "max_num_seqs=3 ", 100000},
        {"export ", "VLLM_USE_V1=1 `VLLM_PP_LAYER_PARTITION` ", 30000},
        {"", "`", 1000000},
        {"", "${A:+", 150000},
        {"", "vllm=99.9 ", 20000},
        {"INFO", " ", 1000000},
        {"FROM a\n", "RUN a\n", 100000},
        {"FROM a AS a\n", "FROM a AS a\n", 30000}, /* stages on each other */
    };
    clock_t begun = clock();
    for (size_t text = 0; text < sizeof texts / sizeof *texts; text++) {
        struct stated_keys keys;
        FILE *in = tmpfile();
        assert_non_null(in);
        fputs(texts[text].begins, in);
        for (int i = 0; i < texts[text].count; i++) {
            fputs(texts[text].again, in);
        }
        rewind(in);
        bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
        fclose(in);
        assert_false(read);
    }
    assert_true((clock() - begun) / CLOCKS_PER_SEC < 30);
}

/* Two commands that begin alike for thousands of words are not taken for one. */
static void long_commands_are_not_one(void **state)
{
    (void)state;
    struct stated_keys keys;
    FILE *in = tmpfile();
    assert_non_null(in);
    for (int sequences = 3; sequences < 5; sequences++) {
        fputs("vllm serve m --served-model-name", in);
        for (int i = 0; i < 1500; i++) {
            fprintf(in, " name%d", i);
        }
        fprintf(in, " --max-num-seqs %d\n", sequences);
    }
    rewind(in);
    bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
    fclose(in);
    assert_false(read);
}

/* However much a text advises, what it states is not overlooked. */
static void advice_leaves_room_for_what_is_stated(void **state)
{
    (void)state;
    struct stated_keys keys;
    FILE *in = tmpfile();
    assert_non_null(in);
    for (int i = 0; i < 2 * STRAYS; i++) {
        fprintf(in, "You may set --max-num-seqs %d if memory is short.\n", 100 + i);
    }
    fputs("We ran it with --max-num-seqs 9.\nvllm serve m\n", in);
    rewind(in);
    bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
    fclose(in);
    assert_false(read);
    assert_string_equal(why.found, "'--max-num-seqs' stands outside the command");
}

/* Each is compared with all known ones. */
static void options_may_be_many(void **state)
{
    (void)state;
    struct stated_keys keys;
    FILE *in = tmpfile();
    assert_non_null(in);
    fputs("vllm serve m", in);
    for (int i = 0; i < 30000; i++) {
        fprintf(in, " --log-%d 1", i);
    }
    rewind(in);
    bool read = server_text_read(in, "f", NULL, 0, &keys, &why);
    fclose(in);
    assert_true(read);
    assert_string_equal(keys.unused[1].names, "version");
    assert_in_range(strlen(keys.unused[0].names), 1000, sizeof keys.unused[0].names - 1);
}

static const struct {
    const char *text, *message;
} mistakes[] = {
    {"", "f: no line is a server's"},
    {"LVLLM_MOE_NUMA_ENABLED=1 sglang serve --model-path m",
     "f:1: 'LVLLM_MOE_NUMA_ENABLED': experts on the CPU are not modelled"},
    {"see\n```yaml\nservices:\n  a:\n    image: vllm/vllm-openai\n    command: vllm serve m\n"
     "    environment:\n      ROCM_HOME: /opt/rocm\n```\n",
     "f:8: 'ROCM_HOME: /': machines of others than NVIDIA are not modelled"},
    {"HIP_VISIBLE_DEVICES=0,1 vllm serve m",
     "f:1: 'HIP_VISIBLE_DEVICES': machines of others than NVIDIA are not modelled"},
    {"XPU_VISIBLE_DEVICES=0,1 vllm serve m",
     "f:1: 'XPU_VISIBLE_DEVICES': machines of others than NVIDIA are not modelled"},
    {"MUSA_VISIBLE_DEVICES=0 sglang serve --model-path m",
     "f:1: 'MUSA_VISIBLE_DEVICES': machines of others than NVIDIA are not modelled"},
    {"sglang serve --model-path m\nUsing default MoE kernel config: E=8,N=7,device_name=MTT_S5000,dtype=fp8_w8a8.json",
     "f:2: 'device_name=MTT_': machines of others than NVIDIA are not modelled"},
    {"[aiter] import [module_aiter_enum] under /sgl-workspace/aiter/\nvllm serve m",
     "f:1: '[aiter] ': machines of others than NVIDIA are not modelled"},
    {"vllm serve m\nINFO [model.py:1] Resolved `--runner auto` to `--runner pooling`. Pass the value explicitly\n",
     "f:2: 'Resolved `--runner auto` to `--runner pooling`': a server that generates nothing is not modelled"},
    {"vllm serve m\nwhere SGLang has max_total_num_tokens=9, chunked_prefill_size=8\n",
     "f:2: the line is SGLang's, and those before are vLLM's"},
    {"GPU KV cache size: 9 tokens\nsglang serve --model-path m\n",
     "f:2: the line is SGLang's, and those before are vLLM's"},
    {"vLLM Ascend Version: 0.9.1\nvllm serve m\n",
     "f:1: 'vLLM Ascend Version': machines of others than NVIDIA are not modelled"},
    {"vllm serve m\nINFO [api_server.py:1] Supported tasks: ['embed']\n",
     "f:2: 'Supported tasks: ['e': a server that generates nothing is not modelled"},
    {"ROCM used to build PyTorch: 6.2.41\nvllm serve m",
     "f:1: 'ROCM used to build PyTorch ... : 6.': machines of others than NVIDIA are not modelled"},
    {"vllm serve m\n\nGPU 0,1: AMD Instinct MI300X", "f:3: ': AMD Instinct': machines of others"},
    {"LLM engine (v0.11.0) with config: model='a'\nINFO 12-03 01:26:14 rocm.py:30] x\n"
     "LLM engine (v0.11.0) with config: model='m'\n",
     "f:2: 'rocm.py:': machines of others than NVIDIA are not modelled"},
    {"image: lmsysorg/sglang:v0.4.2-rocm620\nsglang serve --model-path m",
     "f:1: '-rocm6': machines of others than NVIDIA are not modelled"},
    {"VLLM_TARGET_DEVICE=cpu pip install .\nvllm serve m",
     "f:1: 'VLLM_TARGET_DEVICE=cpu': machines"},
    {"```VLLM_PP_LAYER_PARTITION=10,22 vllm serve m -pp 2 --port 80```",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set in a way that is not read"},
    {"Command:VLLM_PP_LAYER_PARTITION=10,22 vllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set in a way that is not read"},
    {"root@x:~#VLLM_PP_LAYER_PARTITION=10,22 vllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set in a way that is not read"},
    {"\xe5\x91\xbd\xe4\xbb\xa4\xef\xbc\x9aVLLM_PP_LAYER_PARTITION=10,22 vllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set in a way that is not read"},
    {"`VLLM_USE_V1=0 vllm serve m -tp 2 `", "f:1: 'VLLM_USE_V1' is '0'"},
    {"setenv VLLM_PP_LAYER_PARTITION 10,22\nvllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set"},
    {"- name: VLLM_PP_LAYER_PARTITION\n  value: \"10,22\"\nvllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION': how GPUs share the model is not modelled so"},
    {"- name: CUDA_VISIBLE_DEVICES\n  value: '0'\nvllm serve m -tp 2",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"- value: '0'\n  name: VLLM_USE_V1\nvllm serve m", "f:2: 'VLLM_USE_V1' is set in a way"},
    {"sglang serve $FOO", "f:1: '$FOO' stands without an option"},
    {"docker run lmsysorg/sglang:v0.5.3 python3 -m sglang.launch_server ${FOO} --tp 2",
     "f:1: '${FOO}' stands without an option"},
    {"python -m vllm.entrypoints.openai.api_server $FOO", "f:1: '$FOO' stands without an option"},
    {"vllm serve $FOO", "f:1: 'model' is '$FOO'"},
    {"os.environ[\"VLLM_PP_LAYER_PARTITION\"]=\"10,22\"\nvllm serve m -pp 2",
     "f:1: 'VLLM_PP_LAYER_PARTITION' is set"},
    {"| vllm serve m | --tensor-parallel-size 4 |",
     "f:1: '--tensor-parallel-size' stands outside the command"},
    {"- `vllm serve m`, with `--max-num-seqs 8`",
     "f:1: '--max-num-seqs' stands outside the command"},
    {"With --max-num-seqs 8: vllm serve m", "f:1: '--max-num-seqs' stands outside the command"},
    {"vllm serve m # VLLM_USE_V1=0", "f:1: 'VLLM_USE_V1' is set in a way that is not read"},
    {"vllm serve m\nINFO [punica_selector.py:18] Using PunicaWrapperGPU.",
     "f:2: 'Using PunicaWrapper': adapters are not modelled"},
    {"vllm serve m\nreserved 10.00 GiB memory for KV Cache as specified by kv_cache_memory_bytes config",
     "f:2: 'memory for KV Cache as specified by kv_cache_memory_bytes', but no line states 'kv_pool'"},
    {"vllm serve m\nINFO [config.py:9] Casting torch.bfloat16 to torch.float32.",
     "f:2: 'Casting torch.bfloat16 to torch.float32': 4 bytes a weight"},
    {"vllm serve m\n(APIServer pid=1) INFO Started 8 local engine cores",
     "f:2: a process has rank 7, but the text states 1 in all"},
    {"vllm serve m\nINFO 09-01 20:56:24 [loggers.py:127] Engine 003: Avg prompt throughput: 0.0",
     "f:2: a process has rank 3, but the text states 1 in all"},
    {"GPU 0: NVIDIA A100-SXM4-40GB MIG 3g.20gb\nvllm serve m", "f:1: '3g.20gb': a slice of a GPU"},
    {"docker run --device=/dev/kfd -v /m:/m x vllm serve m", "f:1: '/dev/kfd': machines of others"},
    {"vllm serve m\nINFO vLLM API server version 0.11.2+gfx906",
     "f:2: 'server version ... +gfx': machines of others than NVIDIA are not modelled"},
    {"vllm serve m\nConfiguring SpecDecodeWorker with proposer=x",
     "f:2: 'Configuring SpecDecodeWorker', but no line states 'drafts.method'"},
    {"  MIG 1g.20gb     Device  0: (UUID: MIG-1)\nvllm serve m",
     "f:1: '1g.20gb': a slice of a GPU is not modelled"},
    {"max_total_num_tokens=95, x=1\nCapture draft cuda graph begin.",
     "f:2: 'Capture draft', but no line states 'drafts.method'"},
    {"max_total_num_tokens=95, x=1\n[2025-09-03 18:33:19 EP0] Decode batch. #running-req: 1, accept len: 2.1, cuda graph: False",
     "f:2: 'accept len: ', but no line states 'drafts.method'; 'Decode batch. #running-req: 1, ... cuda graph: "
     "False', but no line states 'compile'; ' EP0] ', but no line states 'expert_parallel'"},
    {"[2025-12-26 23:01:53 TP0 EP0] max_total_num_tokens=95, x=1",
     "f:1: ' EP0] ', but no line states 'expert_parallel'\n  expected: --set expert_parallel=VALUE"},
    {"vllm serve m\nLMCache INFO: LMCache Configuration: {'chunk_size': 256}",
     "f:2: 'LMCache Configuration: ', but no line states 'system'\n  expected: --set system=VALUE"},
    {"(Worker_TP0_EP0 pid=5) INFO Capturing CUDA graphs", "f: no line is a server's"},
    {"vllm serve m\nGPU KV cache size: 900 tokens\nGPU KV cache size: 900 tokens\n"
     "GPU KV cache size: 880 tokens\nGPU KV cache size: 960 tokens",
     "f:5: a process has rank 2, but the text states 1 in all\n  expected: --set tensor_parallel=N"},
    {"vllm serve m\nworld_size=2 rank=0 local_rank=0 backend=nccl",
     "f:2: a process has rank 1, but the text states 1 in all"},
    {"vllm serve m\nDetected MTP model. Sharing target model lm_head weights with the draft model.",
     "f:2: 'Sharing target model ... weights with the draft model', but no line states 'drafts.method'"},
    {"#SBATCH --gres=gpu:a100:2\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --gres=gpu:2\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --nodes=2\n#SBATCH --gres=gpu:2\nvllm serve m -tp 4",
     "f:2: the server is on 4 GPUs of a machine, and sees 2"},
    {"CUDA_VISIBLE_DEVICES=0,1 vllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --gres gpu:2\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --gres=gpu\nvllm serve m -tp 2",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"#SBATCH -N 2 --gpus-per-node=a100:2 # 8\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --gpus=8\n#SBATCH -N2\nsrun -n1 vllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#SBATCH -G 2\nvllm serve m -tp 4", "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --ntasks=2 --gpus-per-task=1\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"#SBATCH --gres=gpu:8\nsrun --gres=gpu:1 vllm serve m -tp 2",
     "f:2: the server is on 2 GPUs of a machine, and sees 1"},
    {"sbatch --gres=gpu:1,nvme:4 --wrap \"vllm serve m -tp 2\"",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"docker run --gpus 1 vllm/vllm-openai:v0.19.0 --model m -tp 2",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"docker run --gpus '\"device=0,3\"' vllm/vllm-openai:v0.19.0 --model m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"docker run --gpus all -e NVIDIA_VISIBLE_DEVICES=3 vllm/vllm-openai:v0.19.0 --model m -tp 2",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"ray start --head --num-gpus 4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"docker run --gpus 4 vllm/vllm-openai:v0.19.0 m -tp 4 -pp 2",
     "f:1: the server is on 8 GPUs, and sees 4"},
    {"docker run -it --gpus '\"device=0,1\"' lmsysorg/sglang:v0.5.9 bash\npython3 -m sglang.launch_server "
     "--model-path m --tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"srun --gres=gpu:1 --pty bash\nvllm serve m -tp 2",
     "f:1: the server is on 2 GPUs of a machine, and sees 1"},
    {"#SBATCH --gpus-per-socket=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#SBATCH --sockets-per-node=2 --gpus-per-socket=2\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#SBATCH --tres-per-node=gres/gpu:4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#SBATCH --tres-per-task=cpu=8,gres/gpu=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#PBS -l select=1:ncpus=32:ngpus=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#PBS -l nodes=1:ppn=8:gpus=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#BSUB -gpu \"num=4:mode=exclusive_process\"\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#BSUB -R \"rusage[ngpus_excl_p=4]\"\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#$ -l gpu=4,h_vmem=8G\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#OAR -l host=1/gpu=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"#FLUX: -g 4\nvllm serve m -tp 8", "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"qsub -I -l select=1:ngpus=4\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"export SINGULARITYENV_CUDA_VISIBLE_DEVICES=0,1\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 2"},
    {": ${CUDA_VISIBLE_DEVICES:=0,1}\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 2"},
    {"setenv CUDA_VISIBLE_DEVICES 0,1\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 2"},
    {"#PBS -J 0-3\nvllm serve m -tp 8", "f:1: an array of tasks may start several servers"},
    {"#$ -t 1-4\nvllm serve m -tp 8", "f:1: an array of tasks may start several servers"},
    {"#BSUB -J x[1-4]\nvllm serve m -tp 8", "f:1: an array of tasks may start several servers"},
    {"#SBATCH --gres=mps:50\nvllm serve m -tp 8",
     "f:1: 'gres=mps': a GPU that others share is not modelled"},
    {"#SBATCH --tres-per-node=gres/shard:1\nvllm serve m -tp 8",
     "f:1: 'gres/shard': a GPU that others share is not modelled"},
    {"#BSUB -gpu \"num=1:mig=3/2\"\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 1; '#BSUB ... mig=': a slice of a GPU"},
    {"export NVIDIA_VISIBLE_DEVICES=0:1\nvllm serve m -tp 8",
     "f:1: a slice of a GPU is not modelled"},
    {"CUDA_VISIBLE_DEVICES=\nvllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 0"},
    {"podman run --device nvidia.com/gpu=0 vllm/vllm-openai:v0.19.0 --model m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 1"},
    {"podman run --device nvidia.com/gpu=0 --device nvidia.com/gpu=1 vllm/vllm-openai:v0.19.0 --model m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 2"},
    {"docker run --device /dev/nvidia0 vllm/vllm-openai:v0.19.0 --model m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 1"},
    {"docker run --gpus '\"device=MIG-a\"' vllm/vllm-openai:v0.19.0 --model m -tp 8",
     "f:1: a slice of a GPU is not modelled"},
    {"docker run --gpus device=4,5,6 -e CUDA_VISIBLE_DEVICES=0,1 vllm/vllm-openai:v0.19.0 --model m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 2"},
    {"jsrun -n1 -g4 vllm serve m -tp 8", "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"flux run -N1 -g 4 vllm serve m -tp 8",
     "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"bsub -gpu num=4 vllm serve m -tp 8", "f:1: the server is on 8 GPUs of a machine, and sees 4"},
    {"vllm serve m -tp $(nvidia-smi -L | wc -l)", "f:1: 'tp' is '$(nvidia-smi -L | wc -l)'"},
    {"export CUDA_VISIBLE_DEVICES=0\nvllm serve m -tp $(nvidia-smi -L | wc -l)",
     "f:2: 'tp' is '$(nvidia-smi -L | wc -l)'"},
    {"docker run --gpus count=2 vllm/vllm-openai:v0.19.0 --model m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"resources:\n  accelerators: A100:2\nrun: |\n  vllm serve m -tp 4",
     "f:2: the server is on 4 GPUs of a machine, and sees 2"},
    {"os.environ[\"CUDA_VISIBLE_DEVICES\"] = \"0,1\"\nvllm serve m -tp 4",
     "f:1: the server is on 4 GPUs of a machine, and sees 2"},
    {"ray start --head\nssh n2 ray start --address=x:6379\nvllm serve m -tp 16",
     "the server is on 16 GPUs of a machine, and sees 8"},
    {"CUDA_DEVICE_MEMORY_LIMIT=20g vllm serve m",
     "f:1: 'CUDA_DEVICE_MEMORY_LIMIT': a slice of a GPU is not modelled"},
    {"CUDA_VISIBLE_DEVICES=0,1 python -m sglang.launch_server --model-path m --tp 2 --dp 2",
     "f:1: the server is on 4 GPUs, and sees 2"},
    {"vllm serve m -tp 2\ntensor_parallel_size=2 is bigger than a reserved number of GPUs (1 GPUs) in a node",
     "f:2: 'is bigger than a reserved number of GPUs'"},
    {"python3 -m minisglang.launch_server --model-path m", "f: no line is a server's"},
    {"lmcache_vllm serve m -tp 2", "f: no line is a server's"},
    {"python3 -m lmcache_vllm.vllm.entrypoints.openai.api_server --model m",
     "f: no line is a server's"},
    {"vllm serve m --help", "f: no line is a server's"},
    {"docker run --entrypoint /bin/bash -it vllm/vllm-openai:v0.19.0", "f: no line is a server's"},
    {"how to run With `vllm serve`, you should", "f: no line is a server's"},
    {"\n$ vllm serv m --max-num-seqs 8",
     "f: no line is a server's\n  expected: the start-up log of a server, a command such as "
     "'vllm serve MODEL', or its /metrics"},
    {"\nvllm serve m --max-num-seqs many", "f:2: 'max_num_seqs' is 'many'"},
    {"TP=2\nif [ -n \"$BIG\" ]; then\n  TP=4\nfi\nvllm serve m -tp $TP", "f:5: 'tp' is '$TP'"},
    {"vllm serve m -tp ${TP:-\"2}", "f:1: 'tp' is '${TP:-2}'"},
    {"TP=2\n[ -n \"$BIG\" ] && TP=4\nvllm serve m -tp ${TP:-1}", "f:3: 'tp' is '${TP:-1}'"},
    {"TP=2\npick() {\n  TP=4\n}\npick\nvllm serve m -tp $TP", "f:6: 'tp' is '$TP'"},
    {"TP=$(nproc)\nvllm serve m -tp $TP", "f:2: 'tp' is '$TP'"},
    {"TP=2\nsource site.sh\nvllm serve m -tp $TP", "f:3: 'tp' is '$TP'"},
    {"TP=2\ncat > x <<END\nTP=4\nEND\nvllm serve m -tp $TP", "f:5: 'tp' is '$TP'"},
    {"TP=2 vllm serve m -tp $TP", "f:1: 'tp' is '$TP'"},
    {"ARGS=(-tp 2)\nARGS[1]=4\nvllm serve m \"${ARGS[@]}\"",
     "f:3: '${ARGS[@]}' stands without an option"},
    {"vllm serve m -tp $TP",
     "f:1: 'tp' is '$TP'\n  expected: its value: the lines before do not say what the variable is"},
    {"non-default args: {'model': 'm', 'enable_lora': True}",
     "f:1: 'enable_lora': adapters are not modelled\n  expected: the command without it"},
    {"vllm serve m --quantization experts_int8",
     "f:1: 'quantization' is 'experts_int8'\n  expected: fp8*, "},
    {"vllm serve m -q gguf", "modelopt*; or --set dtype.weights="},
    {"sglang serve --model-path m --speculative-algorithm EAGLE3 --speculative-eagle-topk 4",
     "f:1: 'speculative_eagle_topk': a tree of drafts is not modelled\n  expected: 1"},
    {"LMCache Configuration: {'chunk_size': 256, 'remote_url': 'lm://a:1'}",
     "f:1: 'lmcache.remote_url': LMCache's setting is not modelled"},
    {"non-default args: {'model': 'm', 'enable_chunked_prefill': False}",
     "f:1: 'enable_chunked_prefill': these limits of a step"},
    {"vllm serve m --enable-chunked-prefill=False",
     "f:1: '--enable-chunked-prefill': these limits of a step"},
    {" with config: model='m', decode_context_parallel_size=2",
     "f:1: 'decode_context_parallel_size': how GPUs share"},
    {"server_args=ServerArgs(model_path='m', torchao_config='int8wo')",
     "f:1: 'torchao_config': types and sizes"},
    {"non-default args: {'model': 'm', 'hf_overrides': 'a'}",
     "f:1: 'hf_overrides': types and sizes of parts"},
    {"server_args=ServerArgs(model_path='m', kt_num_gpu_experts=32, dcp_size=2, quantization_param_path='a')",
     "f:1: 'kt_num_gpu_experts': it is a state of weights or KV that is not modelled; 'dcp_size': how GPUs share the "
     "model is not modelled so; 'quantization_param_path': types"},
    {"INFO 11-10 01:23:57 LLM engine (v0.11.0) with config: model='m', tensor_parallel_size=2\n"
     "INFO 11-10 01:23:37 non-default args: {'model': 'm', 'max_num_seqs': 64}\n",
     "f:2: lines of an earlier start stand behind a later one's\n  expected: lines in the order"},
    {"server_args={'model_path': 'm', 'nnodes': 2}", "f:1: 'nnodes': how GPUs share"},
    {"server_args=ServerArgs(model_path='m', ..., tp_size=2)",
     "f:1: '...' stands for settings left out\n  expected: the line whole"},
    {"non-default args: {'model': 'm', 'max_num_seqs': 64, \xe2\x80\xa6}",
     "f:1: '...' stands for settings"},
    {"server_args=ServerArgs(model_path='m', enable_two_batch_overlap=True)",
     "f:1: 'enable_two_batch_overlap': how GPUs share"},
    {"sglang serve --model-path m --tp 2 --dp 4 --enable-dp-attention",
     "f:1: 4 ranks divide 2 GPUs"},
    {"non-default args: {'model': 'm', 'kv_transfer_config': KVTransferConfig(kv_connector='LMCacheConnectorV1')}",
     "f:1: the size of its host memory is not stated here"},
    {"source lm.env\nvllm serve m --kv-transfer-config '{\"kv_connector\": \"LMCacheConnectorV1\"}'",
     "f:2: the size of its host memory is not stated here\n  expected: --set host_memory=N"},
    {"vllm serve m --kv-transfer-config '{\"kv_connector\": \"LMCacheMPConnector\"}'",
     "f:1: the size of its host memory is not stated here"},
    {"vllm serve m --api-server-count 4", "f:1: 'api_server_count' is 4: a rank has one process"},
    {"vllm serve m --kv-transfer-config '\\\"x\\\"'", "f:1: '--kv-transfer-config' is not read"},
    {"vllm serve m --load-format gguf", "f:1: 'load_format' is 'gguf': a GGUF has weights"},
    {"vllm serve m --hf-config-path x", "f:1: '--hf-config-path': this code or file"},
    {"vllm serve m --kv-transfer-config '{\"kv_connector\": \"LMCacheConnectorV1\", \"kv_role\": \"kv_producer\"}'",
     "f:1: 'kv_transfer_config.kv_role' is 'kv_producer': prompts and decodes on servers of their own"},
    {"vllm serve m --speculative-config '{\"model\": \"d\", \"quantization\": \"fp8\"}'",
     "f:1: 'speculative_config.quantization': the setting of drafts"},
    {"CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=50 vllm serve m",
     "f:1: 'CUDA_MPS_ACTIVE_THREAD_PERCENTAGE': the GPU is shared"},
    {"CUDA_VISIBLE_DEVICES=MIG-1 vllm serve m",
     "f:1: 'CUDA_VISIBLE_DEVICES' is 'MIG-1': a slice of a GPU"},
    {"TORCHDYNAMO_DISABLE=1 vllm serve m", "f:1: 'TORCHDYNAMO_DISABLE': what it does to the time"},
    {"sglang:max_total_num_tokens{model_name=\"m\",tp_rank=\"0\",dp_rank=\"1\",engine_type=\"decode\"} 300123.0",
     "f:1: 'dp_rank' is '1': the metrics are of several ranks: --set data_parallel=N, or --set data_parallel=1 --set "
     "replicas=N if they share no layers; 'engine_type' is 'decode': prompts and decodes on servers of their own"},
    {"sglang:max_total_num_tokens{tp_rank=\"1\"} 400123.0\nsglang:spec_accept_length{model_name=\"m\"} 2.4",
     "f:1: 'tp_rank' is '1': the metrics are of several GPUs: --set tensor_parallel=N; 'spec_accept_length' is '2.4': drafts"},
    {"vllm:spec_decode_num_drafts_total{engine=\"0\"} 1234.0\nvllm:lora_requests_info{max_lora=\"4\"} 1.0",
     "f:1: 'spec_decode_num_drafts_total' is '1234.0': drafts are in use: --set drafts.method=METHOD, and the others of "
     "drafts, or none; 'max_lora' is '4': adapters"},
    {"vllm serve m --max-num-seqs", "f:1: 'max_num_seqs' has no value"},
    {"sglang serve --model-path m --chunked-prefill-size -1",
     "f:1: 'chunked_prefill_size' is '-1'\n  expected: a whole number above 0"},
    {"vllm serve m --max-num-seqs 99999999999", "f:1: 'max_num_seqs' is '99999999999'"},
    {"vllm serve m --max-model-len 25.6K", "f:1: 'max_model_len' is '25.6K'"},
    {"vllm serve m --max-model-len 1.5", "f:1: 'max_model_len' is '1.5'"},
    {"vllm serve m --max-model-len 5000g", "f:1: 'max_model_len' is '5000g'"},
    {"vllm serve m --max-model-len 1Mi", "f:1: 'max_model_len' is '1Mi'"},
    {"sglang serve --model-path m --context-length 1m", "f:1: 'context_length' is '1m'"},
    {"vllm serve m --dtype float32",
     "f:1: 'dtype' is 'float32'\n  expected: auto, bfloat16, float16, half"},
    {"vllm serve m --gpu-memory-utilization 90", "f:1: 'gpu_memory_utilization' is '90'"},
    {"vllm serve m --kv-cache-dtype int3", "f:1: 'kv_cache_dtype' is 'int3'"},
    {"vllm serve m \\\n -tp 0", "f:2: 'tp' is '0'\n  expected: a whole number above 0"},
    {"vllm serve m --tensor-parallel-size -2", "f:1: 'tensor_parallel_size' is '-2'"},
    {"vllm serve m --tensor-parallel-size=-1", "f:1: 'tensor_parallel_size' is '-1'"},
    {"vllm serve m --tensor-parallel-size --max-num-seqs 4",
     "f:1: 'tensor_parallel_size' has no value\n  expected: a whole number above 0"},
    {"vllm serve m --max-num-seqs= -tp 2", "f:1: 'max_num_seqs' has no value"},
    {"vllm serve m --max-num-seqs '' -tp 2", "f:1: 'max_num_seqs' has no value"},
    {"vllm serve --model", "f:1: 'model' has no value\n  expected: a name or a path"},
    {"vllm serve m --enable-prefix-caching=maybe", "f:1: 'enable_prefix_caching' is 'maybe'"},
    {"vllm serve m --tensor-parallel-sise 2", "f:1: unknown option '--tensor-parallel-sise'\n"
                                              "  nearest: '--tensor-parallel-size'   "
                                              "expected: an option of vLLM"},
    {"vllm serve m --host 0 \\ \n -tp 2", "f:1: ' ' stands without an option"},
    {"vllm serve m --host 0 \xe2\x80\x93tp 2", "f:1: '\xe2\x80\x93tp' stands without an option"},
    {"LMCACHE_CHUNK_SIZE=64 vllm serve m\nexport LMCACHE_CHUNK_SIZE=128\n",
     "f:2: 'LMCACHE_CHUNK_SIZE' is set again behind the command"},
    {"non-default args: {'model': 'm', 'tensor_parallel_size': 2,\n",
     "f:1: a list of settings is cut off"},
    {"GPU KV cache size: 900 tokens\nIt runs with kv-cache-dtype fp8 and --max-model-len 4096.\n",
     "f:2: 'kv-cache-dtype' stands in a line that nothing reads; '--max-model-len' stands in"},
    {"(VllmWorker rank=4 pid=5) INFO x\nGPU KV cache size: 900 tokens\n",
     "f:1: a process has rank 4, but the text states 1 in all\n  expected: --set tensor_parallel=N"},
    {"(EngineCore_7 pid=5) INFO x\nGPU KV cache size: 900 tokens\n",
     "f:1: a process has rank 7, but the text states 1 in all\n  expected: --set data_parallel=N, or --set replicas=N"},
    {"[2025-10-11 02:15:02 DP0 TP3] x\nmax_total_num_tokens=9, context_len=4\n",
     "f:1: a process has rank 3"},
    {"GPU KV cache size: 900 tokens\nINFO arg_utils.py:1746] rocm x. Falling back to V0 Engine.\n",
     "f:2: 'Falling back to V0': the first scheduler"},
    {"Initializing a V1 LLM engine (v0.11.0) with config: model='m', chunked_prefill_enabled=False, x=1\n",
     "prompts in one piece are not modelled"},
    {" with config: model='m', tensor_parallel_size=2\nINFO [parallel_state.py:948] rank 3 in world size 4 is\n",
     "f:2: a process has rank 3, but the text states 2 in all"},
    {" with config: model='m', x=1\nSpecDecoding metrics: Mean acceptance length: 2.46\n",
     "f:2: 'SpecDecoding metrics', but no line states 'drafts.method'\n  expected: --set drafts=none, or"},
    {"GPU KV cache size: 900 tokens\n--max-num-seqs 8 --enforce-eager\n",
     "f:2: '--max-num-seqs' stands in a line that nothing reads; '--enforce-eager' stands in"},
    {"GPU KV cache size: 900 tokens\nllm = LLM(model='m', enable_lora=True)\n",
     "f:2: 'enable_lora' stands in a line that nothing reads\n  expected: the text without it"},
    {" with config: model='m', tensor_parallel_size=4\nINFO x.py:3] tensor_parallel_size=2 runs\n",
     "f:2: 'tensor_parallel_size' stands in a line that nothing reads\n"
     "  expected: --set tensor_parallel=VALUE, or the text without it"},
    {"vllm serve m '--tensor-parallel-size 2'",
     "f:1: unknown option '--tensor-parallel-size', which is one word with its value"},
    {"vllm serve m --max-num-seqs.x 3", "f:1: unknown option '--max-num-seqs.x'"},
    {"vllm serve m -tq=2", "f:1: unknown option '-tq'"},
    {"vllm serve a -tp 2\nvllm serve b\n",
     "f:2: a second command starts a server; the first is in line 1\n  expected: one server"},
    {"vllm serve a -tp 2\nB=1 vllm serve a -tp 2\n", "f:2: a second command starts a server"},
    {"docker run --gpus 1 vllm/vllm-openai:v0.9.1 a\ndocker run --gpus 1 vllm/vllm-openai:v0.9.2 a\n",
     "f:2: a second command starts a server"},
    {"vllm serve a -tp 2 & vllm serve b", "f:1: a second command starts a server"},
};

static void mistakes_are_told_with_their_place(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(mistakes); i++) {
        const char *got = keys_of(mistakes[i].text);
        if (strstr(got, mistakes[i].message) == NULL) {
            fail_msg("'%s': %s", mistakes[i].text, got);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_that_are_overridden_need_not_be_valid),
        cmocka_unit_test(variables_of_options_are_no_model),
        cmocka_unit_test(keys_are_keys_with_their_lines),
        cmocka_unit_test(options_without_effect_are_told),
        cmocka_unit_test(long_texts_are_read_whole),
        cmocka_unit_test(long_lines_are_read_once),
        cmocka_unit_test(long_commands_are_not_one),
        cmocka_unit_test(advice_leaves_room_for_what_is_stated),
        cmocka_unit_test(options_may_be_many),
        cmocka_unit_test(mistakes_are_told_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
