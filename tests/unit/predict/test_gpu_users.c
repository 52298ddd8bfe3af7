/* Who has GPUs of a server, too: containers of its manifest, and programs that its script starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "predict/command/server_text.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 4096 };

/* The names that are told as on the server's GPUs; or the message. */
static const char *told_of(const char *text, const char *file)
{
    static const char reason[] = "on the server's GPU";
    static const char *const sets[] = {"model=m"};
    static char out[TEXT];
    struct stated_keys keys;
    struct error why;
    FILE *in = tmpfile();
    assert_non_null(in);
    fputs(text, in);
    rewind(in);
    out[0] = '\0';
    if (!server_text_read(in, file, sets, 1, &keys, &why)) {
        error_format(&why, out, TEXT);
    }
    for (const struct server_unused *of = keys.unused; out[0] == '\0' && of->reason != NULL; of++) {
        bool is = strncmp(of->reason, reason, strlen(reason)) == 0;
        snprintf(out, TEXT, "%s", is ? of->names : "");
    }
    fclose(in);
    return out;
}

#define LAUNCH "python3 -m sglang.launch_server --model-path m"
#define SGLANG "image: 'lmsysorg/sglang:v0.5.3', command: " LAUNCH
#define VLLM "image: 'vllm/vllm-openai:v0.20.0', command: --model m"
#define GPUS(of) "deploy: {resources: {reservations: {devices: [{" of "}]}}}"
#define COMFY "image: comfyui"
#define ONE "CUDA_VISIBLE_DEVICES=1 e &\n"
#define FOUR(text) text text text text
#define FREE(line, of)                                                                             \
    "f:" line ": '" of "' has a GPU of the server, too, whose KV memory is a share of what is free"

struct sample {
    const char *what, *text, *begins;
};

