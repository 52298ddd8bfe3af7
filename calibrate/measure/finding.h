/* Findings: measured figures with their points and spread, or the reason why a figure is absent
 * (struct finding is in machine/observed.h).
 *
 * A finding with the name of a row of curves.def becomes that curve in the profile, with basis
 * measured. Any other finding is an observation: it records behaviour that no curve describes
 * (copies while a kernel runs, a row at a time, the share of the peak that a kernel reaches).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"
#include "core/units.h"
#include "machine/observed.h"

struct findings {
    struct finding *all;
    uint32_t count, capacity;
};

/* The finding of that name, created if it is missing. For a row of curves.def, the row gives axis
 * and unit, and the parameters `axis` and `unit` are ignored. NULL when memory is out. */
struct finding *findings_add(struct findings *findings, const char *name, const char *axis,
                             enum unit unit, struct error *why);
const struct finding *findings_get(const struct findings *findings, const char *name);

/* Has the finding the name of a row of curves.def? */
bool finding_is_curve(const struct finding *finding);

/* Is the median of a sampled point less precise than was wanted? */
bool finding_is_restless(const struct finding *finding);

/* Note how a figure was measured, or why it is absent. Creates the finding if it is missing. */
bool findings_note(struct findings *findings, const char *name, const char *note,
                   struct error *why);

/* Add a single figure that the system or a driver states, without sampling. */
bool findings_state(struct findings *findings, const char *name, double value, const char *note,
                    struct error *why);

/* Move all findings of `from` to `to`, where they replace those of the same name. The caller still
 * releases both. */
bool findings_take(struct findings *to, struct findings *from, struct error *why);

/* Remove the finding of that name, if it is there. */
void findings_drop(struct findings *findings, const char *name);

void findings_release(struct findings *findings);

#ifdef __cplusplus
}
#endif
