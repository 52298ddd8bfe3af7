#include "calibrate/host/moment.h"

#include "calibrate/host/groups.h"

#include <string.h>

static const struct host_curves *const parts[MOMENT_PARTS] = {
    &host_memory_curves,  &host_gather_curves,  &host_attention_curves,
    &host_manager_curves, &host_handoff_curves,
};

bool moment_init(struct moment *moment, uint32_t units, uint64_t seed, struct findings *findings,
                 struct error *why)
{
    const struct host_scope scope = {.seed = seed, .curves_alone = true, .units = units};
    *moment = (struct moment){.count = 0};
    for (int i = 0; i < MOMENT_PARTS; i++) {
        moment->benches[i] = parts[i]->create(&scope, findings, why);
        if (moment->benches[i] == NULL) {
            return false;
        }
        moment->count += (uint32_t)moment->benches[i]->count;
    }
    return true;
}

void moment_release(struct moment *moment)
{
    for (int i = 0; i < MOMENT_PARTS; i++) {
        if (moment->benches[i] != NULL) {
            parts[i]->destroy(moment->benches[i]);
        }
    }
    *moment = (struct moment){.count = 0};
}

void moment_probes(const struct moment *moment, struct probe *probes)
{
    for (int i = 0; i < MOMENT_PARTS; i++) {
        size_t count = moment->benches[i]->count;
        memcpy(probes, moment->benches[i]->probes, count * sizeof *probes);
        probes += count;
    }
}

bool moment_finish(struct findings *findings, struct error *why)
{
    bool ok = true;
    for (int i = 0; ok && i < MOMENT_PARTS; i++) {
        ok = parts[i]->finish == NULL || parts[i]->finish(findings, why);
    }
    return ok;
}
