/* The groups that measure the link: the head of each file says which curves it fills in. */
#pragma once

#include "calibrate/measure/group.h"

bool link_copies(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool link_blocks(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool link_beside(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool link_loads(const struct effort *effort, uint64_t seed, struct findings *findings,
                struct error *why);
bool link_sharing(const struct effort *effort, uint64_t seed, struct findings *findings,
                  struct error *why);
bool link_stores(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
bool flags(const struct effort *effort, uint64_t seed, struct findings *findings,
           struct error *why);

/* Checks (checks.h) that are in flags.cu, pieces.cu and stores.cu. */
bool flags_arrive(struct error *why);
bool pieces_arrive(struct error *why);
bool stored_rows_arrive(struct error *why);
