/* Budgets: how long each group of a session may take.
 *
 * Without an end, a group samples for its share of the effort's seconds, and is killed `patience`
 * after twice that time. With an end, all time until then is dealt out first: half of it by shares,
 * of which three quarters are for samples; the other half equally, because setting up takes no
 * longer for a large share. A group is killed when its own time and that of all groups before it is
 * over. So it may use what those before it left, and takes nothing from those behind it. */
#pragma once

#include "calibrate/measure/group.h"

struct budget_terms {
    double seconds;  /* for samples of a group whose share is 1; not used with an end */
    double patience; /* seconds; not used with an end */
    double end_ns;   /* on clock_ns(); 0: there is none */
};

struct budget {
    const struct group *group;
    double samples_s, planned_s; /* planned_s is 0 without an end */
    double end_ns;               /* 0 without an end */
};

/* Deal out the time from `now_ns`. `budgets` have their groups; the rest is filled in. */
void budget_deal(const struct budget_terms *terms, double now_ns, struct budget *budgets,
                 uint32_t count);

/* The seconds after which the group is killed if it starts at `now_ns`; may be negative. */
double budget_left(const struct budget_terms *terms, const struct budget *budget, double now_ns);
