/* Findings: what a machine was seen to do. A finding is a figure with its points and their spread,
 * or the reason why it is absent. They are the entries of `observed:` in a measured profile
 * (machine/measured.h).
 *
 *   observed:
 *     host.gather:
 *       axis: threads          # absent for a single figure
 *       unit: bytes/s
 *       note: "how it was measured"
 *       points:                # size, median, p10, p90, samples, settled, drift, stray
 *         - [1, 2.134GB/s, 2.1GB/s, 2.2GB/s, 40, yes, 99.2%, 0]
 *     link.cpu_store: {axis: threads, unit: bytes/s, absent: "GDRCopy is not installed"}
 *
 * Figures have four digits, so that reading and writing one again gives the same text.
 *
 * A finding with the name of a row of curves.def becomes that curve in the profile, with basis
 * measured, its points thinned. Any other finding is an observation: it records behaviour that no
 * curve describes (copies while a kernel runs, a row at a time, the share of the peak that a kernel
 * reaches).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"
#include "core/node.h"
#include "core/units.h"

struct found_point {
    double size;
    double median, p10, p90;
    uint32_t samples;
    bool precise;   /* the median's interval became as narrow as requested */
    double drift;   /* later half's median over the earlier's: clocks, neighbours; 0: not known */
    uint32_t stray; /* samples three quartile distances or more outside the quartiles */
};

struct finding {
    char name[64]; /* "link.h2d" */
    char axis[16]; /* "" for a single figure */
    enum unit unit;
    struct found_point *points; /* ascending by size */
    uint32_t count, capacity;   /* of points; count 0: absent */
    char note[256];             /* one line: how it was measured, or why it is absent */
};

/* Read the entry `node`, whose key is the finding's name. `out` is zeroed first, and again on
 * failure. */
bool finding_read(const struct node *node, struct finding *out, struct error *why);
void finding_release(struct finding *finding);

/* Insert a point in order of size; it replaces a point of the same size. p10 and p90, which may
 * have been computed apart from the median, are moved so that the median lies between them. */
bool finding_put(struct finding *finding, const struct found_point *point, struct error *why);

enum { FIGURE_TEXT = 32 };

/* Write a figure, or a size on an axis, as a profile does: four digits ("2.134GB/s"), but all
 * digits of a size, a count and a whole number of bytes ("4KiB", "132"). Return `text`. */
char *figure_text(double value, enum unit unit, char text[FIGURE_TEXT]);
char *size_text(double size, const char *axis, char text[FIGURE_TEXT]);

/* "bytes/s" */
const char *unit_word(enum unit unit);

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
