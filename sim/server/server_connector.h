/* How an engine moves KV between a GPU and host memory: its connector, as vLLM calls that part.
 *
 *     GPU    |......step......|......step......|......step......|
 *     saves             |fill |--copy--|
 *     loads  |admitted--copy--|  |poll |report |first step that computes the request
 *     CPU                     ^ the copies' calls come before the next launch
 *
 * KV of a unit (mechanisms.prefix_unit) lies in pieces, which cross one by one: small pieces are slower than
 * the link (link.calls_in and its neighbours in machine/curves.def), and each costs the CPU time. Who waits for
 * a copy is a mechanism: prefix_load, prefix_save.
 *
 * A connector is a row of `connectors` of an engine's version, with the files that say so; a system names its
 * own (`connector`). docs/connectors.md tells what each does. */
#pragma once

#include "core/error.h"
#include "core/node.h"

#include <stdbool.h>
#include <stdint.h>

enum connector_pieces {
    PIECES_UNIT,  /* a whole unit */
    PIECES_BLOCK, /* all layers of a block */
    PIECES_LAYER, /* K and V of a layer of a block */
    PIECES_HALF,  /* K or V of a layer of a block; a latent is not divided */
    PIECES_ROW,   /* K or V of a layer of a token */
};

/* What moves pieces: a call for each, one call for all, or a kernel that reads or writes host memory. */
enum connector_mover { MOVER_CALLS, MOVER_BATCH, MOVER_KERNEL };

/* Loads, or saves. */
struct connector_way {
    enum connector_pieces pieces;
    enum connector_mover by;
    double kernel_below; /* pieces of fewer bytes are moved by a kernel; 0: `by` moves all */
    int64_t unit_ns;     /* of each unit beside its copy: nothing crosses meanwhile */
};

/* The scheduler asks, while all waits, which tokens of a request's prompt lie below the GPU. */
struct connector_lookup {
    int64_t request_ns, token_ns; /* for a request, and each token of its prompt */
    int64_t gpu_ns;               /* on several GPUs, for the answer of each */
    bool again;                   /* in each step in which the request waits; else once */
};

struct server_connector {
    const char *name, *source;
    struct connector_way load, save;
    /* Of dense models, and of those with latents, both ways; PIECES_UNIT: as others. */
    enum connector_pieces dense, latents;
    /* Blocks are free before they are saved: a step that takes one waits until it is. */
    bool frees_early;
    bool prompts_only; /* KV of answers is not saved, until it is part of a prompt */
    bool calls_first;  /* the thread that launches a step first makes the calls of copies */
    /* From the one in which a request is admitted to the first that may compute it, if its load is
     * shorter than a step and others run; 0: 1. */
    uint32_t steps;
    struct connector_lookup lookup;
    uint32_t gpu_units; /* that the GPU keeps room for beside its KV: copies pass there */
    /* Host memory that it takes if none is stated, by the GPU's room for KV; 0: all. */
    double host_ratio;
    int64_t step_ns; /* CPU time of each step of a model on several GPUs */
};

/* Read one from its map. Fails without a source. */
bool server_connector_read(const struct node *map, struct server_connector *out, struct error *why);
