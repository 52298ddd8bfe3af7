/* What if: a scenario along an axis, or over the grid of two, and what follows from that.
 *
 * The study is a sweep over the axes' values, like any other: its points are stored, share their
 * replays, and each is the run that `simulate` makes of it. A point that does not fit in memory, or
 * that the system cannot be run at, is a point all the same.
 */
#ifndef STUDY_WHATIF_WHATIF_H
#define STUDY_WHATIF_WHATIF_H

#include "study/sweep/sweep.h"
#include "study/whatif/axis.h"

enum { WHATIF_MOST_AXES = 2 };

/* What a study wants more of: tokens a second, all sequences. Of a server with objectives, requests
 * a second that meet them; of one without a clock, the percentage of prompts that is found. Of a
 * server without objectives, tokens a second are those of the requests that come, however it fares,
 * for as long as it answers them: where the same come at every point it should take less time for
 * them, and where others come at each, bear more of them. */
enum whatif_figure {
    WHATIF_RATE,
    WHATIF_BORNE, /* tokens a second of those that come */
    WHATIF_TIME,  /* seconds a request from arrival to the last token, on average: less is better */
    WHATIF_GOODPUT,
    WHATIF_FOUND,
};
#define WHATIF_NONE UINT32_MAX

struct whatif_options {
    const char *over;    /* one axis (axis.h), or two with a comma between */
    uint32_t points;     /* of a range; 0: as many as are usual */
    struct store *store; /* NULL: keep nothing */
    uint32_t jobs;       /* 0: one a processor */
    const struct run_context *runs; /* with room for these jobs */
    void (*on_progress)(uint32_t done, uint32_t points, void *context);
    void *context;
};

struct whatif {
    struct scenario scenario; /* with the axes swept */
    struct axis axes[WHATIF_MOST_AXES];
    uint32_t axis_count;
    char own_profile[17];   /* hash of the scenario's own machine */
    struct result *results; /* [count] in the order of the axes, the last one fastest; owned */
    uint32_t count;         /* fewer than there are points where it was interrupted */
    enum whatif_figure figure;
    int64_t unanswered; /* prompt tokens of requests that no point answers */
};

/* Run a scenario of one point along its axes. Fails where not even one point can be run. The caller
 * releases `out`, on failure too. */
bool whatif_run(const struct scenario *scenario, const struct whatif_options *options,
                struct whatif *out, bool *interrupted, struct error *why);
void whatif_release(struct whatif *whatif);

/* The value that point `point` has on an axis. */
uint32_t whatif_value(const struct whatif *whatif, uint32_t axis, uint32_t point);

/* Read off the points which figure the study is about, and what none answers. */
void whatif_judge(struct whatif *whatif);

/* Why a point of a server without objectives says nothing about another; NULL where it does: its
 * queue grows without bound, so that its times and rates are those of a workload of just this
 * length; or it leaves out requests that others answer. */
const char *whatif_objection(const struct whatif *whatif, uint32_t point);

/* What a point has of the figure; NAN where it has none, or there is an objection. And the share of
 * its step in which it waits for the link. */
double whatif_worth(const struct whatif *whatif, uint32_t point);
double whatif_link_stall(const struct result *result);

/* Requests a second that come at every point with a time; NAN where they differ, or none do. */
double whatif_arrivals(const struct whatif *whatif);

/* What follows. Points, or WHATIF_NONE. */
struct whatif_findings {
    uint32_t timed;          /* how many points have the figure */
    bool flat;               /* all of these have the same, within a thousandth */
    uint32_t best;           /* the first that has the best, within a thousandth */
    uint32_t own, more;      /* the scenario's own point; with a GiB more */
    bool ordered;            /* one axis, of numbers or links: what follows says something */
    uint32_t knee;           /* of a figure that gets better along an axis of numbers */
    /* More requests come than are answered at the points [from, to), which reach an end. */
    uint32_t unbounded_from, unbounded_to;
    /* The link stalls less than WHATIF_FREE of the step at the points [from, to). */
    uint32_t link_free_from, link_free_to;
};
#define WHATIF_FREE 0.01

struct whatif_findings whatif_find(const struct whatif *whatif);

#endif
