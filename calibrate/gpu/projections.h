/* The matrix products of the shipped models' projections, each shape once, for one GPU that holds a
 * whole model. Group `products` measures their cost. Products of single heads (MLA's absorbed
 * matrices), and operators whose products read different activations, are left out. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "model/model.h"

struct projection {
    char name[32];    /* the operator's, as in model_operators() */
    uint32_t in, out; /* widths; of one expert if experts are routed */
    char of[128];     /* "qkv of llama-3-8b, llama-3.1-8b": as many models as there is room for */
};

/* The projections of a layer, or of the edge (`layer` = layer_count); `of` stays empty. Returns
 * their number. */
size_t projections_of(const struct model *model, uint32_t layer,
                      struct projection out[MODEL_MOST_OPERATORS]);

/* The projections of all models in the data folder, by ascending size. The caller frees *all. */
bool projections_shipped(struct projection **all, size_t *count, struct error *why);

#ifdef __cplusplus
}
#endif
