/* Mechanisms: the orthogonal choices by which one KV-offload system differs from another. A system is a file,
 * scenarios/systems/NAME.yaml. It gives every key of mechanisms.def that differs from its default, each with
 * its source in a comment. There is one pipeline (pipeline.h); it knows a system by struct mechanisms alone,
 * whose members are in mechanism_values.h. Contradictory combinations (a graph that contains a blocking
 * synchronisation) are refused with the reason. */
#pragma once

#include <stdint.h>

#include "core/error.h"
#include "core/node.h"
#include "machine/places.h"
#include "policy/policy.h"

struct files;

/* When a full block is copied to the host tier. */
enum prefix_write { PREFIX_WRITE_FINISH, PREFIX_WRITE_FILL, PREFIX_WRITE_EVICT };

/* When a block is written to a tier below host memory: when it arrives above, or when that evicts it. */
enum prefix_below { PREFIX_BELOW_NONE, PREFIX_BELOW_ARRIVE, PREFIX_BELOW_EVICT };

/* A quantity in one of several units. A budget (HBM of the cache) is bytes in all, a share of the KV, a
 * multiple of the selection, or tokens a layer. An extent is a share of the context, or tokens. */
struct amount {
    enum unit unit; /* UNIT_BYTES, UNIT_SHARE, UNIT_TIMES or UNIT_TOKENS */
    double value;
    bool rest; /* a budget of all HBM that nothing else takes; unit and value mean nothing */
};

struct mechanisms; /* decode/mechanism_values.h */

/* One key: how it is read and described. Without their mechanism the parameters of a group mean nothing. */
enum mechanism_type {
    MECHANISM_CHOICE, /* one of `values` */
    MECHANISM_SWITCH, /* yes or no */
    MECHANISM_WHOLE,  /* a whole number in `unit` */
    MECHANISM_REAL,   /* a number in `unit` */
    MECHANISM_BUDGET,
    MECHANISM_EXTENT, /* of the context; a bare number is in `unit` */
    MECHANISM_POLICY
};
struct mechanism_key {
    const char *name;
    const char *group; /* name of the mechanism: this key, or the key that it is a parameter of */
    enum mechanism_type type;
    enum unit unit;
    const char *const *values; /* of a choice; ends with NULL */
    size_t offset;             /* in struct mechanisms */
    const char *standard;      /* the default, as written in a file */
    const char *summary;
    double least, most; /* of a number; most 0: any */
    const char *rule;   /* why it has these bounds; NULL: it has none */
};
enum { MECHANISM_MOST_KEYS = 128 };
extern const struct mechanism_key mechanism_keys[]; /* ends with name NULL */

/* Names of the policies that the host tier may use; the first one never evicts. NULL ends them. */
extern const char *const prefix_evictions[];
enum prefix_eviction { PREFIX_EVICTION_NONE, PREFIX_EVICTION_LRU }; /* and others */

/* What a preset file says besides its mechanisms. */
struct system_info {
    char name[64];
    char summary[160];
    char paper[200];
    char available[16]; /* vllm, sglang, tensorrt-llm, code or paper */
    char where[64]; /* first version of the engine that has it, or the code's repository, or "" */
    bool reference; /* papers measure with it; nobody serves with it */
    const char *lossless; /* mechanisms_lossless() of its mechanisms, overrides included */
    char baseline[64];    /* system that it is compared with; "": all of the KV in HBM */
    char engine[32];      /* that runs it as a server (server/server_engine.h), or "" */
    char connector[32];   /* by which that moves KV (server/server_engine.h), or "" */
    char command[1024];   /* starts its server, with {NAME}s (study/plan/start_line.h), or "" */
};

/* Read the preset `name` (scenarios/systems/NAME.yaml, or a path), apply `overrides` and check it.
 *   at         the scenario's node that named the system, for complaints
 *   overrides  the scenario's `mechanisms:`; may be NULL
 *   files      keeps the file that is read; NULL: nothing is kept
 *   merged     out, may be NULL: preset and overrides together, which the caller destroys
 * Returns its mechanisms, which the caller frees; NULL after a failure. */
struct mechanisms *system_load(struct files *files, const char *name, const struct node *at,
                               const struct node *overrides, struct system_info *info,
                               struct node **merged, struct error *why);

/* True when a head attends to a part of the context only, if the context is long enough. */
bool mechanisms_select(const struct mechanisms *mechanisms);

/* How close attention is to the model's own: "exact" when heads attend to all tokens; "native", to what the
 * model's indexer selects; else "lossy". In a given setup: setup_lossless(). */
const char *mechanisms_lossless(const struct mechanisms *mechanisms);

/* The first layers whose KV stays in HBM whole. */
uint64_t mechanisms_resident_layers(const struct mechanisms *mechanisms);

/* True when the system keeps KV outside HBM. */
bool mechanisms_offload(const struct mechanisms *mechanisms);

/* Is all KV of a layer loaded, whatever its query: a layer ahead, or a head ahead? */
bool mechanisms_load_whole(const struct mechanisms *mechanisms);

/* Does a server keep KV of ended requests in host memory? */
bool mechanisms_host_prefixes(const struct mechanisms *mechanisms);

/* Does a server keep KV of ended requests at all? */
bool mechanisms_keep_prefixes(const struct mechanisms *mechanisms);

/* Do some weights lie outside HBM? */
bool mechanisms_stream_weights(const struct mechanisms *mechanisms);

/* Its cache policy. */
const struct policy_kind *mechanisms_policy(const struct mechanisms *mechanisms);

/* True when the system keeps KV or weights on a disk. */
bool mechanisms_use_disk(const struct mechanisms *mechanisms);

/* True when the system deletes what its policy does not hold. */
bool mechanisms_drop(const struct mechanisms *mechanisms);

/* Does the CPU manage the cache, gather, store or start a copy? Else the indices stay on the GPU. */
bool mechanisms_need_cpu(const struct mechanisms *mechanisms);

/* True when the CPU attends to what is selected of the KV outside HBM, and the GPU to the rest of it. */
bool mechanisms_cpu_selects(const struct mechanisms *mechanisms);

/* True when something smaller stands in HBM for keys, of which those that are attended to are made. */
bool mechanisms_remake_keys(const struct mechanisms *mechanisms);

/* True when attention itself loads what it misses, where that lies in host memory. */
bool mechanisms_attend_in_place(const struct mechanisms *mechanisms);

/* Does one kernel copy hits within HBM and load misses over the link, sharing its CTAs between both? */
bool mechanisms_share_ctas(const struct mechanisms *mechanisms);

/* Pages of a block in the cache, in the mean over blocks of random sizes with the granularity as
 * their mean (exponential); 0: nothing is cut into pages, as whole sets are not. */
double mechanisms_pages(const struct mechanisms *mechanisms);

/* Is the value of the key within its bounds? */
bool mechanism_bounded(const struct mechanism_key *key, const struct mechanisms *mechanisms);

/* Compare, copy and write the value of one mechanism key. */

/* Have `a` and `b` the same value, however it was spelt? */
bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b);

/* Copy the key's value in `from` to `to`. */
void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from);

/* The value as canonical YAML: {name: qsac, eta: 0.8}. The caller frees it; NULL: memory is out. */
char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why);
