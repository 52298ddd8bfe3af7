/* A fleet's size: how many GPUs of which machine, as which servers, hold a rate of requests, and what that
 * costs.
 *
 * A form is one server: a machine, the type of its weights, a system (plain vLLM, or vLLM with host memory
 * for prompts that begin alike), and the GPUs that split each layer: 1, 2, 4 or 8. Those of a mixture of experts
 * with plain vLLM may be ranks that share experts instead. Of each form as many servers are taken as hold the
 * rate within the limits, the next larger number at a time. The cheapest form wins. Forms that cost the same are
 * compared by the first of these that differs: limits met amply, plain vLLM, GPUs that split layers, no
 * `least-requests`, shorter times, no router by prefixes, fewer servers.
 *
 * Where nobody stated a router, it is part of the form: several servers stand behind one that takes them in turn,
 * or behind another. Where prompts begin alike, that is one by prefixes (ADVICE_ROUTER), behind which each keeps
 * other prompts and a session comes back to its own; else one by loads, which has to spare servers or to meet a
 * limit by a tenth, as not every router is one.
 *
 * Whether servers hold the rate is asked as `plan` asks it of a load (study/plan/capacity.h): of requests
 * without end, in steady state, for as long as it takes to know the side of the limits. First of few
 * requests: of the form that is probably the cheapest on a machine, then of every other one that may cost
 * less than four times the cheapest, with as many servers as cost no more. Then as `simulate` asks it, in several
 * draws (capacity.h): of the best form of each machine, which has to hold there, too; of those that cost as much
 * and may be better; of its next smaller number of GPUs; and of servers that nearly hold. Figures are shown of no
 * others.
 *
 * Before that, a cheap run of each form says where to begin: a few hundred requests at once show what a
 * server answers at most. */
#pragma once

#include "predict/result/tie.h"
#include "server/workload.h"
#include "study/plan/candidates.h"
#include "study/plan/capacity.h"
#include "study/plan/grid.h"
#include "study/plan/target.h"
#include "study/sweep/sweep.h"

enum { FLEET_WEIGHTS = 16, FLEET_REASON = 256, FLEET_MOST_GPUS = 256 };
#define FLEET_NONE UINT32_MAX

struct fleet_options {
    double rate;            /* requests a second */
    struct targets targets; /* that of the queue among them */
    const char *machines;   /* names separated by commas */
    const char *prices;     /* of the machines (candidates.h); NULL: as their files say */
    const char *weights;    /* types that the weights may have, such as "bf16,fp8,int4"; NULL: the
                              * model's own */
    uint32_t most_gpus;     /* of a machine; 0: FLEET_MOST_GPUS */
    struct study study;
};

/* Do requests that hardly meet each other miss a limit? Then as many servers as may be do so, too. */
enum fleet_alone { ALONE_UNKNOWN, ALONE_ASKED, ALONE_HOLDS, ALONE_MISSES };

struct fleet_form {
    const struct candidate *candidate; /* its system and machine */
    struct scenario scenario;          /* one server, without rate and replicas */
    char weights[FLEET_WEIGHTS];       /* "bf16" */
    uint32_t gpus;                     /* of a server */
    uint32_t ranks;                    /* that share experts, a GPU each; 0: none, or as stated */
    double price;                      /* dollars an hour of a GPU; 0: unknown */
    char refused[FLEET_REASON];        /* why it cannot be; "": it can */
    uint32_t most_servers;             /* that may be */
    enum routing routing;              /* of several servers; ROUTINGS: as the scenario says */
    bool twin; /* the same servers as the form before it, behind another router */
    /* what a cheap run told */
    double most; /* requests a second, when all come at once; 0: it cannot run */
    /* answers */
    bool decided;    /* it holds, misses, or costs more */
    uint32_t within; /* servers up to this many may be tried so far */
    enum fleet_alone alone;
    struct result idle;           /* that told it; owned */
    struct grid grid;             /* of the number of servers, less one */
    struct result *runs;          /* [grid.count], set for the numbers tried; owned */
    bool searched;                /* by the rounds that go on */
    uint32_t servers;             /* that hold the rate; 0: none do */
    struct capacity_draws *draws; /* [grid.count] that were run as `simulate` runs them; owned */
    bool ample;                   /* they meet each limit on a time by a tenth */
    uint32_t fewer;               /* the most servers tried that miss a limit; 0: none */
};

