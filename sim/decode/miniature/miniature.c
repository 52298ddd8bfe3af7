/* Predictions for miniatures: each mechanism is a short program that is put on the engine. */
#include "decode/miniature/miniature_pipe.h"

#include "core/array.h"
#include "decode/time/fetch.h"
#include "decode/time/hybrid.h"
#include "decode/time/manager.h"
#include "decode/time/work.h"

#include <stdlib.h>

const struct miniature_kind miniature_kinds[MINIATURE_COUNT] = {
#define MINIATURE(id, name, site, class, policy, beside, what)                                     \
    [MINIATURE_##id] = {name, MINIATURE_##site, MINIATURE_##class, policy, beside, what},
#include "decode/miniature/miniature.def"
#undef MINIATURE
};

static const struct miniature_scene *const scenes[] = {
    [MINIATURE_HOST] = &miniature_host_scene,
    [MINIATURE_GPU] = &miniature_gpu_scene,
};

bool miniature_require(const struct profile *profile, enum miniature_site site, struct error *why)
{
    return profile_require(
        profile, scenes[site]->curves, scenes[site]->curve_count,
        site == MINIATURE_HOST ? "a miniature on the host" : "a miniature on a GPU", why);
}

static bool reads_drive(int id)
{
    return id == MINIATURE_DISK || id == MINIATURE_STREAM_DISK;
}

bool miniature_runs(const struct miniature *miniature, int id)
{
    return miniature_kinds[id].site == miniature->site &&
           (!reads_drive(id) || miniature->disk != NULL);
}

bool miniature_knows(const struct profile *profile, enum miniature_id id, struct error *why)
{
    static const enum curve_id store[] = {CURVE_LINK_CPU_STORE};
    static const enum curve_id disk[] = {CURVE_DISK_READ, CURVE_DISK_LATENCY};
    const struct miniature_qsac *way = miniature_qsac(id);
    const char *name = miniature_kinds[id].name;
    return (way == NULL || !way->stores || profile_require(profile, store, 1, name, why)) &&
           (!reads_drive((int)id) ||
            profile_require(profile, disk, sizeof disk / sizeof *disk, name, why));
}

uint32_t miniature_pool(const struct miniature *miniature, enum miniature_id id)
{
    uint32_t beside = miniature_kinds[id].beside;
    return miniature->threads > beside ? miniature->threads - beside : 1;
}

/* ---- replay ---- */

/* The plan by which its caches replay. It borrows `heads` [layers * kv_heads]. */
static struct replay_plan miniature_plan(const struct miniature *miniature, enum miniature_id id,
                                         const struct replay_head *heads)
{
    return (struct replay_plan){
        .layers = miniature->layers,
        .kv_heads = miniature->kv_heads,
        .batch = 1,
        .context = miniature->context,
        .heads = heads,
        .policy = policy_find(miniature_kinds[id].policy, NULL, 0, &(struct error){0}),
        .seed = SETUP_SEED,
        .order = POLICY_BATCH,
        .selection = miniature->selection,
        .capacity = miniature->capacity,
        .manager_unit = 1,
        .block_span = BLOCK_UNIT,
        .warmup = miniature->warmup,
        .steps = miniature->steps,
    };
}

bool miniature_replay(const struct miniature *miniature, enum miniature_id id,
                      const struct trace *trace, struct ledger *ledger, struct error *why)
{
    size_t count = (size_t)miniature->layers * miniature->kv_heads;
    ledger_init(ledger);
    struct replay_head *heads = array_zeroed(count, sizeof *heads, why);
    for (size_t i = 0; heads != NULL && i < count; i++) {
        heads[i] = (struct replay_head){.offloaded = true, .importance = 1};
    }
    struct replay_plan plan = miniature_plan(miniature, id, heads);
    bool good = heads != NULL && replay_run(trace, &plan, 1, ledger, why);
    free(heads);
    return good;
}

/* ---- stages ---- */

bool miniature_wait(struct pipe *pipe, engine_task_id task, struct error *why)
{
    return work_put_thread(pipe, PART_SYNC, 0, task, work_trust, NULL, why);
}

bool miniature_attend(struct pipe *pipe, uint32_t layer, uint64_t tokens, uint64_t worst,
                      struct error *why)
{
    struct ledger_row row = *pipe_row(pipe, layer);
    row.for_cpu = row.for_cpu_padded = tokens;
    row.for_cpu_worst = worst;
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return hybrid_put_attention(pipe, layer, &row, pipe->plan->cpu_threads, why) &&
           miniature_wait(pipe, pipe->at[layer].answered, why);
}

bool miniature_look_up(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].selected = pipe->last[PIPE_LAUNCH];
    return fetch_lookup(pipe, layer, why);
}

/* A gather with its hand-off. The pipeline's gathers have none, because in profiles that were not
 * measured the gather's rate includes it. */
bool miniature_gather(struct pipe *pipe, uint32_t layer, struct error *why)
{
    engine_task_id all;
    return manager_hand_over(pipe, pipe->last[PIPE_LAUNCH], &pipe->at[layer].at_hand, &all, why) &&
           fetch_gather(pipe, layer, why);
}

