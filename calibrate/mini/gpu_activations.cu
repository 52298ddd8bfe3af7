#include "calibrate/mini/gpu_activations.h"

#include "calibrate/device/cublas.h"

#include <string.h>

#include <new>
#include <numeric>
#include <vector>

gpu_activations::~gpu_activations()
{
    products_destroy(products);
}

/* ---- buffers ---- */

/* K and V of the tokens after the made ones, then activations. */
static void fill_kept(const struct mini *mini, uint32_t l, char *to)
{
    const struct mini_made *made = &mini->made;
    for (uint64_t t = made->tokens; t < mini->shape.context; t++) {
        for (uint32_t head = 0; head < 2 * made->kv_heads; head++, to += mini->row_bytes) {
            size_t row = head * mini->shape.context + t; /* rows of values follow those of keys */
            memcpy(to, mini->layers[l].kv.bytes + row * mini->row_bytes, mini->row_bytes);
        }
    }
    for (uint32_t t = 0; t < made->tokens; t++) {
        memcpy(to, made_row(made, l, t), made->hidden * sizeof(uint16_t));
        to += made->hidden * sizeof(uint16_t);
    }
}

static bool gpu_activations_create_layer(gpu_mini *gpu, gpu_activations *own, uint32_t l,
                                         size_t kept, struct error *why)
{
    const struct mini_made *made = &gpu->mini->made;
    size_t weights = (size_t)made->width * made->hidden;
    if (!own->layers[l].kept.take(kept, 1, why)) {
        return false;
    }
    fill_kept(gpu->mini, l, own->layers[l].kept.data);
    return gpu_take_copy(&own->layers[l].weights, made->weights + l * weights,
                         weights * sizeof *made->weights, why);
}

bool gpu_activations::create(gpu_mini *gpu, struct error *why)
{
    const struct mini_made *made = &gpu->mini->made;
    size_t acts = (size_t)made->tokens * made->hidden * sizeof(uint16_t);
    std::vector<float> all_turns((size_t)made->tokens * made->dim);
    std::vector<uint32_t> places(made->tokens);
    kernel_turns(made->tokens, made->dim, MADE_BASE, all_turns.data());
    std::iota(places.begin(), places.end(), 0);
    made_bytes = (size_t)made->tokens * made->width * sizeof(uint16_t);
    kv_bytes = gpu->layer_bytes;
    layers.reset(new (std::nothrow) activation_layer[made->layers]);
    bool ok = layers != nullptr && (products = products_create(why)) != nullptr;
    for (uint32_t l = 0; ok && l < made->layers; l++) {
        ok = gpu_activations_create_layer(gpu, this, l, kv_bytes - made_bytes + acts, why);
    }
    return ok && buffers[0].take(kv_bytes + acts, why) && buffers[1].take(kv_bytes + acts, why) &&
           normed.take(acts, why) &&
           gpu_take_copy(&norm, made->norm, made->hidden * sizeof *made->norm, why) &&
           gpu_take_copy(&turns, all_turns.data(), all_turns.size() * sizeof(float), why) &&
           gpu_take_copy(&positions, places.data(), places.size() * sizeof(uint32_t), why);
}

/* K and V that no sample has made yet are NaN. */
bool activations_start(gpu_mini *gpu, enum miniature_id, const struct policy_env *,
                       struct error *why)
{
    if (gpu->activations == nullptr) {
        gpu->activations.reset(new (std::nothrow) gpu_activations);
        if (gpu->activations == nullptr || !gpu->activations->create(gpu, why)) {
            gpu->activations.reset();
            return false;
        }
    }
    for (gpu_memory &buffer : gpu->activations->buffers) {
        if (!GPU_TRY(cudaMemsetAsync(buffer.data, 0xff, buffer.bytes, gpu->main.at), why)) {
            return false;
        }
    }
    return gpu->main.wait(why);
}

bool activations_can(const gpu_mini *, enum miniature_id, struct error *why)
{
    struct cublas cublas;
    return cublas_load(&cublas, why);
}

/* ---- a layer ---- */

static gpu_copy gpu_activations_copy_kept(gpu_mini *gpu, uint32_t layer, uint32_t turn)
{
    const gpu_activations *own = gpu->activations.get();
    const pinned_memory &kept = own->layers[layer].kept;
    return {own->buffers[turn].data + own->made_bytes, kept.data, kept.bytes};
}

static bool gpu_activations_make(gpu_mini *gpu, uint32_t l, char *buffer, struct error *why)
{
    const gpu_activations *own = gpu->activations.get();
    const struct mini_made *made = &gpu->mini->made;
    const struct kv_recipe recipe = {(const uint16_t *)own->norm.data,
                                     (const uint16_t *)own->layers[l].weights.data,
                                     (const float *)own->turns.data,
                                     made->hidden,
                                     made->kv_heads,
                                     made->dim,
                                     (float)MADE_EPSILON};
    return products_make_kv(own->products, &recipe, (uint16_t *)(buffer + own->kv_bytes),
                            (const uint32_t *)own->positions.data, made->tokens,
                            (uint16_t *)own->normed.data, (uint16_t *)buffer, gpu->main.at, why);
}

static bool gpu_activations_attend(gpu_mini *gpu, const struct play *play, const char *buffer,
                                   struct error *why)
{
    const struct mini_made *made = &gpu->mini->made;
    struct kernel_attention attention = gpu_attention_whole(gpu, play->step, play->layer);
    attention.kv.keys = buffer;
    attention.kv.values = (const uint16_t *)buffer + made->width / 2;
    attention.kv.token_stride = made->width;
    attention.kv.head_stride = made->dim;
    return kernel_attend(&attention, gpu->main.at, why);
}

static bool make_and_attend(gpu_mini *gpu, struct play *play, uint32_t turn, struct error *why)
{
    char *buffer = gpu->activations->buffers[turn].data;
    return gpu_activations_make(gpu, play->layer, buffer, why) &&
           gpu_activations_attend(gpu, play, buffer, why);
}

bool activations_run(gpu_mini *gpu, struct play *play, struct error *why)
{
    return gpu_run_streamed(gpu, play, gpu_activations_copy_kept, make_and_attend, why);
}
