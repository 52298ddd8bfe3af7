/* Fuzzes files of requests: bytes are refused with a reason, or give a list that keeps the promises
 * of requests.h. */
#include "server/requests/requests.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_chunks(const struct requests *requests, const struct request *request)
{
    uint32_t before = UINT32_MAX;
    uint32_t tokens = 0;
    for (uint32_t i = 0; i < request->chunks; i++) {
        uint32_t chunk = requests->chunks[request->first_chunk + i];
        require(chunk < requests->ids.count && requests->kind[chunk].before == before);
        tokens += requests->kind[chunk].tokens;
        before = chunk;
    }
    require(tokens == request_numbered_tokens(requests, request));
}

static void check(const struct requests *requests)
{
    int64_t before = 0;
    require(requests->count > 0);
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        require(request->arrival_ns >= before && request->prompt > 0 && request->output > 0);
        check_chunks(requests, request);
        before = request->arrival_ns;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct error why;
    struct requests requests;
    struct requests_options options = {.hash_tokens =
                                           (uint32_t)(size % 3)}; /* as the format says, 1 or 2 */
    int file = memfd_create("fuzz.requests", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (requests_read(path, &options, &requests, &why)) {
        check(&requests);
    } else {
        require(why.found[0] != '\0');
    }
    requests_release(&requests);
    close(file);
    return 0;
}
