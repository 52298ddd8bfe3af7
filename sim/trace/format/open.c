/* Opening a trace checks both ends of the file and the order of the index; each frame is checked
 * when it is read (reader.c). Together the two checks cover every byte of the file.
 *
 *   header | frame | frame | ... | index | hash, index offset, magic
 *
 * Only the header is kept, so memory does not grow with the trace. */
#include "trace/format/file.h"

#include "core/array.h"
#include "core/text.h"
#include "trace/format/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file without a footer was cut or never finished: follow its frames to find where it ends. */
static bool blame_cut(const struct trace *trace, struct error *why)
{
    uint64_t offset = trace->header_bytes;
    for (uint64_t number = 0; number < trace->frames; number++) {
        struct trace_frame frame;
        struct frame_header found = {0};
        uint8_t bytes[FRAME_HEADER];
        frame_place(&trace->header, number, &frame);
        uint64_t left = trace->size - offset;
        if (left >= FRAME_HEADER) {
            if (!trace_read_at(trace, bytes, sizeof bytes, offset, why)) {
                return false;
            }
            if (!frame_header_load(bytes, &frame, &found, why)) {
                return frame_blame(&frame, trace->path, 0, offset, why);
            }
        }
        if (left < FRAME_HEADER || left - FRAME_HEADER < found.stored_bytes) {
            error_set(why, NULL, 0, "the file ends within it, at byte %" PRIu64, trace->size);
            return frame_blame(&frame, trace->path, 0, offset, why);
        }
        offset += FRAME_HEADER + (uint64_t)found.stored_bytes;
    }
    return error_set(why, trace->path, 0,
                     "index, byte %" PRIu64 ": no footer at the end of the file, byte %" PRIu64,
                     offset, trace->size);
}

static bool read_header(struct trace *trace, struct error *why)
{
    uint8_t fixed[HEADER_FIXED];
    const char *path = trace->path;
    size_t size = trace->size < HEADER_FIXED ? (size_t)trace->size : HEADER_FIXED;
    if (!trace_read_at(trace, fixed, size, 0, why)) {
        return false;
    }
    if (memcmp(fixed, trace_magic, size < TRACE_MAGIC ? size : TRACE_MAGIC) != 0) {
        return error_set(why, path, 0, "header, byte 0: not a decode trace");
    }
    if (size < HEADER_FIXED) {
        return error_set(why, path, 0, "header: the file ends at byte %" PRIu64, trace->size);
    }
    if (load_u32(fixed + 8) != TRACE_VERSION) {
        error_set(why, path, 0, "header, byte 8: version %u", load_u32(fixed + 8));
        return error_expect(why, "%d", TRACE_VERSION);
    }
    uint32_t source_bytes = load_u32(fixed + HEADER_FIXED - 4);
    trace->header_bytes = load_u32(fixed + 12);
    if (source_bytes > SOURCE_MOST ||
        trace->header_bytes != HEADER_FIXED + source_bytes + HASH_BYTES) {
        return error_set(why, path, 0, "header, byte 12: the header has %u bytes, its source %u",
                         trace->header_bytes, source_bytes);
    }
    if (trace->size < trace->header_bytes) {
        return error_set(why, path, 0, "header: the file ends at byte %" PRIu64, trace->size);
    }
    trace->header_text = array_zeroed(trace->header_bytes, 1, why);
    if (trace->header_text == NULL ||
        !trace_read_at(trace, trace->header_text, trace->header_bytes, 0, why)) {
        return false;
    }
    uint32_t hashed = trace->header_bytes - HASH_BYTES;
    if (XXH64(trace->header_text, hashed, 0) != load_u64(trace->header_text + hashed)) {
        return error_set(why, path, 0, "header, byte %u: the checksum does not match", hashed);
    }
    return true;
}

static bool parse_header(struct trace *trace, struct error *why)
{
    uint32_t fields[HEADER_FIELDS];
    for (int i = 0; i < HEADER_FIELDS; i++) {
        fields[i] = load_u32(trace->header_text + HEADER_FIELDS_AT + 4 * i);
    }
    const char *source = (const char *)trace->header_text + HEADER_FIXED;
    size_t source_bytes = trace->header_bytes - HEADER_FIXED - HASH_BYTES;
    if (!header_unpack(fields, trace->path, 0, &trace->header, why) ||
        !header_check_source(source, source_bytes, trace->path, 0, why) ||
        (trace->header.source = array_zeroed(source_bytes + 1, 1, why)) == NULL) {
        return false;
    }
    memcpy(trace->header.source, source, source_bytes);
    trace->frames = trace_frames(&trace->header);
    return true;
}

