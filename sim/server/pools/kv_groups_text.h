/* The groups of kv_groups.h for people and programs. */
#pragma once

#include "tables/frame.h"
#include "server/pools/kv_groups.h"

/* A row for each kind of layer: its groups, and the blocks that a sequence of `length` tokens takes
 * of them. NULL without memory. */
struct frame *kv_groups_frame(const struct kv_groups *groups, const struct kv_limits *limits,
                              uint64_t length, struct error *why);

/* Write what a pool of so many bytes holds. */
void kv_groups_say(const struct kv_groups *groups, const struct kv_limits *limits, double pool,
                   uint64_t length, char *text, size_t size);
