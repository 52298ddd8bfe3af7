#include "study/plan/server_lacks.h"

#include "predict/scenario/sources.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool server_checkpoint(const struct node *root, struct sources *sources,
                       struct server_checkpoint *out, struct error *why)
{
    const struct node *name = node_get(root, "model");
    const struct model_options options = {
        .weights = -1, .kv = -1, .tensor_parallel = 1, .config = node_stated(root, "config")};
    struct model model;
    if (!model_load(sources_files(sources), name->text, &options, name->file, name->line, &model,
                    why)) {
        return false;
    }
    *out = (struct server_checkpoint){model.weights, model.experts};
    model_release(&model);
    return true;
}

/* Experts may have been in fp8 before. */
bool server_quantizes(const struct model *model, const struct server_checkpoint *own)
{
    bool experts = model->experts == own->experts || own->experts == DTYPE_BF16;
    return model->weights == DTYPE_FP8 && own->weights == DTYPE_BF16 && experts;
}

/* Add one thing; several are parted by semicolons. */
__attribute__((format(printf, 2, 3))) static void server_lacks_add(char text[SERVER_LACKS],
                                                                   const char *format, ...)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, SERVER_LACKS - used, "%s", used > 0 ? "; " : "");
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, SERVER_LACKS - used, format, values);
    va_end(values);
}

bool server_needs_checkpoint(const struct model *model, const struct server_checkpoint *own,
                             const char *command)
{
    bool says = strstr(command, "{quantization}") != NULL && server_quantizes(model, own);
    bool as_loaded = own->experts == DTYPE_MXFP4 && model->experts == DTYPE_MXFP4_FP8;
    return !says && !as_loaded &&
           (model->weights != own->weights || model->experts != own->experts);
}

static void server_lacks_add_weights(const struct model *model, const struct server_checkpoint *own,
                                     const char *id, const char *command, char text[SERVER_LACKS])
{
    bool weights = model->weights != own->weights;
    if (server_needs_checkpoint(model, own, command)) {
        server_lacks_add(
            text,
            "the id of a checkpoint of %.200s with %s in %s, for which " SERVER_CHECKPOINT
            " stands: its own has %s",
            id, weights ? "weights" : "experts",
            dtype_name(weights ? model->weights : model->experts),
            dtype_name(weights ? own->weights : own->experts));
    }
}

static void server_lacks_add_drafts(const struct drafts *drafts, const char *command,
                                    char text[SERVER_LACKS])
{
    if (drafts->count > 0 && strstr(command, "{draft_") == NULL) {
        server_lacks_add(text, "%u drafts a step (%s)", drafts->count,
                         draft_methods[drafts->method]);
    } else if (drafts->count > 0 && drafts->method == DRAFT_EAGLE3) {
        server_lacks_add(text,
                         "the id of the network that drafts, for which " SERVER_DRAFT " stands");
    }
}

/* KV, and the memory for it. */
static void server_lacks_add_kv(const struct point *point, const char *command,
                                char text[SERVER_LACKS])
{
    const struct setup *setup = &point->setup;
    bool tiers = point_serves(point) && setup->mechanisms.prefix == PREFIX_TWO_TIER;
    if (setup->model.kv == DTYPE_FP8 && strstr(command, "{kv_") == NULL) {
        server_lacks_add(text, "KV in fp8");
    }
    if (tiers && strstr(command, "{host_") == NULL) {
        server_lacks_add(text, "host memory for prompts that begin alike");
    }
    if (setup->kv_pool_tokens > 0 && strstr(command, "{pool_") == NULL) {
        server_lacks_add(text, "a KV pool of %" PRIu64 " tokens", setup->kv_pool_tokens);
    }
}

void server_lacks(const struct point *point, const struct server_checkpoint *own, const char *id,
                  const char *command, char text[SERVER_LACKS])
{
    text[0] = '\0';
    server_lacks_add_weights(&point->setup.model, own, id, command, text);
    server_lacks_add_kv(point, command, text);
    server_lacks_add_drafts(&point->setup.drafts, command, text);
}
