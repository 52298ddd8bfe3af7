/* The stages of a fetch: from the query of a layer to its missed KV in HBM. */
#pragma once

#include "decode/time/pipe.h"

/* The layers whose fetch starts here: this one unless it is prefetched, the next if it can be. Their number. */
uint32_t fetch_targets(const struct pipe *pipe, uint32_t targets[2]);

/* Bytes of the blocks that a step admits to a layer's cache, which are copied whole; 0: it keeps none. */
double fetch_fill_bytes(const struct setup *setup, const struct ledger_row *row);

/* Bytes that tell the CPU what is selected: indices of entries, of misses only if the GPU has told them
 * from hits; or codes of queries, if the CPU searches. */
double fetch_id_bytes(const struct pipe *pipe, uint32_t layer);

/* Stages of the table in stages.c, in program order. Each may put no task. */
bool fetch_index(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_retrieve(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_diff(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_ids(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_sync(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_estimate(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_lookup(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_gather(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_update(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_transfer(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_insert(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_fill(struct pipe *pipe, uint32_t layer, struct error *why);
bool fetch_updated(struct pipe *pipe, uint32_t layer, struct error *why);

/* CTAs that copy a head's hits within HBM. */
double fetch_hit_ctas(const struct pipe *pipe, const struct ledger_row *row);

/* CTAs that load a head's misses over the link, at the mean of all steps and layers. */
double fetch_mean_missed_ctas(const struct pipe *pipe);

/* A transfer of `bytes` by the system's mechanism. The rate is the link's, or that of the head with
 * most bytes (`worst`), whichever is slower. It starts after `after`, and after `freed`, which frees
 * its buffer. What was read from a disk lies in a pinned buffer, whatever the mechanism. */
struct fetch_part {
    double bytes, worst;
    engine_task_id after, freed;
    bool from_disk;
};

/* Put it; `out` may not be NULL. */
bool fetch_put_transfer(struct pipe *pipe, const struct fetch_part *part, engine_task_id *out,
                        struct error *why);

/* Put the bytes that attention in place loads of the current layer's misses. It need not wait for them, but
 * does not end before them. `first` is its launch. `*out` is ENGINE_NONE if it loads nothing. */
bool fetch_put_loads(struct pipe *pipe, engine_task_id first, engine_task_id *out,
                     struct error *why);

/* The way of KV and weights between a drive and host memory:
 *
 *     disk ──── read ───▶ host memory, a pinned buffer ──── transfer ───▶ gpu
 *     disk ◀─── write ─── host memory ◀──────────────────── copy ──────── gpu
 *
 * The transfer of a part starts when all of it is in host memory, and a part is written when all of
 * it is there: FlexGen's copy threads do so (general_copy() and copy_worker_func() of its code).
 * There are two buffers, so the next part is read while this one crosses the link. Reads follow one
 * another, and so do writes; a read and a write run at the same time. */

/* Read `bytes` in blocks of `block`, after `after` and once the buffer is free, by whoever copies
 * or stores: it takes no time of the launch thread, but starts after what that thread did before. */
bool disk_put_read(struct pipe *pipe, double bytes, double block, engine_task_id after,
                   engine_task_id freed, engine_task_id *out, struct error *why);

/* Copy `bytes` of KV out of the GPU; `*left` brings them to host memory. Then the disk's share is written. */
bool disk_put_leaving(struct pipe *pipe, double bytes, engine_task_id *left, struct error *why);

/* A stage of stages.c: read what the layer's query misses. With `sync: cpu` the launch thread waits. */
bool disk_read_misses(struct pipe *pipe, uint32_t layer, struct error *why);
