/* Keys of a server, which need requests. */
#include "predict/scenario/resolve.h"

#include "decode/mechanism_values.h"
#include "predict/scenario/engine_memory.h"
#include "server/requests/synthetic.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Finds requests by their name, and what they replace in the scenario. */

/* A path, or the name of a workload that ships with the program. */
static bool find_file(const struct node *node, char path[WORKLOAD_PATH], struct error *why)
{
    if (node->kind != NODE_SCALAR) {
        node_error(node, why, "'workload' must be the name of a file");
        return error_expect(why,
                            "the path of a file of requests, or synthetic:prompt=1000,output=200");
    }
    struct stat info;
    bool there = !synthetic_is(node->text) && access(node->text, F_OK) == 0;
    /* The file is read twice, for its hash and then for its lines. A pipe can only be read once. */
    if (there && stat(node->text, &info) == 0 && !S_ISREG(info.st_mode)) {
        node_error(node, why, "workload '%.100s' is not a regular file", node->text);
        return error_expect(why, "a file that can be read twice, not a folder or a pipe");
    }
    if (synthetic_is(node->text) || there || named_by_path(node->text, "csv")) {
        return snprintf(path, WORKLOAD_PATH, "%s", node->text) < WORKLOAD_PATH ||
               node_error(node, why, "the text of the workload is too long");
    }
    return named_file(&named_workload, node->text, node->file, node->line, path, WORKLOAD_PATH,
                      why);
}

/* The requests of the scenario's keys, which its sources own, and their file or text in `path`; or NULL. */
static const struct requests *requests_find(const struct scenario *scenario,
                                            char path[WORKLOAD_PATH], struct error *why)
{
    const struct scenario_values *values = &scenario->values;
    const struct node *workload = node_get(scenario->root, "workload");
    if (!find_file(workload, path, why)) {
        return NULL;
    }
    bool made = synthetic_is(path);
    const struct requests_options options = {
        .limit = (uint64_t)scenario_stated(values, "limit", 0),
        .hash_tokens = (uint32_t)scenario_stated(values, "hash_tokens", 0),
        .seed = made ? (uint64_t)scenario_stated(values, "seed", 1) : 0};
    const struct requests *requests = sources_requests(scenario->sources, path, &options, why);
    if (requests == NULL && made) {
        snprintf(why->file, sizeof why->file, "%s", workload->file);
        why->line = workload->line;
    }
    return requests;
}

/* ---- the context ---------------------------------------------------------------------- */

/* The mean context of the requests that the scenario's server takes. */
static bool resolve_requests_find_context(const struct scenario *scenario,
                                          const struct requests *requests, uint64_t *context,
                                          struct error *why)
{
    uint64_t most = (uint64_t)scenario_stated(&scenario->values, "request_tokens", 0);
    uint64_t tokens = 0, count = 0;
    for (size_t i = 0; i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        bool taken = most == 0 || request_tokens(request) <= most;
        tokens += taken ? request->prompt + (request->output + 1) / 2 : 0;
        count += taken;
    }
    if (count > 0) {
        *context = (tokens + count / 2) / count;
        return true;
    }
    scenario_error(scenario, "request_tokens", why,
                   "all requests have more than %" PRIu64 " tokens, so the server refuses them",
                   most);
    return error_expect(why, "at least the tokens of a prompt and its output");
}

/* Refuse keys of a batch, as a server forms its own. Defaults, as of a resolved scenario, are accepted. */
static bool check_batch_keys(const struct scenario *scenario, struct error *why)
{
    static const struct {
        const char *key;
        double unsaid;
        const char *instead;
    } keys[] = {{"batch", 1, "max_sequences, the most of a step"},
                {"prompt", 0, "none: requests have their own"},
                {"output", 0, "none: requests have their own"}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        double unsaid = keys[i].unsaid;
        if (scenario_stated(&scenario->values, keys[i].key, unsaid) != unsaid) {
            scenario_error(scenario, keys[i].key, why,
                           "'%s' sets a batch, but the workload brings requests", keys[i].key);
            return error_expect(why, "%s", keys[i].instead);
        }
    }
    return true;
}

/* Keys of a load, by which alone a scenario asks for a server. */
static const char *const load_keys[] = {"rate", "clients", "arrivals"};

