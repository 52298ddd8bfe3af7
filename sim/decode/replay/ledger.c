#include "decode/replay/ledger.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"

void ledger_init(struct ledger *ledger)
{
    *ledger = (struct ledger){0};
}

void ledger_release(struct ledger *ledger)
{
    free(ledger->rows);
    ledger_init(ledger);
}

bool ledger_reserve(struct ledger *ledger, uint32_t steps, uint32_t layers, struct error *why)
{
    ledger_release(ledger);
    ledger->rows = array_zeroed((size_t)steps * layers, sizeof *ledger->rows, why);
    if (ledger->rows == NULL) {
        return false;
    }
    ledger->steps = steps;
    ledger->layers = layers;
    return true;
}

bool ledger_reserve_sum(struct ledger *ledger, uint32_t steps, uint32_t layers, uint32_t parts,
                        struct error *why)
{
    ledger_release(ledger);
    ledger->rows = array_zeroed((size_t)steps * layers * (1 + parts), sizeof *ledger->rows, why);
    if (ledger->rows == NULL) {
        return false;
    }
    ledger->steps = steps;
    ledger->layers = layers;
    ledger->parts = parts;
    return true;
}

static size_t part_start(const struct ledger *ledger, uint32_t part)
{
    return ledger->parts > 0 ? (size_t)ledger->steps * ledger->layers * (1 + part) : 0;
}

static uint64_t rest_of(uint64_t count, double share)
{
    return (uint64_t)llround((double)count * (1 - share));
}

static void keep_row(struct ledger_row *row, double share)
{
    uint64_t missed = rest_of(row->missed, share);
    row->hit += row->missed - missed;
    row->missed = missed;
    row->missed_worst = rest_of(row->missed_worst, share);
    row->lookups = rest_of(row->lookups, share);
    row->updates = rest_of(row->updates, share);
    row->inserts = rest_of(row->inserts, share);
    row->fetching_heads = missed > 0 ? row->fetching_heads : 0;
}

/* In a sum the parts are rounded, and the rows of the sum are added up again. */
void ledger_keep(struct ledger *ledger, double share)
{
    size_t count = (size_t)ledger->steps * ledger->layers;
    if (ledger->parts > 0) {
        memset(ledger->rows, 0, count * sizeof *ledger->rows);
    }
    for (size_t i = 0; i < count * (ledger->parts > 0 ? ledger->parts : 1); i++) {
        struct ledger_row *row = &ledger->rows[part_start(ledger, 0) + i];
        keep_row(row, share);
        if (ledger->parts > 0) {
            ledger_add(&ledger->rows[i % count], row, 1);
            ledger_add_mass(&ledger->rows[i % count], row, 1);
        }
    }
}

void ledger_set(struct ledger *sum, uint32_t part, const struct ledger *ledger)
{
    size_t count = (size_t)sum->steps * sum->layers;
    memcpy(sum->rows + part_start(sum, part), ledger->rows, count * sizeof *sum->rows);
    for (size_t i = 0; i < count; i++) {
        ledger_add(&sum->rows[i], &ledger->rows[i], 1);
        ledger_add_mass(&sum->rows[i], &ledger->rows[i], 1);
    }
    sum->demand_wanted += ledger->demand_wanted;
    sum->demand_hit += ledger->demand_hit;
    sum->demand_cold += ledger->demand_cold;
}

const struct ledger_row *ledger_part(const struct ledger *ledger, uint32_t part)
{
    return ledger->rows + part_start(ledger, part);
}

void ledger_load_whole(struct ledger *ledger, uint32_t layers, uint64_t wanted, uint64_t held,
                       uint64_t recomputed)
{
    uint64_t hit = held < wanted ? held : wanted;
    uint64_t again = recomputed < wanted - hit ? recomputed : wanted - hit;
    uint64_t missed = wanted - hit - again;
    layers = layers < ledger->layers ? layers : ledger->layers;
    for (size_t i = 0; i < (size_t)ledger->steps * ledger->layers; i++) {
        struct ledger_row *row = &ledger->rows[i];
        uint32_t pairs = row->offloaded_heads;
        if (i % ledger->layers < layers) {
            *row = (struct ledger_row){
                .wanted = pairs * wanted,
                .hit = pairs * hit,
                .missed = pairs * missed,
                .missed_worst = pairs > 0 ? missed : 0,
                .recomputed = pairs * again,
                .fetching_heads = missed > 0 ? pairs : 0,
                .offloaded_heads = pairs,
                .mass = pairs,
                .mass_most = pairs,
            };
        }
    }
}

void ledger_add(struct ledger_row *row, const struct ledger_row *pair, uint32_t times)
{
    row->wanted += times * pair->wanted;
    row->hit += times * pair->hit;
    row->missed += times * pair->missed;
    if (pair->missed_worst > row->missed_worst) {
        row->missed_worst = pair->missed_worst;
    }
    row->for_cpu += times * pair->for_cpu;
    row->recomputed += times * pair->recomputed;
    row->for_cpu_padded += times * pair->for_cpu_padded;
    if (pair->for_cpu_worst > row->for_cpu_worst) {
        row->for_cpu_worst = pair->for_cpu_worst;
    }
    row->lookups += times * pair->lookups;
    row->updates += times * pair->updates;
    row->inserts += times * pair->inserts;
    row->fetching_heads += times * pair->fetching_heads;
    row->reused_heads += times * pair->reused_heads;
    row->offloaded_heads += times * pair->offloaded_heads;
}

void ledger_add_mass(struct ledger_row *row, const struct ledger_row *pair, uint32_t times)
{
    row->mass += times * pair->mass;
    row->mass_most += times * pair->mass_most;
}

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

uint64_t cpu_heads_each(uint64_t pairs, uint64_t threads)
{
    return pairs > threads ? (pairs + threads - 1) / threads : 1;
}

void cpu_heads_pad(const uint64_t *tokens, uint32_t heads, uint64_t each, uint64_t *padded,
                   uint64_t *worst)
{
    *padded = *worst = 0;
    for (uint32_t first = 0; first < heads;) {
        uint32_t count = each < heads - first ? (uint32_t)each : heads - first;
        uint64_t longest = 0;
        for (uint32_t i = first; i < first + count; i++) {
            longest = tokens[i] > longest ? tokens[i] : longest;
        }
        uint64_t task = longest * (each > heads ? each : count);
        *padded += longest * count;
        *worst = task > *worst ? task : *worst;
        first += count;
    }
}
