/* How an axis is built. Internal to axis*.c. */
#pragma once

#include "study/whatif/axis.h"

/* ---- values ---- */

/* Append a value, or a number whose text is written here. `*added`, if not NULL, points to it until
 * the next value is appended. */
bool axis_add(struct axis *axis, double number, const char *text, struct axis_value **added,
              struct error *why);
bool axis_add_number(struct axis *axis, double number, struct axis_value **added,
                     struct error *why);

/* Append `points` numbers between two ends, in equal ratios; in equal steps if `from` is 0. The
 * numbers between the ends are rounded to three digits, or to whole numbers if `whole`. */
bool axis_walk(struct axis *axis, double from, double to, uint32_t points, bool whole,
               struct error *why);

/* The number of points of a range: as asked for, or the usual number. */
static inline uint32_t axis_points(const struct axis_base *base, uint32_t usual)
{
    return base->points > 0 ? base->points : usual;
}

/* Must the axis' values be whole numbers? Counts must, unless `number` is not whole itself or the
 * key takes any number (a rate). */
bool axis_is_counted(const struct axis *axis, enum unit unit, double number);

/* ---- keys ---- */

/* Write the path that a name stands for into axis->key. */
bool axis_key_resolve(const char *name, struct axis *axis, struct error *why);

/* The unit of a number at this path that was read with `unit`. A bare number has the key's unit. */
enum unit axis_key_unit(const char *path, enum unit unit);

/* Does this key of the scenario take any number, not only whole ones? */
bool axis_key_is_real(const char *path);

/* The resolved scenario, which sets every key. The caller destroys it. */
struct node *axis_key_tree(const struct axis_base *base, struct error *why);

/* The scenario's own number at the axis' key. `*text` is how the scenario writes it: a text of
 * `tree`, or NULL. */
bool axis_key_own(const struct axis_base *base, const struct axis *axis, const struct node *tree,
                  struct quantity *out, const char **text, struct error *why);

/* ---- usual ranges (axis_usual.c) ---- */

bool axis_walk_usual(const struct axis_base *base, struct axis *axis, struct error *why);
