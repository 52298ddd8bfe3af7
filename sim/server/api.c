#include "server/api.h"

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

int64_t api_notice(struct api *api, const struct server_path *path, int64_t at_ns, uint32_t tokens)
{
    api->heard_ns = later(api->heard_ns, at_ns) + path->prompt_token_ns * tokens;
    return api->heard_ns + path->request_ns;
}

int64_t api_reply(struct api *api, const struct server_path *path, int64_t at_ns)
{
    api->replied_ns = later(api->replied_ns, at_ns) + path->output_token_ns;
    return api->replied_ns;
}
