/* The parts of the search for a fleet, in the order in which they run. Internal to fleet_size.c and
 * fleet_forms.c. */
#pragma once

#include "predict/server/serving_memory.h"
#include "study/advise/fleet_size.h"

/* ---- fleet_size_forms.c ---- */

/* List all forms in `out`, those that cannot be with their reason. Fails if none can be. */
bool fleet_list_forms(const struct scenario *scenario, const struct fleet_options *options,
                      struct fleet_size *out, struct error *why);

/* ---- fleet_size_tries.c ---- */

/* What a try serves. Cheap ones have few requests; only the others are answers. */
enum fleet_what {
    FLEET_AT_ONCE,   /* cheap: one server, all requests at once */
    FLEET_ALONE,     /* cheap: one server, each request alone */
    FLEET_SHARE,     /* cheap: one server with its share of the rate */
    FLEET_WHOLE,     /* so many servers, the rate, the whole workload */
    FLEET_ALL_ALONE, /* one server, each request of the workload alone */
    FLEET_LESS_HOST, /* the whole, with less host memory */
};

struct fleet_try {
    struct fleet_form *form;
    uint32_t servers;
    uint64_t gib; /* of FLEET_LESS_HOST */
};

struct sizing {
    struct fleet_size *fleet;
    const struct fleet_options *options;
    struct sources *sources;
    struct targets times;    /* without the queue's: few requests cannot judge it */
    enum fleet_what what;    /* of all tries of a round */
    struct fleet_try *tries; /* [capacity], owned */
    size_t count, capacity;
    bool holds; /* the last with less host memory */
    bool *interrupted;
};

/* Forms that `is_wanted` (a part's own) are tried with one server each, in one round. */
bool fleet_try_forms(struct sizing *sizing, enum fleet_what what,
                     bool (*is_wanted)(const struct fleet_size *fleet,
                                       const struct fleet_form *form),
                     struct error *why);

/* Does the form hold the rate with so much host memory of each server? */
bool fleet_try_host(struct sizing *sizing, struct fleet_form *form, uint64_t gib, bool *holds,
                    struct error *why);

/* Begin to search a form's servers, 1 to `most`, at a guess. */
bool fleet_begin(struct fleet_form *form, uint32_t most, uint32_t guess, uint32_t reach,
                 struct error *why);

/* Search the numbers of servers of all forms whose search has begun, in common rounds. They stay
 * `searched`, for who begun it. */
bool fleet_size_search(struct sizing *sizing, enum fleet_what what, struct error *why);

/* ---- fleet_size_weigh.c ---- */

/* What one server of each form answers at most, and whether a request alone meets the limits. */
bool fleet_survey(struct sizing *sizing, struct error *why);

/* On each machine without an answer, search the servers of the form that is probably the cheapest
 * by cheap runs, until such a form was searched. */
bool fleet_weigh(struct sizing *sizing, struct error *why);

/* Search by cheap runs: `guess` is what was found, or else `most`. */
bool fleet_weigh_begin(const struct fleet_size *fleet, struct fleet_form *form, uint32_t most,
                       struct error *why);
bool fleet_weigh_search(struct sizing *sizing, struct error *why);

/* Of the machine whose first form this is, and which has no answer yet, the form that is probably
 * the cheapest among those that may hold the rate; NULL if none may. */
struct fleet_form *fleet_likely(const struct fleet_size *fleet, uint32_t first);

/* Requests that the probable answers need to be answers; 0: they have enough. */
uint64_t fleet_requests_wanted(const struct fleet_size *fleet);

/* ---- fleet_size_host.c ---- */

/* What a machine has for prompts that begin alike, and for how many servers: `host_gib`, which is
 * NULL if the form keeps none or the scenario states how much, and `of_machine`.
 *   memory   of a server of `point` */
bool fleet_host_read(const struct point *point, const struct serving_memory *memory,
                     struct fleet_form *form, struct error *why);

/* Servers of one machine share its memory. */
bool fleet_host_lay(const struct fleet_form *form, uint32_t servers, struct scenario *scenario,
                    struct error *why);
bool fleet_host_lay_gib(uint64_t gib, struct scenario *scenario,
                        struct error *why); /* 0: as stated */

/* Halve the memory of each server of a form that holds the rate for as long as it holds it, as amply
 * as before. The form's run is then that with the least. */
bool fleet_host_lessen(struct sizing *sizing, struct fleet_form *form, struct error *why);

/* ---- fleet_size_found.c ---- */

/* The least that a form of the same machine costs that holds the rate; infinity: none does. */
double fleet_found_on(const struct fleet_size *fleet, const struct fleet_form *form);

/* Set `best`. */
void fleet_size_choose(struct fleet_size *fleet);
