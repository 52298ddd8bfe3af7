/* Validation: what the calibration harness measured of mechanisms in miniature, beside what the
 * simulator says that they take on the machine of a profile (decode/miniature.h).
 *
 * Nothing is fitted: predictions read the profile's curves as simulate does, and the rate of the
 * thread that stands for the copy engine, which the harness measures alone.
 *
 * An error of at most 20 % meets, a median of all errors of at most 10 %. No gate is tighter than
 * twice the spread of the measurement itself, half of what lies between its first and last decile:
 * an error over 20 % and within that is noise, and says nothing either way.
 */
#ifndef STUDY_VALIDATION_H
#define STUDY_VALIDATION_H

#include "base/error.h"
#include "decode/miniature.h"

#define VALIDATION_GATE 0.20
#define VALIDATION_MEDIAN_GATE 0.10

enum validation_verdict { VALIDATION_MET, VALIDATION_NOISE, VALIDATION_MISSED };
extern const char *const validation_verdicts[]; /* their names */

struct validation_figure {
    double median, p10, p90;
    uint32_t samples;
};

struct validation_row {
    struct validation_figure measured; /* ns a layer */
    double output_error;               /* largest difference, as a share of the largest value */
    double predicted;                  /* ns a layer */
    double error;                      /* predicted / measured - 1 */
    double gate;                       /* largest error that is not missed */
    enum validation_verdict verdict;
    uint32_t predicted_rank, measured_rank; /* 1 is the fastest */
};

struct validation {
    struct miniature shape;
    struct miniature_link link;
    struct validation_row rows[MINIATURE_COUNT];
    double median_error, median_gate; /* of all rows */
    enum validation_verdict median_verdict;
};

/* The shape of a run: the model's heads at the least multiple of the recorded context that has
 * `context` tokens. Refuses a trace of clusters or too short a one, a model of latent KV, and a
 * profile that lacks a curve; the harness refuses what it cannot run. */
bool validation_shape(const struct model *model, const struct trace *trace,
                      const struct profile *profile, uint64_t context, struct miniature *out,
                      struct error *why);

/* What the harness is told, as JSON; the caller frees it. */
char *validation_spec(const struct miniature *shape, const char *trace_path, double seconds,
                      struct error *why);

/* Read what it printed (`lines`), predict, and judge. Fails where a line is missing or no line of
 * its, and where the harness had other hits than a replay. */
bool validation_judge(const struct miniature *shape, const struct trace *trace,
                      const struct profile *profile, const char *lines, struct validation *out,
                      struct error *why);

#endif
