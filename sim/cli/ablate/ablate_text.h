/* Words and figures that the table of an ablation and its sentences share. */
#pragma once

#include "predict/result/shown.h"
#include "study/ablate/ablation.h"

enum { ABLATE_NAMES = 512 };

/* Milliseconds with as many decimals as the longest step shown, so that sums can be checked by eye.
 */
const char *ablate_ms(const struct ablation *ablation, int64_t ns, char text[SHOWN_TEXT]);

/* Their number. */
int ablate_decimals(const struct ablation *ablation);

/* "litecache", or "retroinfer, overridden": a preset may be compared with itself under
 * overrides. */
const char *ablate_system(const struct ablation *ablation, char text[ABLATE_NAMES]);

/* What the table calls a row: "  + merge=no". */
const char *ablate_name(const struct ablation *ablation, const struct ablation_row *row,
                        char text[ABLATE_NAMES]);

/* "on top of sync", "also without launch"; "" if the row has no others. */
const char *ablate_others(const struct ablation *ablation, const struct ablation_row *row,
                          char text[ABLATE_NAMES]);

/* The rows of a mechanism that are nearest to the base and nearest to the system. */
struct ablate_ends {
    const struct ablation_row *rows[2];
    int64_t saves[2];
};

/* Returns false if a step has no time. */
bool ablate_ends(const struct ablation *ablation, uint32_t mechanism, struct ablate_ends *out);

/* Does the mechanism change no step, alone and with the others? Its rows are then left out. */
bool ablate_is_idle(const struct ablation *ablation, uint32_t mechanism);
