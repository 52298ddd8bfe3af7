/* The groups that measure the link, launches, synchronisation and GPU memory: what each fills in
 * stands at the head of its file. And the buffers that the groups of the link share. */
#ifndef CALIBRATE_LINK_GROUPS_H
#define CALIBRATE_LINK_GROUPS_H

#include "calibrate/device.h"

#define MiB ((size_t)1 << 20)

bool link_copies(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool link_rows(const struct effort *effort, uint64_t seed, struct findings *findings,
               struct error *why);
bool link_loads(const struct effort *effort, uint64_t seed, struct findings *findings,
                struct error *why);
bool link_sharing(const struct effort *effort, uint64_t seed, struct findings *findings,
                  struct error *why);
bool link_stores(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool flags(const struct effort *effort, uint64_t seed, struct findings *findings,
           struct error *why);
bool launches(const struct effort *effort, uint64_t seed, struct findings *findings,
              struct error *why);
bool gpu_memory_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);

/* What link_checks.h claims of flags.cu, link_rows.cu and link_stores.cu. */
bool flags_arrive(struct error *why);
bool copied_rows_are_right(struct error *why);
bool stored_rows_arrive(struct error *why);

/* As many bytes of pinned as of GPU memory, random. */
struct link_buffers {
    pinned_memory host;
    gpu_memory gpu;
    size_t bytes, next;

    /* `wanted` bytes each, or less where either lacks room; a power of two, at least 16 MiB. */
    bool take(size_t wanted, uint64_t seed, struct error *why);
    /* Where the next `size` bytes lie, in both. */
    size_t turn(size_t size);
};

/* One copy of `size` bytes at the next place. */
bool link_copy(struct link_buffers *buffers, cudaMemcpyKind kind, size_t size, cudaStream_t stream,
               struct error *why);

/* Add an observation, its points to come. */
bool observe(struct findings *findings, const char *name, const char *axis, enum unit unit,
             struct error *why);

/* Add a single figure that is known without sampling: what the driver says. */
bool state_figure(struct findings *findings, const char *name, double value, const char *note,
                  struct error *why);

#endif
