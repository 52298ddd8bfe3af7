/* Fuzzes rows of twins: bytes are refused with a reason, or give rows whose bands are shares in order. */
#include "decode/replay/twin_bands.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void check_band(const double band[2])
{
    require(band[0] >= 0 && band[0] <= band[1] && band[1] <= 1);
}

/* The first row is the user's own recording. */
static void check_bands(const struct twin_rows *rows)
{
    struct twin_rows own = {.row = rows->row, .count = 1};
    struct twin_evidence evidence = {rows, &own};
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        double band[2];
        if (own.row->context == own.row->fitted) {
            for (uint32_t times = 1; times <= 2; times++) {
                if (twin_band_text(&evidence, f, own.row->fitted / times + 1, 0.5, band)) {
                    check_band(band);
                }
            }
        }
        if (twin_band_model(&evidence, f, 4096, band)) {
            check_band(band);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct twin_rows rows;
    struct error why = {.found = ""};
    if (twin_rows_parse(size > 0 ? (const char *)data : "", size, "fuzz", &rows, &why)) {
        if (rows.count > 0) {
            check_bands(&rows);
        }
    } else {
        require(why.found[0] != '\0');
    }
    twin_rows_release(&rows);
    return 0;
}
