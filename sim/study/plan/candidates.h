/* The candidates of a plan: each system on each machine.
 *
 * The systems, and the machines, are a list of names (or paths) separated by commas, `all` that ship, or what
 * the scenario says. Two kinds of systems are left out unless the options allow them: systems that exist on
 * paper only, and lossy systems, which attend to less than the model would (setup_lossless()). */
#pragma once

#include "predict/scenario/scenario.h"

struct candidate_options {
    const char *systems, *machines; /* NULL: the scenario's; if it names no system, all */
    const char *prices;             /* of the machines, as below; NULL: as their files say */
    bool allow_lossy, allow_paper;
    bool to_serve; /* leave out systems that papers only compare with */
    bool engines;  /* leave out research code, which serves no requests */
    /* No two prompts begin alike: leave out what differs only in how it keeps them. */
    bool unshared;
};

/* What a system is. */
struct system_traits {
    char available[16]; /* vllm, sglang, tensorrt-llm, code or paper */
    char where[64];     /* the first version or the repository that has it, or "" */
    bool starts; /* one can start it as a server: a command is known, and the model suits it */
    bool native; /* it attends to what a model's own indexer selects, */
    bool lacks_indexer; /* and the scenario's model has none */
    bool offloads;      /* decode brings KV or weights from outside HBM */
    bool tiers; /* KV of ended requests is kept in host memory, for prompts that begin alike */
};

struct candidate {
    char *system, *machine;   /* as named, owned */
    struct scenario scenario; /* one point: this system on this machine */
    char left_out[96];        /* why it is left out; "": it is not */
    struct system_traits traits;
    uint32_t mechanisms; /* number of mechanism keys that its preset sets */
};

/* Lay every system and machine over `scenario`, which has one point. The caller destroys `*out`. */
bool candidates_create(const struct scenario *scenario, const struct candidate_options *options,
                       struct candidate **out, uint32_t *count, struct error *why);
void candidates_destroy(struct candidate *candidates, uint32_t count);

/* The system's name in sentences, where "none" reads as a word. */
const char *candidate_name(const struct candidate *candidate);

/* Leave a system out that is lossy in its resolved setup, or needs an indexer that the model lacks:
 * with a short context it loses nothing, but no engine starts it. */
void candidate_check(struct candidate *candidate, const struct setup *setup,
                     const struct candidate_options *options);

/* Report that all candidates are left out, with the reason of the first. Returns false. */
bool candidates_refuse(const struct candidate *candidates, struct error *why);

/* Set the prices of the candidates' machines, as they are typed: "a40=0.44,h100-sxm=2.49", in dollars an
 * hour of a GPU with its share of the machine; NULL: none. Fails if the text is no list of prices, or prices
 * another machine. */
bool prices_set(const char *prices, struct candidate *candidates, uint32_t count,
                struct error *why);
