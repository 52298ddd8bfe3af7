/* Scenarios: the user's input, checked, and the points that it describes.
 *
 * A scenario is a YAML map of the keys in scenario_keys[]. Several files and --set overrides are
 * laid over each other in order. `sweep:` maps keys to lists; the points are their product, the
 * last key fastest. Each point is resolved into a `struct point`, the input of a run.
 *
 * To add a key, add its row to scenario_keys[] (scenario.c). resolve.c, or for a server
 * resolve_workload.c, reads it into decode/setup.h or serve/workload.h and writes it into the
 * canonical text. A word from elsewhere that means a key is a row of scenario_meant.c. The hash
 * that names a run and seals a prediction is made in identity.c.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "base/error.h"
#include "base/node.h"
#include "base/units.h"
#include "scenario/point.h"
#include "scenario/sources.h"

#include <stdint.h>

/* The values that a key accepts, for the schema. */
enum scenario_shape {
    SCENARIO_TEXT,   /* any one word */
    SCENARIO_NAME,   /* of a file of the kind `named`, or a path */
    SCENARIO_NUMBER, /* in `unit`, or one of `words` */
    SCENARIO_WHOLE,  /* the same, a whole number */
    SCENARIO_SWITCH, /* yes or no */
    SCENARIO_WORD,   /* one of `words` */
    SCENARIO_ENGINE, /* the same, or another version of one (serve/server_engine.h) */
    SCENARIO_CONFIG,
    SCENARIO_MACHINE,
    SCENARIO_TRACE,
    SCENARIO_CONTEXTS,
    SCENARIO_DTYPES,
    SCENARIO_OBJECTIVES,
    SCENARIO_DRAFTS,
    SCENARIO_MECHANISMS,
    SCENARIO_SWEEP,
};

/* A key of a scenario, for checking, help and documentation. */
struct scenario_key {
    const char *name;
    const char *example;
    const char *summary;
    enum scenario_shape shape;
    enum unit unit;
    const char *const *words; /* ends with NULL; NULL: none */
    const struct named_kind *named;
    bool positive; /* a number above 0 */
    double most;   /* largest value; 0: checked where the key is read */
    bool serving;  /* for servers only; has no effect on the time of a step */
};
extern const struct scenario_key scenario_keys[]; /* ends with name NULL */

/* The key that equals the first `length` characters of `name`; NULL if there is none. */
const struct scenario_key *scenario_key_find(const char *name, size_t length);

/* Of an override's key with `*length` characters: "config." for "model.KEY", and `*length` without
 * its first word; "" and the whole key for another. */
const char *scenario_config_prefix(const char *override, int *length);

struct scenario {
    struct node *root;   /* all files and overrides merged, without `sweep` */
    struct node *sweep;  /* a map of key path → list, or NULL */
    uint32_t points;     /* product of the lists, or number of cases; 1 without either */
    struct node **cases; /* [points] maps, owned, if the scenario lists its points; or NULL */
    size_t case_capacity;
    /* Shared by the points: a reference, made by scenario_load(). A scenario made from another one
     * borrows or holds the other's. NULL: each point has its own sources. */
    struct sources *sources;
};

/* Merge the files and then the overrides ("key=value"). Checks every key, and every name that is
 * swept (scenario/scenario_names.h). At least one file or override is needed. */
bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why);
void scenario_release(struct scenario *scenario);

/* A scenario of one point: what `from` says without its sweep, with the same sources. On failure
 * `out` can be released like any other. */
bool scenario_copy(const struct scenario *from, struct scenario *out, struct error *why);

/* A hash of the program and of the whole scenario, with the sweep and its order: 16 hex digits.
 * Names of files are part of the hash, their contents are not. */
bool scenario_hash(const struct scenario *scenario, char hash[17], struct error *why);

/* Build a scenario of one run: start with an empty one, then lay maps over it in turn, as files
 * with the same contents would be. */
bool scenario_init(struct scenario *out, struct error *why);
bool scenario_lay(struct scenario *scenario, const struct node *map, struct error *why);

/* Also sweep `key`, inside the keys that are swept already: `values` is a YAML list. */
bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why);

/* Add a point, if nothing is swept: `map` is laid over the rest. The first call turns the scenario
 * into a list of such points. */
bool scenario_add_case(struct scenario *scenario, const struct node *map, struct error *why);

/* Do its points ask for a server: by a workload, or by the load on one? */
bool scenario_serves(const struct scenario *scenario);

/* Resolve point `index`. The caller releases it with point_release(). */
bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why);

#endif
