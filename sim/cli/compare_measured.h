/* `compare DB --measured FILE`: runs of a server beside what a real one was measured to do. */
#ifndef CLI_COMPARE_MEASURED_H
#define CLI_COMPARE_MEASURED_H

#include "base/error.h"

#include <stdbool.h>

/* Print a table for each run of the database that served requests. */
bool compare_measured(const char *database, const char *measured, struct error *why);

#endif
