/* Storage types as ratios of bytes to values, so that sizes are exact integers. */
#include "model/model.h"

#include "core/name.h"

/* `bytes` hold `values` values with their scales: mxfp4 stores 16 bytes and one scale byte for 32 values (OCP
 * Microscaling Formats 1.0), nvfp4 8 bytes and one e4m3 scale for 16 (NVIDIA's cuDNN and CUTLASS
 * documentation; the fp32 scale of a tensor is not counted), int4 64 bytes and one fp16 scale for 128. */
static const struct {
    const char *name;
    uint64_t bytes, values;
} dtypes[DTYPE_COUNT + 1] = {
    [DTYPE_BF16] = {"bf16", 2, 1},     [DTYPE_FP8] = {"fp8", 1, 1},
    [DTYPE_INT8] = {"int8", 1, 1},     [DTYPE_INT4] = {"int4", 66, 128},
    [DTYPE_MXFP4] = {"mxfp4", 17, 32}, [DTYPE_MXFP4_FP8] = {"mxfp4-fp8", 17, 32},
    [DTYPE_NVFP4] = {"nvfp4", 9, 16},
};

const char *dtype_name(enum dtype dtype)
{
    return dtypes[dtype].name;
}

/* What engines and checkpoints call them. Types of one size are alike here. */
static const struct {
    const char *name;
    enum dtype dtype;
} others[] = {
    {"bfloat16", DTYPE_BF16}, {"fp16", DTYPE_BF16},    {"float16", DTYPE_BF16},
    {"half", DTYPE_BF16},     {"fp8_e4m3", DTYPE_FP8}, {"fp8_e5m2", DTYPE_FP8},
    {"e4m3", DTYPE_FP8},      {"e5m2", DTYPE_FP8},
};

bool dtype_find(const char *name, const char *file, int line, enum dtype *out, struct error *why)
{
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (name_same(others[i].name, name)) {
            *out = others[i].dtype;
            return true;
        }
    }
    int found = name_find(name, NAMES(dtypes), "storage type", file, line, why);
    if (found >= 0) {
        *out = (enum dtype)found;
    }
    return found >= 0;
}

uint64_t dtype_bytes(enum dtype dtype, uint64_t count)
{
    uint64_t bytes = dtypes[dtype].bytes, values = dtypes[dtype].values;
    uint64_t rest = (count % values * bytes + values - 1) / values;
    return whole_sum(whole_product(count / values, bytes), rest);
}
