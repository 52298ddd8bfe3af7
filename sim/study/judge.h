#ifndef STUDY_JUDGE_H
#define STUDY_JUDGE_H

#include "study/comparison.h"

/* Fill the row in from its runs, which have run. */
void judge_row(const struct comparison *comparison, struct comparison_row *row);

#endif
