/* What a machine was seen to do: a figure with its points and their spread, or the reason why there
 * is none. Entries of `observed:` in a measured profile (measured.h).
 *
 *   observed:
 *     host.gather:
 *       axis: threads          # left out of a single figure
 *       unit: bytes/s
 *       note: "how it was measured"
 *       points:                # size, median, p10, p90, samples, settled, drift, stray
 *         - [1, 2.134GB/s, 2.1GB/s, 2.2GB/s, 40, yes, 99.2%, 0]
 *     link.cpu_store: {axis: threads, unit: bytes/s, absent: "GDRCopy is not installed"}
 *
 * Curves are made from these (their points thinned); of what is no curve, this is all there is. The
 * simulator checks that it can be read, and computes nothing from it.
 *
 * Figures have four digits, so that one read and written again is the same text.
 */
#ifndef HARDWARE_OBSERVED_H
#define HARDWARE_OBSERVED_H

#include "base/error.h"
#include "base/node.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>

struct found_point {
    double size;
    double median, p10, p90;
    uint32_t samples;
    bool precise;   /* the median's interval got as narrow as asked for */
    double drift;   /* later half's median over the earlier's: clocks, neighbours; 0: not known */
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

/* Read the entry `node`, whose key is the finding's name. `out` is zeroed before; on failure it is
 * zeroed after. */
bool observed_read(const struct node *node, struct finding *out, struct error *why);
void observed_release(struct finding *finding);

/* Add a point, in its place; one of the same size is replaced. p10 and p90, which may have been
 * computed apart from the median, are put around it. */
bool finding_put(struct finding *finding, const struct found_point *point, struct error *why);

enum { OBSERVED_FIGURE = 32 };

/* Write a figure, or a size on an axis, as it stands in a profile: four digits ("2.134GB/s"), or
 * all of a whole number of bytes, of a count and of a size ("4KiB", "132"). Return `text`. */
char *observed_figure(double value, enum unit unit, char text[OBSERVED_FIGURE]);
char *observed_size(double size, const char *axis, char text[OBSERVED_FIGURE]);

/* "bytes/s" */
const char *observed_unit(enum unit unit);

/* What sizes on an axis are: bytes on the axis of that name, else numbers. */
enum unit observed_axis_unit(const char *axis);

#endif
