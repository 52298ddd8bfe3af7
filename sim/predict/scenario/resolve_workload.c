/* Keys of a server, which need requests. */
#include "predict/scenario/resolve_workload.h"

#include "predict/scenario/resolve_requests.h"
#include "predict/scenario/scenario_keys.h"
#include "server/requests/requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the keys ------------------------------------------------------------------------- */

/* Read a plain number of milliseconds. */
static bool read_objective(const struct node *slo, const char *key, uint64_t *ns, struct error *why)
{
    const struct node *node = node_stated(slo, key);
    double ms = 0;
    if (!node_quantity(slo, key, UNIT_COUNT, &ms, why)) {
        return false;
    }
    if (node != NULL && (ms < 0.001 || ms > 1e9)) {
        node_error(node, why, "'%s' is '%.60s'", key, node->text);
        return error_expect(why, "from 0.001 to 1e+09");
    }
    *ns = (uint64_t)(ms * 1e6);
    return true;
}

/* Equal gaps need a rate and no burstiness; all at once, neither rate nor clients. */
static bool check_arrivals_kind(const struct node *root, const struct workload *workload,
                                struct error *why)
{
    const struct node *node = node_stated(root, "arrivals");
    bool rate = workload->rate > 0, clients = workload->clients > 0;
    if (workload->arrivals == ARRIVALS_AT_ONCE && (rate || clients)) {
        node_error(node, why, "'arrivals: at-once' beside '%s'", rate ? "rate" : "clients");
        return error_expect(why, "one of the two");
    }
    if (workload->arrivals != ARRIVALS_CONSTANT) {
        return true;
    }
    if (!rate || node_stated(root, "burstiness") != NULL) {
        node_error(node, why,
                   rate ? "'arrivals: constant' beside 'burstiness'"
                        : "'arrivals: constant' needs 'rate'");
        return error_expect(why, rate ? "one of the two" : "'rate' as well");
    }
    return true;
}

static bool check_arrivals(const struct node *root, const struct workload *workload,
                           struct error *why)
{
    if (workload->rate > 0 && workload->clients > 0) {
        return node_key_error(root, "clients", why,
                              "clients send when their last request ends; remove 'rate'");
    }
    if (workload->rate == 0 && node_stated(root, "burstiness") != NULL) {
        return node_key_error(
            root, "burstiness", why,
            "'burstiness' needs 'rate': the workload's arrivals have their own gaps");
    }
    return check_arrivals_kind(root, workload, why);
}

/* The defaults of a balance are those of SGLang's router. */
static const struct workload standard = {.time_scale = 1,
                                         .burstiness = 1,
                                         .timed = 1,
                                         .replicas = 1,
                                         .sequences = 256,
                                         .batched_tokens = 2048,
                                         .routing = ROUTE_ROUND_ROBIN,
                                         .cache_threshold = 0.3,
                                         .balance_abs = 64,
                                         .balance_rel = 1.5};

static bool check_balance(const struct node *root, const struct workload *workload,
                          struct error *why)
{
    static const char *const keys[] = {"cache_threshold", "balance_abs_threshold",
                                       "balance_rel_threshold"};
    for (int i = 0; i < 3 && workload->routing != ROUTE_PREFIX_LOAD; i++) {
        if (node_stated(root, keys[i]) != NULL) {
            node_key_error(root, keys[i], why, "'%s' is for another routing", keys[i]);
            return error_expect(why, "'routing: prefix-load' as well");
        }
    }
    return true;
}

/* Without a clock there is no load. */
static bool check_routing(const struct node *root, const struct workload *workload,
                          struct error *why)
{
    if (workload->timed || !workload_balances(workload)) {
        return true;
    }
    node_key_error(root, "routing", why,
                   "'routing: %s' sees load, and there is none with "
                   "'timed: no'",
                   routing_names[workload->routing]);
    return error_expect(why, "'round-robin' or 'prefix'");
}

/* A router that does not see load divides clients among the servers. A server without clients
 * would have no requests. */
static bool check_clients(const struct node *root, const struct point *point, struct error *why)
{
    uint64_t clients = point->workload.clients, servers = point_servers(point);
    if (clients == 0 || clients >= servers || workload_balances(&point->workload)) {
        return true;
    }
    node_key_error(root, "clients", why, "%" PRIu64 " 'clients' for %" PRIu64 " servers", clients,
                   servers);
    return error_expect(why, "at least one client for each of the 'replicas'");
}

