/* What-if studies: run a scenario along one axis, or over the grid of two, and draw conclusions. The study is
 * a sweep over the axes' values. Its points are stored, share their replays, and each is the run that
 * `simulate` makes of it. A point that does not fit in memory, or at which the system cannot run, is still a
 * point. */
#pragma once

#include "predict/result/tie.h"
#include "study/sweep/sweep.h"
#include "study/whatif/axis.h"

enum { WHATIF_MOST_AXES = 2 };

/* The figure that a study compares. Usually: tokens per second of all sequences. For a server with
 * objectives: requests per second that meet them. For a server without a clock: the percentage of prompt
 * tokens found. For a server without objectives, tokens per second follow from the requests that arrive, as
 * long as it keeps up. If the same requests arrive at every point, the study compares their time; if
 * different ones arrive, the study names no best: they are one draw each, and near its capacity a server may
 * hold a load in one draw and break down in another (study/plan/capacity.h). */
enum whatif_figure {
    WHATIF_RATE,
    WHATIF_BORNE, /* tokens per second, of the requests that arrive */
    WHATIF_TIME,  /* mean seconds of a request from arrival to the last token: less is better */
    WHATIF_GOODPUT,
    WHATIF_FOUND,
};
#define WHATIF_NONE UINT32_MAX

struct whatif_options {
    const char *over; /* one axis (axis.h), or two separated by a comma */
    uint32_t points;  /* of a range; 0: the usual number */
    struct study study;
};

struct whatif {
    struct scenario scenario; /* sweeps the axes */
    struct axis axes[WHATIF_MOST_AXES];
    uint32_t axis_count;
    char own_profile[17];   /* hash of the scenario's own machine */
    struct result *results; /* [count] in the order of the axes, the last one fastest; owned */
    uint32_t count;         /* fewer than the points if the study was interrupted */
    enum whatif_figure figure;
    int64_t unanswered; /* fewest prompt tokens of unanswered requests at any point */
};

/* Run a scenario of one point along its axes; one must run. The caller releases `out` in any case. */
bool whatif_run(const struct scenario *scenario, const struct whatif_options *options,
                struct whatif *out, struct error *why);
void whatif_release(struct whatif *whatif);

/* Are these runs of a server, with requests instead of a step? */
bool whatif_serves(const struct whatif *whatif);

uint32_t whatif_value(const struct whatif *whatif, uint32_t axis, uint32_t point);

/* Set `figure` and `unanswered` from the points. */
void whatif_judge(struct whatif *whatif);

/* Why a point of a server without objectives must not be compared (NULL: it may): its queue grows, so that
 * its figures hold for this length only, or it leaves requests unanswered. */
const char *whatif_objection(const struct whatif *whatif, uint32_t point);

/* The figure of a point; NAN if it has none or there is an objection. */
double whatif_worth(const struct whatif *whatif, uint32_t point);

bool whatif_is_axis(const struct whatif *whatif, const char *key);

/* Requests that arrive per second at every point with a time; NAN: they differ, or none arrive. */
double whatif_arrivals(const struct whatif *whatif);

/* The conclusions. Fields are points, or WHATIF_NONE. */
struct whatif_findings {
    uint32_t timed; /* number of points that have the figure */
    uint32_t best;  /* the first within a thousandth of the best; none of WHATIF_BORNE */
    uint32_t own;   /* the scenario's own point */
    uint32_t knee;  /* if the figure improves along a single axis of numbers that do not all tie */
    bool all_tie;   /* all other points tie with the best one */
    enum tie worst; /* the last of the reasons for ties with it, in the order of enum tie */
};

struct whatif_findings whatif_find(const struct whatif *whatif);

/* Does a point tie with the best one in the study's figure (predict/result/tie.h)? Not without one. */
bool whatif_ties(const struct whatif *whatif, const struct whatif_findings *findings,
                 uint32_t point);

/* The knee of a miss curve: the size beyond which further blocks save less than before. As in V. Satopaa et
 * al., "Finding a 'Kneedle' in a haystack", 2011, without its smoothing. Draw a straight line from no cache,
 * where every access misses, to the largest size of the curve. The knee is the size whose misses lie furthest
 * below it. It is a corner of the curve's convex hull and does not move when either axis is stretched, but it
 * depends on how far the curve goes. */

/* The index of the knee among ascending sizes, the smallest of equals. False: none is below the line. */
bool knee_find(const uint32_t *sizes, const uint64_t *misses, uint32_t count, uint64_t accesses,
               uint32_t *index);

/* The same for any curve: the point furthest above the line from the first to the last. False: none is. */
bool knee_above(const double *x, const double *y, uint32_t count, uint32_t *index);
