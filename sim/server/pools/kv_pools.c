/* SGLang's pools: sums over the layers that each holds. */
#include "server/pools/kv_pools.h"

#include "core/units.h"
#include "model/layer_kind.h"
#include "server/pools/kv_groups.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

double kv_pools_full(const struct model *model, double tokens)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool full = !model_layer_local(model, i);
        bytes += full ? (double)model_kv_token_bytes(model, i) : 0;
        bytes += full ? (double)kv_index_key(model, &model->layers[i]) : 0;
    }
    return bytes * tokens;
}

double kv_pools_window(const struct model *model, double tokens)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bytes += layer_slides(&model->layers[i]) ? (double)model_kv_token_bytes(model, i) : 0;
    }
    return bytes * tokens;
}

double kv_pools_states(const struct model *model, double slots)
{
    double bytes = 0;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        bool linear = model->layers[i].attention == ATTENTION_LINEAR;
        bytes += linear ? (double)model_state_bytes(model, i) : 0;
    }
    return bytes * (slots + 1);
}

bool kv_pools_divide(const struct model *model, const struct server_engine_pools *shares,
                     double pool, struct kv_pools *out)
{
    double slot = kv_pools_states(model, 0), full = kv_pools_full(model, 1);
    double window = kv_pools_window(model, 1);
    *out = (struct kv_pools){.taken = shares->slots};
    if (slot > 0) {
        double states = pool * shares->states / (1 + shares->states);
        out->slots = fmax(floor(states / slot) - 1, 0);
        pool -= kv_pools_states(model, out->slots);
    }
    if (full > 0) {
        out->tokens = floor(pool / (full + shares->windows * window));
        out->windowed = window > 0 ? floor(out->tokens * shares->windows) : 0;
    } else if (window > 0) {
        out->windowed = floor(pool / window);
    }
    return (full > 0) + (window > 0) + (slot > 0) > 1;
}

double kv_pools_tokens(const struct model *model, const struct kv_pools *pools, uint64_t length,
                       bool caches)
{
    uint64_t reach = 0;
    double tokens = INFINITY;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        uint64_t kept = layer_slides(&model->layers[i]) ? model_layer_tokens(model, i, length) : 0;
        reach = kept > reach ? kept : reach;
    }
    if (kv_pools_full(model, 1) > 0) {
        tokens = pools->tokens;
    }
    if (reach > 0) {
        tokens = fmin(tokens, pools->windowed / (double)reach * (double)length);
    }
    if (kv_pools_states(model, 0) > 0) {
        double requests = floor(pools->slots / (double)(caches ? pools->taken : 1));
        tokens = fmin(tokens, requests * (double)length);
    }
    return tokens;
}

void kv_pools_say(const struct model *model, const struct kv_pools *pools, char *text, size_t size)
{
    const struct {
        double bytes, count;
        const char *of;
    } parts[] = {
        {kv_pools_full(model, pools->tokens), pools->tokens, "tokens of full layers"},
        {kv_pools_window(model, pools->windowed), pools->windowed, "tokens of windows"},
        {kv_pools_states(model, pools->slots), pools->slots, "states"},
    };
    const char *before = "SGLang's pools:";
    *text = '\0';
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char bytes[32];
        size_t used = strlen(text);
        if (parts[i].bytes > 0) {
            snprintf(text + used, size - used, "%s %s for %.0f %s", before,
                     units_format(parts[i].bytes, UNIT_BYTES, bytes, sizeof bytes), parts[i].count,
                     parts[i].of);
            before = ",";
        }
    }
}
