/* Keys of a server, which need requests. */
#include "predict/scenario/resolve_workload.h"

#include "core/name.h"
#include "predict/scenario/resolve_requests.h"
#include "server/requests/arrivals.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MOST ((uint64_t)1 << 20)

/* Keys that need a workload. */
static const char *const server_keys[] = {"rate",
                                          "burstiness",
                                          "arrivals",
                                          "warm_requests",
                                          "clients",
                                          "time_scale",
                                          "limit",
                                          "hash_tokens",
                                          "timed",
                                          "replicas",
                                          "routing",
                                          "engine",
                                          "compile",
                                          "max_sequences",
                                          "batched_tokens",
                                          "request_tokens",
                                          "slo",
                                          "cache_threshold",
                                          "balance_abs_threshold",
                                          "balance_rel_threshold",
                                          NULL};

static bool read_positive(const struct node *root, const char *key, enum unit unit, uint64_t most,
                          uint64_t *out, struct error *why)
{
    if (!node_whole(root, key, unit, most, out, why)) {
        return false;
    }
    if (*out == 0 && node_stated(root, key) != NULL) {
        node_key_error(root, key, why, "'%s' of 0 is too small", key);
        return error_expect(why, "a whole number from 1 to %llu", (unsigned long long)most);
    }
    return true;
}

/* ---- the keys ------------------------------------------------------------------------- */

static bool read_real(const struct node *root, const char *key, double least, double most,
                      double *out, struct error *why)
{
    const struct node *node = node_stated(root, key);
    if (node == NULL) {
        return true;
    }
    if (!node_quantity(root, key, UNIT_COUNT, out, why)) {
        return false;
    }
    if (*out < least || *out > most) {
        node_error(node, why, "'%s' is '%.60s'", key, node->text);
        return error_expect(why, "from %g to %g", least, most);
    }
    return true;
}

