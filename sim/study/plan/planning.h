/* A plan: the best value of an axis that meets all targets, for each candidate, and the winner among the
 * candidates. The best value is the smallest, the largest, or the one with the best figure, such as the batch
 * with the most tokens per second.
 *
 * Each candidate's values are searched (grid.h) in common rounds (rounds.h). If no candidate meets all
 * targets, the search goes on for those that can be met, so that the nearest value misses only what is out of
 * reach. A system without a cache has no budget to choose; it is judged as the scenario sets it.
 *
 * The candidate with the best value, or the best figure, wins. A budget means something different in every
 * system, so if the axis is the budget, the run that takes the least HBM wins. Ties are broken by less HBM,
 * then by less time from arrival to the last token, then by less time per token. Among candidates with the
 * same figures the simplest wins: its preset sets the fewest mechanisms. After that, the first. Of loads of a
 * stream, which are known less well, the simplest wins of all that are too close to call. */
#pragma once

#include "predict/result/tie.h"
#include "store/store.h"
#include "study/plan/candidates.h"
#include "study/plan/grid.h"
#include "study/plan/capacity.h"
#include "study/plan/target.h"
#include "study/sweep/sweep.h"
#include "study/whatif/axis.h"

#define PLANNING_NONE UINT32_MAX

/* The system that all others are compared with. */
#define PLAIN_SYSTEM "vllm"

struct planning_options {
    struct targets targets;
    struct candidate_options candidates;
    const char *axis; /* one axis, in the notation of axis.h */
    bool unasked;     /* the usual one: nobody stated a goal */
    bool maximise;
    const struct column *best; /* the value with the best of this figure is wanted; NULL: the
                                * smallest or largest */
    double guess; /* where the highest rate probably is; 0: a cheap run of each candidate says so */
    /* A rate is needed to a tenth, but for one that `choose` chooses. */
    bool rough;
    /* Which answer wins, among what was found so far; NULL: the best. */
    uint32_t (*choose)(const void *context);
    const void *context;
    struct study study;
};

/* How long the server of a load was watched: as briefly as tells most loads, as long as it takes to tell
 * whether this one holds, or as `simulate` does. */
enum search_depth { SEARCH_BRIEF, SEARCH_LONG, SEARCH_WHOLE };

/* The search of one candidate. Values are numbered by preference, best first. */
struct search {
    const struct candidate *candidate;
    const char *fixed; /* why there is no value to choose; NULL: there is */
    struct error why;  /* if `cannot`: why it cannot run; then nothing is searched */
    bool cannot;
    struct axis axis;       /* empty if `fixed` */
    bool maximise;          /* its last value is the best */
    struct targets targets; /* by which its values are judged: the options' */
    struct grid grid;
    uint8_t
        *depth; /* [grid.count] of loads of a stream: the enum search_depth of the last run; owned;
                     * else NULL */
    struct capacity_draws *draws; /* [grid.count] of those: the draws of SEARCH_WHOLE; owned */
    struct result *results;       /* [search.count], set for the values tried; owned */
    uint32_t found, nearest;      /* values; or PLANNING_NONE */
};

struct planning {
    struct candidate *candidates; /* owned */
    struct search *searches;      /* [count], owned; those of left-out candidates never begin */
    uint32_t count;
    uint32_t decided; /* candidates; counted before each round */
    bool is_stream;   /* its loads are of made-up requests without end (capacity.h) */
    struct planning_options options; /* its texts are the caller's */
    enum search_depth depth;         /* of a round */
    uint32_t winner;                 /* a search; or PLANNING_NONE */
    uint32_t nearest; /* the search least short among those that found nothing; or PLANNING_NONE */
};

/* Fails if no candidate can run, if all are left out, or if a value that the user typed is invalid for every
 * candidate. A highest load is a capacity (capacity.h). The caller releases `out`, also after a failure. */
bool planning_run(const struct scenario *scenario, const struct planning_options *options,
                  struct planning *out, struct error *why);
void planning_release(struct planning *planning);

/* The value found, or else the nearest; PLANNING_NONE if no run has figures to judge. */
uint32_t search_shown(const struct search *search);

/* Is it too close to call whether the value meets the targets? The interval of a figure of its run reaches
 * a limit (predict/server/stream_question.h). */
bool search_is_close(const struct search *search, uint32_t value);

/* Is the value surely no answer? It is not if one of its draws misses, as an answer holds in all; before any was
 * asked a longer run's interval tells. That of a short one is so wide that a miss by more than a short run is off
 * is one, too. */
bool search_surely_misses(const struct search *search, uint32_t value);

/* The next better value that was tried and surely misses a target, or without one that misses one. It need not
 * be the neighbour of the value found (grid.close). PLANNING_NONE if there is none. */
uint32_t search_next_miss(const struct search *search);

/* Is the value found the answer of `simulate`, too? Of the loads of streams only a winner's is, as others are
 * searched by short runs. The interval in which such a load lies, in the axis' unit: short runs hold a tenth
 * more than its `least`, and clearly miss a tenth less than its `most` (without a clear miss, two tenths more
 * than what was missed; infinity: nothing was). Both are the value found where that is the answer.
 * `search` has found a value. */
bool search_is_whole(const struct search *search);
struct search_interval {
    double least, most;
};
struct search_interval search_interval(const struct search *search);

/* Why the answers of two searches are too close to call, by tokens a second: of loads of a stream they are if
 * their intervals meet. Both searches have found a value. */
enum tie searches_tie(const struct search *a, const struct search *b);

/* The best value tried that is no better than the one found, meets the targets and is not too close to
 * call; without one, the value found. */
uint32_t search_surely_held(const struct search *search);

/* A value of the axis: the first is preferred when minimising, the last when maximising. */
const struct axis_value *search_value(const struct search *search, uint32_t value);

/* Of a largest value: the best one of at most this number; without one, the last. */
uint32_t search_value_at(const struct search *search, double number);

/* A value as a person reads it ("12.4 %"), and as the scenario writes it. NULL if there is none to choose. */
const char *search_label(const struct search *search, uint32_t value, char *text, size_t size);
const char *search_text(const struct search *search, uint32_t value);

/* The scenario of this value's run. The caller releases `out`, on failure too. */
bool search_scenario(const struct search *search, uint32_t value, struct scenario *out,
                     struct error *why);

/* Costs of two answers, most important first: does the first that differs make these less? */
bool costs_are_less(const double *costs, const double *than, int count);

/* Of the searches too close to call to the best one, that of the plain system, or else the simplest: the one
 * rule of `plan` of a stream's load and of `advise`. `admits`: NULL, or says which may win. */
uint32_t winner_simplest(const struct planning *planning, const struct search *best,
                         bool (*admits)(const struct search *search));

/* Is it the search that won? */
bool winner_is(const struct planning *planning, const struct search *search);

/* Does `search` reach the same value as the winner without being it, or a figure or a load too close to
 * its own to say which is better? Always false for budgets, which every system spends in its own way.
 * The plan must have a winner. */
bool winner_ties(const struct planning *planning, const struct search *search);

/* ---- the parts of a plan, for planning.c ---- */

/* search.c: set up the search. A candidate that cannot be resolved keeps its error; the others go on. */
bool search_begin(struct search *search, struct candidate *candidate,
                  const struct planning_options *options, bool is_stream, struct error *why);
void search_release(struct search *search);

/* Does the axis, in the notation of axis.h, vary a load? */
bool search_is_load(const char *axis);
