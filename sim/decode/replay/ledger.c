#include "decode/replay/ledger.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

void ledger_lay(struct ledger *sum, uint32_t part, const struct ledger *ledger)
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
