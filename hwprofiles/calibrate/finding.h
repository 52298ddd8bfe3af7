/* What was found: figures with their points and spread, or the reason why there is none.
 *
 * A finding that has the name of a row of curves.def becomes that curve in the profile, with basis
 * measured. Any other is an observation: it says how the machine behaves where no curve asks
 * (copies while a kernel runs, a row at a time, the share of the peak that a kernel reaches) and
 * stands under `observed:` in the profile, which the simulator checks and does not use.
 */
#ifndef CALIBRATE_FINDING_H
#define CALIBRATE_FINDING_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/error.h"
#include "base/units.h"

struct found_point {
    double size;
    double median, p10, p90;
    uint32_t samples;
    bool precise;   /* the median's interval got as narrow as asked for */
    double drift;   /* later half's median over the earlier's, less 1: clocks, neighbours */
    uint32_t stray; /* samples three quartile distances or more outside the quartiles */
};

struct finding {
    char name[64]; /* "link.h2d" */
    char axis[16]; /* "" of a single figure */
    enum unit unit;
    struct found_point *points; /* ascending by size */
    uint32_t count, capacity;   /* of points; none: absent */
    char note[256];             /* how it was measured, one line; of one that is absent: why */
};

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

/* Add a point, in its place; one of the same size is replaced. */
bool finding_put(struct finding *finding, const struct found_point *point, struct error *why);

/* Say how a figure was measured, or why it is absent. The finding is there already or is made. */
bool findings_note(struct findings *findings, const char *name, const char *note,
                   struct error *why);
void findings_release(struct findings *findings);

#ifdef __cplusplus
}
#endif
#endif