/* The footer and the number of frames must agree on where the index is. */
static bool read_footer(struct trace *trace, struct error *why)
{
    uint8_t footer[FOOTER];
    uint64_t left = trace->size - trace->header_bytes;
    if (left < FOOTER) {
        return blame_cut(trace, why);
    }
    if (!trace_read_at(trace, footer, sizeof footer, trace->size - FOOTER, why)) {
        return false;
    }
    if (memcmp(footer + FOOTER - TRACE_MAGIC, trace_end_magic, TRACE_MAGIC) != 0) {
        return blame_cut(trace, why);
    }
    if (trace->frames > (left - FOOTER) / INDEX_ENTRY) {
        return error_set(why, trace->path, 0,
                         "header: the file is too short for its %" PRIu64 " frames", trace->frames);
    }
    trace->index_hash = load_u64(footer);
    trace->index = load_u64(footer + 8);
    if (trace->index != trace->size - FOOTER - trace->frames * INDEX_ENTRY) {
        return error_set(why, trace->path, 0,
                         "footer, byte %" PRIu64 ": %" PRIu64 " frames have no index at %" PRIu64,
                         trace->size - FOOTER + 8, trace->frames, trace->index);
    }
    return true;
}

/* The state of the index check from one chunk to the next. */
struct index_check {
    XXH64_state_t hash;
    uint64_t next; /* the least offset that the next frame can have */
};

static bool check_entries(const struct trace *trace, const uint8_t *entries, uint64_t first,
                          size_t count, void *context, struct error *why)
{
    struct index_check *check = context;
    XXH64_update(&check->hash, entries, count * INDEX_ENTRY);
    for (size_t i = 0; i < count; i++) {
        uint64_t offset = load_u64(entries + i * INDEX_ENTRY);
        bool in_order = first + i == 0 ? offset == trace->header_bytes : offset >= check->next;
        if (!in_order || offset > trace->index || trace->index - offset < FRAME_HEADER) {
            return error_set(why, trace->path, 0,
                             "index, byte %" PRIu64 ": frame %" PRIu64 " cannot be at %" PRIu64,
                             trace->index + (first + i) * INDEX_ENTRY, first + i, offset);
        }
        check->next = offset + FRAME_HEADER;
    }
    return true;
}

static bool check_index(const struct trace *trace, struct error *why)
{
    struct index_check check;
    XXH64_reset(&check.hash, 0);
    if (!trace_walk_index(trace, check_entries, &check, why)) {
        return false;
    }
    return XXH64_digest(&check.hash) == trace->index_hash ||
           error_set(why, trace->path, 0, "index, byte %" PRIu64 ": the checksum does not match",
                     trace->index);
}

/* Only regular files: a pipe has no positions, and opening one must not hang. */
static bool trace_open_file(struct trace *trace, struct error *why)
{
    struct stat status;
    trace->fd = open(trace->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (trace->fd < 0 || fstat(trace->fd, &status) != 0) {
        return error_set(why, trace->path, 0, "cannot open: %s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(why, trace->path, 0, "not a regular file");
    }
    trace->size = (uint64_t)status.st_size;
    return true;
}

struct trace *trace_open(const char *path, struct error *why)
{
    struct trace *trace = array_zeroed(1, sizeof *trace, why);
    if (trace == NULL) {
        return NULL;
    }
    trace->fd = -1;
    atomic_init(&trace->holders, 1);
    trace->path = text_duplicate(path, why);
    if (trace->path == NULL) {
        trace_close(trace);
        return NULL;
    }
    if (!trace_open_file(trace, why) || !read_header(trace, why) || !parse_header(trace, why) ||
        !trace_layers_init(trace, why) || !read_footer(trace, why) || !check_index(trace, why)) {
        trace_close(trace);
        return NULL;
    }
    return trace;
}

struct trace *trace_hold(struct trace *trace)
{
    if (trace != NULL) {
        atomic_fetch_add(&trace->holders, 1);
    }
    return trace;
}

uint32_t trace_holders(const struct trace *trace)
{
    return atomic_load(&trace->holders);
}

void trace_close(struct trace *trace)
{
    if (trace == NULL) {
        return;
    }
    if (atomic_fetch_sub(&trace->holders, 1) > 1) {
        return;
    }
    memo_destroy(trace->memo);
    if (trace->fd >= 0) {
        close(trace->fd);
    }
    generator_destroy(trace->generator);
    free(trace->chosen);
    free(trace->numbers);
    free(trace->header.source);
    free(trace->header_text);
    free(trace->path);
    free(trace);
}