/* Read a plain number of milliseconds. */
static bool read_objective(const struct node *slo, const char *key, uint64_t *ns, struct error *why)
{
    double ms = 0;
    if (!read_real(slo, key, 0.001, 1e9, &ms, why)) {
        return false;
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

static bool read_arrivals(const struct node *root, struct workload *out, struct error *why)
{
    out->time_scale = 1;
    out->burstiness = 1;
    return read_real(root, "rate", 1e-6, 1e6, &out->rate, why) &&
           read_real(root, "burstiness", 1e-3, 1e3, &out->burstiness, why) &&
           node_word(root, "arrivals", arrivals_names, &out->arrivals, why) &&
           read_positive(root, "warm_requests", UNIT_COUNT, UINT32_MAX, &out->warm, why) &&
           read_real(root, "time_scale", 1e-6, 1e6, &out->time_scale, why) &&
           read_positive(root, "clients", UNIT_COUNT, MOST, &out->clients, why) &&
           read_positive(root, "limit", UNIT_COUNT, UINT32_MAX, &out->limit, why) &&
           read_positive(root, "hash_tokens", UNIT_TOKENS, MOST, &out->hash_tokens, why) &&
           check_arrivals(root, out, why);
}

static bool read_server(const struct node *root, struct workload *out, struct error *why)
{
    static const char *const slo_keys[] = {"ttft_ms", "tpot_ms", NULL};
    const struct node *slo = node_get(root, "slo");
    bool timed = true;
    out->replicas = 1;
    out->sequences = 256;
    out->batched_tokens = 2048;
    out->routing = ROUTE_ROUND_ROBIN;
    if (!node_bool(root, "timed", &timed, why) ||
        !read_positive(root, "replicas", UNIT_COUNT, 4096, &out->replicas, why) ||
        !read_positive(root, "max_sequences", UNIT_COUNT, 65536, &out->sequences, why) ||
        !read_positive(root, "batched_tokens", UNIT_TOKENS, MOST, &out->batched_tokens, why) ||
        !read_positive(root, "request_tokens", UNIT_TOKENS, 2 * REQUEST_MOST_TOKENS,
                       &out->request_tokens, why) ||
        !node_word(root, "routing", routing_names, &out->routing, why) ||
        !node_check_keys(slo, slo_keys, "slo", why) ||
        !read_objective(slo, "ttft_ms", &out->slo_ttft_ns, why) ||
        !read_objective(slo, "tpot_ms", &out->slo_tpot_ns, why)) {
        return false;
    }
    out->timed = timed;
    return true;
}

/* The defaults are those of SGLang's router. */
static bool read_balance(const struct node *root, struct workload *out, struct error *why)
{
    static const char *const keys[] = {"cache_threshold", "balance_abs_threshold",
                                       "balance_rel_threshold"};
    out->cache_threshold = 0.3;
    out->balance_abs = 64;
    out->balance_rel = 1.5;
    for (int i = 0; i < 3 && out->routing != ROUTE_PREFIX_LOAD; i++) {
        if (node_stated(root, keys[i]) != NULL) {
            node_key_error(root, keys[i], why, "'%s' is for another routing", keys[i]);
            return error_expect(why, "'routing: prefix-load' as well");
        }
    }
    if (!node_quantity(root, keys[0], UNIT_SHARE, &out->cache_threshold, why) ||
        !node_whole(root, keys[1], UNIT_COUNT, MOST, &out->balance_abs, why) ||
        !read_real(root, keys[2], 0, 1e6, &out->balance_rel, why)) {
        return false;
    }
    if (out->cache_threshold >= 0 && out->cache_threshold <= 1) {
        return true;
    }
    node_key_error(root, keys[0], why, "'%s' is '%.60s'", keys[0], node_get(root, keys[0])->text);
    return error_expect(why, "from 0%% to 100%%");
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
static bool read_compile(const struct node *root, struct workload *out, struct error *why)
{
    if (node_stated(root, "compile") == NULL || out->engine.memory == ENGINE_MEASURED) {
        return node_word(root, "compile", server_compile_names, &out->compile, why);
    }
    node_key_error(root, "compile", why,
                   "'compile' is for an engine that measures its memory, and '%s' does not",
                   out->engine.name);
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

bool resolve_workload(const struct node *root, struct point *out, struct error *why)
{
    struct workload *read = &out->workload;
    const struct node *workload = node_stated(root, "workload");
    for (size_t i = 0; workload == NULL && server_keys[i] != NULL; i++) {
        const struct node *node = node_stated(root, server_keys[i]);
        if (node != NULL) {
            node_error(node, why, "'%s' is for a server; it needs 'workload'", node->key);
            return error_expect(why, "'workload' as well: a file of requests");
        }
    }
    if (!find_preset_engine(out, why)) {
        return false;
    }
    if (workload == NULL) {
        return true;
    }
    out->requests = requests_find(root, out->sources, read->path, why);
    if (out->requests == NULL) {
        return false;
    }
    read->content = out->requests->content;
    return read_arrivals(root, read, why) && read_server(root, read, why) &&
           read_engine(root, out, why) && read_compile(root, read, why) &&
           read_balance(root, read, why) && check_clients(root, out, why) &&
           check_routing(root, read, why);
}

/* ---- writing the resolved scenario ----------------------------------------------------- */

static bool resolve_workload_put_real(struct node *all, const char *key, double value,
                                      struct error *why)
{
    char text[64];
    snprintf(text, sizeof text, "%.17g", value);
    return node_set(all, key, text, why);
}

bool workload_put(struct node *all, const struct workload *workload, struct error *why)
{
    return workload->path[0] == '\0' ||
           (resolve_workload_put_real(all, "time_scale", workload->time_scale, why) &&
            resolve_workload_put_real(all, "replicas", (double)workload->replicas, why) &&
            node_set(all, "engine", workload->engine.name, why) &&
            (workload->engine.memory != ENGINE_MEASURED ||
             node_set(all, "compile", server_compile_names[workload->compile], why)) &&
            resolve_workload_put_real(all, "max_sequences", (double)workload->sequences, why) &&
            resolve_workload_put_real(all, "batched_tokens", (double)workload->batched_tokens,
                                      why) &&
            (workload->request_tokens == 0 ||
             resolve_workload_put_real(all, "request_tokens", (double)workload->request_tokens,
                                       why)) &&
            node_set(all, "routing", routing_names[workload->routing], why) &&
            node_set(all, "timed", workload->timed ? "yes" : "no", why) &&
            (workload->routing != ROUTE_PREFIX_LOAD ||
             (resolve_workload_put_real(all, "cache_threshold", workload->cache_threshold, why) &&
              resolve_workload_put_real(all, "balance_abs_threshold", (double)workload->balance_abs,
                                        why) &&
              resolve_workload_put_real(all, "balance_rel_threshold", workload->balance_rel,
                                        why))));
}
