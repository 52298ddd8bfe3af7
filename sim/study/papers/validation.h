/* Validation: what the calibration harness measured of mechanisms in miniature, on a GPU or on a
 * host without one, beside what the simulator says that they take on the machine of a profile
 * (decode/miniature/miniature.h).
 *
 * Each is predicted twice. As profiled: from the profile's curves, as simulate reads them. Today:
 * from the same curves as the harness found them in the same rounds as the mechanisms, by the same
 * probes that calibrate has. The first error has in it how the machine has changed since it was
 * profiled, which on one that others share is half as fast again; the second is that of the model
 * alone, and the one that is judged. Nothing is fitted; what is no curve of a host, the rates of
 * the threads that stand for a GPU and a link, both take as measured.
 *
 * Of mechanisms whose time the GPU alone decides an error of at most 8 % meets, and a median of all
 * errors of at most 3 %; of those that a CPU manages 20 % and 10 %. No gate is tighter than twice
 * the spread of the measurement itself, half of what lies between its first and last decile: an
 * error that is larger than asked for and within that is noise, and says nothing either way.
 */
#ifndef STUDY_PAPERS_VALIDATION_H
#define STUDY_PAPERS_VALIDATION_H

#include "base/error.h"
#include "decode/miniature/miniature.h"

struct validation_gates {
    const char *of; /* "managed by the CPU" */
    double each, median;
};
extern const struct validation_gates validation_gates[MINIATURE_CLASSES];

enum validation_verdict { VALIDATION_MET, VALIDATION_NOISE, VALIDATION_MISSED };
extern const char *const validation_verdicts[]; /* their names */

struct validation_figure {
    double median, p10, p90;
    uint32_t samples;
};

struct validation_row {
    struct validation_figure measured; /* ns a layer */
    double output_error;               /* largest difference, as a share of the largest value */
    double profiled, profiled_error;   /* ns a layer as profiled; over measured, less 1 */
    double predicted, error;           /* the same today */
    double gate;                       /* largest error that is not missed */
    enum validation_verdict verdict;
    uint32_t predicted_rank, measured_rank; /* 1 is the fastest */
    char absent[256]; /* why it was not run, or not predicted; "": it was both */
};

enum { VALIDATION_CURVES = 8, VALIDATION_POINTS = 16 };

/* A curve as it is today. */
struct validation_curve {
    enum curve_id id;
    uint32_t count;
    double size[VALIDATION_POINTS], value[VALIDATION_POINTS];
    double change; /* over the profile's, the mean of all points */
};

/* Of all mechanisms of a class. */
struct validation_class {
    uint32_t count; /* 0: none was run */
    double median_error, median_gate, median_profiled_error;
    enum validation_verdict verdict;
};

struct validation {
    struct miniature shape;
    struct miniature_stand_ins stand_ins;
    struct validation_curve curves[VALIDATION_CURVES];
    uint32_t curve_count;
    struct validation_row rows[MINIATURE_COUNT]; /* those that validation_ran() */
    struct validation_class classes[MINIATURE_CLASSES];
};

/* Is it of this site; and was it run and predicted? */
bool validation_has(const struct validation *validation, int id);
bool validation_ran(const struct validation *validation, int id);

/* The shape of a run: the model's heads at the least multiple of the recorded context that has
 * `context` tokens. Refuses a trace of clusters or too short a one, a model of latent KV, and a
 * profile that lacks a curve; the harness refuses what it cannot run. */
bool validation_shape(const struct model *model, const struct trace *trace,
                      const struct profile *profile, enum miniature_site site, uint64_t context,
                      struct miniature *out, struct error *why);

/* What the harness is told, as JSON; the caller frees it. For 0 seconds it only says whether it can
 * run that. */
char *validation_spec(const struct miniature *shape, const char *trace_path, double seconds,
                      struct error *why);

/* Read what it printed (`lines`), predict, and judge. Fails where a line is missing or no line of
 * its, and where the harness had other hits than a replay. */
bool validation_judge(const struct miniature *shape, const struct trace *trace,
                      const struct profile *profile, const char *lines, struct validation *out,
                      struct error *why);

#endif
