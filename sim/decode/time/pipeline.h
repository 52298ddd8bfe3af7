/* Timing: one pipeline for every system.
 *
 * Each decode step runs the stage table (stages.c) layer by layer. A stage puts a few tasks on
 * resources of the engine:
 *
 *   launch   the thread that launches kernels, blocks in synchronisations, and runs the scheduler
 *   main     the GPU's stream: a step ends with its last task
 *   side     a second stream (SM loads beside the main stream's copies)
 *   in, out  copy engines of the link
 *   pool     the CPU's worker pool: lookup, update, gather
 *   stores   dedicated threads that store into GPU memory
 *   read,    what a drive reads into host memory,
 *   write    and writes out of it
 *
 *   RetroInfer, one layer:
 *   launch |pre|ret|..sync..|est|..wake all, lookup..|wake|hits|att|..update..|adm|post|
 *   pool                        |wake|====lookup=====|    |wake|====update====|
 *   main     |pre|retr|         |est|                     |hits|attend|       |admit|post|
 *   side                                                  |misses|
 *
 * Channels (max-min fair): HBM, SM, DRAM, the link each way and both ways, a drive each way. The
 * same setup, plan and ledger give the same nanoseconds on any machine. */
#pragma once

#include <stdio.h>

#include "core/engine/engine.h"
#include "decode/plan/memory_plan.h"
#include "decode/setup.h"
#include "machine/places.h"

struct stop_flag;

enum part {
#define PART(id, name, what) PART_##id,
#include "decode/time/parts.def"
    PART_COUNT
};
extern const char *const pipeline_part_names[PART_COUNT];

enum { PIPELINE_MOST_DRAWN = 1 << 16 }; /* some 200 MB of tasks */

struct pipeline_step {
    int64_t ns;
    int64_t moved[WAY_COUNT]; /* bytes */
};

enum { STEP_INTEGERS = sizeof(struct pipeline_step) / sizeof(int64_t) };

/* The time that rests on each assumed figure; those past the first few are left out. */
enum { ASSUMED_MOST = 32 };
struct assumed {
    const char *figure[ASSUMED_MOST]; /* static, so that equal names are equal pointers */
    int64_t *ns;                      /* [ASSUMED_MOST] */
    uint32_t count;
};

/* Times are integers that add up, all in one list, so that steady_figures() can extrapolate them:
 * the pointers lead into it, in its order. Sums are over all steps. */
struct timing {
    uint32_t steps, layers;
    int64_t *figures; /* [count], owned */
    size_t count;
    struct pipeline_step *step; /* [steps] STEP_INTEGERS each */
    int64_t *layer_ns;          /* [layers] */
    int64_t *part_ns;           /* [PART_COUNT] they add up to total_ns */
    int64_t *stall_ns;          /* [PART_COUNT] they add up to the main stream's idle time */
    int64_t *cpu_ns;            /* [1] the launch thread, the pool and storing threads at work */
    int64_t *basis_ns;          /* [BASIS_COUNT] total_ns by the basis of the figures it rests on */
    struct assumed assumed;
    size_t loops;               /* of a step (steady.h) */
    int64_t *idle_ns, *lag_ns;  /* [loops * LOOP_IDLES], [loops * LOOP_LAGS] */
    int64_t total_ns;           /* of all steps */
    const char *assumed_figure; /* on which most of total_ns rests; NULL: none */
    int64_t assumed_ns;         /* of total_ns, that rest on it */
    struct trust trust;
    bool exact; /* each figure is that of the schedule with all micro-batches (steady.h) */
};

/* Time all steps of the ledger (NULL: nothing is offloaded, and `plan->steps` equal steps are timed). One
 * more runs first, so that every reported step starts in a filled pipeline. Of many equal micro-batches a few
 * are timed (steady.h). `stop` interrupts (or NULL). The caller calls timing_release() after success. */
bool pipeline_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct stop_flag *stop, struct timing *out, struct error *why);
void timing_release(struct timing *timing);

/* Write the first reported step as a Chrome trace, with all its micro-batches; with more than
 * PIPELINE_MOST_DRAWN passes through a layer it is an error. */
bool pipeline_timeline(const struct setup *setup, const struct plan *plan,
                       const struct ledger *ledger, FILE *out, struct error *why);

/* What the machine does besides decode steps. */
struct pipeline_beside {
    bool prompts;           /* prompts are processed, whatever the setup's `prompt` */
    bool copies;            /* KV is loaded and saved during the steps */
    bool below[TIER_COUNT]; /* and in these tiers below host memory */
    bool launches; /* the CPU launches kernels one by one, in steps with prompts or in all */
};

/* Write the curves that this setup reads to `ids`, for profile_require(); `ids` has room for
 * CURVE_COUNT. Returns their number. */
size_t pipeline_curves(const struct setup *setup, struct pipeline_beside beside,
                       enum curve_id *ids);
