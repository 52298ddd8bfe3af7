/* The keys at which a scenario names a machine or a part of one. A name there means {extends:
 * name}. */
#ifndef SCENARIO_MACHINE_PLACES_H
#define SCENARIO_MACHINE_PLACES_H

#include <stddef.h>

struct machine_place {
    const char *path;
    const char *part; /* for profile_named(); NULL: a whole machine */
};

/* Outer ones first; ends with path NULL. */
extern const struct machine_place machine_places[];

/* The place whose path is the first `length` characters of `path`; NULL if there is none. */
const struct machine_place *machine_place_find(const char *path, size_t length);

#endif
