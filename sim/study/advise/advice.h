/* Advice: which system to run for a model on a machine, and what else would help.
 *
 * Each system is judged at its best batch under the limits, not at the largest that fits; a server
 * with a workload at the highest rate of requests that it holds. GPUs may be one server or several:
 * plain vLLM is tried in every form, and all systems are compared in the form in which it makes the
 * most tokens. What one could do instead of offloading is tried with plain vLLM, too: KV in fp8, twice the
 * GPUs as larger servers or as more of them, half the context, drafts whose accepted lengths are published;
 * and, if nothing fits, weights in fp8, a shipped checkpoint in 4 bits, and more of the GPU's memory.
 *
 * The advice is the best system that one can start (system_traits.starts), and among those too close to
 * call (predict/result/tie.h) plain vLLM before the simplest. Others are compared with it and never win. */
#pragma once

#include "predict/result/tie.h"
#include "study/plan/host_room.h"
#include "study/plan/planning.h"

/* The router of several servers where prompts begin alike and nobody stated one: that of SGLang and vLLM, which
 * looks at loads as soon as they differ by this many requests. With its own 64, servers that begin alike wait in
 * one queue while others idle. */
#define ADVICE_ROUTER ROUTE_PREFIX_LOAD
#define ADVICE_ROUTER_NAME "prefix-load 8"
enum { ADVICE_BALANCE = 8 };

/* GPUs in servers of as many each: so many split a layer, or they are ranks that share experts, one each. */
struct advice_form {
    uint32_t servers, gpus, tensor_parallel;
    uint32_t ranks;       /* 0: none, or as the scenario says */
    enum routing routing; /* of several servers; ROUTINGS: as the scenario says */
};

/* What is tried instead of offloading. */
enum advice_change {
    ADVICE_NO_CHANGE, /* another form */
    ADVICE_FP8_KV,
    ADVICE_MORE_GPUS,
    ADVICE_MORE_RANKS, /* as many GPUs as ADVICE_MORE_GPUS, that share experts; or as more servers: */
    ADVICE_MORE_SERVERS, /* the best of the three stays */
    ADVICE_SHORTER,
    ADVICE_DRAFTS,      /* only if they win by more than published rates were off */
    ADVICE_FP8_WEIGHTS, /* only if nothing fits, as what follows */
    ADVICE_INT4_WEIGHTS,
    ADVICE_USABLE, /* more of the GPU's memory */
    ADVICE_CHANGES
};

/* Plain vLLM in a form, or with a change. */
struct advice_trial {
    enum advice_change change;
    struct advice_form form;
    uint64_t context; /* tokens of a sequence; 0: of requests */
    struct planning planning;
};

/* Should a server keep prefixes in host memory (advice_host.c)? */
enum advice_host_answer {
    ADVICE_HOST_UNASKED,
    ADVICE_HOST_PAYS,
    ADVICE_HOST_NO_REUSE,  /* no prompt begins like an earlier one */
    ADVICE_HOST_GPU_KEEPS, /* the GPU finds all that comes again */
    ADVICE_HOST_TOO_SMALL, /* what comes again has been evicted long before */
    ADVICE_HOST_SLOW_LINK, /* computing is faster than loading */
    ADVICE_HOST_NO_GAIN,   /* requests take as long, or longer */
};
struct advice_host {
    enum advice_host_answer answer;
    char system[64]; /* that has the memory */
    struct host_size size;
    double slower; /* a request with it, or with all memory if it is 0; NAN: not known */
    double share;  /* of plain vLLM's load, where that was compared */
};

enum { ADVICE_FORMS = 26, ADVICE_TRIALS = ADVICE_FORMS + ADVICE_CHANGES };

struct advice_options {
    struct targets targets;
    struct candidate_options candidates;
    uint32_t gpus; /* to be used in any form; 0: as the scenario shares the model */
    struct study study;
};

