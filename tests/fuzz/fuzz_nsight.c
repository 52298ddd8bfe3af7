/* Fuzzes exports of Nsight Systems, which are SQLite databases: bytes are refused with a reason, or
 * give figures that a profile can state. */
#include "calibrate/import/import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct findings findings = {.all = NULL};
    static struct provenance provenance;
    struct error why = {.found = ""};
    char path[64];
    int file = memfd_create("nsight", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    memset(&provenance, 0, sizeof provenance);
    bool ok = nsight_import(path, &findings, &provenance, &why);
    require(ok ? findings.count > 0 : why.found[0] != '\0');
    for (uint32_t i = 0; i < findings.count; i++) {
        const struct finding *finding = &findings.all[i];
        require(finding->count <= 1);
        require(finding->count == 0 ||
                (isfinite(finding->points[0].median) && finding->points[0].median > 0));
    }
    findings_release(&findings);
    close(file);
    return 0;
}
