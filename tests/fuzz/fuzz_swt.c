/* Fuzzes decode traces: bytes are refused with a reason, or can be read to the end. Few inputs have
 * valid checksums, so the same bytes are read once more with correct ones. */
#include "trace/demand.h"
#include "trace/format/trace.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

enum { HEADER_LEAST = 88, FRAME_HEADER = 36, FOOTER = 24 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static uint64_t load(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    memcpy(&value, at, size);
    return value;
}

static void seal_frame(uint8_t *frame, uint64_t stored)
{
    uint8_t *both = malloc(28 + stored);
    require(both != NULL);
    memcpy(both, frame, 28);
    memcpy(both + 28, frame + FRAME_HEADER, stored);
    uint64_t hash = XXH64(both, 28 + stored, 0);
    memcpy(frame + 28, &hash, sizeof hash);
    free(both);
}

/* Correct the checksums of header, frames and index, as far as these can be found. */
static void seal(uint8_t *data, size_t size)
{
    size_t header = size >= HEADER_LEAST ? load(data + 12, 4) : 0;
    if (header < HEADER_LEAST || header > size) {
        return;
    }
    uint64_t hash = XXH64(data, header - 8, 0);
    memcpy(data + header - 8, &hash, sizeof hash);
    size_t at = header;
    while (size - at >= FRAME_HEADER && memcmp(data + at, "SWTF", 4) == 0 &&
           load(data + at + 24, 4) <= size - at - FRAME_HEADER) {
        uint64_t stored = load(data + at + 24, 4);
        seal_frame(data + at, stored);
        at += FRAME_HEADER + stored;
    }
    if (size - at >= FOOTER) {
        hash = XXH64(data + at, size - FOOTER - at, 0);
        memcpy(data + size - FOOTER, &hash, sizeof hash);
    }
}

static void check_demands(const struct trace_header *header, const struct trace_frame *frame)
{
    struct error why;
    struct demand_buffer buffer = {0};
    struct demand_shape shape = demand_shape(header, header->keep, header->sinks, header->recent);
    for (uint32_t row = 0; row < header->kv_heads * frame->steps; row++) {
        struct demand demand;
        require(demand_from_frame(header, frame, row / frame->steps, row % frame->steps, &shape,
                                  &buffer, &demand, &why));
        require(demand.wanted == demand.recorded && demand.recorded <= header->keep);
    }
    demand_buffer_release(&buffer);
}

static void read_all(const char *path)
{
    struct error why = {.found = ""};
    struct trace_frame frame = {0};
    struct trace *trace = trace_open(path, &why);
    bool ok = trace != NULL;
    require(ok || why.found[0] != '\0');
    if (ok) {
        uint64_t hash;
        const struct trace_header *header = trace_header(trace);
        require(trace_hash(trace, &hash, &why));
        for (uint32_t sequence = 0; ok && sequence < header->sequences; sequence++) {
            for (uint32_t tile = 0; ok && tile < trace_tiles(header); tile++) {
                for (uint32_t layer = 0; ok && layer < header->layers; layer++) {
                    ok = trace_read(trace, sequence, tile, layer, &frame, &why);
                    require(ok || strncmp(why.found, "tile ", 5) == 0);
                    if (ok) {
                        check_demands(header, &frame);
                    }
                }
            }
        }
    }
    trace_frame_release(&frame);
    trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("fuzz.swt", 0);
    uint8_t *sealed = malloc(size > 0 ? size : 1);
    require(file >= 0 && sealed != NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    require(pwrite(file, data, size, 0) == (ssize_t)size);
    read_all(path);
    if (size > 0) {
        memcpy(sealed, data, size);
    }
    seal(sealed, size);
    require(pwrite(file, sealed, size, 0) == (ssize_t)size);
    read_all(path);
    free(sealed);
    close(file);
    return 0;
}
