/* The key `trace` of a scenario. */
#ifndef SCENARIO_RESOLVE_TRACE_H
#define SCENARIO_RESOLVE_TRACE_H

#include "base/node.h"
#include "scenario/point.h"
#include "scenario/sources.h"

/* Open what `trace` names into `out`, whose model, mechanisms, context, steps, warm-up and seed are
 * read: a recording by name or path; a trace profile, by path (.yaml), by shipped NAME.yaml or,
 * where no recording has that name, by name; or assumed:hit=H,spread=S. Where `trace` says nothing:
 * a shipped recording of the model, else the shipped profile, else another model's recording, with
 * `trace_note` set. Files and traces are opened through `sources` (NULL: shared with nobody). */
bool resolve_trace(const struct node *root, struct sources *sources, struct setup *out,
                   struct error *why);

/* Is there what the scalar `node` names? A path is taken as it is, and so is what is assumed. */
bool resolve_trace_named(const struct node *node, struct error *why);

/* Does the seed decide anything? What is generated or dealt, what a policy draws lots for, and when
 * a server's requests arrive; a recording is what it is. */
bool resolve_hangs_on_seed(const struct point *point);

/* A point again, with another seed: a view, which has traces of its own where they are generated and
 * points to everything else. */
bool resolve_seeded(const struct point *point, uint64_t seed, struct point *view,
                    struct error *why);
void resolve_seeded_release(const struct point *point, struct point *view);

#endif
