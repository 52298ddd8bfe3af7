/* Points of a what-if study as texts, in tables and below them. */
#ifndef CLI_WHATIF_WHATIF_TEXT_H
#define CLI_WHATIF_WHATIF_TEXT_H

#include "answer/units.h"
#include "study/whatif/whatif.h"

enum { WHATIF_TEXT = 64, WHATIF_LINE = 512 };

/* The measure of a study, in words, by enum whatif_figure. */
struct whatif_words {
    const char *unit; /* after a figure */
    const char *grid; /* above a grid of figures */
    const char *none; /* no point has it */
    const char *flat; /* all points have the same */
    const char *zero; /* and that is zero; NULL: use `flat` */
};
extern const struct whatif_words whatif_words[];

/* The name of a point: its value on each axis, "15.0 %, batch 4". */
const char *whatif_name(const struct whatif *whatif, uint32_t point, char text[WHATIF_LINE]);

/* The measure of a point, or a rate of arrivals, as text. */
const char *whatif_number(double worth, char text[ANSWER_SIZE]);

/* The marks of a point: "here, knee". "here" is the scenario's own value; a "tie" is one with the
 * best point. */
const char *whatif_mark(const struct whatif *whatif, const struct whatif_findings *findings,
                        uint32_t point, char text[WHATIF_TEXT]);

#endif
