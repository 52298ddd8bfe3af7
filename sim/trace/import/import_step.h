/* One step of a file, given unit by unit in any order, and made into rows. Internal to this
 * folder. */
#ifndef TRACE_IMPORT_IMPORT_STEP_H
#define TRACE_IMPORT_IMPORT_STEP_H

#include "trace/import/import.h"

struct import_item {
    uint32_t layer, head, unit;
    float mass;      /* NAN: the file has none */
    int line;        /* 0: the file has none */
    uint32_t number; /* position in the step; set when it is added */
};

struct import_step {
    struct import_item *items; /* owned */
    uint32_t count;
    size_t capacity;
};

/* One row: `count` different items, ordered by unit; they belong to the step. */
struct import_row {
    struct import_item *items;
    uint32_t count;
    float born, tail;
};

/* How a row is made from the file's items. */
struct import_rule {
    enum import_mass mass; /* if the file states no mass */
    uint64_t end_unit;     /* units from here on were born while decoding */
    bool repeats;          /* a unit may occur twice in a row */
};

bool import_step_add(struct import_step *step, const struct import_item *item, struct error *why);

/* Sort the items by layer, then head, then as they came. */
void import_step_sort(struct import_step *step);

/* Make the row that begins at item `*from` of a sorted step, and move `*from` to the next row, also
 * when this one is faulty: a unit twice, or masses that no softmax gives. `why` has the line. */
bool import_step_row(struct import_step *step, uint32_t *from, const struct import_rule *rule,
                     struct import_row *row, struct error *why);

#endif
