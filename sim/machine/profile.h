/* A hardware profile: the costs of a machine's GPU, link and host, as curves with their basis.
 *
 * curves.def lists every curve. A profile is a YAML file that states any of the parts gpu, link, host,
 * fabric, disk, pool and network: whole machines in hwprofiles/NAME.yaml, parts in
 * hwprofiles/{gpus,links,hosts,fabrics}/NAME.yaml, a user's own anywhere (a name that contains '/' or ends in
 * .yaml is a path). A part is either the name of a profile that has this part (part files are looked up
 * before machines) or a map of figures. A map may start from another profile with `extends`.
 *
 *   extends: a40          # a whole machine
 *   link: pcie5-x16       # replaces the part
 *   gpu:
 *     extends: h200       # replaces the part; the figures below replace single figures
 *     hbm_bandwidth: {value: 4.8TB/s, basis: datasheet, source: "NVIDIA H200 datasheet"}
 *     topk: {points: [[4096, 70us], [524288, 450us]], basis: assumed, range: [50%, 200%],
 *            source: "two sorts of one layer"}
 *
 * A figure states its basis and its source. `range` (required when assumed) is the band it may lie in, as
 * shares of its value. A figure replaces a whole figure. A bare value ("50GB/s") has the basis assumed and
 * the user as its source. A curve's value is linear between its points (never in log space: that biases a
 * cost linear in size by over 10 %). Past its ends it is constant and marked extrapolated. `value` for a
 * curve with an axis holds at every size and is never extrapolated.
 *
 * `compute_capability: 8.9` beside the figures of a GPU names its architecture. A GPU cannot extend
 * one of another compute capability, and a GPU without fp8 takes over no figure of fp8
 * (compose.h). A GPU that states none counts as one of the same architecture.
 *
 * `also: [a100]` beside the parts lists further names by which a file of hwprofiles/ or of its
 * links/ is found (core/named.h).
 *
 * `gpus: 2` beside the parts is the number of GPUs of the machine. A model is not spread over more. `fabric:
 * pcie4-host` says what joins them; without a fabric it is what gpu.collective*, gpu.gather* and
 * gpu.all_to_all* were measured over (NVSwitch for an SXM module). A part carries no `gpus`.
 *
 * `price_per_hour: 2.5` beside the parts is the price of one GPU with its share of the machine, in
 * dollars an hour. No shipped file states one. A machine inherits the price from the machine it
 * extends; a part carries none.
 *
 * `hardware:` in a scenario is a name or map of this kind. Overrides
 * (--set hardware.link.h2d=50GB/s) need maps to reach into, so the scenario layer writes the name
 * `a40` as {extends: a40}, and a part's name likewise; both mean the same. */
#pragma once

#include <stdint.h>

#include "core/error.h"
#include "core/named.h"
#include "core/node.h"
#include "core/units.h"

struct files;

enum curve_id {
#define CURVE(id, name, unit, axis, what) CURVE_##id,
#define CURVE_OR(id, name, unit, axis, standard, what) CURVE_##id,
#define CURVE_IF(id, name, unit, axis, what) CURVE_##id,
#include "machine/curves.def"
    CURVE_COUNT
};

/* Best first. */
enum basis { BASIS_MEASURED, BASIS_PUBLISHED, BASIS_DATASHEET, BASIS_ASSUMED, BASIS_COUNT };
extern const char *const basis_names[BASIS_COUNT + 1]; /* ends with NULL */
bool basis_find(const char *name, const char *file, int line, enum basis *out, struct error *why);

/* The worst basis of the figures behind a duration, and whether one was extrapolated. At first: measured. */
struct trust {
    enum basis basis;
    bool extrapolated;
    const char *assumed; /* of an assumed basis: the figure, static; NULL: none is known */
};
void trust_add(struct trust *trust, struct trust other);

/* For the trust of figures that nobody asks about. */
#define TRUST_UNSEEN (&(struct trust){.basis = BASIS_MEASURED})

struct curve {
    uint32_t count; /* points; 0: the profile does not state it */
    double *size;   /* ascending; one point for a single figure */
    double *value;  /* in the curve's unit */
    enum basis basis;
    double least, most; /* range, as shares of the value; 1 and 1 when not given */
    char *source;
};

/* Which curves were read through a profile. */
struct profile_reads {
    bool of[CURVE_COUNT];
};

