/* Sorting, assumed masses, and the checks of a row. */
#include "trace/import/import_step.h"

#include "base/array.h"
#include "trace/format/format.h"

#include <math.h>
#include <stdlib.h>

/* The masses of a row that went through 8-bit codes can add up to 3.5 % more than before. */
#define SUM_MOST 1.05

bool import_step_add(struct import_step *step, const struct import_item *item, struct error *why)
{
    if (step->count == PAYLOAD_MOST) {
        return error_set(why, NULL, 0, "a step wants more than %d units", PAYLOAD_MOST);
    }
    if (!array_reserve(&step->items, &step->capacity, (size_t)step->count + 1, sizeof *step->items,
                       why)) {
        return false;
    }
    step->items[step->count] = *item;
    step->items[step->count].number = step->count;
    step->count++;
    return true;
}

static int import_step_compare(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int by_row(const void *left, const void *right)
{
    const struct import_item *a = left, *b = right;
    int order = import_step_compare(a->layer, b->layer);
    order = order != 0 ? order : import_step_compare(a->head, b->head);
    return order != 0 ? order : import_step_compare(a->number, b->number);
}

static int by_unit(const void *left, const void *right)
{
    const struct import_item *a = left, *b = right;
    int order = import_step_compare(a->unit, b->unit);
    return order != 0 ? order : import_step_compare(a->number, b->number);
}

/* Most files are already in order. */
static void sort(struct import_item *items, uint32_t count,
                 int (*order)(const void *left, const void *right))
{
    for (uint32_t i = 1; i < count; i++) {
        if (order(&items[i - 1], &items[i]) > 0) {
            qsort(items, count, sizeof *items, order);
            return;
        }
    }
}

void import_step_sort(struct import_step *step)
{
    sort(step->items, step->count, by_row);
}

/* Assume masses for a row that has none; items are in the order in which they came. */
static void assume_masses(struct import_item *items, uint32_t count, enum import_mass mass)
{
    double harmonic = 0;
    for (uint32_t i = 0; i < count; i++) {
        harmonic += 1.0 / (i + 1.0);
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i].mass = (float)(mass == IMPORT_EQUAL ? 1.0 / count : 1.0 / ((i + 1.0) * harmonic));
    }
}

static double sum_masses(const struct import_item *items, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += (double)items[i].mass;
    }
    return sum;
}

/* Merge neighbours with the same unit. Returns NULL, or the second of a pair that is not
 * allowed. */
static const struct import_item *import_step_fold(struct import_row *row, bool repeats)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < row->count; i++) {
        if (kept > 0 && row->items[kept - 1].unit == row->items[i].unit) {
            if (!repeats) {
                return &row->items[i];
            }
            row->items[kept - 1].mass += row->items[i].mass;
        } else {
            row->items[kept++] = row->items[i];
        }
    }
    row->count = kept;
    return NULL;
}

bool import_step_row(struct import_step *step, uint32_t *from, const struct import_rule *rule,
                     struct import_row *row, struct error *why)
{
    const struct import_item first = step->items[*from];
    *row = (struct import_row){.items = step->items + *from};
    for (; *from < step->count && step->items[*from].layer == first.layer &&
           step->items[*from].head == first.head;
         ++*from) {
        row->count++;
    }
    if (isnan(first.mass)) {
        assume_masses(row->items, row->count, rule->mass);
    }
    double sum = sum_masses(row->items, row->count);
    if (sum > SUM_MOST) {
        error_set(why, NULL, first.line, "the masses of layer %u, head %u add up to %.4g",
                  first.layer, first.head, sum);
        return error_expect(
            why, "at most 1: divide the scores of a row by their sum (after exp(), if they "
                 "are logits)");
    }
    sort(row->items, row->count, by_unit);
    const struct import_item *second = import_step_fold(row, rule->repeats);
    if (second != NULL) {
        return error_set(why, NULL, second->line, "layer %u, head %u wants unit %u twice",
                         second->layer, second->head, second->unit);
    }
    uint32_t all = row->count;
    while (row->count > 0 && row->items[row->count - 1].unit >= rule->end_unit) {
        row->count--;
    }
    double born = sum_masses(row->items + row->count, all - row->count);
    row->born = (float)fmin(born, 1.0);
    row->tail = (float)(sum < 1.0 - 1e-6 ? 1.0 - sum : 0.0);
    return true;
}
