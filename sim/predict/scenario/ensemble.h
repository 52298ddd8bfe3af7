/* The families of recordings that `trace: ensemble` stands for.
 *
 * Demands differ more between models than most policies do, so a scenario whose model has no
 * recording of its own is answered with a recording of each of several small models. A point that
 * names the ensemble holds the open recordings; the runs of its answer are those of its families
 * (predict/families.h). The profile made from published figures is not one of them, because it was
 * fitted to rows that predictions are compared with.
 */
#pragma once

#include "predict/scenario/point.h"
#include "predict/scenario/sources.h"

#define ENSEMBLE_NAME "ensemble"

struct ensemble_family {
    const char *recording; /* name of a shipped recording */
    const char *model;     /* as people call it */
};

enum { ENSEMBLE_FAMILIES = 3 };
extern const struct ensemble_family ensemble_families[ENSEMBLE_FAMILIES];

/* Open the recordings into `out`. The setup's own trace is the first of them. On failure `out` has
 * no trace. */
bool ensemble_open(struct sources *sources, struct point *out, struct error *why);

/* Do all recordings have the steps that the setup asks for, and do their rows keep what its heads
 * want, for a server at its shortest prompt, too? If not, `why` says what is missing. */
bool ensemble_suffices(const struct point *point, struct error *why);

/* "recordings of three small models (SmolLM2-135M, ...) carried to 131072 tokens". */
void ensemble_describe(const struct point *point, char *text, size_t size);
