/* The groups that measure the GPU: the head of each file says which curves it fills in. */
#pragma once

#include "calibrate/measure/group.h"

bool gpu_memory_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                      struct error *why);
bool launches(const struct effort *effort, uint64_t seed, struct findings *findings,
              struct error *why);
bool attention_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool product_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why);
bool selection_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why);
bool layer_speed(const struct effort *effort, uint64_t seed, struct findings *findings,
                 struct error *why);
