/* The keys of a scenario, for checking, help and documentation.
 *
 * To add a key, add its row to scenario_keys[]. resolve.c, or for a server resolve_workload.c, reads
 * it into decode/setup.h or server/workload.h and writes it into the canonical text. Other
 * names for a key are a row of scenario_alias.c.
 */
#pragma once

#include "core/named.h"
#include "core/node.h"
#include "core/units.h"

/* The values that a key accepts, for the schema. */
enum scenario_shape {
    SCENARIO_TEXT,   /* any one word */
    SCENARIO_NAME,   /* of a file of the kind `named`, or a path */
    SCENARIO_NUMBER, /* in `unit`, or one of `words` */
    SCENARIO_WHOLE,  /* the same, a whole number */
    SCENARIO_SWITCH, /* yes or no */
    SCENARIO_WORD,   /* one of `words` */
    SCENARIO_ENGINE, /* the same, or another version of one (server/server_engine.h) */
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

/* Fail if the map `root` has another key, or a list where several values stand under `sweep`. */
bool scenario_check_keys(const struct node *root, struct error *why);
