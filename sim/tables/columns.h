/* The columns of a list, NAME.def, for the file that fills a frame with them. It defines before it includes
 * this one:
 *
 *   LIST       "tables/advices.def"
 *   ID(name)   the number of a column, such as DATA_##name; DATA_COUNT is how many there are
 *   ARRAY      the name of the array of columns; not defined: the numbers alone
 *   NUMBERED   the numbers are there already
 *
 * The rows of a list, with types of core/units.h:
 *
 *   FIELD(name, type, "what it is")         only data, null without a value
 *   SHOWN(name, type, "what it is", ...)    for people, too, as ... says (struct frame_column)
 *   RANGED(name, type, "what it is", ...)   the same with name_low and name_high, the range over families
 *   PEOPLE(name, ...)                       only for people */
#ifndef NUMBERED
#define PEOPLE(id, ...) ID(id),
#define FIELD PEOPLE
#define SHOWN PEOPLE
#define RANGED PEOPLE
enum {
#include LIST
    ID(COUNT)
};
#undef PEOPLE
#undef FIELD
#undef SHOWN
#undef RANGED
#endif
#ifdef ARRAY
#define PEOPLE(id, ...) [ID(id)] = {__VA_ARGS__},
#define FIELD(id, type, meaning) [ID(id)] = {.key = #id, .unit = UNIT_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [ID(id)] = {.key = #id, .unit = UNIT_##type, .what = meaning, __VA_ARGS__},
#define RANGED(id, type, meaning, ...) SHOWN(id, type, meaning, .ranged = true, __VA_ARGS__)
static const struct frame_column ARRAY[] = {
#include LIST
};
#undef PEOPLE
#undef FIELD
#undef SHOWN
#undef RANGED
#endif
#undef LIST
#undef ID
#undef ARRAY
#undef NUMBERED