struct advice {
    bool serves;             /* requests are served; else one batch decodes */
    struct targets targets;  /* the options', and what a rate of requests adds */
    uint32_t gpus;           /* that there are; a form may leave some idle */
    struct advice_form form; /* in which the systems were compared */
    /* Forms, fewest servers first, and the best one behind another router; then changes. */
    struct advice_trial trials[ADVICE_TRIALS];
    uint32_t trial_count, plain; /* `plain`: the form that is compared in */
    struct planning systems;
    struct advice_host host;
    uint32_t best; /* search of `systems` that is advised; PLANNING_NONE: nothing fits */
};

bool advice_states_context(const struct scenario *scenario);

/* The default context: 128K tokens, or all that the model was trained to if that is less. Lays it
 * over a scenario that says neither a context nor requests. */
bool advice_set_context(struct scenario *scenario, struct error *why);

/* Requests that nobody stated, where the time to the first token matters: ADVICE_OUTPUT tokens are generated,
 * and the prompt is the rest of the context. Replaces the context of a scenario without requests. */
enum { ADVICE_OUTPUT = 256 };
bool advice_set_requests(struct scenario *scenario, struct error *why);

/* Fails if the scenario cannot be run, whatever the batch, and if it is interrupted; that nothing fits is an
 * answer. The caller releases `out`, also after a failure. */
bool advice_run(const struct scenario *scenario, const struct advice_options *options,
                struct advice *out, struct error *why);
void advice_release(struct advice *advice);

/* The only search of a trial; that of plain vLLM in the form that is compared in; and the result at the value
 * that a search found, NULL if it found none. */
const struct search *advice_trial_search(const struct advice_trial *trial);
const struct search *advice_plain(const struct advice *advice);
const struct result *advice_result(const struct search *search);

/* Tokens a second of all servers together. NaN without a result. */
double advice_rate(const struct advice *advice, const struct search *search,
                   const struct advice_form *form);

/* Comes no value nearer than the lowest rate, at which each request has the server alone? Then a
 * target that it misses is met at no rate. */
bool advice_is_idle(const struct search *search);

bool advice_starts(const struct search *search);

/* The system with the highest rate among those that `admits`; NULL if none of them has a result. */
const struct search *advice_best(const struct advice *advice,
                                 bool (*admits)(const struct search *search));

/* Are the requests made up, and does no prompt begin like another? */
bool advice_is_unshared(const struct scenario *scenario);

/* The shipped 4-bit variant of the scenario's model, if it has an id of this model: another model of the same
 * shape is another model. Both texts have NAMED_SIZE bytes. */
bool advice_int4_variant(const struct scenario *scenario, char *variant, char *id);

/* The most GPUs of a server that may be ranks which share experts: those of a machine; 0, if the model has no
 * experts, or the scenario says how GPUs share it. And lay such ranks over a scenario. */
uint32_t advice_most_ranks(const struct scenario *scenario);
bool advice_set_ranks(struct scenario *scenario, uint32_t ranks, struct error *why);

/* Where GPUs split layers, and plain vLLM would not start with slices of experts: let each GPU have whole ones
 * (`expert_parallel`), if it starts so. A scenario that says how GPUs share the model stays. */
bool advice_keep_experts_whole(struct scenario *scenario, struct error *why);

/* The router that is tried beside one that takes servers in turn: ADVICE_ROUTER; ROUTE_LEAST_REQUESTS, if no prompt
 * begins like another, or none is kept; ROUTINGS: none, as one is stated. */
enum routing advice_routing(const struct scenario *scenario);

/* Lay so many servers over the scenario, behind this router; ROUTINGS: as the scenario says. */
bool advice_set_servers(struct scenario *scenario, uint32_t servers, enum routing routing,
                        struct error *why);

/* ---- host memory for prompts that begin alike (advice_host.c) ---- */

/* How many GiB are worth having (host_room.h), for the advised system if it keeps prefixes there, else for
 * the best that does, else for vLLM's own offloading; what the size finds is of the advised load. Two runs of
 * as many requests, with this size and without, say what it gains, and what copies beside decodes cost. The
 * answer of an advised system becomes that of a run with this size, which its scenario then states; one that
 * misses a limit there is doubled. Nothing is asked of a batch, nor where plain vLLM holds no load. */
bool advice_host_find(const struct advice_options *options, struct advice *advice,
                      struct error *why);
