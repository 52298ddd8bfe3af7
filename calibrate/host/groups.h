/* The groups of the host, one file each; their table is in groups.c.
 *
 * Some groups measure curves that a prediction for a miniature on this host reads. Those curves can
 * be measured without the rest of the group, as probes that are sampled beside other work, to know
 * the machine's speed at that time (moment.h).
 */
#pragma once

#include "calibrate/host/bench.h"
#include "calibrate/measure/group.h"

/* Ends with name NULL. */
extern const struct group host_groups[];

struct host_scope {
    uint64_t seed;
    bool curves_alone; /* only the curves, without the group's observations */
    uint32_t units;    /* units of a context that managers serve (demand.h); 0: several sizes */
};

struct host_curves {
    /* A bench with a probe for each point. Adds the figures and their notes. NULL on failure. */
    struct bench *(*create)(const struct host_scope *scope, struct findings *findings,
                            struct error *why);
    /* Derives further figures from the measured ones; NULL: there are none. */
    bool (*finish)(struct findings *findings, struct error *why);
    void (*destroy)(struct bench *bench);
};
extern const struct host_curves host_memory_curves, host_gather_curves, host_attention_curves,
    host_manager_curves, host_handoff_curves;

/* Create, measure, finish, destroy. */
bool host_curves_measure(const struct host_curves *curves, const struct effort *effort,
                         uint64_t seed, struct findings *findings, struct error *why);

bool host_machine_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);
bool host_memory_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_gather_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_attention_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                        struct error *why);
bool host_kmeans_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_policy_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_handoff_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);
