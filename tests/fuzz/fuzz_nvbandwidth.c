/* Fuzzes results of nvbandwidth: bytes are refused with a reason, or give figures of the link that
 * a profile can state. */
#include "calibrate/import/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    memset(&provenance, 0, sizeof provenance);
    bool ok = nvbandwidth_import(size > 0 ? (const char *)data : "", size, "fuzz", &findings,
                                 &provenance, &why);
    require(ok ? findings.count > 0 : why.found[0] != '\0');
    for (uint32_t i = 0; i < findings.count; i++) {
        const struct finding *finding = &findings.all[i];
        require(strncmp(finding->name, "link.", 5) == 0);
        require(finding->count <= 1);
        require(finding->count == 0 ||
                (isfinite(finding->points[0].median) && finding->points[0].median > 0));
    }
    findings_release(&findings);
    return 0;
}
