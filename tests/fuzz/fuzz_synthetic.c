/* Fuzzes names of synthetic workloads: they are refused with a reason, or give requests as many and
 * as long as requests.h promises, the same ones each time. */
#include "server/requests/synthetic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static bool make(const char *name, struct requests *out, struct error *why)
{
    const struct requests_options options = {.limit = 20, .hash_tokens = 1 << 18, .seed = 1};
    return synthetic_make(name, &options, out, why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[512];
    struct requests requests, again;
    struct error why;
    snprintf(name, sizeof name, "synthetic:%.*s", (int)(size < 400 ? size : 400),
             (const char *)data);
    require(synthetic_is(name));
    if (!make(name, &requests, &why)) {
        require(why.found[0] != '\0' && requests.count == 0);
        return 0;
    }
    require(make(name, &again, &why) && requests.count > 0 && requests.count <= 20);
    require(requests.content == again.content && again.count == requests.count);
    for (size_t i = 0; i < requests.count; i++) {
        const struct request *request = &requests.all[i];
        require(request->prompt > 0 && request->output > 0 && request->arrival_ns == 0);
        require(request->prompt <= REQUEST_MOST_TOKENS && request->output <= REQUEST_MOST_TOKENS);
        const struct request *same = &again.all[i];
        require(request->prompt == same->prompt && request->output == same->output &&
                request->first_chunk == same->first_chunk && request->chunks == same->chunks &&
                request->turn == same->turn && request->think_ns == same->think_ns);
    }
    requests_release(&requests);
    requests_release(&again);
    return 0;
}
