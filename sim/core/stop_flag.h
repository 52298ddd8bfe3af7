/* A flag that one thread raises for others to see. C++, which lacks C's atomics, only declares the struct. */
#pragma once

#include "core/error.h"

#include <stdatomic.h>

struct stop_flag {
    atomic_bool raised;
};

/* Fails with ERROR_INTERRUPTED once the flag is raised. NULL: it never is. */
static inline bool stop_flag_check(const struct stop_flag *stop, struct error *why)
{
    return stop == NULL || !atomic_load(&stop->raised) ||
           error_make(why, ERROR_INTERRUPTED, NULL, 0, "interrupted");
}
