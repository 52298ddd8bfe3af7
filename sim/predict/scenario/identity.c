/* Hash everything that decides a run's result and nothing else, by fields, as structs have padding. */
#include "core/version.h"
#include "machine/compose.h"
#include "predict/scenario/point.h"

#include <inttypes.h>
#include <string.h>
#include <xxhash.h>

static uint64_t identity_hash_text(const char *text, uint64_t seed)
{
    return XXH64(text, strlen(text) + 1, seed);
}

/* The importances that a table says, or those that were drawn. */
static uint64_t hash_importance(const struct model *model, bool drawn, uint64_t hash)
{
    size_t layers = model->layer_count;
    if (model->importance != NULL && model->importance_drawn == drawn) {
        hash = XXH64(model->importance, layers * model->kv_heads * sizeof(float), hash);
    }
    if (model->query_importance != NULL && model->queries_drawn == drawn) {
        hash = XXH64(model->query_importance, layers * model->query_heads * sizeof(float), hash);
    }
    return hash;
}

/* Hash what a run sees of a model: operators, KV, importances. Two probes show growth by batch and tokens. */
static uint64_t hash_model(const struct model *model, uint64_t seed)
{
    uint64_t hash = seed;
    for (uint32_t l = 0; l <= model->layer_count; l++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        for (uint64_t probe = 1; probe <= 1000; probe *= 1000) {
            size_t count = model_operators(model, l, probe, probe * probe, operators);
            for (size_t i = 0; i < count; i++) {
                const uint64_t numbers[] = {(uint64_t)operators[i].flops, operators[i].weight_bytes,
                                            operators[i].data_bytes};
                hash = XXH64(numbers, sizeof numbers, hash);
            }
        }
        uint64_t tokens = l < model->layer_count ? model_layer_tokens(model, l, UINT32_MAX) : 0;
        const uint64_t sizes[] = {tokens, model_kv_head_bytes(model), model_kv_heads(model),
                                  model_weight_bytes(model), model->trained_context};
        hash = XXH64(sizes, sizeof sizes, hash);
    }
    const struct model_parallel *parallel = &model->parallel;
    const uint64_t parts[] = {parallel->data, parallel->experts, parallel->pipeline,
                              parallel->all_to_all, parallel->context};
    hash = XXH64(parts, sizeof parts, hash);
    return hash_importance(model, false, hash);
}

/* Hash curves by value, not by file; one left out, as it may be, adds nothing, as before it existed. */
static uint64_t hash_profile(const struct profile *profile)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        const struct curve *curve = &profile->curves[i];
        if (curve->count == 0 && (curve_kinds[i].standard > 0 || curve_kinds[i].optional)) {
            continue;
        }
        const uint64_t fields[] = {i, curve->count, curve->basis};
        hash = XXH64(fields, sizeof fields, hash);
        hash = XXH64(curve->size, curve->count * sizeof *curve->size, hash);
        hash = XXH64(curve->value, curve->count * sizeof *curve->value, hash);
    }
    return hash;
}

static void write_hash(uint64_t hash, char text[17])
{
    snprintf(text, 17, "%016" PRIx64, hash);
}

void profile_hash(const struct profile *profile, char text[17])
{
    write_hash(hash_profile(profile), text);
}

/* Hash the traces of all families, or else of all cohorts, in order. */
static bool hash_traces(const struct point *point, uint64_t *hash, struct error *why)
{
    const struct setup *setup = &point->setup;
    uint32_t cohorts = setup->trace != NULL ? setup_cohort_count(setup) : 0;
    uint32_t count = point->family_count > 0 ? point->family_count : cohorts;
    *hash = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t next;
        if (!trace_hash(point->family_count > 0 ? point->families[i].trace
                                                : setup_cohort(setup, i).trace,
                        &next, why)) {
            return false;
        }
        *hash = XXH64(&next, sizeof next, *hash);
    }
    return true;
}

bool run_hashes(const struct point *point, struct run_hashes *out, struct error *why)
{
    const struct setup *setup = &point->setup;
    uint64_t trace;
    if (!hash_traces(point, &trace, why)) {
        return false;
    }
    const struct server_engine *engine = &point->engine;
    const struct drafts *drafts = &setup->drafts;
    uint64_t scenario = identity_hash_text(point->scenario, 0);
    uint64_t profile = hash_profile(&setup->profile);
    uint64_t named = identity_hash_text(setup->model.name, setup->model.tensor_parallel);
    const uint64_t all[] = {scenario,
                            hash_model(&setup->model, named),
                            profile,
                            trace,
                            mechanisms_policy(setup->mechanisms)->content,
                            point->asked,
                            point_serves(point) ? point->workload.content : 0,
                            engine->row != NULL ? engine->content : 0};
    /* An engine's memory and kernels need the capability; the price affects one column and no time. */
    const double figures[] = {setup->profile.price_per_hour, profile_capability(&setup->profile)};
    uint64_t run = XXH64(all, sizeof all, 0);
    run = XXH64(figures, sizeof figures, run);
    run = identity_hash_text(spillway_program, run);
    run = identity_hash_text(setup->system.available,
                             identity_hash_text(setup->system.lossless, run));
    for (int i = 0; i < BAND_LOADS * BAND_FIGURE_COUNT; i++) {
        const struct error_band *band =
            &point->bands[i / BAND_FIGURE_COUNT].figure[i % BAND_FIGURE_COUNT];
        const double numbers[] = {(double)band->figures, (double)band->sources, band->least,
                                  band->most};
        run = XXH64(numbers, sizeof numbers, run);
    }
    run = XXH64(drafts->accepted, (drafts->count + 1) * sizeof *drafts->accepted, run);
    run = drafts->model != NULL ? hash_model(drafts->model, run) : run;
    run = hash_importance(&setup->model, true, run);
    *out = (struct run_hashes){.run = ""};
    write_hash(run, out->run);
    write_hash(scenario, out->scenario);
    write_hash(hash_model(&setup->model, setup->model.tensor_parallel), out->model);
    write_hash(profile, out->profile);
    if (point->family_count > 0 || setup->trace != NULL) {
        write_hash(trace, out->trace);
    }
    if (point_serves(point)) {
        write_hash(point->workload.content, out->requests);
    }
    return true;
}

bool run_identity(const struct point *point, char run[17], struct error *why)
{
    struct run_hashes hashes;
    if (!run_hashes(point, &hashes, why)) {
        return false;
    }
    memcpy(run, hashes.run, sizeof hashes.run);
    return true;
}
