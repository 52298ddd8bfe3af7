/* The two number formats of KV, in host code: bf16 (8 bits of exponent, 7 of fraction) and fp8 e4m3
 * (4 and 3; no infinities, one NaN a sign, largest 448), as in "FP8 formats for deep learning",
 * arXiv:2209.05433. Rounding is to nearest, ties to even; fp8 saturates at ±448. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kv_type { KV_BF16, KV_FP8 };

float bf16_value(uint16_t bits);
uint16_t bf16_of(float value);
float fp8_value(uint8_t bits);
uint8_t fp8_of(float value);

/* Bytes of a value, and the value at `index` of an array. */
size_t kv_type_bytes(enum kv_type type);
float kv_value(enum kv_type type, const void *values, size_t index);

#ifdef __cplusplus
}
#endif