/* Requests that all have the scenario's `prompt` and `output`, as the workload that stands for them. */
static bool lay_synthetic(struct scenario *scenario, const char *load, struct error *why)
{
    struct scenario_values *values = &scenario->values;
    double prompt = scenario_stated(values, "prompt", 0);
    double output = scenario_stated(values, "output", 0);
    double requests = scenario_stated(values, "limit", 0);
    char text[128];
    if (!(prompt > 0) || !(output > 0)) {
        scenario_error(scenario, load, why, "'%s' is for a server; it needs requests", load);
        return error_expect(why, "'prompt' and 'output', or 'workload': a file of requests");
    }
    int used = snprintf(text, sizeof text, "synthetic:prompt=%.0f,output=%.0f", prompt, output);
    if (requests > 0) {
        snprintf(text + used, sizeof text - (size_t)used, ",requests=%.0f", requests);
    }
    scenario_values_remove(values, "prompt");
    scenario_values_remove(values, "output");
    return node_set(scenario->root, "workload", text, why);
}

/* A load without a workload is of requests of the scenario's prompt and output. Refuse an empty key: without
 * its load, the scenario would be one of decode steps, for which nobody asked. */
static bool settle_load(struct scenario *scenario, struct error *why)
{
    const char *empty = node_get(scenario->root, "workload") != NULL ? "workload" : NULL;
    for (int i = 0; i < 3; i++) {
        if (scenario_states(scenario, load_keys[i])) {
            return lay_synthetic(scenario, load_keys[i], why);
        }
        bool is_empty = scenario_value(&scenario->values, load_keys[i])->empty;
        empty = empty == NULL && is_empty ? load_keys[i] : empty;
    }
    return empty == NULL || scenario_error(scenario, empty, why, "'%s' is empty", empty);
}

bool requests_set_context(struct scenario *scenario, struct error *why)
{
    uint64_t context = 0, other = (uint64_t)scenario_stated(&scenario->values, "context", 0);
    char path[WORKLOAD_PATH];
    if (!scenario_states(scenario, "workload") && !settle_load(scenario, why)) {
        return false;
    }
    if (!scenario_states(scenario, "workload")) {
        return true;
    }
    if (scenario_states(scenario, "contexts")) {
        scenario_error(scenario, "contexts", why, "the workload determines the contexts");
        return error_expect(why, "no 'contexts'");
    }
    const struct requests *requests =
        check_batch_keys(scenario, why) ? requests_find(scenario, path, why) : NULL;
    if (requests == NULL || !resolve_requests_find_context(scenario, requests, &context, why)) {
        return false;
    }
    if (other != 0 && other != context) {
        scenario_error(scenario, "context", why, "the workload determines the context");
        return error_expect(why, "no 'context', or %" PRIu64 ", the mean of its requests", context);
    }
    return scenario_values_set(&scenario->values, "context", (double)context, why);
}

/* ---- the keys ------------------------------------------------------------------------- */

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
static bool check_arrivals(const struct scenario *scenario, const struct workload *workload,
                           struct error *why)
{
    bool rate = workload->rate > 0, clients = workload->clients > 0;
    bool constant = workload->arrivals == ARRIVALS_CONSTANT;
    if (rate && clients) {
        return scenario_error(scenario, "clients", why,
                              "clients send when their last request ends; remove 'rate'");
    }
    if (constant && !rate) {
        return scenario_error(scenario, "arrivals", why, "'arrivals: constant' needs 'rate'");
    }
    bool at_once = workload->arrivals == ARRIVALS_AT_ONCE;
    bool bursts = constant && scenario_states(scenario, "burstiness");
    const char *beside = at_once && rate      ? "rate"
                         : at_once && clients ? "clients"
                         : bursts             ? "burstiness"
                                              : NULL;
    if (beside == NULL) {
        return true;
    }
    scenario_error(scenario, "arrivals", why, "'arrivals: %s' beside '%s'",
                   arrivals_names[workload->arrivals], beside);
    return error_expect(why, "one of the two");
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

static bool check_effects(const struct scenario *scenario, const struct point *point,
                          struct error *why)
{
    const struct workload *workload = &point->workload;
    bool warms = workload->warm > 0, balances = workload->routing == ROUTE_PREFIX_LOAD;
    const struct {
        const char *key, *needs;
        bool counts;
    } keys[] = {
        {"hash_tokens", "a workload with 'hash_ids' or 'input_tok_ids'",
         point->requests->chunk_tokens > 0},
        {"burstiness", "'rate': the workload's arrivals have their own gaps", workload->rate > 0},
        {"warm_rate", "'warm_requests' and 'rate'", warms && workload->rate > 0},
        {"warm_clients", "'warm_requests' and 'clients'", warms && workload->clients > 0},
        {"compile", "an engine that measures its memory: a version of vLLM",
         point->engine.memory == ENGINE_MEASURED ||
             (point->engine.row != NULL && workload->compile == COMPILE_EAGER)},
        {"overlap", "an engine", point->engine.row != NULL},
        {"graph_sequences", "an engine", point->engine.row != NULL},
        {"window_ratio", "an engine with pools of KV: SGLang", point->engine.pools.slots > 0},
        {"state_ratio", "an engine with pools of KV: SGLang", point->engine.pools.slots > 0},
        {"cache_threshold", "'routing: prefix-load'", balances},
        {"balance_abs_threshold", "'routing: prefix-load'", balances},
        {"balance_rel_threshold", "'routing: prefix-load'", balances},
    };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (!keys[i].counts && scenario_states(scenario, keys[i].key)) {
            return scenario_error(scenario, keys[i].key, why, "'%s' needs %s", keys[i].key,
                                  keys[i].needs);
        }
    }
    return true;
}

