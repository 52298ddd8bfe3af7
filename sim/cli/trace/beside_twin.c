#include "cli/trace/beside_twin.h"

#include "base/array.h"
#include "trace/generate/generate.h"
#include "trace/source.h"

#include <stdlib.h>
#include <string.h>

void beside_twin_release(struct beside_twin *comparison)
{
    likeness_release(&comparison->was);
    likeness_release(&comparison->is);
    trace_close(comparison->twin);
}

static bool is_same_model(const struct trace_header *a, const struct trace_header *b)
{
    struct trace_source of_a, of_b;
    trace_source_read(a, &of_a);
    trace_source_read(b, &of_b);
    return strcmp(of_a.model, of_b.model) == 0 && a->kv_heads == b->kv_heads &&
           a->query_heads == b->query_heads && a->head_dim == b->head_dim;
}

static bool check_shape(const struct fitted *fitted, const struct trace *recording,
                        struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    const struct trace_profile *profile = fitted->profile;
    if (header->unit_tokens == 1 && header->sinks == profile->sinks &&
        header->recent == profile->recent) {
        return true;
    }
    error_set(why, trace_path(recording), 0,
              "its units or window differ from those of the fitted recording");
    return error_expect(why, "units of 1 token, %u sinks, %u recent tokens", profile->sinks,
                        profile->recent);
}

/* Show the layers of `recording` that the fitted one has, and gather their heads in `profile`. */
static bool share_layers(const struct fitted *fitted, struct trace *recording,
                         struct trace_profile *profile, struct error *why)
{
    uint32_t count = 0, layers = trace_header(recording)->layers, kv_heads = profile->kv_heads;
    uint32_t *shared = array_zeroed(layers, sizeof *shared, why);
    const struct trace_profile_head *from = profile->heads;
    profile->heads = array_zeroed((size_t)layers * kv_heads, sizeof *profile->heads, why);
    bool ok = shared != NULL && profile->heads != NULL;
    for (uint32_t layer = 0; ok && layer < layers; layer++) {
        uint32_t at;
        if (trace_find_layer(fitted->recording, trace_model_layer(recording, layer), &at)) {
            memcpy(profile->heads + (size_t)count * kv_heads, from + (size_t)at * kv_heads,
                   kv_heads * sizeof *from);
            shared[count++] = layer;
        }
    }
    profile->layers = count;
    if (ok && count == 0) {
        ok = error_set(why, trace_path(recording), 0,
                       "it has none of the model's layers that were fitted");
    }
    ok = ok && (count == layers || trace_choose_layers(recording, shared, count, why));
    free(shared);
    return ok;
}

/* A twin of the shape of `recording`, from the heads of `profile`. */
static struct trace *make_twin(const struct fitted *fitted, const struct trace_profile *profile,
                               const struct trace *recording, struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    struct trace_geometry geometry = {
        .layers = header->layers,
        .kv_heads = header->kv_heads,
        .query_heads = header->query_heads,
        .head_dim = header->head_dim,
        .context = header->context,
        .keep = (double)header->keep / header->context,
        .sequences = 1,
        .steps = header->steps,
        .seed = fitted->seed,
    };
    return trace_open_generated(profile, "twin", &geometry, why);
}

bool beside_twin_make(const struct fitted *fitted, struct trace *recording, struct beside_twin *out,
                      struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    struct trace_profile heads = *fitted->profile;
    *out = (struct beside_twin){
        .recording = recording,
        .is_own = recording == fitted->recording,
        .is_same_model = is_same_model(header, trace_header(fitted->recording)),
        .is_same_context = header->context == fitted->profile->context,
    };
    if (!check_shape(fitted, recording, why)) {
        return false;
    }
    bool some = out->is_same_model && !out->is_own;
    bool ok = !some || share_layers(fitted, recording, &heads, why);
    ok = ok && (out->twin = make_twin(fitted, &heads, recording, why)) != NULL &&
         likeness_measure(recording, fitted->share, 0, &out->was, why) &&
         likeness_measure(out->twin, fitted->share, 0, &out->is, why);
    if (some) {
        free(heads.heads);
    }
    return ok;
}
