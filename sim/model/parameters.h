/* How many weights a whole model has, by part: all, those that one token uses, and their bytes. */
#pragma once

#include "model/model.h"

enum model_part_id {
    PART_EMBEDDING, /* tables of words and positions, the final norm, and a head of its own */
    PART_MIXERS,    /* attention, or what a layer has in its place, with norms */
    PART_FFN,       /* dense and shared */
    PART_EXPERTS,   /* routed, with their routers */
    PART_ENCODERS,  /* of images and sound, about (read/config.c) */
    PART_COUNT
};
extern const char *const model_part_names[PART_COUNT];

struct model_part {
    uint64_t total, active;      /* weights; a token uses one row of a table */
    uint64_t bytes[DTYPE_COUNT]; /* on all GPUs together if nothing is copied, by type */
};

void model_parts(const struct model *model, struct model_part parts[PART_COUNT]);
