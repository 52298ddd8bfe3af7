/* Scenarios: the user's input, checked, and the points that it describes. A scenario is a YAML map of the
 * keys in scenario_keys.h. Several files and --set overrides are laid over each other in order. `sweep:` maps
 * keys to lists; the points are their product, the last key fastest. Each point is resolved into a `struct
 * point`, the input of a run. The hash that names a run and seals a prediction is made of its point
 * (point.h). */
#pragma once

#include "core/error.h"
#include "core/node.h"
#include "predict/scenario/point.h"
#include "predict/scenario/scenario_keys.h"
#include "predict/scenario/sources.h"

/* What one point says instead. */
struct scenario_case {
    struct node *root;
    struct scenario_values values;
};

struct scenario {
    struct node *root;             /* names and maps, of all files and overrides */
    struct scenario_values values; /* the plain keys, likewise */
    struct node *sweep;            /* a map of key path → list, or NULL */
    uint32_t points;               /* product of the lists, or number of cases; 1 without either */
    struct scenario_case *cases;   /* [points], owned, if the scenario lists its points; or NULL */
    size_t case_capacity;
    /* Shared by the points: a reference, made by scenario_load(). A scenario made from another one
     * borrows or holds the other's. NULL: each point has its own sources. */
    struct sources *sources;
};

/* Merge the files and then the overrides ("key=value"), one at least. Checks every key and swept name. */
bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why);
void scenario_release(struct scenario *scenario);

/* A scenario of one point: `from` without its sweep, with its sources. Released on failure, too. */
bool scenario_copy(const struct scenario *from, struct scenario *out, struct error *why);

/* Build a scenario of one run: start with an empty one, then lay maps over it in turn, as files would be. */
bool scenario_init(struct scenario *out, struct error *why);
bool scenario_set(struct scenario *scenario, const struct node *map, struct error *why);

/* Also sweep `key`, inside the keys that are swept already: `values` is a YAML list. */
bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why);

/* Add a point, if nothing is swept: `map` and `values` (or NULL) over the rest. The first makes it a list. */
bool scenario_add_case(struct scenario *scenario, const struct node *map,
                       const struct scenario_values *values, struct error *why);

/* A file states the pool of KV, and `setting` all else: other points have a computed pool. */
bool scenario_pool_holds(struct scenario *scenario, const struct scenario *setting,
                         struct error *why);

/* Its keys, without their parts; NULL behind the last. */
extern const char *const scenario_pool_keys[];

bool scenario_states(const struct scenario *scenario, const char *key);

/* The scenario as text in canonical spelling, which the caller frees. */
char *scenario_canonical(const struct scenario *scenario, struct error *why);

/* A complaint about the value of a key, at its place. Returns false. */
bool scenario_error(const struct scenario *scenario, const char *key, struct error *why,
                    const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Do its points ask for a server: by a workload, or by the load on one? */
bool scenario_serves(const struct scenario *scenario);

/* Resolve point `index`. The caller releases it with point_release(). */
bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why);

/* Of an override's key of `*length`: "config." for "model.KEY", without its first word; else "". */
const char *scenario_config_prefix(const char *override, int *length);

/* Give names in a value of the key `path`, or in its items, canonical spelling. Fails without memory. */
bool scenario_spell_value(struct node *value, const char *path, struct error *why);
