/* For tests of trace files: a fresh folder a program, files as bytes. Include after cmocka.h. */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include "make_trace.h"
#include "trace/format/verify.h"

static char folder[32];

static inline int make_test_folder(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

/* The folder is empty by then, or a test left a file behind; cmocka forgives a failed teardown. */
static inline int remove_test_folder(void **state)
{
    (void)state;
    if (rmdir(folder) != 0) {
        perror(folder);
        abort();
    }
    return 0;
}

struct bytes {
    uint8_t at[1 << 17];
    size_t size;
};

static inline void save(const char *path, const struct bytes *bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes->at, 1, bytes->size, file), bytes->size);
    assert_int_equal(fclose(file), 0);
}

static inline void load(const char *path, struct bytes *bytes)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes->size = fread(bytes->at, 1, sizeof bytes->at, file);
    assert_true(bytes->size < sizeof bytes->at);
    fclose(file);
}

/* Open and read everything: does it fail? */
static inline bool is_refused(const char *path, struct error *why)
{
    struct trace_summary summary;
    struct trace *trace = trace_open(path, why);
    bool ok = trace != NULL && trace_verify(trace, 1, &summary, why);
    trace_close(trace);
    return !ok;
}

#endif