/* The engine of the system's preset, or none. */
static bool find_preset_engine(struct point *out, struct error *why)
{
    const struct system_info *system = &out->setup.system;
    return server_engine_find(system->engine[0] != '\0' ? system->engine : "none", system->name, 0,
                              &out->preset_engine, why);
}

/* The engine that the user names, else the system's. */
static bool read_engine(const struct node *root, struct point *out, struct error *why)
{
    const struct node *node = node_stated(root, "engine");
    const struct setup *setup = &out->setup;
    struct server_engine *engine = &out->workload.engine;
    const char *name = NULL;
    *engine = out->preset_engine;
    if (!node_text(root, "engine", &name, why) ||
        (name != NULL && !server_engine_find(name, node->file, node->line, engine, why))) {
        return false;
    }
    if (engine->row == NULL || !mechanisms_offload(&setup->mechanisms)) {
        return true;
    }
    node_key_error(root, node_stated(root, "engine") != NULL ? "engine" : "system", why,
                   "'engine' divides the HBM of a server that keeps all KV there, and system '%s' "
                   "offloads KV",
                   setup->system.name);
    return error_expect(why, "engine: none");
}

/* Only an engine that measures its memory sees what torch.compile does. */
static bool check_compile(const struct node *root, const struct workload *workload,
                          struct error *why)
{
    if (node_stated(root, "compile") == NULL || workload->engine.memory == ENGINE_MEASURED) {
        return true;
    }
    node_key_error(root, "compile", why,
                   "'compile' is for an engine that measures its memory, and '%s' does not",
                   workload->engine.name);
    return error_expect(why, "a version of vLLM as 'engine'");
}

void resolve_engine(const struct node *root, struct point *out)
{
    struct workload *workload = &out->workload;
    struct trust trust = {.basis = BASIS_MEASURED};
    const struct server_engine *engine = &workload->engine;
    if (!point_serves(out) || engine->row == NULL) {
        return;
    }
    const struct profile *profile = &out->setup.profile;
    struct server_engine_gpu gpu = {
        .bytes = profile_value(profile, CURVE_GPU_HBM_CAPACITY, 0, &trust),
        .machine = profile->name,
        .gpus = out->setup.model.tensor_parallel,
    };
    const struct server_engine_gpus *limits = server_engine_limits(engine, &gpu);
    if (node_stated(root, "max_sequences") == NULL) {
        workload->sequences = limits->sequences;
    }
    if (node_stated(root, "batched_tokens") == NULL) {
        workload->batched_tokens = limits->batched_tokens;
    }
    if (node_stated(root, "hbm_usable") == NULL) {
        out->setup.hbm_usable = server_engine_usable(engine, &gpu, workload->batched_tokens);
    }
    struct model *model = &out->setup.model;
    if (engine->mxfp4_fp8 && model->experts == DTYPE_MXFP4 &&
        profile_states(profile, CURVE_GPU_EXPERTS_FIXED_MXFP4_FP8)) {
        model->experts = DTYPE_MXFP4_FP8;
    }
}

/* Keys of a server need a workload; memory is the machine's. */
static bool check_alone(const struct node *root, struct error *why)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        const struct node *node = node_stated(root, key->name);
        if (node != NULL && key->serving && key->place != SCENARIO_SETUP) {
            node_error(node, why, "'%s' is for a server; it needs 'workload'", node->key);
            return error_expect(why, "'workload' as well: a file of requests");
        }
    }
    return true;
}

bool resolve_workload(const struct node *root, struct point *out, struct error *why)
{
    static const char *const slo_keys[] = {"ttft_ms", "tpot_ms", NULL};
    struct workload *read = &out->workload;
    const struct node *slo = node_get(root, "slo");
    if (!find_preset_engine(out, why)) {
        return false;
    }
    if (node_stated(root, "workload") == NULL) {
        return check_alone(root, why);
    }
    *read = standard;
    out->requests = requests_find(root, out->sources, read->path, why);
    if (out->requests == NULL) {
        return false;
    }
    read->content = out->requests->content;
    return scenario_keys_read(root, SCENARIO_WORKLOAD, read, why) &&
           check_arrivals(root, read, why) && node_check_keys(slo, slo_keys, "slo", why) &&
           read_objective(slo, "ttft_ms", &read->slo_ttft_ns, why) &&
           read_objective(slo, "tpot_ms", &read->slo_tpot_ns, why) && read_engine(root, out, why) &&
           check_compile(root, read, why) && check_balance(root, read, why) &&
           check_clients(root, out, why) && check_routing(root, read, why);
}