/* Without a clock there is no load. */
static bool check_routing(const struct scenario *scenario, const struct workload *workload,
                          struct error *why)
{
    if (workload->timed || !workload_balances(workload)) {
        return true;
    }
    scenario_error(scenario, "routing", why,
                   "'routing: %s' sees load, and there is none with 'timed: no'",
                   routing_names[workload->routing]);
    return error_expect(why, "'round-robin' or 'prefix'");
}

/* A router that sees no load divides clients among servers. One without clients would have no requests. */
static bool check_clients(const struct scenario *scenario, const struct point *point,
                          struct error *why)
{
    uint64_t clients = point->workload.clients, servers = point_servers(point);
    if (clients == 0 || clients >= servers || workload_balances(&point->workload)) {
        return true;
    }
    scenario_error(scenario, "clients", why, "%" PRIu64 " 'clients' for %" PRIu64 " servers",
                   clients, servers);
    return error_expect(why, "at least one client for each of the 'replicas'");
}

/* A system runs in versions of one program: in another with a system of its own, its parts would be wrong. */
static bool check_program(const struct scenario *scenario, const struct system_info *system,
                          const char *program, struct error *why)
{
    struct server_engine own;
    if (program == NULL || system->engine[0] == '\0') {
        return true;
    }
    if (!server_engine_find(system->engine, system->name, 0, &own, why)) {
        return false;
    }
    char path[WORKLOAD_PATH];
    if (own.program == NULL || strcmp(own.program, program) == 0 ||
        !named_file(&named_system, program, "", 0, path, sizeof path, ERROR_UNSEEN)) {
        return true;
    }
    scenario_error(scenario, "engine", why, "system '%s' does not run in %s", system->name,
                   program);
    return error_expect(why, "a version of %s, or 'system: %s'", own.program, program);
}

/* The engine that the user names, else the system's, unless a changed preset's steps need the CPU. */
static bool read_engine(const struct scenario *scenario, bool serves, struct point *out,
                        struct error *why)
{
    const struct node *node = node_stated(scenario->root, "engine");
    const struct system_info *system = &out->setup.system;
    const struct mechanisms *m = out->setup.mechanisms; /* no CPU may take part within a step */
    bool runs = !mechanisms_offload(m) ||
                (m->sync == SYNC_GPU && m->manager == MANAGER_GPU && m->launch == LAUNCH_GRAPH);
    const char *name = system->engine[0] != '\0' && (serves || runs) ? system->engine : "none";
    if (!node_text(scenario->root, "engine", &name, why) ||
        !server_engine_find(name, node != NULL ? node->file : system->name,
                            node != NULL ? node->line : 0, &out->engine, why) ||
        !check_program(scenario, system, out->engine.program, why)) {
        return false;
    }
    if (out->engine.row == NULL || runs) {
        return true;
    }
    scenario_error(scenario, node != NULL ? "engine" : "system", why,
                   "steps in an 'engine' need no CPU in between, and those of system '%s' do",
                   system->name);
    return error_expect(why, "engine: none");
}

