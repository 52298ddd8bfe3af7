/* Maps of an engine's version whose keys are names: each becomes an array of rows. For server_engine.c alone. */
#pragma once

#include "core/node.h"
#include "server/server_engine.h"

/* Read `host_memory`, `connectors` and `refuses`, of which any may be NULL, into the engine. The rows live as
 * long as the process; after a failure there are none. */
bool engine_rows_read(const struct node *host, const struct node *connectors,
                      const struct node *refusals, struct server_engine *out, struct error *why);
