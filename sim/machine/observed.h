/* Findings: what a machine was seen to do. A finding is a figure with its points and their spread,
 * or the reason why it is absent. They are the entries of `observed:` in a measured profile
 * (measured.h).
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
 * Curves are made from findings (their points thinned). A finding that is no curve is kept as an
 * observation: the simulator checks that it can be read, and computes nothing from it.
 *
 * Figures have four digits, so that reading and writing one again gives the same text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
bool observed_read(const struct node *node, struct finding *out, struct error *why);
void observed_release(struct finding *finding);

/* Insert a point in order of size; it replaces a point of the same size. p10 and p90, which may
 * have been computed apart from the median, are moved so that the median lies between them. */
bool finding_put(struct finding *finding, const struct found_point *point, struct error *why);

enum { OBSERVED_FIGURE = 32 };

/* Write a figure, or a size on an axis, as a profile does: four digits ("2.134GB/s"), but all
 * digits of a size, a count and a whole number of bytes ("4KiB", "132"). Return `text`. */
char *observed_figure(double value, enum unit unit, char text[OBSERVED_FIGURE]);
char *observed_size(double size, const char *axis, char text[OBSERVED_FIGURE]);

/* "bytes/s" */
const char *observed_unit(enum unit unit);

/* Measured profiles: they state their provenance and are used unchanged or not at all.
 *
 *   # Measured by 'spillway calibrate'. ...
 *   provenance:
 *     format: 1
 *     checksum: 0123456789abcdef     # XXH64 of all that follows this line
 *     gpu: "NVIDIA H200"
 *     ...                            # more texts, as calibrate chooses
 *   extends: h100-sxm
 *   gpu: ...
 *   observed: ...                    # observed.h
 *   ...                              # the end: three dots on a line of their own
 *
 * To use another figure, state it in a file of your own that extends this one: a profile called
 * measured then holds only what was measured. A cut or changed file is refused.
 */

enum { MEASURED_FORMAT = 1 };

/* The first line, without its newline, and the last line, with it. */
extern const char measured_first_line[], measured_last_line[];

uint64_t measured_checksum(const char *text, size_t size);

/* Set `*measured`: is the text of this profile a measured one? If so, check it as above. Messages
 * call it `path`. */
bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why);

/* Check the entries `provenance` and `observed` of the profile's tree. Only a measured profile may
 * have them. */
bool measured_check_tree(const struct node *profile, bool measured, struct error *why);
