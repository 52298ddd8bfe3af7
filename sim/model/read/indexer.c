/* In GLM-5's successors a layer may reuse the selection of the layer before (arXiv:2603.12201): it
 * has no indexer then, and keeps no index. Which layers do is listed by name, by a text of F (full)
 * and S (shared), or follows a step, as in the model's class. */
#include "model/read/indexer.h"

#include "model/read/layers.h"

#include <string.h>

/* `word` says of `layer` whether it has an indexer. */
static bool set_shared(const struct fields *fields, const char *key, const char *word,
                       uint32_t layer, struct model *model, struct error *why)
{
    bool full = word != NULL && (strcmp(word, "full") == 0 || strcmp(word, "F") == 0);
    bool shared = word != NULL && (strcmp(word, "shared") == 0 || strcmp(word, "S") == 0);
    if (!full && !shared) {
        layers_wrong_word(fields, key, layer, word, why);
        return error_expect(why, "full or shared");
    }
    if (shared && layer == 0) {
        field_error(fields, key, why, "lets the first layer share a selection");
        return error_expect(why, "an indexer in the first layer");
    }
    model->layers[layer].shares_index = shared;
    return true;
}

static bool share_listed(const struct fields *fields, const char *key, const json_t *types,
                         struct model *model, struct error *why)
{
    bool ok = layers_each(fields, key, json_array_size(types), model, why);
    for (uint32_t i = 0; ok && i < model->layer_count; i++) {
        const char *word = json_string_value(json_array_get(types, i));
        ok = set_shared(fields, key, word, i, model, why);
    }
    return ok;
}

static bool share_lettered(const struct fields *fields, const char *key, const char *letters,
                           struct model *model, struct error *why)
{
    bool ok = layers_each(fields, key, strlen(letters), model, why);
    for (uint32_t i = 0; ok && i < model->layer_count; i++) {
        ok = set_shared(fields, key, (char[]){letters[i], '\0'}, i, model, why);
    }
    return ok;
}

static bool share_by_step(const struct fields *fields, struct model *model, struct error *why)
{
    uint32_t step, offset;
    if (!field_whole(fields, "index_topk_freq", 0, SIZE_MOST, 1, &step, why) ||
        !field_whole(fields, "index_skip_topk_offset", 1, SIZE_MOST, 2, &offset, why)) {
        return false;
    }
    for (uint32_t i = offset; step > 1 && i < model->layer_count; i++) {
        model->layers[i].shares_index = (i - offset + 1) % step != 0;
    }
    return true;
}

static bool read_sharing(const struct fields *fields, struct model *model, struct error *why)
{
    static const char types_key[] = "indexer_types", pattern_key[] = "index_topk_pattern";
    const json_t *types, *pattern = json_object_get(fields->object, pattern_key);
    if (!field_list(fields, types_key, &types, why)) {
        return false;
    }
    if (types != NULL) {
        return share_listed(fields, types_key, types, model, why);
    }
    if (json_is_string(pattern)) {
        return share_lettered(fields, pattern_key, json_string_value(pattern), model, why);
    }
    if (!field_list(fields, pattern_key, &types, why)) {
        return false;
    }
    return types != NULL ? share_listed(fields, pattern_key, types, model, why)
                         : share_by_step(fields, model, why);
}

bool indexer_read(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why)
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
           read_sharing(fields, model, why);
}
