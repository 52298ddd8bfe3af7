/* The process between clients and the engine: it turns prompts into tokens and tokens into text.
 *
 * It does so for one request at a time in each direction; the two directions do not disturb each
 * other, because tokenizers release Python's lock. Times are those of server_path.h.
 */
#pragma once

#include "server/server_path.h"

struct api {
    int64_t heard_ns;   /* the last prompt has passed */
    int64_t replied_ns; /* the last token has passed */
};

/* Take a prompt of `tokens` tokens that arrived at `at_ns`; prompts come in the order of their
 * arrivals. Returns when the engine has it, never earlier than the prompt before. */
int64_t api_notice(struct api *api, const struct server_path *path, int64_t at_ns, uint32_t tokens);

/* Send a token that the GPU had computed at `at_ns`. Returns when its client has it. */
int64_t api_reply(struct api *api, const struct server_path *path, int64_t at_ns);
