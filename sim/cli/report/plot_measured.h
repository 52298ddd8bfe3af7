/* What a server was measured to do, in the picture of what was predicted. */
#ifndef CLI_REPORT_PLOT_MEASURED_H
#define CLI_REPORT_PLOT_MEASURED_H

#include "cli/report/picture.h"

/* Add the single requests of the measurement at `path` to a picture of kind `requests`, as a line
 * behind its others. */
bool plot_add_measured(struct picture *picture, const char *path, struct error *why);

#endif