static const struct sample scripts[] = {
    {"the same GPU", "CUDA_VISIBLE_DEVICES=0 vllm serve m &\nCUDA_VISIBLE_DEVICES=0 python3 e.py &",
     "e.py"},
    {"another", "CUDA_VISIBLE_DEVICES=0 vllm serve m &\nCUDA_VISIBLE_DEVICES=1 python3 e.py &", ""},
    {"a part of what is free", "nohup /opt/ollama serve &\n" LAUNCH, FREE("1", "ollama serve")},
    {"in one line", "ollama serve & " LAUNCH, FREE("1", "ollama serve")},
    {"on a GPU that the server leaves",
     "export CUDA_VISIBLE_DEVICES=1\nollama serve &\nexport CUDA_VISIBLE_DEVICES=0\n" LAUNCH, ""},
    {"on the second of two",
     "CUDA_VISIBLE_DEVICES=0,1 torchrun t.py &\nCUDA_VISIBLE_DEVICES=1,2 " LAUNCH " --tp 2",
     FREE("1", "torchrun")},
    {"on the one of two that it does not use",
     "CUDA_VISIBLE_DEVICES=2 torchrun t.py &\nCUDA_VISIBLE_DEVICES=1,2 " LAUNCH, ""},
    {"by its name",
     "CUDA_VISIBLE_DEVICES=GPU-a torchrun t.py &\nCUDA_VISIBLE_DEVICES=GPU-a " LAUNCH,
     FREE("1", "torchrun")},
    {"in PyTorch's words", "python e.py --device cuda:0 &\n" LAUNCH, FREE("1", "e.py")},
    {"on PyTorch's second", "python e.py --device cuda:1 &\n" LAUNCH, ""},
    {"before the server", "CUDA_VISIBLE_DEVICES=0 torchrun t.py\n" LAUNCH, ""},
    {"behind it, maybe at another time", LAUNCH "\nCUDA_VISIBLE_DEVICES=0 python3 t.py", "t.py"},
    {"of a client", LAUNCH " &\nCUDA_VISIBLE_DEVICES=0 python3 bench.py", ""},
    {"of a sentence", "I know ollama serve too.\n" LAUNCH, ""},
    {"in another terminal", "tmux new -d 'ollama serve'\n" LAUNCH, FREE("1", "ollama serve")},
    {"in a screen's shell", "screen -dmS e bash -c \"CUDA_VISIBLE_DEVICES=0 python e.py\"\n" LAUNCH,
     FREE("1", "e.py")},
    {"in a shell of its own", "(CUDA_VISIBLE_DEVICES=0 python e.py) &\n" LAUNCH, FREE("1", "e.py")},
    {"on one that a loop names", "CUDA_VISIBLE_DEVICES=$i python w.py &\n" LAUNCH, "w.py"},
    {"of supervisord", "command=" LAUNCH "\ncommand=text-embeddings-router\n",
     FREE("2", "text-embeddings-router")},
    {"that nvidia-smi shows",
     "vllm serve m\n|    0   N/A  N/A  99   C   /usr/local/bin/ollama   9000MiB |", "/bin/ollama"},
    {"that nvidia-smi shows on another GPU",
     "vllm serve m\n|    1   N/A  N/A  99   C   /usr/local/bin/ollama   9000MiB |", ""},
    {"of a container", "docker run -d --gpus all -v a:/b ollama/ollama\n" LAUNCH,
     FREE("1", "ollama/ollama")},
    {"of a container with another",
     "docker run -d --gpus '\"device=1\"' a/b\ndocker run --gpus device=0 lmsysorg/sglang:v0.5.3 " LAUNCH,
     ""},
    {"of one that has none", "docker run -d ollama/ollama\n" LAUNCH, ""},
    {"of one that is entered", "docker run --gpus all -v x:x -it image\n" LAUNCH, ""},
    {"of one for the server", "docker run -it --gpus all nvidia/cuda bash\n" LAUNCH, ""},
    {"shares that are too much",
     "docker run -d --gpus 1 a/tgi --cuda-memory-fraction 0.6\n"
     "docker run --gpus 1 vllm/vllm-openai:v0.20.0 --model m --gpu-memory-utilization 0.6",
     "f:1: 'a/tgi' and the server have 1.2 of a GPU's memory\n  expected: shares that leave room for both"},
    {"shares that leave room",
     "docker run -d --gpus 1 a/tgi --cuda-memory-fraction 0.4\n"
     "docker run --gpus 1 vllm/vllm-openai:v0.20.0 --model m --gpu-memory-utilization 0.6",
     "a/tgi"},
    {"a share that only a label names",
     "docker run -d --gpus 1 -l note=memory-utilization=0.9 a/tgi\n"
     "docker run --gpus 1 vllm/vllm-openai:v0.20.0 --model m --gpu-memory-utilization 0.6",
     "a/tgi"},
    {"a share that is none",
     "docker run -d --gpus 1 a/tgi --cuda-memory-fraction inf\n"
     "docker run --gpus 1 vllm/vllm-openai:v0.20.0 --model m --gpu-memory-utilization 0.6",
     "a/tgi"},
    {"more than are kept", FOUR(FOUR(FOUR(ONE))) "CUDA_VISIBLE_DEVICES=0 " LAUNCH,
     "f:65: more than 64 programs have GPUs"},
    {"a pool that its log states", "max_total_num_tokens=95, x=1\nollama serve &\n" LAUNCH,
     "ollama serve"},
    {"a container's GPU, which is none of the server's",
     "docker run -d --gpus 1 a/b\nvllm serve m -tp 2", "a/b"},
};

