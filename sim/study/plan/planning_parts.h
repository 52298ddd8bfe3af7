/* The parts of a plan's search. Internal to planning.c. */
#pragma once

#include "study/plan/planning.h"

/* One try of a round. */
struct tried_value {
    struct search *search;
    uint32_t value;
};

/* planning.c: tell how many values of a search were tried. */
void planning_report(const struct search *search, uint32_t tried,
                     const struct planning_options *options);

/* search.c: set up the search. A candidate that cannot be resolved keeps its error; the others go
 * on. */
bool search_begin(struct search *search, struct candidate *candidate,
                  const struct planning_options *options, struct error *why);
void search_release(struct search *search);

/* planning_probe.c: scout for the searches of a rate among many, before their first round. If the
 * options allow it and the best of them needs more requests, all candidates get these. */
bool planning_probe(struct planning *planning, const struct scenario *scenario,
                    const struct planning_options *options, bool *interrupted, struct error *why);

/* typed_values.c: check the axes of the searches that began. An invalid value is a usage error with
 * its reason. */
bool typed_values_check(const struct planning *planning, const char *axis, struct error *why);
