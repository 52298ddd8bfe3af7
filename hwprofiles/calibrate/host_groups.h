/* The groups of the host, as the table in groups_host.c has them: one file each. */
#ifndef CALIBRATE_HOST_GROUPS_H
#define CALIBRATE_HOST_GROUPS_H

#include "calibrate/group.h"

bool host_machine_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);
bool host_memory_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_gather_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_attention_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                        struct error *why);
bool host_policy_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool host_handoff_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);

#endif
