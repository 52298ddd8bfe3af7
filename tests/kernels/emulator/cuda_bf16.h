/* The part of CUDA's bfloat16 that the harness uses. */
#pragma once

extern "C" {
#include "calibrate/kernels/small_floats.h"
}

struct __nv_bfloat16 {
    uint16_t bits;
};

inline __nv_bfloat16 __float2bfloat16(float value)
{
    return {bf16_of(value)};
}
