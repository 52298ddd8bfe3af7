/* The parts of a hire's search, in the order in which they run. Internal to hire*.c. */
#pragma once

#include "predict/server/serving_memory.h"
#include "study/advise/hire.h"

/* ---- hire_forms.c ---- */

/* List all forms in `out`, those that cannot be with their reason. Fails if none can be. */
bool hire_list_forms(const struct scenario *scenario, const struct hire_options *options,
                     struct hire *out, struct error *why);

/* ---- hire_tries.c ---- */

/* What a try serves. Cheap ones have few requests; only the others are answers. */
enum hire_what {
    HIRE_AT_ONCE,   /* cheap: one server, all requests at once */
    HIRE_ALONE,     /* cheap: one server, each request alone */
    HIRE_SHARE,     /* cheap: one server with its share of the rate */
    HIRE_WHOLE,     /* so many servers, the rate, the whole workload */
    HIRE_ALL_ALONE, /* one server, each request of the workload alone */
    HIRE_LESS_HOST, /* the whole, with less host memory */
};

struct hire_try {
    struct hire_form *form;
    uint32_t servers;
    uint64_t gib; /* of HIRE_LESS_HOST */
};

struct sizing {
    struct hire *hire;
    const struct hire_options *options;
    struct sources *sources;
    struct targets times;   /* without the queue's: few requests cannot judge it */
    enum hire_what what;    /* of all tries of a round */
    struct hire_try *tries; /* [capacity], owned */
    size_t count, capacity;
    bool holds; /* the last with less host memory */
    bool *interrupted;
};

/* Forms that `is_wanted` (a part's own) are tried with one server each, in one round. */
bool hire_try_forms(struct sizing *sizing, enum hire_what what,
                    bool (*is_wanted)(const struct hire *hire, const struct hire_form *form),
                    struct error *why);

/* Does the form hold the rate with so much host memory of each server? */
bool hire_try_host(struct sizing *sizing, struct hire_form *form, uint64_t gib, bool *holds,
                   struct error *why);

/* Begin to search a form's servers, 1 to `most`, at a guess. */
bool hire_begin(struct hire_form *form, uint32_t most, uint32_t guess, uint32_t reach,
                struct error *why);

/* Search the numbers of servers of all forms whose search has begun, in common rounds. They stay
 * `searched`, for who begun it. */
bool hire_search(struct sizing *sizing, enum hire_what what, struct error *why);

/* ---- hire_weigh.c ---- */

/* What one server of each form answers at most, and whether a request alone meets the limits. */
bool hire_survey(struct sizing *sizing, struct error *why);

/* On each machine without an answer, search the servers of the form that is probably the cheapest
 * by cheap runs, until such a form was searched. */
bool hire_weigh(struct sizing *sizing, struct error *why);

/* Search by cheap runs: `guess` is what was found, or else `most`. */
bool hire_weigh_begin(const struct hire *hire, struct hire_form *form, uint32_t most,
                      struct error *why);
bool hire_weigh_search(struct sizing *sizing, struct error *why);

/* Of the machine whose first form this is, and which has no answer yet, the form that is probably
 * the cheapest among those that may hold the rate; NULL if none may. */
struct hire_form *hire_likely(const struct hire *hire, uint32_t first);

/* Requests that the probable answers need to be answers; 0: they have enough. */
uint64_t hire_requests_wanted(const struct hire *hire);

/* ---- hire_host.c ---- */

/* What a machine has for prompts that begin alike, and for how many servers: `host_gib`, which is
 * NULL if the form keeps none or the scenario states how much, and `of_machine`.
 *   memory   of a server of `point` */
bool hire_host_read(const struct point *point, const struct serving_memory *memory,
                    struct hire_form *form, struct error *why);

/* Servers of one machine share its memory. */
bool hire_host_lay(const struct hire_form *form, uint32_t servers, struct scenario *scenario,
                   struct error *why);
bool hire_host_lay_gib(uint64_t gib, struct scenario *scenario,
                       struct error *why); /* 0: as stated */

/* Halve the memory of each server of a form that holds the rate for as long as it holds it, as amply
 * as before. The form's run is then that with the least. */
bool hire_host_lessen(struct sizing *sizing, struct hire_form *form, struct error *why);

/* ---- hire_found.c ---- */

/* The least that a form of the same machine costs that holds the rate; infinity: none does. */
double hire_found_on(const struct hire *hire, const struct hire_form *form);

/* Set `best`. */
void hire_choose(struct hire *hire);
