/* From a scenario of one point to the point: looks up every name and checks what contradicts. */
#pragma once

#include "predict/scenario/scenario.h"

#define CONTEXTS_LONGEST ((uint64_t)1 << 32)
#define CONTEXTS_MOST_BATCH ((uint64_t)1 << 20)

/* Resolve `scenario`, whose `hardware` is a map; its sweep is ignored. Files are read through its
 * sources, which are not NULL; `out` gets a reference to them. The caller releases `out` with
 * point_release(); after a failure there is nothing to release. */
bool resolve_point(const struct scenario *scenario, struct point *out, struct error *why);

/* Read how GPUs share the model; without these keys there is one. */
bool resolve_gpus(const struct scenario *scenario, struct scenario_gpus *out, struct error *why);

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

/* The keys of a server, and its requests through `out->sources`. Without a workload these keys are an
 * error. */
bool resolve_workload(const struct scenario *scenario, struct point *out, struct error *why);

/* What the engine adds to a step, and its memory; and the limits of a step and `hbm_usable` where the
 * scenario leaves them open. Call it when the machine is known. */
bool resolve_engine(const struct scenario *scenario, struct point *out, struct error *why);

/* If the scenario has a workload, set the context that stands for its requests: the mean number of
 * tokens that they attend to during decode. A scenario with another context is an error. A scenario
 * with `rate` or `clients` and no workload gets one, of requests with its `prompt` and `output`. */
bool requests_set_context(struct scenario *scenario, struct error *why);

/* A complaint that a key is missing. */
bool resolve_missing(const char *key, const char *example, struct error *why);