struct fleet_size {
    struct candidate *candidates; /* owned */
    uint32_t candidate_count;
    struct fleet_form *forms; /* [count], owned; of a machine in a row */
    uint32_t count;
    uint32_t best; /* a form; FLEET_NONE: none holds the rate */
    double rate;
    bool is_stream; /* the requests go on without end */
    struct targets targets;
    uint32_t most_gpus; /* of a machine, that were looked at */
};

/* Fails if no form can be, or if it is interrupted. The caller releases `out`, also after a failure. */
bool fleet_size_run(const struct scenario *scenario, const struct fleet_options *options,
                    struct fleet_size *out, struct error *why);
void fleet_size_release(struct fleet_size *fleet);

/* Dollars an hour of so many servers of the form; without a price, their GPUs. */
double fleet_cost(const struct fleet_form *form, uint32_t servers);

/* The scenario of so many servers at the wanted rate; and that of fleet_misses(), if that may be told. The caller
 * releases `out`, on failure too. */
bool fleet_scenario(const struct fleet_size *fleet, const struct fleet_form *form, uint32_t servers,
                    struct scenario *out, struct error *why);
bool fleet_miss_scenario(const struct fleet_size *fleet, const struct fleet_form *form,
                         struct scenario *out, struct error *why);

/* The run that holds the rate, or NULL; and that of requests alone, if they miss a limit, or else of the most
 * servers among those that miss one. */
const struct result *fleet_holds(const struct fleet_form *form);
const struct result *fleet_misses(const struct fleet_form *form);

/* Does it hold the rate as an answer has to? And may it be told what fleet_misses() misses: do requests alone, or
 * does the queue grow, or is the run that of `simulate`? Its draws, or NULL: it was not run so. */
bool fleet_is_sure(const struct fleet_size *fleet, const struct fleet_form *form);
bool fleet_miss_is_sure(const struct fleet_size *fleet, const struct fleet_form *form);
const struct capacity_draws *fleet_miss_draws(const struct fleet_form *form);

/* By how much fleet_misses() misses a limit, as a share of it; infinity: nothing does. */
double fleet_short(const struct fleet_size *fleet, const struct fleet_form *form);

/* The form of the same system and machine with the most GPUs that miss a limit, below those of a form that holds
 * the rate; NULL: none was tried. */
const struct fleet_form *fleet_next_below(const struct fleet_size *fleet,
                                          const struct fleet_form *best);

bool fleet_on_one_machine(const struct fleet_form *a, const struct fleet_form *b);

/* The cheapest form on the machine of this candidate that holds the rate; without one, the form
 * that came nearest. FLEET_NONE if none can be. */
uint32_t fleet_best_on(const struct fleet_size *fleet, const char *machine);

/* Are the costs of two forms that hold the rate too close to call (predict/result/tie.h)? */
enum tie fleet_tie(const struct fleet_form *a, const struct fleet_form *b);

/* ---- what the search (fleet_size.c) needs of its forms (fleet_forms.c) ---- */

/* List all forms in `out`, those that cannot be with their reason. Fails if none can be. */
bool fleet_list_forms(const struct scenario *scenario, const struct fleet_options *options,
                      struct fleet_size *out, struct error *why);

/* The form whose runs of one server are this form's, too: itself, or the one before it, which only its router
 * tells apart. */
const struct fleet_form *fleet_single(const struct fleet_form *form);

/* Does the form cost what the best of its machine does, and may it be better, as far as few requests tell? */
bool fleet_may_lead(const struct fleet_form *form, const struct fleet_form *leader);

/* The least that a form of the same machine costs that holds the rate; infinity: none does. */
double fleet_found_on(const struct fleet_size *fleet, const struct fleet_form *form);
void fleet_size_choose(struct fleet_size *fleet);
