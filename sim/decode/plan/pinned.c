/* Rounding of each piece. Doubles hold powers of two exactly. */
#include "decode/plan/pinned.h"

#include <math.h>

#define PAGE_BYTES 4096.0 /* x86-64; 64 KiB on some ARM hosts, small beside any buffer */

static double round_up(const struct setup *setup, double bytes)
{
    if (setup->mechanisms.pinned_rounding == PINNED_PAGES) {
        return ceil(bytes / PAGE_BYTES) * PAGE_BYTES;
    }
    int exponent;
    return frexp(bytes, &exponent) == 0.5 ? bytes : ldexp(1, exponent);
}

/* The padding of `bytes` in `pieces` of equal size. */
static double padding(const struct setup *setup, double bytes, double pieces)
{
    return bytes > 0 ? pieces * (round_up(setup, bytes / pieces) - bytes / pieces) : 0;
}

/* Is the KV pinned? Copy engines and SMs read only pinned memory. */
static bool pins_kv(const struct mechanisms *m)
{
    return m->attention == ATTEND_GPU &&
           (m->transfer == TRANSFER_COPY_ENGINE || m->transfer == TRANSFER_SM_ZERO_COPY ||
            m->transfer == TRANSFER_IN_PLACE);
}

static double weight_padding(const struct setup *setup)
{
    const struct mechanisms *m = &setup->mechanisms;
    double sum = 0;
    for (uint32_t l = 0; m->weights < 1 && l < setup->model.layer_count; l++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        size_t count = model_operators(&setup->model, l, UINT64_MAX, 0, operators);
        for (size_t i = 0; i < count; i++) {
            double pieces = fmax(1, (double)operators[i].matrices);
            sum += padding(setup, (double)operators[i].weight_bytes, pieces);
        }
    }
    return (1 - m->weights) * (1 - m->disk_weights) * sum;
}

double pinned_padding(const struct setup *setup, const struct pinned_parts *parts)
{
    double kv = pins_kv(&setup->mechanisms) ? parts->kv : 0;
    return padding(setup, kv, 2 * parts->kv_layers) + padding(setup, parts->staging, 4) +
           padding(setup, parts->index, parts->index_layers) + weight_padding(setup);
}