static const struct sample manifests[] = {
    {"one that has all", "services: {s: {" SGLANG ", gpus: all}, c: {" COMFY ", gpus: all}}",
     FREE("4", "comfyui")},
    {"of vLLM a part of the whole",
     "services: {s: {" VLLM ", gpus: all}, c: {" COMFY ", gpus: all}}", "comfyui"},
    {"one GPU each, which is the first",
     "services: {c: {" COMFY ", " GPUS("count: 1") "}, s: {" SGLANG ", " GPUS("count: 1") "}}",
     FREE("4", "comfyui")},
    {"one that is built", "services: {s: {" SGLANG ", gpus: all}, c: {build: ., gpus: all}}",
     FREE("4", "c")},
    {"shares of containers that are too much",
     "services: {s: {" VLLM
     ", gpus: all}, c: {image: tgi, command: --cuda-memory-fraction 0.6, gpus: all}}",
     "f:4: 'tgi' and the server have 1.5 of a GPU's memory"},
    {"devices of their own",
     "services: {c: {" COMFY ", " GPUS("device_ids: ['1']") "}, s: {" SGLANG
                                                            ", " GPUS("device_ids: ['0']") "}}",
     ""},
    {"variables of their own",
     "services: {c: {" COMFY
     ", " GPUS("device_ids: ['${A}']") "}, s: {" SGLANG ", " GPUS("device_ids: ['${B}']") "}}",
     ""},
    {"what CUDA sees of a container's",
     "services: {c: {" COMFY
     ", " GPUS("device_ids: ['2']") "}, s: {" SGLANG
                                    ", environment: [CUDA_VISIBLE_DEVICES=1], " GPUS(
                                        "device_ids: ['1', '2']") "}}",
     FREE("4", "comfyui")},
    {"a runtime", "services: {s: {" SGLANG ", runtime: nvidia}, c: {" COMFY ", runtime: nvidia}}",
     FREE("4", "comfyui")},
    {"GPUs of the runtime's",
     "services: {s: {" SGLANG
     ", runtime: nvidia, environment: [NVIDIA_VISIBLE_DEVICES=0]}, c: {" COMFY
     ", runtime: nvidia, environment: {NVIDIA_VISIBLE_DEVICES: '1'}}}",
     ""},
    {"devices by their class",
     "services: {s: {" SGLANG ", devices: [nvidia.com/gpu=1]}, c: {" COMFY
     ", devices: [nvidia.com/gpu=all]}}",
     FREE("4", "comfyui")},
    {"what only watches",
     "services: {s: {" SGLANG ", gpus: all}, c: {image: dcgm-exporter, gpus: all}}", ""},
    {"what another profile starts",
     "services: {s: {" SGLANG ", gpus: all}, c: {" COMFY ", gpus: all, profiles: [x]}}", "comfyui"},
    {"memory of the server, before a container that states none",
     "services: {s: {" VLLM " --cpu-offload-gb 20, gpus: all, mem_limit: 8g}, c: {image: c}}",
     "f:4: 'cpu_offload_gb' is 20GiB, more than the memory of its container"},
    {"copies on one GPU",
     "services: {s: {" VLLM ", " GPUS("count: 1") "}, t: {" VLLM ", " GPUS("count: 1") "}}",
     "f:4: copies of the server have the same GPU"},
    {"copies that Compose makes", "services: {s: {" VLLM ", scale: 2, " GPUS("count: 1") "}}",
     "f:4: copies of the server have the same GPU"},
    {"copies on GPUs of their own",
     "services: {s: {" VLLM ", " GPUS("device_ids: ['0']") "}, t: {" VLLM
                                                           ", " GPUS("device_ids: ['1']") "}}",
     ""},
    {"a pod, each with its own",
     "containers:\n- {" SGLANG ", args: [], resources: {limits: {nvidia.com/gpu: 1}}}\n- {" COMFY
     ", resources: {limits: {nvidia.com/gpu: 1}}}",
     ""},
    {"a pod, one with those of all",
     "containers:\n- {image: x, command: [sglang, serve, --model-path, m], resources: {limits: "
     "{nvidia.com/gpu: 1}}}\n- {" COMFY ", env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}",
     FREE("6", "comfyui")},
};

static void check(const struct sample *all, size_t count, const char *before)
{
    for (size_t i = 0; i < count; i++) {
        char text[TEXT];
        snprintf(text, sizeof text, "%s%s", before, all[i].text);
        const char *got = told_of(text, "f");
        if (strncmp(got, all[i].begins, strlen(all[i].begins)) != 0 ||
            (all[i].begins[0] == '\0' && got[0] != '\0')) {
            fail_msg("%s:\n%s\nnot\n%s", all[i].what, got, all[i].begins);
        }
    }
}

static void others_on_its_gpus_are_told_or_refused(void **state)
{
    (void)state;
    check(scripts, sizeof scripts / sizeof *scripts, "");
    check(manifests, sizeof manifests / sizeof *manifests, "services:\n  x: 1\n---\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_on_its_gpus_are_told_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
