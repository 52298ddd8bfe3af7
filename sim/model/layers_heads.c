/* Heads: grouped, undivided or latent. Each reader fills only the fields of struct model that its
 * keys decide. */
#include "model/layers.h"

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

static bool shares_index(const struct fields *fields, const char *key, struct error *why)
{
    field_error(fields, key, why, "lets layers share the selection of another");
    return error_expect(why, "an indexer in each layer; shared selections are not modelled");
}

/* GLM-5's successors let layers reuse the selection of the layer before (arXiv:2603.12201). */
static bool check_own_indexes(const struct fields *fields, struct error *why)
{
    uint32_t step;
    const json_t *types;
    if (!field_whole(fields, "index_topk_freq", 0, SIZE_MOST, 1, &step, why) ||
        !field_list(fields, "indexer_types", &types, why)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(types); i++) {
        const char *type = json_string_value(json_array_get(types, i));
        if (type == NULL || strcmp(type, "full") != 0) {
            return shares_index(fields, "indexer_types", why);
        }
    }
    const json_t *pattern = json_object_get(fields->object, "index_topk_pattern");
    if (pattern != NULL && !json_is_null(pattern)) {
        return shares_index(fields, "index_topk_pattern", why);
    }
    return step <= 1 || types != NULL || shares_index(fields, "index_topk_freq", why);
}

static bool read_indexer(const struct fields *fields, const struct architecture *kind,
                         struct model *model, struct error *why)
{
    if (model->query_lora == 0) {
        return field_error(fields, "q_lora_rank", why, "is missing") ||
               error_expect(why, "the rank of the latent query, which the indexer reads");
    }
    return field_whole(fields, "index_n_heads", 1, HEADS_MOST, kind->index_heads,
                       &model->index_heads, why) &&
           field_whole(fields, "index_head_dim", 1, SIZE_MOST, kind->index_dim, &model->index_dim,
                       why) &&
           field_whole(fields, "index_topk", 1, SIZE_MOST, kind->index_topk, &model->index_topk,
                       why) &&
           check_own_indexes(fields, why);
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
           (kind->index_heads == 0 || read_indexer(fields, kind, model, why));
}
