/* One step as a file says it, unit by unit in any order, made into rows. Internal to this folder.
 */
#ifndef TRACE_IMPORT_IMPORT_STEP_H
#define TRACE_IMPORT_IMPORT_STEP_H

#include "trace/import/import.h"

struct import_item {
    uint32_t layer, head, unit;
    float mass;      /* NAN: the file has none */
    int line;        /* 0: the file has none */
    uint32_t number; /* in the step; set when it is added */
};

struct import_step {
    struct import_item *items; /* owned */
    uint32_t count;
    size_t capacity;
};

/* One row: `count` items, by unit, each once; they live in the step. */
struct import_row {
    struct import_item *items;
    uint32_t count;
    float born, tail;
};

/* How a row is made of what the file says of it. */
struct import_rule {
    enum import_mass mass; /* where the file has none */
    uint64_t end_unit;     /* units from here on were born while decoding */
    bool repeats;          /* a unit may come twice */
};

bool import_step_add(struct import_step *step, const struct import_item *item, struct error *why);

/* Bring the items into the order of rows: by layer, then head, then as they came. */
void import_step_sort(struct import_step *step);

/* Make the row that begins at item `*from` of a sorted step, and go on to the next one, also when
 * this one is at fault: a unit twice, or masses that no softmax gives. `why` has the line. */
bool import_step_row(struct import_step *step, uint32_t *from, const struct import_rule *rule,
                     struct import_row *row, struct error *why);

#endif
