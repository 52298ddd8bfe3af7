/* Stands in for the GPU parts in a harness that was built without CUDA. */
#include "calibrate/device/facts.h"
#include "calibrate/harness/gpu_groups.h"
#include "calibrate/mini/mini.h"

#include <stddef.h>

const struct group gpu_groups[] = {
    {.name = NULL},
};

bool gpu_find(struct error *why)
{
    error_set(why, NULL, 0, "no GPU can be measured: this was built without CUDA");
    return error_expect(why, "'make calibrate', which needs nvcc (NVIDIA's cuda-nvcc and "
                             "cuda-cudart-dev, or Debian's nvidia-cuda-toolkit); or --host, which "
                             "measures processor and memory and takes GPU and link from --base");
}

bool gpu_facts_read(struct gpu_facts *facts, struct error *why)
{
    *facts = (struct gpu_facts){.name = ""};
    return gpu_find(why);
}

const struct mini_runtime *mini_gpu_runtime(struct error *why)
{
    error_set(why, NULL, 0, "no GPU can run mechanisms: this was built without CUDA");
    error_expect(why, "'make calibrate', which needs nvcc; or --host, which runs those that need "
                      "no GPU");
    return NULL;
}
