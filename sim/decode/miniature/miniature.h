/* Miniatures: mechanisms of KV offload that run for real, on a GPU or on a host without one, and
 * the time that the simulator predicts for them.
 *
 * A miniature is a few layers with a model's true shapes and a batch of one, of which only attention and the
 * fetching of KV run. Its heads want what a trace recorded, and the simulator's own policies run its caches.
 * On a host, two threads stand in for the GPU: one attends, and one copies rows to their places in the cache.
 * They are no model of a GPU: they give the CPU's work its place in a layer, and something to overlap with.
 *
 *     lru             caller  |look up|gather|......copy......|......attend......|update|
 *     lru-overlapped  pool    |look up|gather|                |update|
 *                     link                   |copy rows       |
 *                     "GPU"                                   |attend            |
 *
 * A prediction builds the same program on the engine, with the profile's curves and, where there are any, the
 * pipeline's own stages. A hand-off to a stand-in wakes it and the caller, and its attention counts as that
 * of one thread. The stand-ins' copies, and their attention to contiguous KV, are measured separately, as a
 * link and a GPU would be.
 *
 * On a GPU the same demands drive real kernels, streams and copies. There is no retrieval: the
 * demands lie in HBM from the beginning, but a CPU that manages a cache waits for the layer before,
 * as if it had to be told. A profile's launches are those of a framework's operators; the CPU's
 * time for a bare launch is measured separately.
 *
 *     lru-copy   CPU   |sync|look up|gather|launch |..update..|
 *                GPU                        |copy|place|attend|
 *
 * QSAC's labels are kept by the GPU. It asks for a layer's sets before it attends to the layer before, and
 * the CPU only fetches. Nothing is approximated: a layer's true queries are known from the beginning.
 *
 *     qsac-store   CPU   |launch|hear|store|tell|hear|...
 *                  GPU   |ask   |ask next|poll|attend|
 *
 * The context is a multiple of the recorded one. Each recorded unit stands for `repeat` tokens, one
 * in each multiple, so that rows stay scattered and the ledger's counts are exact. */
#pragma once

#include "core/error.h"
#include "policy/policy.h"
#include "trace/format/trace.h"

struct ledger;

enum miniature_id {
#define MINIATURE(id, name, site, class, policy, beside, what) MINIATURE_##id,
#include "decode/miniature/miniature.def"
    MINIATURE_COUNT
};

enum miniature_site { MINIATURE_HOST, MINIATURE_GPU };
enum miniature_class { MINIATURE_BY_GPU, MINIATURE_BY_CPU, MINIATURE_CLASSES };

struct miniature_kind {
    const char *name;
    enum miniature_site site;
    enum miniature_class by;
    const char *policy;
    uint32_t beside;
    const char *what;
};
extern const struct miniature_kind miniature_kinds[MINIATURE_COUNT];

/* The shape that all miniatures of a run share. */
struct miniature {
    enum miniature_site site;
    uint32_t layers, kv_heads, query_heads, head_dim, hidden;
    uint64_t context; /* tokens: `repeat` for each recorded unit */
    uint32_t repeat;
    double selection, capacity; /* shares of the context that each head wants, and caches */
    uint32_t warmup, steps;     /* steps replayed only, and steps run */
    uint32_t threads;           /* cores of the host */
};

/* Figures that no profile has; they are measured separately. */
struct miniature_stand_ins {
    /* On a host, bytes a second: copies in one piece and of rows, and attention to a whole layer. */
    double copies_whole, copies_rows, attends_whole;
    double launch; /* on a GPU: ns of the CPU for one launch */
};

/* CTAs that move rows, for each KV head, the threads of each, and the bytes that a thread has in
 * flight, as in the gather by which link.cta_in_flight is measured. */
enum { MINIATURE_CTAS = 4, MINIATURE_CTA_THREADS = 256, MINIATURE_LANE_BYTES = 8 };

/* Replay `trace` into `ledger`. The caller releases the ledger, on failure too. */
bool miniature_replay(const struct miniature *miniature, enum miniature_id id,
                      const struct trace *trace, struct ledger *ledger, struct error *why);

/* Refuse a profile that lacks a curve which predictions for the site read. */
bool miniature_require(const struct profile *profile, enum miniature_site site, struct error *why);

/* Refuse a profile that lacks a further curve which this mechanism reads. */
bool miniature_knows(const struct profile *profile, enum miniature_id id, struct error *why);

/* Predict `layer_ns`, a layer's mean time over the ledger's steps. `profile` passed miniature_require(). */
bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why);
