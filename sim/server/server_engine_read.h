/* A version of an engine from the tree of its file. Private to this folder. */
#pragma once

#include "core/node.h"
#include "server/server_engine.h"

/* Read a version, `merged` with the keys of what it extends, as the row `name`. Its texts are those
 * of that tree. Complaints are about `own`, the version as its file has it. */
bool server_engine_read(const struct node *own, const struct node *merged, const char *name,
                        struct server_engine *out, struct error *why);
