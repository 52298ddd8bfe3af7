/* Figures of a run as tables show them. NULL: the figure does not apply. */
#ifndef CLI_FRAME_FIGURES_H
#define CLI_FRAME_FIGURES_H

#include "result/result.h"

enum { FIGURE = 32, FIGURE_STALLS = 256 };

const char *figure_bytes(const struct cell *bytes, char text[FIGURE]); /* "4.80 GiB"; NULL: 0 */
/* HBM that KV takes: the cache, and what stays there in any case (resident heads, recent tokens). */
const char *figure_kv(const struct result *result, char text[FIGURE]);
const char *figure_percent(const struct cell *share, char text[FIGURE]); /* "94.3" */
const char *figure_dollars(const struct cell *dollars, char text[FIGURE]);
const char *figure_rate(const struct cell *rate, char text[FIGURE]);
const char *figure_ms(int64_t ns, char text[FIGURE]);
const char *figure_seconds(int64_t ns, char text[FIGURE]);

/* For a run with a time: the share of its step in which it waits, "23 %"; and these shares by
 * cause, largest first, without those that round to 0: "manager 18, sync 2". */
const char *figure_stalled(const struct result *result, char text[FIGURE]);
const char *figure_stalls(const struct result *result, char text[FIGURE_STALLS]);

#endif
