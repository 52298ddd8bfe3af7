/* Heads: grouped, undivided, latent, or grouped beside those of linear layers. Each reader fills
 * only the fields of struct model that its keys decide. */
#include "model/read/indexer.h"
#include "model/read/layers.h"

#include <string.h>

static bool check_groups(const struct fields *fields, const struct model *model, struct error *why)
{
    if (model->query_heads % model->kv_heads != 0) {
        field_error(fields, "num_attention_heads", why, "is %u, not a multiple of %u",
                    model->query_heads, model->kv_heads);
        return error_expect(why, "a multiple of 'num_key_value_heads'");
    }
    return true;
}

static bool split_hidden(const struct fields *fields, struct model *model, struct error *why)
{
    if (model->hidden % model->query_heads != 0) {
        field_error(fields, "hidden_size", why, "is %u, not a multiple of %u heads", model->hidden,
                    model->query_heads);
        return error_expect(why, "a multiple of 'num_attention_heads', or 'head_dim'");
    }
    model->head_dim = model->hidden / model->query_heads;
    return true;
}

bool heads_grouped(const struct fields *fields, const struct architecture *kind,
                   struct model *model, struct error *why)
{
    int64_t kv_heads = kind->kv_heads == FIELD_DERIVED ? model->query_heads : kind->kv_heads;
    return field_whole(fields, "num_key_value_heads", 1, HEADS_MOST, kv_heads, &model->kv_heads,
                       why) &&
           check_groups(fields, model, why) &&
           field_whole(fields, "head_dim", 1, SIZE_MOST, kind->head_dim, &model->head_dim, why) &&
           (model->head_dim != FIELD_DERIVED || split_hidden(fields, model, why));
}

bool heads_undivided(const struct fields *fields, const struct architecture *kind,
                     struct model *model, struct error *why)
{
    (void)kind;
    uint32_t embedded;
    if (!field_whole(fields, "word_embed_proj_dim", 1, SIZE_MOST, model->hidden, &embedded, why)) {
        return false;
    }
    if (embedded != model->hidden) {
        field_error(fields, "word_embed_proj_dim", why, "is %u, but 'hidden_size' is %u", embedded,
                    model->hidden);
        return error_expect(why, "equal sizes: projected embeddings are not modelled");
    }
    model->kv_heads = model->query_heads;
    return split_hidden(fields, model, why);
}

bool heads_latent(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    model->kv_heads = 1;
    for (uint32_t i = 0; i < model->layer_count; i++) {
        model->layers[i].attention = ATTENTION_MLA;
    }
    return field_whole(fields, "kv_lora_rank", 1, SIZE_MOST, FIELD_REQUIRED, &model->kv_lora,
                       why) &&
           field_whole(fields, "q_lora_rank", 1, SIZE_MOST, 0, &model->query_lora, why) &&
           field_whole(fields, "qk_nope_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->head_dim,
                       why) &&
           field_whole(fields, "qk_rope_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->rope_dim,
                       why) &&
           field_whole(fields, "v_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &model->value_dim,
                       why) &&
           (kind->index_heads == 0 || indexer_read(fields, kind, model, why));
}

bool heads_hybrid(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
{
    struct model_linear *linear = &model->linear;
    const char *state = NULL;
    if (!heads_grouped(fields, kind, model, why) ||
        !field_whole(fields, "linear_num_key_heads", 1, HEADS_MOST, FIELD_REQUIRED,
                     &linear->key_heads, why) ||
        !field_whole(fields, "linear_num_value_heads", 1, HEADS_MOST, FIELD_REQUIRED,
                     &linear->value_heads, why) ||
        !field_whole(fields, "linear_key_head_dim", 1, SIZE_MOST, FIELD_REQUIRED, &linear->key_dim,
                     why) ||
        !field_whole(fields, "linear_value_head_dim", 1, SIZE_MOST, FIELD_REQUIRED,
                     &linear->value_dim, why) ||
        !field_whole(fields, "linear_conv_kernel_dim", 1, HEADS_MOST, FIELD_REQUIRED,
                     &linear->kernel, why) ||
        !field_text(fields, "mamba_ssm_dtype", &state, why)) {
        return false;
    }
    /* Unless the config asks for fp32, vLLM keeps the state in the model's own type. */
    linear->state_bytes = state != NULL && strcmp(state, "float32") == 0 ? 4 : 2;
    return true;
}
