/* A manager's work on a layer, by one thread: it looks up the units of all heads, then updates the
 * caches of all heads, with the simulator's own policy and the demands of a recording (demand.h).
 *
 * The layer is cold: before the lookup, the caches of all CPUs are filled with other data, as the
 * layers in between would do. The update finds the data of the lookup in the caches, as in a
 * runtime.
 */
#include "base/array.h"
#include "calibrate/host/demand.h"
#include "calibrate/host/groups.h"

#include <stdlib.h>

enum { CHILL_CACHES = 2 }; /* reads this multiple of the caches' size to flush them */

struct manager {
    struct recording recording;
    const struct policy_kind *kind;
    const struct bench *bench;
    uint32_t turn; /* of layers and steps */
};

/* `bench` outlives it, and has memory. The caller releases it, on failure too. */
static bool manager_init(struct manager *manager, const struct policy_kind *kind, uint32_t units,
                         const struct bench *bench, struct error *why)
{
    *manager = (struct manager){.kind = kind, .bench = bench};
    return recording_init(&manager->recording, units, why);
}

static void manager_release(struct manager *manager)
{
    recording_release(&manager->recording);
}

/* After the last step, the caches are created and warmed again. */
static bool next_layer(struct manager *manager, struct mini_head **heads, uint32_t *step,
                       struct error *why)
{
    struct recording *recording = &manager->recording;
    uint32_t turn = manager->turn++ % (DEMAND_LAYERS * recording->shape.steps);
    *heads = recording->heads + (size_t)(turn % DEMAND_LAYERS) * DEMAND_HEADS;
    *step = turn / DEMAND_LAYERS;
    return turn > 0 || recording_start(recording, manager->kind, why);
}

static bool serve(struct manager *manager, double *look_up_ns, double *update_ns, struct error *why)
{
    const struct bench *bench = manager->bench;
    struct mini_head *heads;
    uint32_t step;
    if (!next_layer(manager, &heads, &step, why)) {
        return false;
    }
    buffer_sum(&bench->data, 0, bench->data.size, bench->pools[bench->sizes - 1]);
    double start = clock_ns();
    for (uint32_t h = 0; h < DEMAND_HEADS; h++) {
        mini_head_look_up(&heads[h], step);
    }
    double looked_up = clock_ns();
    for (uint32_t h = 0; h < DEMAND_HEADS; h++) {
        mini_head_update(&heads[h], step);
    }
    double units = (double)manager->recording.wanted * DEMAND_HEADS;
    *look_up_ns = (looked_up - start) / units;
    *update_ns = (clock_ns() - looked_up) / units;
    return true;
}

/* Probes: the time to look up a unit, and to update it. `state` is the manager; each takes its next
 * layer. */
static bool manager_sample_lookup(void *state, double *value, struct error *why)
{
    double other;
    return serve(state, value, &other, why);
}

static bool manager_sample_update(void *state, double *value, struct error *why)
{
    double other;
    return serve(state, &other, value, why);
}

/* ---- the curves ---- */

/* Clusters of 16 tokens in contexts of 64K and 128K, then tokens in 32K and 128K. The numbers are
 * somewhat smaller, because they are multiples of a recorded context. */
static const uint32_t curve_units[] = {3840, 7680, 30720, 126720};
enum { CURVE_SIZES = sizeof curve_units / sizeof curve_units[0] };

struct ground {
    struct bench bench; /* first */
    struct manager managers[CURVE_SIZES];
};

static bool note_curve(struct findings *findings, const char *curve, const char *what,
                       struct error *why)
{
    return findings_add(findings, curve, "units", UNIT_NS, why) != NULL &&
           bench_note(findings, curve, why,
                      "a unit %s; LRU, cold before the lookup; the demands of %s, a tenth of its "
                      "units in caches of 30 %%",
                      what, DEMAND_TRACE);
}

static bool add_manager(struct ground *ground, uint32_t size, uint32_t units, struct error *why)
{
    struct bench *bench = &ground->bench;
    struct manager *manager = &ground->managers[size];
    return manager_init(manager, policy_find("lru", NULL, 0, why), units, bench, why) &&
           bench_add(bench, "host.lookup", manager->recording.wanted, manager_sample_lookup,
                     manager, why) &&
           bench_add(bench, "host.update", manager->recording.wanted, manager_sample_update,
                     manager, why);
}

static void destroy_curves(struct bench *bench)
{
    struct ground *ground = (struct ground *)bench;
    for (uint32_t i = 0; i < CURVE_SIZES; i++) {
        manager_release(&ground->managers[i]);
    }
    bench_release(bench);
    free(ground);
}

static struct bench *create_curves(const struct host_scope *scope, struct findings *findings,
                                   struct error *why)
{
    struct ground *ground = array_zeroed(1, sizeof *ground, why);
    bool ok = ground != NULL && bench_init(&ground->bench, CHILL_CACHES, scope->seed, why) &&
              note_curve(findings, "host.lookup", "looked up", why) &&
              note_curve(findings, "host.update", "touched or admitted behind its lookup", why);
    uint32_t sizes = scope->units > 0 ? 1 : CURVE_SIZES;
    for (uint32_t i = 0; ok && i < sizes; i++) {
        ok = add_manager(ground, i, scope->units > 0 ? scope->units : curve_units[i], why);
    }
    if (!ok && ground != NULL) {
        destroy_curves(&ground->bench);
    }
    return ok ? &ground->bench : NULL;
}

const struct host_curves host_manager_curves = {create_curves, NULL, destroy_curves};