/* The longest prompt of the requests that the server takes: of those that are made up, that any may have. */
static uint64_t longest_prompt(const struct point *point)
{
    uint64_t most = point_taken_tokens(point), longest = 0;
    uint64_t drawn = point->requests->drawn.prompt;
    if (drawn > 0) {
        return most == 0 || drawn < most ? drawn : most - 1;
    }
    for (size_t i = 0; i < point->requests->count; i++) {
        const struct request *request = &point->requests->all[i];
        bool longer = request->prompt > longest && (most == 0 || request_tokens(request) <= most);
        longest = longer ? request->prompt : longest;
    }
    return longest;
}

/* The ranks that have a part each of the tokens of a step that a command states. */
static uint32_t chunk_ranks(const struct point *out)
{
    return out->engine.divides_chunk ? out->setup.model.parallel.data : 1;
}

/* Without requests, the engine has its own limits of a step, or is told to run a larger batch. An engine that
 * divides no prompt refuses those that are longer than a step, and lets one wait until the step has room
 * for it beside those that decode. So it is started with steps of the longest prompt and all sequences, as
 * NVIDIA does (scenarios/measured/tensorrt-llm.yaml). */
static bool resolve_step_limits(const struct scenario *scenario,
                                const struct server_engine_gpus *limits, struct point *out,
                                struct error *why)
{
    struct workload *workload = &out->workload;
    bool serves = point_serves(out), whole = serves && out->engine.path.whole_prompts;
    uint64_t longest = whole ? longest_prompt(out) : 0;
    uint64_t batch = (uint64_t)out->setup.batch * out->setup.model.parallel.pipeline;
    if (!serves || !scenario_states(scenario, "max_sequences")) {
        workload->sequences = serves || batch < limits->sequences ? limits->sequences : batch;
    }
    if (!serves || !scenario_states(scenario, "batched_tokens")) {
        workload->batched_tokens = limits->batched_tokens >= longest
                                       ? limits->batched_tokens / chunk_ranks(out)
                                       : longest + workload->sequences;
    }
    if (workload->batched_tokens >= longest) {
        return true;
    }
    scenario_error(scenario, "batched_tokens", why,
                   "%s refuses prompts of more than 'batched_tokens', %" PRIu64
                   ", and they have up to %" PRIu64,
                   out->engine.row, workload->batched_tokens, longest);
    return error_expect(why, "%" PRIu64 ", beside which each of %" PRIu64 " sequences decodes",
                        longest + workload->sequences, workload->sequences);
}

static bool check_pool(const struct scenario *scenario, struct error *why)
{
    static const char *const keys[] = {"kv_pool_tokens", "kv_pool_blocks", "kv_pool"};
    const char *first = NULL;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (first != NULL && scenario_states(scenario, keys[i])) {
            scenario_error(scenario, keys[i], why, "'%s' and '%s' both state the pool of KV", first,
                           keys[i]);
            return error_expect(why, "one of them");
        }
        first = scenario_states(scenario, keys[i]) ? keys[i] : first;
    }
    return true;
}

/* What the engine does by itself for the model, unless the scenario says otherwise. */
static bool take_rules(const struct scenario *scenario, struct server_engine_gpus *limits,
                       struct point *out, struct error *why)
{
    struct server_engine *engine = &out->engine;
    struct mechanisms *m = out->setup.mechanisms;
    bool kv = node_find(scenario->root, "dtype.kv") == NULL;
    bool pages = node_find(scenario->root, "mechanisms.prefix_block") == NULL;
    engine->ruled = 0;
    for (uint32_t i = 0; i < engine->rule_count; i++) {
        const struct engine_rule *rule = &engine->rules[i];
        if (!engine_rule_holds(rule, &out->setup)) {
            continue;
        }
        enum dtype keeps = out->setup.model.kv;
        if (kv && rule->keeps != NULL && !dtype_find(rule->keeps, rule->name, 0, &keeps, why)) {
            return false;
        }
        engine->own_kv = engine->own_kv || rule->keeps != NULL;
        bool page = pages && rule->page > 0 && m->prefix_unit % rule->page == 0;
        bool waits = rule->waits && out->workload.overlap == 0;
        bool rules = keeps != out->setup.model.kv || waits ||
                     (page && m->prefix_block != rule->page) || rule->sequences > 0;
        out->setup.model.kv = keeps;
        m->prefix_block = page ? rule->page : m->prefix_block;
        limits->sequences = rule->sequences > 0 ? rule->sequences : limits->sequences;
        engine->path.overlaps = engine->path.overlaps && !waits;
        engine->ruled |= (uint64_t)rules << i;
    }
    return true;
}

