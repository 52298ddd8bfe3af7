/* A plan: for each candidate the value of an axis that is liked best among those that meet all
 * targets, and which candidate wins.
 *
 * A candidate's values are searched (search.h) in rounds. A round of all candidates is one sweep,
 * whose points are stored, share their replays with all rounds, and each is the run that `simulate`
 * makes of it. Liked best is the
 * least value, or the largest. Among candidates, the best value wins; where the axis is the budget,
 * which means another thing to every system, the run that takes the least HBM. Of equals it is the
 * one that takes less HBM, then the one with less time from arrival to the last token, then less
 * time of a token; of those whose figures are the same the plainest, whose preset says the fewest
 * mechanisms; and then the first.
 *
 * A system without a cache has no budget to choose: it is judged as the scenario says it.
 */
#ifndef STUDY_PLAN_PLANNING_H
#define STUDY_PLAN_PLANNING_H

#include "store/store.h"
#include "study/plan/candidates.h"
#include "study/plan/search.h"
#include "study/plan/target.h"
#include "study/whatif/axis.h"

#define PLANNING_NONE UINT32_MAX

struct planning_options {
    struct targets targets;
    struct candidate_options candidates;
    const char *axis; /* one, as axis.h has it */
    bool maximise;
    struct store *store; /* NULL: keep nothing */
    uint32_t jobs;       /* 0: one a processor */
    const struct run_context *runs; /* with room for these jobs, replicated */
    uint32_t draws;      /* of each value found (planning_draws.h); 0: none */
    void (*on_progress)(const char *system, const char *machine, uint32_t runs, void *context);
    void *context;
};

/* The search of one candidate. Values are numbered as they are liked, best first. */
struct quest {
    const struct candidate *candidate;
    const char *fixed; /* why there is nothing to choose; NULL */
    struct error why;  /* of one that cannot be run: then there is no search */
    bool cannot;
    struct axis axis; /* none where it is fixed */
    struct search search;
    struct result *results;  /* [search.count]; those that were tried; owned */
    uint32_t found, nearest; /* or PLANNING_NONE */
};

struct planning {
    struct candidate *candidates; /* owned */
    struct quest *quests;         /* [count], owned; left-out candidates have none that began */
    uint32_t count;
    const struct run_context *runs; /* the options' */
    bool maximise;
    uint32_t winner;  /* of the quests; or PLANNING_NONE */
    uint32_t nearest; /* that is least short of those that find no value; or PLANNING_NONE */
};

/* Does `quest` reach the same value as the winner, another? Never of budgets, which systems spend
 * each in its own way. There is a winner. */
bool planning_ties(const struct planning *planning, const struct quest *quest);

/* Fails where no candidate can be run, all are left out, or none can have a value that was typed.
 * The caller releases `out`, on failure too. */
bool planning_run(const struct scenario *scenario, const struct planning_options *options,
                  struct planning *out, bool *interrupted, struct error *why);
void planning_release(struct planning *planning);

/* A value as a person reads it: "12.4 %"; and as the scenario writes it. NULL where there is
 * nothing to choose. */
const char *quest_label(const struct quest *quest, bool maximise, uint32_t value, char *text,
                        size_t size);
const char *quest_text(const struct quest *quest, bool maximise, uint32_t value);

/* The scenario that is this value's run, to be destroyed. */
struct node *quest_scenario(const struct quest *quest, bool maximise, uint32_t value,
                            struct error *why);

#endif
