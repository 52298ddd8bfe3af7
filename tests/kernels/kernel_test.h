/* Tests of kernels, on a GPU or in the emulator. A case is a function that returns a text: what was
 * wrong, or "". GPU memory belongs to an object, which frees it. */
#pragma once

#include "calibrate/device/device.h"
#include "calibrate/kernels/kernels.h"
#include "calibrate/kernels/twins.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <random>
#include <string>
#include <vector>

/* Ends the program, because a test could not run. */
inline void must(bool ok, const struct error &why)
{
    if (!ok) {
        char text[2048];
        error_format(&why, text, sizeof text);
        printf("Bail out! %s\n", text);
        exit(1);
    }
}

#define MUST(call)                                                                                 \
    do {                                                                                           \
        struct error why;                                                                          \
        must(call, why);                                                                           \
    } while (0)

template <typename Value> struct on_gpu {
    Value *at = nullptr;
    size_t count;

    explicit on_gpu(size_t count) : count(count)
    {
        MUST(GPU_TRY(cudaMalloc((void **)&at, count * sizeof(Value) + 1), &why));
    }
    explicit on_gpu(const std::vector<Value> &values) : on_gpu(values.size())
    {
        MUST(GPU_TRY(cudaMemcpy(at, values.data(), count * sizeof(Value), cudaMemcpyHostToDevice),
                     &why));
    }
    on_gpu(const on_gpu &) = delete;
    on_gpu &operator=(const on_gpu &) = delete;
    ~on_gpu()
    {
        cudaFree(at);
    }
    std::vector<Value> values() const
    {
        std::vector<Value> all(count);
        MUST(GPU_TRY(cudaDeviceSynchronize(), &why));
        MUST(GPU_TRY(cudaMemcpy(all.data(), at, count * sizeof(Value), cudaMemcpyDeviceToHost),
                     &why));
        return all;
    }
};

typedef std::mt19937_64 generator;

inline float normal(generator &random)
{
    return std::normal_distribution<float>()(random);
}

inline std::vector<uint16_t> normal_bf16(generator &random, size_t count)
{
    std::vector<uint16_t> values(count);
    for (uint16_t &value : values) {
        value = bf16_of(normal(random));
    }
    return values;
}

inline std::vector<float> floats_of(const uint16_t *values, size_t count)
{
    std::vector<float> floats(count);
    for (size_t i = 0; i < count; i++) {
        floats[i] = bf16_value(values[i]);
    }
    return floats;
}

/* Returns "" if `found` is within `apart` of `expected`. */
inline std::string compare(const char *what, size_t place, double found, double expected,
                           double apart)
{
    if (fabs(found - expected) <= apart || found == expected) {
        return "";
    }
    char text[256];
    snprintf(text, sizeof text, "%s %zu is %.9g, not %.9g (within %.2g)", what, place, found,
             expected, apart);
    return text;
}

/* Runs a case and prints its TAP line, as test `number`. Returns whether it passed. */
inline bool report(int number, const std::string &name, const std::string &wrong)
{
    printf("%sok %d - %s\n", wrong.empty() ? "" : "not ", number, name.c_str());
    if (!wrong.empty()) {
        printf("# %s\n", wrong.c_str());
    }
    fflush(stdout);
    return wrong.empty();
}

struct kernel_case {
    std::string name;
    std::string (*check)(const void *shape, generator &random);
    const void *shape;
};

/* Add the cases of a file. */
void attention_cases(std::vector<kernel_case> &cases);
void retrieval_cases(std::vector<kernel_case> &cases);
void row_cases(std::vector<kernel_case> &cases);
void set_cases(std::vector<kernel_case> &cases);
void lru_cases(std::vector<kernel_case> &cases);
void miniature_cases(std::vector<kernel_case> &cases);
/* Also chooses the GPU. */
void product_cases(std::vector<kernel_case> &cases);
