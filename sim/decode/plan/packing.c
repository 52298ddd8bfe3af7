/* Micro-batches are kept as runs of equal ones. There are few runs: each cohort splits at most one
 * run in three and adds two. */
#include "decode/plan/packing.h"

#include "core/array.h"
#include "decode/plan/plan.h"

#include <stdlib.h>
#include <string.h>

bool packing_init(struct packing *packing, uint32_t cohorts, struct error *why)
{
    size_t most = 4 * (size_t)cohorts;
    *packing = (struct packing){.cohorts = cohorts};
    return (packing->times = array_zeroed(most, sizeof *packing->times, why)) &&
           (packing->sequences = array_zeroed(most * cohorts, sizeof *packing->sequences, why));
}

void packing_release(struct packing *packing)
{
    free(packing->times);
    free(packing->sequences);
    *packing = (struct packing){0};
}

static uint32_t *run_of(const struct packing *packing, uint32_t run)
{
    return packing->sequences + (size_t)run * packing->cohorts;
}

/* Append a run of `times` micro-batches with `sequences` sequences of one cohort. */
static void packing_add_run(struct packing *packing, uint32_t times, uint32_t cohort,
                            uint32_t sequences)
{
    if (times > 0 && sequences > 0) {
        uint32_t *run = run_of(packing, packing->runs);
        memset(run, 0, packing->cohorts * sizeof *run);
        run[cohort] = sequences;
        packing->times[packing->runs++] = times;
    }
}

/* Split run `run` after its first `times` micro-batches, if it has more. */
static void split_run(struct packing *packing, uint32_t run, uint32_t times)
{
    uint32_t all = packing->times[run], behind = packing->runs - run;
    if (times == 0 || times >= all) {
        return;
    }
    memmove(run_of(packing, run + 1), run_of(packing, run),
            behind * packing->cohorts * sizeof *packing->sequences);
    memmove(&packing->times[run + 1], &packing->times[run], behind * sizeof *packing->times);
    packing->times[run] = times;
    packing->times[run + 1] = all - times;
    packing->runs++;
}

static void count(struct packing *packing)
{
    packing->count = 0;
    for (uint32_t r = 0; r < packing->runs; r++) {
        packing->count += packing->times[r];
    }
    packing->whole = packing->count;
}

void packing_blocks(struct packing *packing, const struct cohort *batch, uint32_t most)
{
    uint32_t room = 0; /* of the last block */
    packing->runs = 0;
    for (uint32_t i = 0; i < packing->cohorts; i++) {
        uint32_t left = batch[i].sequences, fills = left < room ? left : room;
        if (fills > 0) {
            run_of(packing, packing->runs - 1)[i] = fills;
            room -= fills;
            left -= fills;
        }
        packing_add_run(packing, left / most, i, most);
        packing_add_run(packing, 1, i, left % most);
        room = left % most > 0 ? most - left % most : room;
    }
    count(packing);
}

/* Sequences of the cohort for which a bin of this run has room. */
static uint32_t room_of(const struct packing *packing, const struct cohort *batch, uint32_t run,
                        uint32_t cohort, uint64_t most)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < packing->cohorts; i++) {
        used += run_of(packing, run)[i] * batch[i].context;
    }
    uint64_t room = used < most ? (most - used) / batch[cohort].context : 0;
    return room < UINT32_MAX ? (uint32_t)room : UINT32_MAX;
}

/* Put up to `left` sequences of a cohort into the bins of a run. Returns how many are left. */
static uint32_t fill_run(struct packing *packing, uint32_t run, uint32_t cohort, uint32_t room,
                         uint32_t left)
{
    uint32_t whole = left / room, rest = left % room;
    if (whole == 0) {
        split_run(packing, run, 1);
        run_of(packing, run)[cohort] = rest;
        return 0;
    }
    split_run(packing, run, whole);
    run_of(packing, run)[cohort] = room;
    return left - packing->times[run] * room;
}

void packing_bins(struct packing *packing, const struct cohort *batch, uint64_t most)
{
    packing->runs = 0;
    for (uint32_t i = packing->cohorts; i-- > 0;) {
        uint32_t left = batch[i].sequences;
        for (uint32_t r = 0; left > 0 && r < packing->runs; r++) {
            uint32_t room = room_of(packing, batch, r, i, most);
            left = room > 0 ? fill_run(packing, r, i, room, left) : left;
        }
        uint64_t fit = most / batch[i].context;
        uint32_t each = fit < 1 ? 1 : fit < left ? (uint32_t)fit : left;
        packing_add_run(packing, each > 0 ? left / each : 0, i, each);
        packing_add_run(packing, 1, i, each > 0 ? left % each : 0);
    }
    count(packing);
}

const uint32_t *packing_of(const struct packing *packing, uint32_t index)
{
    uint32_t run = 0;
    while (index >= packing->times[run]) {
        index -= packing->times[run++];
    }
    return run_of(packing, run);
}
