/* From a scenario of one point to the point: looks up every name and checks what contradicts. */
#pragma once

#include "predict/scenario/scenario.h"

#define CONTEXTS_LONGEST ((uint64_t)1 << 32)
#define CONTEXTS_MOST_BATCH ((uint64_t)1 << 20)

/* Resolve `scenario`, whose `hardware` is a map; its sweep is ignored. Files are read through its sources, to
 * which `out` gets a reference. The caller releases `out` after success. */
bool resolve_point(const struct scenario *scenario, struct point *out, struct error *why);

/* Read with which keys the model is loaded, and how GPUs share it. */
bool resolve_model_options(const struct scenario *scenario, struct model_options *options,
                           struct scenario_gpus *gpus, struct error *why);

/* ---- stages of it ---- */

/* The sizes of a batch, after the model and the system. It may mix contexts; the order of a list has no
 * effect, and equal contexts are merged:
 *
 *     contexts: [4K, 128K, 128K]        one context per sequence
 *     contexts: {4K: 1, 128K: 2}        number of sequences of each context
 *     contexts: {4K: 25%, 128K: 75%}    share of `batch` of each context
 *
 * With `batch: max`, a map is a mixture, and as much of it as fits is taken. */
bool resolve_size(const struct scenario *scenario, struct setup *out, struct error *why);

/* Replace the keys of the scenario by the resolved `context` or `contexts`. */
bool contexts_put(struct node *root, const struct setup *setup, struct error *why);

/* The keys of a server, and its requests through `out->sources`. Without a workload they are an error. */
bool resolve_workload(const struct scenario *scenario, struct point *out, struct error *why);

/* The engine's part of a step, its memory, and limits that the scenario leaves open, on a known machine. */
bool resolve_engine(const struct scenario *scenario, struct point *out, struct error *why);

/* If the scenario has a workload, set the context that stands for its requests: the mean number of
 * tokens that they attend to during decode. A scenario with another context is an error. A scenario
 * with `rate` or `clients` and no workload gets one, of requests with its `prompt` and `output`. */
bool requests_set_context(struct scenario *scenario, struct error *why);

/* A complaint that a key is missing. */
bool resolve_missing(const char *key, const char *example, struct error *why);

/* ---- the key `trace` ---- */

/* Open the trace of a scenario into `point`. Reads the model, mechanisms, context, steps, warm-up and
 * seed of its setup. The key `trace` is one of
 *
 *   - a recording, by name or path
 *   - a trace profile, by path (.yaml), by shipped NAME.yaml or, if no recording has the name, by
 *     name
 *   - assumed:hit=H,spread=S
 *   - ensemble: the recordings that ship
 *
 * If the key is absent: a shipped recording of the model, else the ensemble; for a server, or where the
 * ensemble does not suffice, the shipped profile, else another model's recording. `trace_fault` says why.
 * Files and traces are opened through its sources (NULL: nothing is shared). */
bool resolve_trace(const struct scenario *scenario, struct point *point, struct error *why);

/* Set `trace_basis` and `trace_is_model` from the setup's traces. */
void resolve_trace_source(struct setup *out);

/* Does the trace named by the scalar `node` exist? Paths and assumed traces pass unchecked. */
bool resolve_trace_named(const struct node *node, struct error *why);

/* Write the canonical name of the trace or profile that `name` means; false for a path, and for none. */
bool resolve_trace_canonical(const char *name, char *out, size_t size);

/* Does the result depend on the seed: a generated trace, a spread, a policy's lots, drawn arrivals? */
bool resolve_hangs_on_seed(const struct point *point);

/* The families of recordings that `trace: ensemble` stands for. Demands differ more between models than most
 * policies do, so a scenario whose model has no recording of its own is answered with a recording of each of
 * several small models. A point that names the ensemble holds the open recordings; the runs of its answer are
 * those of its families (predict/answer.h). The profile made from published figures is not one of them,
 * because it was fitted to rows that predictions are compared with. */

#define ENSEMBLE_NAME "ensemble"

struct ensemble_family {
    const char *recording; /* name of a shipped recording */
    const char *model;     /* as people call it */
};

enum { ENSEMBLE_FAMILIES = 3 };
extern const struct ensemble_family ensemble_families[ENSEMBLE_FAMILIES];

/* Do all recordings have the steps and rows that the setup, of a server at its shortest prompt, asks for? */
bool ensemble_suffices(const struct point *point, struct error *why);

/* "recordings of three small models (SmolLM2-135M, ...) carried to 131072 tokens". */
void ensemble_describe(const struct point *point, char *text, size_t size);
