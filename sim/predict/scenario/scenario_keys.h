/* The keys of a scenario: what they are called, what they accept, and where they go. To add a key, add its
 * row to scenario_keys[]. A plain number, word or switch is read once, fills its member of the setup, the
 * workload or the numbers of GPUs, and is written into the canonical text, by its row alone; other keys are
 * read in resolve.c. Other names for a key are a row of aliases[]. */
#pragma once

#include "core/named.h"
#include "core/node.h"
#include "core/units.h"
#include "model/model.h"

/* The struct that a key's value is a member of. */
enum scenario_place {
    SCENARIO_ELSEWHERE, /* it is read by code of its own */
    SCENARIO_GPUS,      /* struct scenario_gpus */
    SCENARIO_SETUP,     /* struct setup */
    SCENARIO_WORKLOAD,  /* struct workload */
};

/* How GPUs share the model, as the scenario says it. */
struct scenario_gpus {
    uint32_t tensor;
    struct model_parallel parts;
};

/* The values that a key accepts. */
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
    bool serving;  /* for servers; the GPU computes a step in the same time */
    bool open;     /* the canonical text has it only if the user states it */
    double least, most;
    int64_t word; /* what the first of `words` stands for; "none" is 0 */
    enum scenario_place place;
    size_t offset, size; /* of the member */
};
extern const struct scenario_key scenario_keys[]; /* ends with name NULL */

/* The key that equals the first `length` characters of `name`; NULL if there is none. */
const struct scenario_key *scenario_key_find(const char *name, size_t length);

/* Fail if the map `root` has another key, or a list where several values stand under `sweep`. */
bool scenario_check_keys(const struct node *root, struct error *why);

/* ---- plain values: numbers, words and switches, read once and set as numbers ---- */

enum { SCENARIO_MOST_KEYS = 68 };

/* What a scenario says for a plain key, which is one with a place. */
struct scenario_value {
    bool stated, empty; /* empty: the key is there without a value, which leaves the default */
    double number;      /* in the key's unit, the index of a word, or 0 for no and 1 for yes */
    const char *file;   /* where it stands; interned */
    int line;
};
struct scenario_values {
    struct scenario_value of[SCENARIO_MOST_KEYS]; /* by row of scenario_keys[] */
};

const struct scenario_value *scenario_value(const struct scenario_values *values, const char *key);
double scenario_stated(const struct scenario_values *values, const char *key, double otherwise);

/* Move the plain keys of `map` into `values`, over what these say. */
bool scenario_values_take(struct scenario_values *values, struct node *map, struct error *why);

/* State a number as studies do. Fails if the key does not accept it. */
bool scenario_values_set(struct scenario_values *values, const char *key, double number,
                         struct error *why);
void scenario_values_remove(struct scenario_values *values, const char *key);
void scenario_values_lay(struct scenario_values *values, const struct scenario_values *over);

/* Fill the struct of a place, which has the defaults, with what is stated. */
void scenario_values_fill(const struct scenario_values *values, enum scenario_place place,
                          void *out);

/* What is stated beside the other keys, as a tree in the order of the rows. The caller destroys it. */
struct node *scenario_keys_tree(const struct scenario_values *values, const struct node *others,
                                struct error *why);

/* Write the keys of a place, or one of them, as its resolved struct has them. */
bool scenario_keys_write(struct node *all, const struct scenario_values *values,
                         enum scenario_place place, const void *from, struct error *why);
bool scenario_key_write(struct node *all, const char *name, const void *from, struct error *why);

/* What people call keys of a scenario elsewhere: on servers' command lines, in papers, in short. */

enum { SCENARIO_PATH = 96 }; /* bytes of a key's path */

/* The path of the key of which the user's text, which is no key, is an alias: "tensor_parallel" for
 * "tp" or "--gpus", "mechanisms.budget" for "budget", "hardware.gpu.hbm_capacity" for
 * "hbm_capacity". NULL if there is none. It is static, or written to `path`. */
const char *scenario_alias(const char *text, char path[SCENARIO_PATH]);

/* The same, else the path of the nearest key. */
const char *scenario_suggest(const char *text, char path[SCENARIO_PATH]);
