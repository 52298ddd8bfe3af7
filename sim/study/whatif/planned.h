/* A resolved and planned point of a scenario; axes are read against it. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "predict/decode/context.h"
#include "predict/scenario/scenario.h"

struct planned {
    struct point point;
    struct plan plan;
};

/* Plan point `point`. The caller releases `out`, also after a failure. */
bool planned_point(const struct scenario *scenario, uint32_t point, const struct run_context *runs,
                   struct planned *out, struct error *why);

/* An axis as it was typed: "context=4K:128K". */
struct axis_text {
    const char *text;
    size_t length;
    bool open; /* out: the scenario does not set the key */
};

/* Plan the scenario's own point. If the point cannot be planned and the scenario does not set an
 * axis' key, the axis' first value is used and the axis is marked `open`. The caller releases
 * `out`, also after a failure. */
bool planned_own(const struct scenario *scenario, const char *option, struct axis_text *axes,
                 uint32_t count, const struct run_context *runs, struct planned *out,
                 struct error *why);
void planned_release(struct planned *planned);
