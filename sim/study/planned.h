/* A point of a scenario, resolved and planned: what axes are read against. */
#ifndef STUDY_PLANNED_H
#define STUDY_PLANNED_H

#include "decode/plan.h"
#include "study/scenario.h"

struct planned {
    struct setup setup;
    struct plan plan;
};

/* Plan point `point`. The caller releases `out`, on failure too. */
bool planned_point(const struct scenario *scenario, uint32_t point, struct planned *out,
                   struct error *why);
void planned_release(struct planned *planned);

#endif
