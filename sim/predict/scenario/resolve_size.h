/* The keys of a scenario that say how much: tokens, sequences, steps, memory. */
#pragma once

#include "core/node.h"
#include "decode/setup.h"

/* The scenario's `key`, which must be there; NULL and an error with an example otherwise. */
const struct node *resolve_required(const struct node *root, const char *key, const char *example,
                                    struct error *why);

/* Contexts, batch, request, steps, seed and kv_pool_tokens; after the model and the system. */
bool resolve_size(const struct node *root, struct setup *out, struct error *why);

/* What may be used of each tier. */
bool resolve_rooms(const struct node *root, struct setup *out, struct error *why);
