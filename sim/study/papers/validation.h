/* Validation: times that the calibration harness measured of mechanisms in miniature, on a GPU or
 * on a host without one, beside the simulator's predictions for the machine of a profile
 * (decode/miniature/miniature.h).
 *
 * A prediction uses the profile's curves; those of the host were measured again by the harness, in the
 * same rounds as the mechanisms, because a shared machine may have changed by 50 % since it was profiled.
 * So the error is that of the model alone. Nothing is fitted. No gate is tighter than twice the spread of
 * the measurement, half the distance from its first to its last decile: an error above the asked gate but
 * within that is noise and decides nothing. */
#pragma once

#include "decode/miniature/miniature.h"
#include "model/model.h"

struct validation_gates {
    const char *of; /* the class: "managed by the CPU" */
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
    struct validation_figure measured; /* ns per layer */
    double output_error;               /* largest difference, as a share of the largest value */
    double predicted, error;           /* ns per layer; divided by measured, minus 1 */
    double gate;                       /* largest error that is not missed */
    enum validation_verdict verdict;
    char absent[256]; /* why it was not run or not predicted; "": it was run and predicted */
    bool failed;      /* it is absent because it failed, not because this machine cannot run it */
};

enum { VALIDATION_CURVES = 10, VALIDATION_POINTS = 16 };

/* A curve as measured today. */
struct validation_curve {
    enum curve_id id;
    uint32_t count;
    double size[VALIDATION_POINTS], value[VALIDATION_POINTS];
    double change; /* today divided by the profile, mean of all points */
};

/* All mechanisms of a class. */
struct validation_class {
    uint32_t count; /* 0: none was run */
    double median_error, median_gate;
    enum validation_verdict verdict;
};

struct validation {
    struct miniature shape;
    struct miniature_stand_ins stand_ins;
    struct validation_curve curves[VALIDATION_CURVES];
    uint32_t curve_count;
    struct profile today; /* the caller's, with these curves; it owns nothing */
    struct validation_row rows[MINIATURE_COUNT]; /* valid where validation_ran() */
    struct validation_class classes[MINIATURE_CLASSES];
};

/* Does the mechanism belong to this site? Was it run and predicted? */
bool validation_has(const struct validation *validation, int id);
bool validation_ran(const struct validation *validation, int id);

/* The shape of a run: the model's heads at the least multiple of the recorded context with `context` tokens.
 * Fails for clusters, too short a trace, latent KV, or a missing curve. */
bool validation_shape(const struct model *model, const struct trace *trace,
                      const struct profile *profile, enum miniature_site site, uint64_t context,
                      struct miniature *out, struct error *why);

/* The harness's instructions, as JSON; the caller frees them. */
char *validation_spec(const struct miniature *shape, const char *trace_path, double seconds,
                      struct error *why);

/* Read the harness's output (`lines`), predict, and judge. Fails if a line is missing, or hits differ. */
bool validation_judge(const struct miniature *shape, const struct trace *trace,
                      const struct profile *profile, const char *lines, struct validation *out,
                      struct error *why);
