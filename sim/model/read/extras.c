/* Encoders differ more than decoders do. Their weights are counted as those of a plain transformer
 * of the stated width, depth and FFN, which is within a tenth for those of Qwen, Gemma and Kimi;
 * they take memory and nothing else here. */
#include "model/read/extras.h"

#include "model/read/layers.h"

/* An encoder's keys under the names that families give them. */
static const char *const widths[] = {"hidden_size", "embed_dim", "vt_hidden_size", NULL};
static const char *const depths[] = {"num_hidden_layers", "depth", "vt_num_hidden_layers", NULL};
static const char *const ffns[] = {"intermediate_size", "vt_intermediate_size", NULL};

static bool encoder_weights(const struct fields *top, const char *key, uint64_t *sum,
                            struct error *why)
{
    struct fields inside = {NULL, top->file, key};
    uint32_t width, depth, ffn;
    if (!field_object(top, key, &inside.object, why)) {
        return false;
    }
    if (inside.object == NULL) {
        return true;
    }
    if (!field_whole(&inside, field_first(&inside, widths), 0, HEADS_MOST, 0, &width, why) ||
        !field_whole(&inside, field_first(&inside, depths), 0, LAYERS_MOST, 0, &depth, why) ||
        !field_whole(&inside, field_first(&inside, ffns), 0, SIZE_MOST, 4 * width, &ffn, why)) {
        return false;
    }
    *sum += depth * (4 * (uint64_t)width * width + 2 * (uint64_t)width * ffn);
    return true;
}

bool extras_read(const struct fields *top, const struct fields *decoder, struct model *model,
                 struct error *why)
{
    struct model_extras *extras = &model->extras;
    static const char *const latents[] = {"moe_latent_size", "routed_expert_hidden_size", NULL};
    uint32_t streams = extras->streams;
    return encoder_weights(top, "vision_config", &extras->encoders, why) &&
           encoder_weights(top, "audio_config", &extras->encoders, why) &&
           field_whole(decoder, "hidden_size_per_layer_input", 0, SIZE_MOST, 0, &extras->token_dim,
                       why) &&
           field_whole(decoder, "vocab_size_per_layer_input", 0, SIZE_MOST, 0,
                       &extras->token_vocabulary, why) &&
           field_whole(decoder, "laurel_rank", 0, SIZE_MOST, 0, &extras->residual_rank, why) &&
           field_whole(decoder, "altup_num_inputs", 0, HEADS_MOST, streams, &extras->streams,
                       why) &&
           field_whole(decoder, field_first(decoder, latents), 0, SIZE_MOST, 0, &model->expert_dim,
                       why) &&
           field_bool(decoder, "latent_moe_use_norm", &model->expert_latent_norm, why);
}
