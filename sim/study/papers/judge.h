#ifndef STUDY_PAPERS_JUDGE_H
#define STUDY_PAPERS_JUDGE_H

#include "study/papers/comparison.h"

/* Fill the row in from its runs, which have run. */
void judge_row(const struct comparison *comparison, struct comparison_row *row);

#endif
