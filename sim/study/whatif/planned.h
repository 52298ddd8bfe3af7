/* A point of a scenario, resolved and planned: what axes are read against. */
#ifndef STUDY_WHATIF_PLANNED_H
#define STUDY_WHATIF_PLANNED_H

#include "decode/plan/plan.h"
#include "run/context.h"
#include "scenario/scenario.h"

struct planned {
    struct point point;
    struct plan plan;
};

/* Plan point `point`. The caller releases `out`, on failure too. */
bool planned_point(const struct scenario *scenario, uint32_t point,
                   const struct run_context *runs, struct planned *out, struct error *why);

/* An axis as it was typed: "context=4K:128K". */
struct axis_text {
    const char *text;
    size_t length;
    bool open; /* the scenario leaves the key open */
};

/* Plan the scenario's own point. One that leaves a key open of which an axis states values has none:
 * axes are read against the first of these, and are marked. The caller releases `out`, on failure
 * too. */
bool planned_own(const struct scenario *scenario, const char *option, struct axis_text *axes,
                 uint32_t count, const struct run_context *runs, struct planned *out,
                 struct error *why);
void planned_release(struct planned *planned);

#endif
