/* Fuzzes measurements of a server: bytes are refused with a reason, or give figures that can have
 * been measured. */
#include "study/papers/measured_server.h"

#include <math.h>
#include <stdint.h>
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

static void require_figures(const struct measured *measured)
{
    uint32_t known = 0;
    require(measured->tool != NULL);
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        double value = measured->value[i];
        require(isnan(value) || (isfinite(value) && value >= 0));
        known += isnan(value) ? 0 : 1;
    }
    require(known > 0);
    require(isnan(measured->requests) || measured->requests >= 0);
    require(isnan(measured->rate) || measured->rate > 0);
    require(memchr(measured->model, '\0', sizeof measured->model) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct measured measured;
    struct error why = {.found = ""};
    int file = memfd_create("measured", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (measured_read(path, &measured, &why)) {
        require_figures(&measured);
    } else {
        require(why.found[0] != '\0');
    }
    close(file);
    return 0;
}
