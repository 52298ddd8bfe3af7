/* A manager's work on a layer, by a pool with a job for each head: it looks up the units of all
 * heads, then updates the caches of all heads, with the simulator's own policy and the demands of a
 * recording (demand.h). A figure is the mean time of a job for each unit; waking is not in it.
 *
 * Any thread may take any job, so that a thread mostly works in memory that another one wrote: the
 * last step's update before a look-up, the look-up before an update. The layer is cold: before the
 * lookup, the caches of all CPUs are filled with other data, as the layers in between would do.
 */
#include "core/array.h"
#include "calibrate/host/demand.h"
#include "calibrate/host/groups.h"

#include <stdlib.h>

enum { CHILL_CACHES = 2 }; /* reads this multiple of the caches' size to flush them */

struct host_manager {
    struct recording recording;
    const struct policy_kind *kind;
    const struct bench *bench;
    uint32_t turn; /* of layers and steps */

    /* The turn under way. */
    struct mini_head *heads; /* [DEMAND_HEADS] */
    uint32_t step;
    double look_up_ns[DEMAND_HEADS], update_ns[DEMAND_HEADS]; /* of each job */
};

/* `bench` outlives it, and has memory. The caller releases it, on failure too. */
static bool manager_init(struct host_manager *manager, const struct policy_kind *kind,
                         uint32_t units, const struct bench *bench, struct error *why)
{
    *manager = (struct host_manager){.kind = kind, .bench = bench};
    return recording_init(&manager->recording, units, why);
}

static void manager_release(struct host_manager *manager)
{
    recording_release(&manager->recording);
}

/* After the last step, the caches are created and warmed again. */
static bool host_manager_next_layer(struct host_manager *manager, struct error *why)
{
    struct recording *recording = &manager->recording;
    uint32_t turn = manager->turn++ % (DEMAND_LAYERS * recording->shape.steps);
    manager->heads = recording->heads + (size_t)(turn % DEMAND_LAYERS) * DEMAND_HEADS;
    manager->step = turn / DEMAND_LAYERS;
    return turn > 0 || recording_start(recording, manager->kind, why);
}

static void host_manager_look_up_job(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    struct host_manager *manager = context;
    double start = clock_ns();
    mini_head_look_up(&manager->heads[job], manager->step);
    manager->look_up_ns[job] = clock_ns() - start;
}

static void host_manager_update_job(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    struct host_manager *manager = context;
    double start = clock_ns();
    mini_head_update(&manager->heads[job], manager->step);
    manager->update_ns[job] = clock_ns() - start;
}

static double host_manager_unit_ns(const struct host_manager *manager, const double *job_ns)
{
    double sum = 0;
    for (uint32_t h = 0; h < DEMAND_HEADS; h++) {
        sum += job_ns[h];
    }
    return sum / ((double)manager->recording.wanted * DEMAND_HEADS);
}

static bool host_manager_serve(struct host_manager *manager, double *look_up_ns, double *update_ns,
                               struct error *why)
{
    const struct bench *bench = manager->bench;
    struct pool *pool = bench->pools[bench->sizes - 1];
    if (!host_manager_next_layer(manager, why)) {
        return false;
    }
    buffer_sum(&bench->data, 0, bench->data.size, pool);
    pool_run(pool, DEMAND_HEADS, host_manager_look_up_job, manager);
    pool_delegate(pool, DEMAND_HEADS, host_manager_update_job, manager);
    pool_wait(pool);
    *look_up_ns = host_manager_unit_ns(manager, manager->look_up_ns);
    *update_ns = host_manager_unit_ns(manager, manager->update_ns);
    return true;
}

/* Probes: the time to look up a unit, and to update it. `state` is the manager; each takes its next
 * layer. */
static bool manager_sample_lookup(void *state, double *value, struct error *why)
{
    double other;
    return host_manager_serve(state, value, &other, why);
}

static bool manager_sample_update(void *state, double *value, struct error *why)
{
    double other;
    return host_manager_serve(state, &other, value, why);
}

/* ---- the curves ---- */

/* Clusters of 16 tokens in contexts of 64K and 128K, then tokens in 32K and 128K. The numbers are
 * somewhat smaller, because they are multiples of a recorded context. */
static const uint32_t curve_units[] = {3840, 7680, 30720, 126720};
enum { CURVE_SIZES = sizeof curve_units / sizeof curve_units[0] };

struct manager_ground {
    struct bench bench; /* first */
    struct host_manager managers[CURVE_SIZES];
};

static bool note_curve(struct findings *findings, const char *curve, const char *what,
                       uint32_t threads, struct error *why)
{
    return findings_add(findings, curve, "units", UNIT_NS, why) != NULL &&
           bench_note(findings, curve, why,
                      "a unit %s, %u jobs on %u threads; LRU, cold before the lookup; the demands "
                      "of %s, a tenth of its units in caches of 30 %%",
                      what, DEMAND_HEADS, threads, DEMAND_TRACE);
}

static bool add_manager(struct manager_ground *ground, uint32_t size, uint32_t units,
                        struct error *why)
{
    struct bench *bench = &ground->bench;
    struct host_manager *manager = &ground->managers[size];
    return manager_init(manager, policy_find("lru", NULL, 0, why), units, bench, why) &&
           bench_add(bench, "host.lru_lookup", manager->recording.wanted, manager_sample_lookup,
                     manager, why) &&
           bench_add(bench, "host.lru_update", manager->recording.wanted, manager_sample_update,
                     manager, why);
}

static void host_manager_destroy_curves(struct bench *bench)
{
    struct manager_ground *ground = (struct manager_ground *)bench;
    for (uint32_t i = 0; i < CURVE_SIZES; i++) {
        manager_release(&ground->managers[i]);
    }
    bench_release(bench);
    free(ground);
}

static struct bench *host_manager_create_curves(const struct host_scope *scope,
                                                struct findings *findings, struct error *why)
{
    struct manager_ground *ground = array_zeroed(1, sizeof *ground, why);
    bool ok = ground != NULL && bench_init(&ground->bench, CHILL_CACHES, scope->seed, why);
    uint32_t threads = ok ? ground->bench.topology.count : 0;
    ok = ok && note_curve(findings, "host.lru_lookup", "looked up", threads, why) &&
         note_curve(findings, "host.lru_update", "touched or admitted behind its lookup", threads,
                    why);
    uint32_t sizes = scope->units > 0 ? 1 : CURVE_SIZES;
    for (uint32_t i = 0; ok && i < sizes; i++) {
        ok = add_manager(ground, i, scope->units > 0 ? scope->units : curve_units[i], why);
    }
    if (!ok && ground != NULL) {
        host_manager_destroy_curves(&ground->bench);
    }
    return ok ? &ground->bench : NULL;
}

const struct host_curves host_manager_curves = {host_manager_create_curves, NULL,
                                                host_manager_destroy_curves};
