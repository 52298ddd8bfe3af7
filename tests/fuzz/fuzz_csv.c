/* Fuzzes traces in CSV: bytes are refused with a reason and without leaving a file, or they are
 * imported, and then export, import and export again give the same text. */
#include "trace/csv/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* The message states a single fault, or the number of faults. */
static bool import_csv(const char *path, const char *out_path, struct error *why)
{
    struct complaints complaints = {.count = 0};
    bool ok = trace_import_csv(path, out_path, &complaints, why);
    require(!ok || complaints.count == 0);
    return ok;
}

static char *export_text(const char *path, size_t *size)
{
    struct error why;
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    struct trace *trace = trace_open(path, &why);
    require(out != NULL && trace != NULL && trace_export_csv(trace, out, &why));
    trace_close(trace);
    fclose(out);
    return text;
}

static void save(const char *path, const void *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    require(file != NULL && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char csv[64], swt[64];
    struct error why = {.found = ""};
    snprintf(csv, sizeof csv, "/dev/shm/fuzz-csv-%ld.csv", (long)getpid());
    snprintf(swt, sizeof swt, "/dev/shm/fuzz-csv-%ld.swt", (long)getpid());
    save(csv, data, size);
    if (import_csv(csv, swt, &why)) {
        size_t once_size, twice_size;
        char *once = export_text(swt, &once_size);
        save(csv, once, once_size);
        require(import_csv(csv, swt, &why));
        char *twice = export_text(swt, &twice_size);
        require(once_size == twice_size && memcmp(once, twice, once_size) == 0);
        free(once);
        free(twice);
        unlink(swt);
    } else {
        require(why.found[0] != '\0' && access(swt, F_OK) != 0);
    }
    unlink(csv);
    return 0;
}
