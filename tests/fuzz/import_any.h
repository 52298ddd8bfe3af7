/* Fuzzes the import of one format: bytes are refused with a reason and without leaving a trace, or
 * imported into a complete trace, which is the same at a second import. */
#ifndef IMPORT_ANY_H
#define IMPORT_ANY_H

#include "trace/format/verify.h"
#include "trace/import/import.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static inline uint64_t hash_of(const char *path)
{
    struct error why;
    struct trace_summary summary;
    uint64_t hash;
    struct trace *trace = trace_open(path, &why);
    require(trace != NULL && trace_verify(trace, 1, &summary, &why) &&
            trace_hash(trace, &hash, &why));
    trace_close(trace);
    return hash;
}

static inline void import_any(const struct import_format *format, const uint8_t *data, size_t size,
                              const struct import_options *options)
{
    char in[64], swt[80];
    struct error why = {.found = ""};
    struct import_report report = {.unread = ""};
    snprintf(in, sizeof in, "/dev/shm/fuzz-import-%ld", (long)getpid());
    snprintf(swt, sizeof swt, "%s.swt", in);
    FILE *file = fopen(in, "wb");
    require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    if (trace_import(format, in, swt, options, &report, &why)) {
        uint64_t hash = hash_of(swt);
        require(report.complaints.count == 0);
        require(trace_import(format, in, swt, options, &report, &why) && hash_of(swt) == hash);
        unlink(swt);
    } else {
        require(why.found[0] != '\0' && access(swt, F_OK) != 0);
    }
    unlink(in);
}

#endif
