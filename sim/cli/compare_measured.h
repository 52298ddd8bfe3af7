/* `compare DB --measured FILE`: predicted runs of a server beside measurements of a real one. */
#ifndef CLI_COMPARE_MEASURED_H
#define CLI_COMPARE_MEASURED_H

#include "base/error.h"

#include <stdbool.h>

/* Print a table for each run of the database that served requests. */
bool compare_measured(const char *database, const char *measured, struct error *why);

#endif
