#include "base/stop_flag.h"

#include <stddef.h>

bool stop_flag_check(const struct stop_flag *stop, struct error *why)
{
    return stop == NULL || !atomic_load(&stop->raised) || error_set(why, NULL, 0, "interrupted");
}
