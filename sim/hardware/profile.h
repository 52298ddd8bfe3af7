/* A hardware profile: what a machine's GPU, link and host cost, as curves with their basis.
 *
 * curves.def lists every curve. A profile is a YAML file that states any of the parts gpu, link
 * and host: whole machines in hwprofiles/NAME.yaml, parts in
 * hwprofiles/{gpus,links,hosts}/NAME.yaml, a user's own anywhere (a name with a '/' in it or
 * ending in .yaml is a path). A part is the name of a profile whose part it is (part files are
 * looked up before machines), or a map of figures; a map may start from another profile with
 * `extends`.
 *
 *   extends: a40          # a whole machine
 *   link: pcie5-x16       # replaces the part
 *   gpu:
 *     extends: h200       # replaces the part; the figures below replace single figures
 *     hbm_bandwidth: {value: 4.8TB/s, basis: datasheet, source: "NVIDIA H200 datasheet"}
 *     topk: {points: [[4096, 70us], [524288, 450us]], basis: assumed, range: [50%, 200%],
 *            source: "two sorts of one layer"}
 *
 * A figure says what it rests on and where it comes from. `range` (required when assumed) is the
 * band it may lie in, as shares of it. A figure replaces a figure whole. A bare value ("50GB/s")
 * has basis assumed, the user's. A curve's value at a size is linear between its points (never in
 * log space: that biases a cost linear in size by over 10 %) and constant past its ends, marked
 * extrapolated there; `value` for a curve with an axis is the same at every size and never
 * extrapolated.
 *
 * `price_per_hour: 2.5` beside the parts is what one GPU with its share of the machine costs, in
 * dollars an hour. No file that ships has one. A machine takes it over from what it extends; taking
 * over a part takes no price.
 *
 * `hardware:` in a scenario is such a name or map. Overrides (--set hardware.link.h2d=50GB/s)
 * need maps to reach into, so the scenario layer writes the name `a40` as {extends: a40}, and a
 * part's name likewise; both say the same.
 */
#ifndef HARDWARE_PROFILE_H
#define HARDWARE_PROFILE_H

#include "base/error.h"
#include "base/node.h"
#include "base/units.h"

#include <stdbool.h>
#include <stdint.h>

struct files;

enum curve_id {
#define CURVE(id, name, unit, axis, what) CURVE_##id,
#define CURVE_OR(id, name, unit, axis, standard, what) CURVE_##id,
#include "hardware/curves.def"
#undef CURVE_OR
#undef CURVE
    CURVE_COUNT
};

/* Best first. */
enum basis { BASIS_MEASURED, BASIS_PUBLISHED, BASIS_DATASHEET, BASIS_ASSUMED, BASIS_COUNT };
extern const char *const basis_names[BASIS_COUNT + 1]; /* ends with NULL */
const char *basis_name(enum basis basis);
bool basis_find(const char *name, const char *file, int line, enum basis *out, struct error *why);

/* The worst basis of the figures a duration was computed from, and whether one was read past its
 * ends. Start from {BASIS_MEASURED, false}. */
struct trust {
    enum basis basis;
    bool extrapolated;
};
void trust_add(struct trust *trust, struct trust other);

struct curve {
    uint32_t count; /* points; 0: the profile does not state it */
    double *size;   /* ascending; one point for a single figure */
    double *value;  /* in the curve's unit */
    enum basis basis;
    double least, most; /* range, as shares of the value; 1 and 1 when not given */
    char *source;
};

struct profile {
    char name[96]; /* "a40"; "a40+pcie5-x16" with another link; "a40*" with figures of its own */
    struct curve curves[CURVE_COUNT];
    double price_per_hour; /* dollars, for a GPU with its share of the machine; 0: not said */
    struct node *node;     /* what it was read from, merged; for hashing and printing */
};

/* The name, unit, axis and description of a curve. */
struct curve_kind {
    const char *name;
    enum unit unit;
    const char *axis;
    const char *what;
    double standard; /* its value where a profile does not state it; 0: it must be stated */
};
extern const struct curve_kind curve_kinds[CURVE_COUNT];

/* "price_per_hour" */
extern const char profile_price_key[];

/* Load what `hardware` of a scenario says, a name or a map as above. Checks every key, unit,
 * basis, order of points and value, and that files do not lead back to themselves or more than 8
 * deep. `files` keeps the files that are read (NULL: none). A profile that leaves out a curve is fine until that curve is read. On failure `out` is
 * zeroed. */
bool profile_load(struct files *files, const struct node *hardware, struct profile *out,
                  struct error *why);
void profile_release(struct profile *profile);

/* Is there what the scalar `name` names: a machine, or its part "gpu", "link" or "host" (`part`;
 * NULL: a machine)? A path is taken as it is. */
bool profile_named(const struct node *name, const char *part, struct error *why);

/* The curve's value at `size` (ignored by single figures), worsening `trust`. The standard of a
 * curve that is not stated leaves `trust` as it is. Cannot fail: reading a curve that has neither
 * is a bug unless profile_require() let it through. */
double profile_value(const struct profile *profile, enum curve_id id, double size,
                     struct trust *trust);

/* Fail unless the profile states all of these that have no standard: "hardware 'x' does not state
 * 'gpu.topk' (...), which system 'y' needs" with needed_by "system 'y'". */
bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why);

/* Fail on the first of these curves whose basis is worse than `least`, naming it and its source
 * (--require-basis). Curves that are not stated pass. */
bool profile_require_basis(const struct profile *profile, const enum curve_id *ids, size_t count,
                           enum basis least, struct error *why);

#endif
