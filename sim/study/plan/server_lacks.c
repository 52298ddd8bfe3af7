#include "study/plan/server_lacks.h"

#include "scenario/sources.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Types of the weights that the checkpoint has. */
struct server_lacks_own {
    enum dtype weights, experts;
};

static bool server_lacks_load(const struct point *point, struct server_lacks_own *own,
                              struct error *why)
{
    const struct model_options options = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    if (!model_load(sources_files(point->sources), point->setup.model.name, &options, NULL, 0,
                    &model, why)) {
        return false;
    }
    *own = (struct server_lacks_own){model.weights, model.experts};
    model_release(&model);
    return true;
}

/* Weights in fp8 of a checkpoint in bf16; experts may have been in fp8 before. */
static bool server_lacks_quantizes(const struct model *model, const struct server_lacks_own *own)
{
    bool experts = model->experts == own->experts || own->experts == DTYPE_BF16;
    return model->weights == DTYPE_FP8 && own->weights == DTYPE_BF16 && experts;
}

bool server_quantizes(const struct point *point, bool *quantizes, struct error *why)
{
    struct server_lacks_own own;
    *quantizes = false;
    if (point->setup.model.weights != DTYPE_FP8) {
        return true;
    }
    if (!server_lacks_load(point, &own, why)) {
        return false;
    }
    *quantizes = server_lacks_quantizes(&point->setup.model, &own);
    return true;
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

static bool server_lacks_add_weights(const struct point *point, const char *command,
                                     char text[SERVER_LACKS], struct error *why)
{
    const struct model *model = &point->setup.model;
    struct server_lacks_own own;
    if (!server_lacks_load(point, &own, why)) {
        return false;
    }
    bool says = strstr(command, "{quantization}") != NULL && server_lacks_quantizes(model, &own);
    if (model->weights != own.weights && !says) {
        server_lacks_add(text, "weights in %s (this checkpoint has them in %s: serve one in %s)",
                         dtype_name(model->weights), dtype_name(own.weights),
                         dtype_name(model->weights));
    } else if (model->experts != own.experts && !says) {
        server_lacks_add(text, "experts in %s (this checkpoint has them in %s)",
                         dtype_name(model->experts), dtype_name(own.experts));
    }
    return true;
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

bool server_lacks(const struct point *point, const char *command, char text[SERVER_LACKS],
                  struct error *why)
{
    text[0] = '\0';
    if (!server_lacks_add_weights(point, command, text, why)) {
        return false;
    }
    server_lacks_add_kv(point, command, text);
    server_lacks_add_drafts(&point->setup.drafts, command, text);
    return true;
}
