/* What a server's settings mean together: the KV pool counted in blocks, the ranks of experts, the
 * preset, and SGLang's way to count GPUs. */
#ifndef SCENARIO_SERVER_SERVER_COMPLETE_H
#define SCENARIO_SERVER_SERVER_COMPLETE_H

#include "scenario/server/server_setting.h"

/* Fill in the keys that follow from everything that was said; the maker is known. */
bool server_complete(struct server_said *said, struct error *why);

#endif