bool resolve_engine(const struct scenario *scenario, struct point *out, struct error *why)
{
    struct workload *workload = &out->workload;
    const struct server_engine *engine = &out->engine;
    if (!check_pool(scenario, why)) {
        return false;
    }
    if (engine->row == NULL) {
        return engine_memory_set(out, why);
    }
    const struct profile *profile = &out->setup.profile;
    struct server_engine_gpu gpu = {
        .bytes = profile_value(profile, CURVE_GPU_HBM_CAPACITY, 0, TRUST_UNSEEN),
        .machine = profile->name,
        .gpus = out->setup.model.tensor_parallel * chunk_ranks(out),
        .stages = out->setup.model.parallel.pipeline,
        .ranks = chunk_ranks(out),
        .captured = workload->graph_sequences,
    };
    struct model *model = &out->setup.model;
    struct server_engine_gpus limits = *server_engine_limits(engine, &gpu);
    if (!take_rules(scenario, &limits, out, why)) {
        return false;
    }
    out->engine.path.overlaps =
        workload->overlap == 0 ? engine->path.overlaps : workload->overlap > 1;
    out->setup.engine = server_engine_around(engine, &gpu, workload->compile == COMPILE_EAGER);
    if (engine->mxfp4_fp8 && model->experts == DTYPE_MXFP4 &&
        profile_states(profile, CURVE_GPU_EXPERTS_FIXED_MXFP4_FP8)) {
        model->experts = DTYPE_MXFP4_FP8;
    }
    if (!resolve_step_limits(scenario, &limits, out, why)) {
        return false;
    }
    if (!scenario_states(scenario, "hbm_usable")) {
        out->setup.hbm_usable = server_engine_usable(
            engine, &gpu, workload->batched_tokens * chunk_ranks(out)); /* before it is divided */
    }
    engine_refusal_set(out);
    return engine_memory_set(out, why);
}

/* Keys of a server need a workload; memory is the machine's. */
static bool check_alone(const struct scenario *scenario, struct error *why)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        bool needs = key->serving && key->place != SCENARIO_SETUP && key->shape != SCENARIO_ENGINE;
        if (needs && scenario_states(scenario, key->name)) {
            scenario_error(scenario, key->name, why, "'%s' is for a server; it needs 'workload'",
                           key->name);
            return error_expect(why, "'workload' as well: a file of requests");
        }
    }
    return true;
}

/* An engine serves no length on which the model was not trained, unless told to; in a file a note says so.
 * Of a stream usual lengths count: they are the same whichever seed draws it. */
static bool check_trained(const struct scenario *scenario, const struct point *point,
                          struct error *why)
{
    uint64_t trained = point->setup.model.trained_context;
    bool listed = point->workload.limit > 0 || synthetic_says(point->workload.path, "requests");
    uint64_t longest = listed ? requests_longest(point->requests) : point->requests->drawn.usual;
    if (point->engine.row == NULL || trained == 0 || longest <= trained ||
        point->workload.request_tokens > 0 || !synthetic_is(point->workload.path)) {
        return true;
    }
    scenario_error(scenario, "workload", why,
                   "requests have up to %" PRIu64 " tokens, and %s was trained on %" PRIu64,
                   longest, point->setup.model.name, trained);
    return error_expect(why, "shorter requests, or 'request_tokens', the longest that is served");
}

bool resolve_workload(const struct scenario *scenario, struct point *out, struct error *why)
{
    static const char *const slo_keys[] = {"ttft_ms", "tpot_ms", NULL};
    struct workload *read = &out->workload;
    const struct node *slo = node_get(scenario->root, "slo");
    if (!scenario_states(scenario, "workload")) {
        return check_alone(scenario, why) && read_engine(scenario, false, out, why);
    }
    *read = standard;
    out->requests = requests_find(scenario, read->path, why);
    if (out->requests == NULL) {
        return false;
    }
    read->content = out->requests->content;
    read->seed = out->setup.seed;
    scenario_values_fill(&scenario->values, SCENARIO_WORKLOAD, read);
    return check_arrivals(scenario, read, why) &&
           node_check_keys(slo, NAMES(slo_keys), "slo", why) &&
           read_objective(slo, "ttft_ms", &read->slo_ttft_ns, why) &&
           read_objective(slo, "tpot_ms", &read->slo_tpot_ns, why) &&
           read_engine(scenario, true, out, why) && check_effects(scenario, out, why) &&
           check_trained(scenario, out, why) && check_clients(scenario, out, why) &&
           check_routing(scenario, read, why);
}
