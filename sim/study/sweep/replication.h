/* Replications: how far a result spreads, given what is not known of the machine.
 *
 * A replication is one draw. For every figure of the machine that has a range, a quantile is drawn,
 * and the figure is what its own distribution says there (hardware/spread.h); the run is then timed
 * on that machine. What is generated (traces, arrivals, lots) takes the seed and the number of the
 * replication, added up; a recorded trace stays as it is. What was planned stays, too: a system
 * plans by what its profile says, and memory is not drawn.
 *
 * The quantile is a hash of seed, replication and the figure's name. So replication r is the same
 * machine for every system and point: common random numbers, under which two systems differ by what
 * they do, not by their luck (Law, "Simulation Modeling and Analysis", on variance reduction).
 * Figures are drawn independently of each other. Replication 0 is a draw like any other, and the
 * run itself stays the one without draws.
 *
 * With a precision drawing stops as soon as the interval of the mean (study/sweep/interval.h) is as
 * narrow as asked for, judged after fixed numbers of draws, in their order: any number of threads
 * stops at the same one. Stopping so is asymptotically fair (Chow and Robbins, "On the Asymptotic
 * Theory of Fixed-Width Sequential Confidence Intervals", Ann. Math. Stat. 36, 1965); a least
 * number keeps a lucky beginning from stopping it.
 */
#ifndef STUDY_SWEEP_REPLICATION_H
#define STUDY_SWEEP_REPLICATION_H

#include "result/result.h"
#include "run/context.h"
#include "scenario/point.h"

enum { REPLICATIONS_LEAST = 2, REPLICATIONS_MOST = 100000 };

struct replication_options {
    uint32_t count;   /* draws at most; 0: none are made */
    double precision; /* half-width of the interval of the main figure, as a share; 0: draw all */
    void (*on_draw)(void *context); /* behind each, in the thread that made it; NULL: nothing */
    void *context;
};

/* In (0, 1): where in its distribution a figure is drawn. */
double replication_quantile(uint64_t seed, uint32_t replication, enum curve_id id);

/* The hash of the ranges that are drawn from, as 16 hex digits: with a run's hash, what draws are
 * of. */
void replication_ranges(const struct setup *setup, char ranges[17]);

/* The figure that precision is about, and by which runs are compared: the time of a step, or of a
 * server the mean time to first token. DRAWN_COUNT where a run has neither. */
enum drawn replication_main(const struct result *result);

/* How many of these draws are enough; 0: more are needed. */
uint32_t replication_enough(const struct replication_options *options, const struct result *result);

/* answer_run(), and its replications into result->draws; none of a run without a time.
 * `context->threads`: draws at once; `context->shared` has room for twice as many. Fails when
 * stopped. */
bool replication_run(const struct point *point, const struct replication_options *options,
                     const struct run_context *context, struct result *result, struct error *why);

#endif
