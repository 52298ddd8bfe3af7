/* Figures of a run as tables show them. NULL: the figure does not apply. */
#ifndef CLI_FRAME_FIGURES_H
#define CLI_FRAME_FIGURES_H

#include "result/result.h"

enum { FIGURE = 32 };

const char *figure_bytes(const struct cell *bytes, char text[FIGURE]);   /* "4.80 GiB"; NULL: 0 */
const char *figure_percent(const struct cell *share, char text[FIGURE]); /* "94.3" */
const char *figure_dollars(const struct cell *dollars, char text[FIGURE]);
const char *figure_rate(const struct cell *rate, char text[FIGURE]);
const char *figure_ms(int64_t ns, char text[FIGURE]);

#endif
