/* What a plan chooses among: systems, each on every machine.
 *
 * A set is names (or paths) with commas between, `all` that ship, or what the scenario says. Left
 * out, unless allowed, are systems that exist on paper only, and lossy ones: those that answer
 * otherwise than full attention does. `lossless: native` is exact to a model that has an indexer of
 * its own, and lossy for others.
 */
#ifndef STUDY_PLAN_CANDIDATES_H
#define STUDY_PLAN_CANDIDATES_H

#include "scenario/scenario.h"

struct candidate_options {
    const char *systems, *machines; /* NULL: what the scenario says, and of systems else all */
    bool allow_lossy, allow_paper;
};

struct candidate {
    char *system, *machine;   /* as named, owned */
    struct scenario scenario; /* one point: of this system on this machine */
    char left_out[96];        /* why; or "" */
    uint32_t mechanisms;      /* keys of mechanism that its preset says */
};

/* Lay every system and machine over `scenario`, which is of one point. The caller destroys them. */
bool candidates_create(const struct scenario *scenario, const struct candidate_options *options,
                       struct candidate **out, uint32_t *count, struct error *why);
void candidates_destroy(struct candidate *candidates, uint32_t count);

/* Check what only the resolved setup tells: a native system with a model of no indexer. */
void candidate_check(struct candidate *candidate, const struct setup *setup,
                     const struct candidate_options *options);

/* Complain that all of them are left out. Returns false. */
bool candidates_refuse(const struct candidate *candidates, struct error *why);

#endif
