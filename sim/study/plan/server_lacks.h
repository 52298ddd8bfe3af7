/* What a run has and a server's command cannot say: the server would start, and be another one than
 * was predicted. */
#ifndef STUDY_PLAN_SERVER_LACKS_H
#define STUDY_PLAN_SERVER_LACKS_H

#include "scenario/point.h"

enum { SERVER_LACKS = 512 };

/* Stands in a command for the network that drafts, whose id nobody stated. */
#define SERVER_DRAFT "DRAFT"

/* Types of the weights that the checkpoint of a scenario's model has. */
struct server_checkpoint {
    enum dtype weights, experts;
};
bool server_checkpoint(const struct node *root, struct sources *sources,
                       struct server_checkpoint *out, struct error *why);

/* Does the checkpoint have its weights in bf16, and the run in fp8? Engines quantise such weights
 * as they load them. */
bool server_quantizes(const struct model *model, const struct server_checkpoint *own);

/* Write what `command`, a preset's text with {NAME}s, leaves out of the run of `point`, or "". */
void server_lacks(const struct point *point, const struct server_checkpoint *own,
                  const char *command, char text[SERVER_LACKS]);

#endif
