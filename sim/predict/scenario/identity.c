/* The identity of a run: a hash of everything that decides its result, and of nothing else. Fields
 * are hashed one by one, because structs have padding. */
#include "predict/scenario/identity.h"

#include "machine/compose.h"
#include "core/version.h"
#include "model/sharding.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_numbers(const uint64_t *numbers, size_t size, uint64_t seed)
{
    return XXH64(numbers, size, seed);
}

static uint64_t identity_hash_text(const char *text, uint64_t seed)
{
    return XXH64(text, strlen(text) + 1, seed);
}

/* Hash the parts of a model that a run sees: its operators, its KV, its importances. Two probes
 * show what grows with the batch and with the tokens. */
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
                hash = hash_numbers(numbers, sizeof numbers, hash);
            }
        }
        uint64_t tokens = l < model->layer_count ? model_layer_tokens(model, l, UINT32_MAX) : 0;
        const uint64_t sizes[] = {tokens, model_kv_head_bytes(model), model_kv_heads(model),
                                  model_weight_bytes(model), model->trained_context};
        hash = hash_numbers(sizes, sizeof sizes, hash);
    }
    const struct model_parallel *parallel = &model->parallel;
    if (model_passes(model) > 1 || parallel->experts > 1) { /* else as before there were any */
        const uint64_t numbers[] = {parallel->data, parallel->experts, parallel->pipeline,
                                    parallel->all_to_all};
        hash = hash_numbers(numbers, sizeof numbers, hash);
    }
    if (parallel->context > 1) {
        const uint64_t parts = parallel->context;
        hash = hash_numbers(&parts, sizeof parts, hash);
    }
    if (model->importance != NULL) {
        size_t count = (size_t)model->layer_count * model->kv_heads;
        hash = XXH64(model->importance, count * sizeof *model->importance, hash);
    }
    return hash;
}

/* Hash curves by value: the file that states them does not matter. A curve that the profile leaves
 * out, as it may, adds nothing: a profile written before the curve existed keeps its hash. */
static uint64_t hash_profile(const struct profile *profile)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < CURVE_COUNT; i++) {
        const struct curve *curve = &profile->curves[i];
        if (curve->count == 0 && (curve_kinds[i].standard > 0 || curve_kinds[i].optional)) {
            continue;
        }
        const uint64_t fields[] = {i, curve->count, curve->basis};
        hash = hash_numbers(fields, sizeof fields, hash);
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

/* Hash the recordings of all families, in order. */
static bool hash_families(const struct point *point, uint64_t *hash, struct error *why)
{
    *hash = 0;
    for (uint32_t i = 0; i < point->family_count; i++) {
        uint64_t next;
        if (!trace_hash(point->families[i].trace, &next, why)) {
            return false;
        }
        *hash = hash_numbers(&next, sizeof next, *hash);
    }
    return true;
}

/* A setup without drafts keeps the hash that it had before there were any. */
static uint64_t hash_drafts(const struct drafts *drafts, uint64_t seed)
{
    if (drafts->count == 0) {
        return seed;
    }
    uint64_t hash = XXH64(drafts->accepted, (drafts->count + 1) * sizeof *drafts->accepted, seed);
    return drafts->model != NULL ? hash_model(drafts->model, hash) : hash;
}

/* Hash the traces of all cohorts or families, if there are any. */
static bool hash_traces(const struct point *point, uint64_t *hash, struct error *why)
{
    const struct setup *setup = &point->setup;
    if (point->family_count > 0) {
        return hash_families(point, hash, why);
    }
    *hash = 0;
    if (setup->trace == NULL || !trace_hash(setup->trace, hash, why)) {
        return setup->trace == NULL;
    }
    for (uint32_t i = 1; i < setup_cohort_count(setup); i++) {
        uint64_t next;
        if (!trace_hash(setup_cohort(setup, i).trace, &next, why)) {
            return false;
        }
        *hash = hash_numbers(&next, sizeof next, *hash);
    }
    return true;
}

/* The rate's at low load alone is hashed from `run` itself. */
static uint64_t hash_bands(const struct point *point, uint64_t run)
{
    for (uint64_t i = 0; i < BAND_LOADS * BAND_FIGURE_COUNT; i++) {
        const struct error_band *band =
            &point->bands[i / BAND_FIGURE_COUNT].figure[i % BAND_FIGURE_COUNT];
        const double numbers[] = {(double)band->figures, (double)band->sources, band->least,
                                  band->most};
        run = band->figures > 0 ? XXH64(numbers, sizeof numbers, run + i) : run;
    }
    return run;
}

static uint64_t hash_engine(const struct point *point, uint64_t run)
{
    const struct server_engine *engine = &point->engine;
    double capability =
        profile_capability(&point->setup.profile); /* its memory and kernels need it */
    return engine->row != NULL ? XXH64(&capability, sizeof capability,
                                       XXH64(&engine->content, sizeof engine->content, run))
                               : run;
}

bool run_hashes(const struct point *point, struct run_hashes *out, struct error *why)
{
    const struct setup *setup = &point->setup;
    uint64_t trace;
    if (!hash_traces(point, &trace, why)) {
        return false;
    }
    uint64_t scenario = identity_hash_text(point->scenario, 0);
    uint64_t profile = hash_profile(&setup->profile);
    uint64_t named = identity_hash_text(setup->model.name, setup->model.tensor_parallel);
    const uint64_t all[] = {scenario, hash_model(&setup->model, named), profile, trace};
    uint64_t run = hash_numbers(all, sizeof all, setup->mechanisms.policy->content);
    run = identity_hash_text(spillway_program, run);
    run = identity_hash_text(setup->system.available,
                             identity_hash_text(setup->system.lossless, run));
    run = point_serves(point) ? XXH64(&point->workload.content, 8, run) : run;
    run = hash_engine(point, run);
    run = hash_bands(point, run);
    double price = setup->profile.price_per_hour; /* affects one column and no time */
    run = price > 0 ? XXH64(&price, sizeof price, run) : run;
    run = hash_drafts(&setup->drafts, run);
    run = point->asked > 0 ? XXH64(&point->asked, sizeof point->asked, run) : run;
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
