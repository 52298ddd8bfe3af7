/* Fuzzes the import of a server's indices, which gives a folder: bytes are refused with a reason and
 * without leaving anything, or imported into complete traces, the same ones at a second import. */
#include "import_any.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *name_of(const char *traces, uint32_t request)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/request-%04u.swt", traces, request);
    return path;
}

/* The hashes of all traces, one after another. */
static uint64_t hash_traces(const char *traces, const struct import_report *report)
{
    uint64_t hash = 0;
    uint32_t found = 0;
    for (uint32_t request = 1; request <= report->traces + report->skipped; request++) {
        const char *path = name_of(traces, request);
        if (access(path, F_OK) == 0) {
            hash = hash * 31 + hash_of(path);
            found++;
        }
    }
    require(found == report->traces);
    return hash;
}

static void remove_traces(const char *traces, const struct import_report *report)
{
    for (uint32_t request = 1; request <= report->traces + report->skipped; request++) {
        unlink(name_of(traces, request));
    }
    require(rmdir(traces) == 0);
}

static void import_folder(const uint8_t *data, size_t size, const struct import_options *options)
{
    char in[64], traces[72];
    struct error why = {.found = ""};
    struct import_report first = {.traces = 0}, second = {.traces = 0};
    snprintf(in, sizeof in, "/dev/shm/fuzz-import-%ld", (long)getpid());
    snprintf(traces, sizeof traces, "%s.d", in);
    FILE *file = fopen(in, "wb");
    require(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
    if (trace_import(&import_sglang_indexer, in, traces, options, &first, &why)) {
        require(first.complaints.count == 0 && first.traces > 0);
        uint64_t hash = hash_traces(traces, &first);
        require(trace_import(&import_sglang_indexer, in, traces, options, &second, &why));
        require(second.traces == first.traces && hash_traces(traces, &second) == hash);
        remove_traces(traces, &first);
    } else {
        require(why.found[0] != '\0' && access(traces, F_OK) != 0);
    }
    unlink(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct import_options plain,
        two = {.layers = 2}, full = {.layers = 1, .context = 3, .unit_tokens = 2, .share = 2};
    import_folder(data, size, &plain);
    import_folder(data, size, &two);
    import_folder(data, size, &full);
    return 0;
}
