/* The programs of miniatures, of which a layer is a list of stages. Private to this folder. */
#pragma once

#include "decode/miniature/miniature.h"
#include "decode/time/pipe.h"

typedef bool (*miniature_stage)(struct pipe *pipe, uint32_t layer, struct error *why);

/* Defaults of the mechanisms: the CPU manages, launches kernel by kernel and is waited for; transfers
 * run in the main stream. On a host, misses are gathered and copied. */
struct miniature_program {
    const miniature_stage *stages; /* of a layer; ends with NULL */
    enum transfer transfer;
    enum manager manager;
    enum sync sync;
    enum launch launch;
    bool streams; /* whole layers, in a stream of their own */
    bool makes;   /* K and V of half the tokens */
};
extern const struct miniature_program miniature_programs[MINIATURE_COUNT];
