/* A what-if study for people: a table of its points, and what follows from them.
 *
 * Along one axis a row is a point; over a grid a cell is one, of which it shows the rate.
 */
#ifndef CLI_WHATIF_WHATIF_REPORT_H
#define CLI_WHATIF_WHATIF_REPORT_H

#include "study/whatif/whatif.h"

#include <stdio.h>

bool whatif_report(const struct whatif *whatif, FILE *out, struct error *why);

#endif
