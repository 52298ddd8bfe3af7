/* How an axis is made. Internal to axis*.c. */
#ifndef STUDY_WHATIF_AXIS_BUILD_H
#define STUDY_WHATIF_AXIS_BUILD_H

#include "study/whatif/axis.h"

/* ---- values (axis.c) ---- */

/* Append a value; `*added`, if not NULL, is where it is until the next. A number's text is made. */
bool axis_add(struct axis *axis, double number, const char *text, struct axis_value **added,
              struct error *why);
bool axis_add_number(struct axis *axis, double number, struct axis_value **added,
                     struct error *why);

/* Append `points` numbers from one to the other, in equal ratios, from 0 in equal steps; rounded to
 * three digits or, where they are `whole`, to whole numbers, but for the ends. */
bool axis_walk(struct axis *axis, double from, double to, uint32_t points, bool whole,
               struct error *why);

/* Points of a range: what was asked for, else as many as are usual. */
static inline uint32_t axis_points(const struct axis_base *base, uint32_t usual)
{
    return base->points > 0 ? base->points : usual;
}

/* What is counted is whole, unless it was none to begin with, or its key takes any number (a rate).
 */
bool axis_is_counted(const struct axis *axis, enum unit unit, double number);

/* ---- keys (axis_key.c) ---- */

/* The path that a name stands for, into axis->key. */
bool axis_key_resolve(const char *name, struct axis *axis, struct error *why);

/* The unit of a number at this path that reads as one of `unit`: a bare one may be of another. */
enum unit axis_key_unit(const char *path, enum unit unit);

/* A key of the scenario that takes any number, whole or not. */
bool axis_key_is_real(const char *path);

/* The resolved scenario, in which every key is said. */
struct node *axis_key_tree(const struct axis_base *base, struct error *why);

/* The scenario's own number at the axis' key, and how it writes it: a text of `tree`, or NULL. */
bool axis_key_own(const struct axis_base *base, const struct axis *axis, const struct node *tree,
                  struct quantity *out, const char **text, struct error *why);

/* ---- usual ranges (axis_usual.c) ---- */

bool axis_walk_usual(const struct axis_base *base, struct axis *axis, struct error *why);

#endif
