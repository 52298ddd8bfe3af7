#include "calibrate/kernels/small_floats.h"

#include <math.h>
#include <string.h>

float bf16_value(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

uint16_t bf16_of(float value)
{
    uint32_t wide;
    memcpy(&wide, &value, sizeof wide);
    if (isnan(value)) {
        return (uint16_t)(wide >> 16 | 0x40); /* quiet: rounding could make it an infinity */
    }
    return (uint16_t)((wide + 0x7fff + (wide >> 16 & 1)) >> 16);
}

float fp8_value(uint8_t bits)
{
    int exponent = bits >> 3 & 15, fraction = bits & 7;
    float magnitude;
    if (exponent == 15 && fraction == 7) {
        magnitude = NAN;
    } else if (exponent == 0) {
        magnitude = ldexpf((float)fraction, -9);
    } else {
        magnitude = ldexpf((float)(8 + fraction), exponent - 10);
    }
    return bits & 0x80 ? -magnitude : magnitude;
}

/* Codes ascend with magnitudes: eight steps in each power of two from 2^-6 on, and eight steps of
 * the same width below it. */
uint8_t fp8_of(float value)
{
    uint8_t sign = signbit(value) ? 0x80 : 0;
    if (isnan(value)) {
        return (uint8_t)(sign | 0x7f);
    }
    float magnitude = fminf(fabsf(value), 448);
    int exponent = magnitude < 0x1p-6F ? -6 : ilogbf(magnitude);
    float steps = nearbyintf(ldexpf(magnitude, 3 - exponent));
    return (uint8_t)(sign | ((exponent + 6) * 8 + (int)steps));
}

size_t kv_type_bytes(enum kv_type type)
{
    return type == KV_FP8 ? sizeof(uint8_t) : sizeof(uint16_t);
}

float kv_value(enum kv_type type, const void *values, size_t index)
{
    return type == KV_FP8 ? fp8_value(((const uint8_t *)values)[index])
                          : bf16_value(((const uint16_t *)values)[index]);
}
