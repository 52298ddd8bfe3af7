/* What a run has and a server's command cannot say: the server would start, and be another one than
 * was predicted. */
#pragma once

#include "predict/scenario/point.h"

enum { SERVER_LACKS = 512 };

/* Stands in a command for the network that drafts, whose id nobody stated. */
#define SERVER_DRAFT "DRAFT"

/* Stands for the model where the weights are to be in a type that its checkpoint does not have, and
 * that the engine does not make of it. */
#define SERVER_CHECKPOINT "CHECKPOINT"

/* Types of the weights that the checkpoint of a scenario's model has. */
struct server_checkpoint {
    enum dtype weights, experts;
};
bool server_checkpoint(const struct node *root, struct sources *sources,
                       struct server_checkpoint *out, struct error *why);

/* Does the checkpoint have its weights in bf16, and the run in fp8? Engines quantise such weights
 * as they load them. */
bool server_quantizes(const struct model *model, const struct server_checkpoint *own);

/* Do the run's weights need a checkpoint that the model's id is not? */
bool server_needs_checkpoint(const struct model *model, const struct server_checkpoint *own,
                             const char *command);

/* Write what `command`, a preset's text with {NAME}s, leaves out of the run of `point`, or "". `id`
 * is that of the model. */
void server_lacks(const struct point *point, const struct server_checkpoint *own, const char *id,
                  const char *command, char text[SERVER_LACKS]);