struct profile {
    char name[96]; /* "a40"; "a40+pcie5-x16" with another link; "a40*" with figures of its own */
    struct curve curves[CURVE_COUNT];
    double price_per_hour; /* dollars, for a GPU with its share of the machine; 0: not stated */
    uint64_t gpus;         /* of the machine; 0: not stated */
    struct node *node;     /* the merged tree it was read from; for hashing and printing */
    /* In a copy for a dry run: notes what is read, and every curve is 1. The caller's; NULL in all others. */
    struct profile_reads *reads;
};

/* The name, unit, axis and description of a curve. */
struct curve_kind {
    const char *name;
    enum unit unit;
    const char *axis;
    const char *what;
    double standard; /* its value where a profile does not state it; 0: there is none */
    bool optional;   /* a profile may leave it out, and other curves are read in its place */
};
extern const struct curve_kind curve_kinds[CURVE_COUNT + 1]; /* ends with NULL */

/* "price_per_hour", "gpus" */
extern const char profile_price_key[], profile_gpus_key[];

/* Load the `hardware` of a scenario: a name or a map, as above. Checks every key, unit, basis, value and the
 * order of points, and that files do not refer to each other in a circle. A profile may leave out curves that
 * are never read. On failure `out` is zeroed. */
bool profile_load(struct files *files, const struct node *hardware, struct profile *out,
                  struct error *why);
void profile_release(struct profile *profile);

/* The same for a name that was typed: of a machine, else of a part, which is loaded alone. */
bool profile_load_named(const char *name, struct profile *out, struct error *why);

/* Does `name` name an existing machine, or a part "gpu", "link" ... (NULL: a machine)? A path passes. */
bool profile_named(const struct node *name, const char *part, struct error *why);

/* Write the canonical name of the machine or part that `name` means; false for a path, and for none. */
bool profile_canonical(const char *name, const char *part, char out[NAMED_SIZE]);

bool profile_states(const struct profile *profile, enum curve_id id);

/* The name of the profile whose file states the curve ("l40s"), "" when none does. */
void profile_stated_in(const struct profile *profile, enum curve_id id, char *name, size_t size);

/* The curve's value at `size` (ignored by single figures); `trust` is worsened by it. A curve that is not
 * stated is read as its standard, if it has one; else that is a bug, but for a dry run. */
double profile_value(const struct profile *profile, enum curve_id id, double size,
                     struct trust *trust);

/* The same of times of whole kernels: past the last point they grow on along a line, and never fall. */
double profile_time(const struct profile *profile, enum curve_id id, double size,
                    struct trust *trust);

/* The curves that were read, in the order of curves.def; their number. */
size_t profile_reads_list(const struct profile_reads *reads, enum curve_id ids[CURVE_COUNT]);

/* Fail, naming them, unless the profile states these curves without a standard; "system 'y'" needs them. */
bool profile_require(const struct profile *profile, const enum curve_id *ids, size_t count,
                     const char *needed_by, struct error *why);

/* How far the figures of a machine may lie from its profile.
 *
 * A figure's range is read as three quantiles of one distribution; the figure itself is the median:
 *
 *   measured       p10, median and p90 of its samples, which the harness writes as range;
 *                  beyond them the distribution goes on with the same slope
 *   anything else  least, median and most: nothing lies outside the range
 *
 * Only the quantiles are known. Of all distributions that have them, the one of largest entropy is uniform in
 * each piece (Jaynes, "Information Theory and Statistical Mechanics", Phys. Rev. 106, 1957). It is uniform in
 * the logarithm: a rate and its time are then drawn alike, and nothing falls to 0.
 *
 *   share        1 |           .-- most         log share over quantile: two straight lines,
 *   (log)          |      .--'                  which meet at (0.5, the figure)
 *            least '---'
 *                  0   0.1   0.5   0.9   1
 *
 * One share holds for all points of a curve. A figure without a range is certain. */

/* The figure at `quantile` (0 to 1), as a share of the profile's value; a count is whole, at least one. */
double spread_share(const struct curve *curve, enum curve_id id, double quantile);

/* A view of a profile whose figures are multiplied by a share each; those that are shares stay at most 1. */
struct scaled_profile {
    struct profile profile;
    double *values; /* of all curves */
};

bool scaled_profile_init(const struct profile *of, const double shares[CURVE_COUNT],
                         struct scaled_profile *out, struct error *why);

/* The same with one figure multiplied by `share`, and all others as they are. */
bool scaled_profile_init_one(const struct profile *of, enum curve_id id, double share,
                             struct scaled_profile *out, struct error *why);

void scaled_profile_release(struct scaled_profile *scaled);