bool miniature_update(struct pipe *pipe, uint32_t layer, struct error *why)
{
    pipe->at[layer].looked_up = pipe->last[PIPE_LAUNCH];
    return fetch_update(pipe, layer, why) && miniature_wait(pipe, pipe->at[layer].updated, why);
}

/* ---- a run ---- */

void miniature_figure(struct profile *profile, enum curve_id id, double figures[2])
{
    profile->curves[id] =
        (struct curve){.count = 1, .size = figures, .value = figures + 1, .least = 1, .most = 1};
}

static bool pipe_init(struct pipe *pipe, const struct miniature *miniature,
                      const struct miniature_scene *scene, struct error *why)
{
    uint32_t layers = miniature->layers;
    pipe->at = array_zeroed(layers, sizeof *pipe->at, why);
    pipe->moved = array_zeroed((size_t)miniature->steps + 1, sizeof *pipe->moved, why);
    if (pipe->at == NULL || pipe->moved == NULL) {
        return false;
    }
    for (uint32_t l = 0; l < layers; l++) {
        pipe->at[l] =
            (struct pipe_layer){ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE,
                                ENGINE_NONE, ENGINE_NONE, ENGINE_NONE, ENGINE_NONE};
    }
    for (int i = 0; i < PIPE_RESOURCE_COUNT; i++) {
        pipe->last[i] = ENGINE_NONE;
    }
    pipe->graph = ENGINE_NONE;
    pipe->head_bytes = 2.0 * 2 * miniature->head_dim; /* K and V in bf16 */
    return scene->machine(pipe, why);
}

static bool put_steps(struct pipe *pipe, enum miniature_id id, const struct miniature_scene *scene,
                      struct error *why)
{
    bool good = true;
    pipe->stage = miniature_kinds[id].name;
    for (pipe->step = 1; good && pipe->step <= pipe->plan->steps; pipe->step++) {
        pipe->layer = 0;
        good = scene->step == NULL || scene->step(pipe, id, true, why);
        for (; good && pipe->layer < pipe->plan->layers; pipe->layer++) {
            good = scene->program(pipe, id, why);
        }
        good = good && (scene->step == NULL || scene->step(pipe, id, false, why));
    }
    return good && engine_run(pipe->engine, why);
}

/* Bytes that the caches may hold; 0 for a mechanism without a cache. */
static uint64_t cache_bytes(const struct miniature *miniature, const struct setup *setup)
{
    double tokens = miniature->capacity * (double)miniature->context;
    uint64_t heads = (uint64_t)miniature->layers * miniature->kv_heads;
    bool none = setup->mechanisms.policy == policy_find("none", NULL, 0, &(struct error){0});
    return none ? 0 : (uint64_t)tokens * heads * model_kv_head_bytes(&setup->model);
}

bool miniature_predict(const struct miniature *miniature, enum miniature_id id,
                       const struct profile *profile, const struct miniature_stand_ins *stand_ins,
                       const struct ledger *ledger, double *layer_ns, struct error *why)
{
    const struct miniature_scene *scene = scenes[miniature_kinds[id].site];
    if (!miniature_knows(profile, id, why)) {
        return false;
    }
    uint32_t one = 1;
    double figures[8];
    struct cohort cohort = {.context = miniature->context, .sequences = 1};
    struct model_layer layer = {.attention = ATTENTION_FULL};
    struct setup setup = {
        .profile = *profile,
        .model = {.tensor_parallel = 1,
                  .layers = &layer,
                  .parallel = {.data = 1, .experts = 1, .pipeline = 1},
                  .kv = DTYPE_BF16,
                  .query_heads = miniature->query_heads,
                  .kv_heads = miniature->kv_heads,
                  .head_dim = miniature->head_dim,
                  .hidden = miniature->hidden},
        .context = miniature->context,
        .mechanisms = {.policy = policy_find(miniature_kinds[id].policy, NULL, 0, why)},
    };
    const struct miniature_run run = {miniature, id, stand_ins, &setup};
    scene->set_up(&run, figures);
    uint32_t *offloaded = array_zeroed(miniature->layers, sizeof *offloaded, why);
    for (uint32_t l = 0; offloaded != NULL && l < miniature->layers; l++) {
        offloaded[l] = miniature->kv_heads;
    }
    const struct plan plan = {
        .layers = miniature->layers,
        .kv_heads = miniature->kv_heads,
        .batch = 1,
        .cohorts = &cohort,
        .cohort_count = 1,
        .micro_batches =
            {.cohorts = 1, .runs = 1, .times = &one, .sequences = &one, .count = 1, .whole = 1},
        .offloaded = offloaded,
        .memory.in[TIER_GPU].cache = cache_bytes(miniature, &setup),
        .cpu_threads = (uint32_t)setup.mechanisms.pool_threads,
        .steps = miniature->steps,
    };
    struct pipe pipe = {
        .setup = &setup, .mechanisms = &setup.mechanisms, .plan = &plan, .ledger = ledger};
    bool good = offloaded != NULL && pipe_init(&pipe, miniature, scene, why) &&
                put_steps(&pipe, id, scene, why);
    *layer_ns = good ? (double)engine_now(pipe.engine) / miniature->steps / miniature->layers : 0;
    pipe_release(&pipe);
    free(offloaded);
    return good;
}
