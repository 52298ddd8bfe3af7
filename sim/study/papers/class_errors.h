/* How wrong the predictions of a class are, and whether its error band holds on unseen rows.
 *
 * A row is off by a factor: predicted over published, or the reciprocal if that is larger; 1 within
 * a published range. Rows without a factor: those not comparable, ranks, runs that do not fit (a
 * miss, but of memory), and a met range that is wider than the tolerance, which shows no error.
 *
 * The band of a class of systems is the largest factor of its rows that predict the time or rate of
 * a whole step, absolutely or against a bandwidth-bound system. The band of a server's figure is
 * the largest factor of the rows of that figure, kind of model and load (error_band.h); of all of
 * these rows, and of those of one class of machines. It is the same upwards and downwards: a few
 * tables do not tell on which side the next system lies.
 *
 * A band is tested by leaving out. Each row whose table gave no figure to a profile (paper.h,
 * `used`) is held against the largest factor of rows of other papers on other machines. Rows of one
 * table err alike, so it would say little that some of them lie inside the range of the others. A
 * band stands if it held at least half of these rows, and if it is no wider than 2x. Rows of one
 * paper alone test nothing.
 */
#ifndef STUDY_PAPERS_CLASS_ERRORS_H
#define STUDY_PAPERS_CLASS_ERRORS_H

#include "decode/error_band.h"
#include "study/papers/comparison.h"

struct class_errors {
    uint32_t rows;           /* that have a factor */
    double median;           /* of their factors: exp(median of |log(predicted / published)|) */
    struct error_band band;  /* 0 rows: it has none */
    uint32_t below;          /* rows of the band whose prediction lies below the published figure */
    uint32_t papers;         /* that these rows are of */
    uint32_t tested, inside; /* rows of the band that it was tested on, and those that it held */
};

/* Did the band hold at least half of the rows that it never saw? Does it stand: did it hold, and
 * is it narrow enough to tell anything (2x at most)? */
bool class_errors_band_held(const struct class_errors *errors);
bool class_errors_band_stands(const struct class_errors *errors);

/* Does the band at `place` (error_band.h) say more than others? One without rows does not; nor does
 * that of a class of machines whose rows are of one paper: such machines have the band of all. */
bool class_errors_tell(int place, const struct class_errors *errors);

/* The errors of the rows of a class (compared by address, as rows refer to it); its band is left
 * out. Fails only if memory runs out. */
bool class_errors_of(const struct comparison *comparison, const char *class_name,
                     struct class_errors *out, struct error *why);

/* The errors of the rows of a band, by its place (error_band.h), and the band. Fails only if memory
 * runs out. */
bool class_errors_of_band(const struct comparison *comparison, int place, struct class_errors *out,
                          struct error *why);

#endif
