/* Miniatures: mechanisms of KV offload run for real, on a GPU or on a host without one, and what
 * the simulator says that they take.
 *
 * A miniature is a few layers of a model's true shapes, a batch of one, whose heads want what a
 * trace recorded and whose caches the simulator's own policies keep. Nothing but attention and what
 * fetches its KV is run. On a host, what a GPU would do, one thread does: it attends; another one,
 * its copy engine, copies rows to their places in the cache. These stand-ins are no model of a GPU:
 * they are there so that what the CPU does has its place in a layer and something to overlap with.
 *
 *     lru             caller  |look up|gather|......copy......|......attend......|update|
 *     lru-overlapped  pool    |look up|gather|                |update|
 *                     link                   |copy rows       |
 *                     "GPU"                                   |attend            |
 *
 * A prediction builds the same program on the engine, with the pipeline's own stages wherever
 * the pipeline has them (look up, gather, transfer, update, CPU attention) and the profile's
 * curves: a hand-off to a stand-in is one to a pool of one thread, its attention that of one
 * thread. How fast the stand-ins copy, and attend to KV that lies in a row, is no curve of a host's
 * profile: it is measured alone, as a link and a GPU would be.
 *
 * On a GPU the same demands drive real kernels, streams and copies. There is no retrieval: what a
 * head wants stands in HBM from the beginning, but a CPU that manages a cache waits for the layer
 * before as if it had to be told. Bare launches are no curve of a profile either, for these are of
 * a framework's operators: what one takes the CPU is measured alone.
 *
 *     lru-copy   CPU   |sync|look up|gather|launch |..update..|
 *                GPU                        |copy|place|attend|
 *
 * QSAC's labels the GPU keeps. It asks for a layer's sets before it attends to the layer before,
 * and the CPU only fetches; nothing is approximated, for a layer's true queries are known from the
 * beginning.
 *
 *     qsac-copy-poll   CPU   |launch|hear|gather|call|hear|tell|launch|...
 *                      GPU   |ask  |ask next|poll............|attend|
 *
 * A context is a whole multiple of the recorded one: each recorded unit stands for `repeat` tokens,
 * a recorded context apart, so that rows stay scattered and the ledger's counts are exact.
 */
#ifndef DECODE_MINIATURE_MINIATURE_H
#define DECODE_MINIATURE_MINIATURE_H

#include "base/error.h"
#include "decode/replay/ledger.h"
#include "decode/replay/replay.h"
#include "hardware/profile.h"
#include "model/model.h"
#include "trace/format/trace.h"

#include <stdbool.h>
#include <stdint.h>

enum miniature_id {
#define MINIATURE(id, name, site, class, policy, beside, what) MINIATURE_##id,
#include "decode/miniature/miniature.def"
#undef MINIATURE
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

/* What all miniatures of a run have in common. */
struct miniature {
    enum miniature_site site;
    uint32_t layers, kv_heads, query_heads, head_dim, hidden;
    uint64_t context; /* tokens: `repeat` for each recorded unit */
    uint32_t repeat;
    double selection, capacity; /* shares of the context: wanted, and cached, by each head */
    uint32_t warmup, steps;     /* replayed only, and run */
    uint32_t threads;           /* cores of the host */
};

/* What is measured alone. On a host, in bytes a second: copying in one piece, copying row by row to
 * their places, attention to a whole layer. On a GPU, in ns: the CPU's time of a launch. */
struct miniature_stand_ins {
    double copies_whole, copies_rows, attends_whole;
    double launch;
};

/* How QSAC that the GPU manages fetches; `graph` polls, too. */
struct miniature_qsac {
    bool stores, /* by the CPU into GPU memory; else it gathers, and copies */
        polls,   /* flags, on both sides; else the CPU waits, and launches attention then */
        graph;   /* a step is one */
};
/* NULL of all other mechanisms. */
const struct miniature_qsac *miniature_qsac(enum miniature_id id);

/* CTAs of a KV head that move rows, of each layer's heads together. */
enum { MINIATURE_CTAS = 4, MINIATURE_CTA_THREADS = 256 };

/* Threads of the pool. */
uint32_t miniature_pool(const struct miniature *miniature, enum miniature_id id);

/* How its caches replay. `heads`: [layers * kv_heads], which outlive the plan. */
struct replay_plan miniature_plan(const struct miniature *miniature, enum miniature_id id,
                                  const struct replay_head *heads);

/* What each layer wants, hits and misses. The caller releases the ledger, on failure too. */
bool miniature_replay(const struct miniature *miniature, enum miniature_id id,
                      const struct trace *trace, struct ledger *ledger, struct error *why);

/* Refuse a profile that lacks a curve that a prediction for the site reads. */
bool miniature_require(const struct profile *profile, enum miniature_site site, struct error *why);

/* What a single mechanism reads besides, and a machine may not have. */
bool miniature_knows(const struct profile *profile, enum miniature_id id, struct error *why);

/* Mean time of a layer over the ledger's steps. `profile` has passed miniature_require(). */
bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why);

#endif
