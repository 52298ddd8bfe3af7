/* What was found: figures with their points and spread, or the reason why there is none
 * (hardware/observed.h says what one looks like).
 *
 * A finding that has the name of a row of curves.def becomes that curve in the profile, with basis
 * measured. Any other is an observation: it says how the machine behaves where no curve asks
 * (copies while a kernel runs, a row at a time, the share of the peak that a kernel reaches).
 */
#ifndef CALIBRATE_MEASURE_FINDING_H
#define CALIBRATE_MEASURE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"
#include "base/units.h"
#include "hardware/observed.h"

struct findings {
    struct finding *all;
    uint32_t count, capacity;
};

/* The finding of that name, made if there is none. For a row of curves.def axis and unit are the
 * row's and `axis`, `unit` are ignored. NULL when memory is out. */
struct finding *findings_add(struct findings *findings, const char *name, const char *axis,
                             enum unit unit, struct error *why);
const struct finding *findings_get(const struct findings *findings, const char *name);

/* Is it a row of curves.def? */
bool finding_is_curve(const struct finding *finding);

/* Say how a figure was measured, or why it is absent. The finding is there already or is made. */
bool findings_note(struct findings *findings, const char *name, const char *note,
                   struct error *why);

/* A single figure that is known without sampling: what the system or a driver says. */
bool findings_state(struct findings *findings, const char *name, double value, const char *note,
                    struct error *why);

/* Forget all but the first `count`. */
void findings_cut(struct findings *findings, uint32_t count);
void findings_release(struct findings *findings);

#ifdef __cplusplus
}
#endif
#endif
