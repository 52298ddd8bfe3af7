/* Scenarios: what the user wrote, checked, and the points that it stands for.
 *
 * A scenario is a YAML map of the keys in scenario_keys[]; several files and --set overrides are
 * laid over each other in order. `sweep:` maps keys to lists; the points are their product, the
 * last key fastest. Each point becomes one resolved `struct point`, the input of a run.
 */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H

#include "base/error.h"
#include "base/node.h"
#include "base/units.h"
#include "scenario/point.h"
#include "scenario/sources.h"

#include <stdint.h>

/* What may stand at a key, as the schema says it. */
enum scenario_shape {
    SCENARIO_TEXT,   /* any one word */
    SCENARIO_NAME,   /* of a file of `folder` that ends in .`suffix`, or a path */
    SCENARIO_NUMBER, /* of `unit`, or one of `words` */
    SCENARIO_WHOLE,  /* the same, without a fraction */
    SCENARIO_SWITCH, /* yes or no */
    SCENARIO_WORD,   /* one of `words` */
    SCENARIO_MACHINE,
    SCENARIO_TRACE,
    SCENARIO_CONTEXTS,
    SCENARIO_DTYPES,
    SCENARIO_OBJECTIVES,
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
    const char *folder, *suffix;
    bool positive; /* a number that may not be 0 */
    double most;   /* nor more than this; 0: as its reader says */
    bool serving; /* of a server alone: no step of its sequences takes longer or shorter by it */
};
extern const struct scenario_key scenario_keys[]; /* ends with name NULL */

/* The key that the first `length` characters of `name` are; NULL for none. */
const struct scenario_key *scenario_key_find(const char *name, size_t length);

struct scenario {
    struct node *root;   /* all files and overrides merged, `sweep` apart */
    struct node *sweep;  /* a map of key path → list, or NULL */
    uint32_t points;     /* product of the lists, or as many as cases; 1 without either */
    struct node **cases; /* [points] of a scenario that lists its points: maps, owned; or NULL */
    size_t case_capacity;
    /* What its points share: a reference, which scenario_load() makes. A scenario that is made from
     * another borrows or holds the other's. NULL: each point has sources of its own. */
    struct sources *sources;
};

/* Merge the files and then the overrides ("key=value"), and check every key, and every name that is
 * swept (scenario/scenario_names.h). At least one of both is needed. */
bool scenario_load(const char *const *files, uint32_t file_count, const char *const *overrides,
                   uint32_t override_count, struct scenario *out, struct error *why);
void scenario_release(struct scenario *scenario);

/* A hash of all that is said, the sweep and its order included, as 16 hex digits. Names of files
 * count, not what they hold. */
bool scenario_hash(const struct scenario *scenario, char hash[17], struct error *why);

/* A scenario of one run in the making: start empty, and lay maps over it in turn, as files that say
 * them would be. */
bool scenario_init(struct scenario *out, struct error *why);
bool scenario_lay(struct scenario *scenario, const struct node *map, struct error *why);

/* Sweep `key` as well, inside what is swept already: `values` is a YAML list. */
bool scenario_sweep(struct scenario *scenario, const char *key, const char *values,
                    struct error *why);

/* One more point, where nothing is swept: what `map` says is laid over all else. The first one
 * makes of the scenario a list of such points. */
bool scenario_add_case(struct scenario *scenario, const struct node *map, struct error *why);

/* Resolve point `index`. The caller releases it with point_release(). */
bool scenario_point(const struct scenario *scenario, uint32_t index, struct point *out,
                    struct error *why);

#endif
