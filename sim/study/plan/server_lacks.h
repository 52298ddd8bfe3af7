/* What a run has and a server's command cannot say: the server would start, and be another one than
 * was predicted. */
#ifndef STUDY_PLAN_SERVER_LACKS_H
#define STUDY_PLAN_SERVER_LACKS_H

#include "scenario/point.h"

enum { SERVER_LACKS = 512 };

/* Stands in a command for the network that drafts, whose id nobody stated. */
#define SERVER_DRAFT "DRAFT"

/* Does the checkpoint of the model have its weights in bf16, and the run in fp8? Engines quantise
 * such weights as they load them. */
bool server_quantizes(const struct point *point, bool *quantizes, struct error *why);

/* Write what `command`, a preset's text with {NAME}s, leaves out of the run of `point`, or "". */
bool server_lacks(const struct point *point, const char *command, char text[SERVER_LACKS],
                  struct error *why);

#endif
