#include "cli/trace/beside_twin.h"

#include "core/array.h"
#include "trace/generate/generate.h"
#include "trace/demand.h"

#include <stdlib.h>
#include <string.h>

void beside_twin_release(struct beside_twin *comparison)
{
    likeness_release(&comparison->was);
    likeness_release(&comparison->is);
}

static bool same_model(const struct trace *a, const struct trace *b)
{
    const struct trace_header *of_a = trace_header(a), *of_b = trace_header(b);
    struct trace_source source_a, source_b;
    trace_source_read(of_a, &source_a);
    trace_source_read(of_b, &source_b);
    return strcmp(source_a.model, source_b.model) == 0 && of_a->kv_heads == of_b->kv_heads &&
           of_a->query_heads == of_b->query_heads && of_a->head_dim == of_b->head_dim;
}

static bool beside_twin_check_shape(const struct fitted *fitted, const struct trace *recording,
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

/* A twin of the shape of `recording` at `context` tokens, from the heads of `profile`. */
static struct trace *make_twin(const struct trace_profile *profile, const struct trace *recording,
                               uint32_t context, uint64_t seed, struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    struct trace_geometry geometry = {
        .layers = header->layers,
        .kv_heads = header->kv_heads,
        .query_heads = header->query_heads,
        .head_dim = header->head_dim,
        .context = context,
        .keep = (double)header->keep / header->context,
        .sequences = 1,
        .steps = header->steps,
        .seed = seed,
    };
    return trace_open_generated(profile, "twin", &geometry, why);
}

/* The figures of one twin, times its share in the mean. */
static bool draw_twin(const struct fitted *fitted, const struct trace_profile *profile,
                      const struct trace *recording, uint32_t context, uint64_t seed,
                      struct likeness *out, struct error *why)
{
    struct trace *twin = make_twin(profile, recording, context, seed, why);
    bool ok = twin != NULL && likeness_measure(twin, fitted->share, 0, out, why);
    for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
        for (uint32_t head = 0; head < out->heads; head++) {
            out->values[f][head] /= TWIN_DRAWS;
        }
    }
    trace_close(twin);
    return ok;
}

/* The mean figures of twins. The caller releases `out`, on failure too. */
static bool draw_twins(const struct fitted *fitted, const struct trace_profile *profile,
                       const struct trace *recording, uint32_t context, struct likeness *out,
                       struct error *why)
{
    bool ok = draw_twin(fitted, profile, recording, context, fitted->seed, out, why);
    for (uint32_t draw = 1; ok && draw < TWIN_DRAWS; draw++) {
        struct likeness more;
        ok = draw_twin(fitted, profile, recording, context, fitted->seed + draw, &more, why);
        for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
            for (uint32_t head = 0; head < out->heads; head++) {
                out->values[f][head] += more.values[f][head];
            }
        }
        if (ok) {
            likeness_release(&more);
        }
    }
    return ok;
}

bool beside_twin_make(const struct fitted *fitted, struct trace *recording, struct beside_twin *out,
                      struct error *why)
{
    const struct trace_header *header = trace_header(recording);
    struct trace_profile heads = *fitted->profile;
    *out = (struct beside_twin){
        .recording = recording,
        .is_own = recording == fitted->recording,
        .is_same_model = same_model(recording, fitted->recording),
        .is_same_context = header->context == fitted->profile->context,
        .fitted = fitted->profile->context,
    };
    if (!beside_twin_check_shape(fitted, recording, why)) {
        return false;
    }
    bool some = out->is_same_model && !out->is_own;
    bool ok = !some || share_layers(fitted, recording, &heads, why);
    ok = ok && likeness_measure(recording, fitted->share, 0, &out->was, why) &&
         draw_twins(fitted, &heads, recording, header->context, &out->is, why);
    if (some) {
        free(heads.heads);
    }
    return ok;
}

bool beside_twin_at(const struct fitted *fitted, uint32_t context, double is[LIKENESS_FIGURES],
                    struct error *why)
{
    struct likeness likeness = {0};
    bool ok = draw_twins(fitted, fitted->profile, fitted->recording, context, &likeness, why);
    for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
        is[f] = likeness_mean(&likeness, f);
    }
    likeness_release(&likeness);
    return ok;
}
