#include "decode/replay/ledger_bytes.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define COLUMN(field)                                                                              \
    {                                                                                              \
        offsetof(struct ledger_row, field), sizeof(((struct ledger_row *)NULL)->field)             \
    }

static const struct {
    size_t offset, size;
} columns[] = {
    COLUMN(wanted),        COLUMN(hit),
    COLUMN(missed),        COLUMN(missed_worst),
    COLUMN(for_cpu),       COLUMN(for_cpu_padded),
    COLUMN(for_cpu_worst), COLUMN(recomputed),
    COLUMN(lookups),       COLUMN(updates),
    COLUMN(inserts),       COLUMN(fetching_heads),
    COLUMN(reused_heads),  COLUMN(offloaded_heads),
    COLUMN(mass),          COLUMN(mass_most),
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static_assert(COLUMNS == 16 && sizeof(struct ledger_row) == 120, "every field is in the list");

struct head {
    uint32_t steps, layers;
    uint64_t wanted, hit, cold;
};

static size_t row_bytes(void)
{
    size_t bytes = 0;
    for (int c = 0; c < COLUMNS; c++) {
        bytes += columns[c].size;
    }
    return bytes;
}

uint8_t *ledger_pack(const struct ledger *ledger, size_t *size)
{
    struct error unseen;
    struct head head = {ledger->steps, ledger->layers, ledger->demand_wanted, ledger->demand_hit,
                        ledger->demand_cold};
    size_t rows = (size_t)ledger->steps * ledger->layers;
    *size = sizeof head + rows * row_bytes();
    uint8_t *bytes = array_zeroed(*size, 1, &unseen), *at = bytes;
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int c = 0; c < COLUMNS; c++) {
        for (size_t r = 0; r < rows; r++, at += columns[c].size) {
            memcpy(at, (const char *)&ledger->rows[r] + columns[c].offset, columns[c].size);
        }
    }
    return bytes;
}

bool ledger_unpack(const uint8_t *bytes, size_t size, uint32_t steps, uint32_t layers,
                   struct ledger *ledger)
{
    struct error unseen;
    struct head head;
    size_t rows = (size_t)steps * layers;
    if (size != sizeof head + rows * row_bytes()) {
        return false;
    }
    memcpy(&head, bytes, sizeof head);
    bytes += sizeof head;
    if (head.steps != steps || head.layers != layers ||
        !ledger_reserve(ledger, steps, layers, &unseen)) {
        return false;
    }
    ledger->demand_wanted = head.wanted;
    ledger->demand_hit = head.hit;
    ledger->demand_cold = head.cold;
    for (int c = 0; c < COLUMNS; c++) {
        for (size_t r = 0; r < rows; r++, bytes += columns[c].size) {
            memcpy((char *)&ledger->rows[r] + columns[c].offset, bytes, columns[c].size);
        }
    }
    return true;
}
