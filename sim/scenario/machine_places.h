/* Where a scenario names a machine, or a part of one: a name stands for the map {extends: name}. */
#ifndef SCENARIO_MACHINE_PLACES_H
#define SCENARIO_MACHINE_PLACES_H

#include <stddef.h>

struct machine_place {
    const char *path;
    const char *part; /* as profile_named() has it; NULL: all of a machine */
};

/* Outer ones first; ends with path NULL. */
extern const struct machine_place machine_places[];

/* The place at the first `length` characters of `path`; NULL for none. */
const struct machine_place *machine_place_find(const char *path, size_t length);

#endif
