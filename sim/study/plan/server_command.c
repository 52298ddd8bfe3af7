#include "study/plan/server_command.h"

#include "base/name.h"
#include "decode/plan/memory.h"
#include "model/parallel.h"
#include "serve/requests/requests.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VALUE = 64 };

/* ---- values ---- */

static bool write_gpus(const struct point *point, const struct result *result, char text[VALUE],
                       struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%u", point->setup.model.tensor_parallel);
    return true;
}

/* A number of parts; "" if there is one. */
static void plan_server_write_parts(uint32_t parts, char text[VALUE])
{
    text[0] = '\0';
    if (parts > 1) {
        snprintf(text, VALUE, "%u", parts);
    }
}

static bool write_ranks(const struct point *point, const struct result *result, char text[VALUE],
                        struct error *why)
{
    (void)result, (void)why;
    plan_server_write_parts(point->setup.model.parallel.data, text);
    return true;
}

static bool write_stages(const struct point *point, const struct result *result, char text[VALUE],
                         struct error *why)
{
    (void)result, (void)why;
    plan_server_write_parts(point->setup.model.parallel.pipeline, text);
    return true;
}

/* vLLM either keeps experts whole, on all GPUs of all ranks, or splits each over all of them. */
static bool write_whole_experts(const struct point *point, const struct result *result,
                                char text[VALUE], struct error *why)
{
    (void)result, (void)why;
    bool whole = point->setup.model.parallel.experts > 1;
    snprintf(text, VALUE, "%s", whole ? "--enable-expert-parallel" : "");
    return true;
}

static bool write_sequences(const struct point *point, const struct result *result,
                            char text[VALUE], struct error *why)
{
    (void)why;
    const struct cell *batch = &result->cells[COLUMN_BATCH];
    int64_t stages = point->setup.model.parallel.pipeline; /* each has a batch under way */
    snprintf(text, VALUE, "%" PRId64,
             batch->set ? batch->integer * stages : (int64_t)point->workload.sequences);
    return true;
}

static uint64_t longest_tokens(const struct point *point)
{
    struct setup_cohort cohort = setup_cohort(&point->setup, setup_cohort_count(&point->setup) - 1);
    uint64_t end = cohort.prompt + point->setup.output;
    uint64_t longest = end > cohort.context ? end : cohort.context;
    return !point_serves(point)                 ? longest
           : point->workload.request_tokens > 0 ? point->workload.request_tokens
                                                : requests_longest(point->requests);
}

static bool write_hbm_usable(const struct point *point, const struct result *result,
                             char text[VALUE], struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%.4g", point->setup.hbm_usable);
    return true;
}

/* A type other than fp8 is the model's own. This fp8 is the one that vLLM calls plain fp8. */
static bool write_kv_dtype(const struct point *point, const struct result *result, char text[VALUE],
                           struct error *why)
{
    const char *name = dtype_name(point->setup.model.kv);
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%s", strcmp(name, "fp8") == 0 ? "fp8_e4m3" : "auto");
    return true;
}

/* Engines quantise the weights of a checkpoint in bf16 to fp8 as they load it. */
static bool write_quantization(const struct point *point, const struct result *result,
                               char text[VALUE], struct error *why)
{
    const struct model_options own = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    struct model model;
    (void)result;
    text[0] = '\0';
    if (point->setup.model.weights != DTYPE_FP8) {
        return true;
    }
    if (!model_load(sources_files(point->sources), point->setup.model.name, &own, NULL, 0, &model,
                    why)) {
        return false;
    }
    snprintf(text, VALUE, "%s", model.weights == DTYPE_BF16 ? "fp8" : "");
    model_release(&model);
    return true;
}

static double plan_server_selected_tokens(const struct point *point)
{
    return setup_share(&point->setup, &point->setup.mechanisms.selection) *
           (double)point->setup.context;
}

static bool write_selected(const struct point *point, const struct result *result, char text[VALUE],
                           struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%.0f", plan_server_selected_tokens(point));
    return true;
}

static double token_bytes(const struct point *point)
{
    double token = 0;
    for (uint32_t layer = 0; layer < point->setup.model.layer_count; layer++) {
        token += (double)model_kv_token_bytes(&point->setup.model, layer);
    }
    return token;
}

/* Tokens of a head's cache. A budget of so many selections says it of every run, also of one whose
 * cache is not counted: requests that vary have none, nor has KV that stays in HBM. */
static double cached_tokens(const struct point *point, const struct result *result)
{
    const struct amount *budget = &point->setup.mechanisms.budget;
    const struct cell *batch = &result->cells[COLUMN_BATCH];
    const struct cell *cache = &result->cells[COLUMN_CACHE_BYTES];
    double sequences = batch->set ? (double)batch->integer : 1;
    if (budget->unit == UNIT_TIMES && !budget->rest) {
        return floor(budget->value * plan_server_selected_tokens(point));
    }
    return cache->set ? floor((double)cache->integer / (sequences * token_bytes(point))) : 0;
}

/* A server that attends only to its cache needs room there for all selected tokens. Here these have
 * buffers of their own. */
static bool write_cached(const struct point *point, const struct result *result, char text[VALUE],
                         struct error *why)
{
    (void)why;
    snprintf(text, VALUE, "%.0f",
             fmax(cached_tokens(point, result), plan_server_selected_tokens(point)));
    return true;
}

static double host_bytes(const struct point *point)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    return point->setup.host_memory > 0
               ? (double)point->setup.host_memory
               : profile_value(&point->setup.profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen);
}

static bool write_host(const struct point *point, const struct result *result, char text[VALUE],
                       struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%.0f", floor(host_bytes(point) / 1073741824.0));
    return true;
}

/* Shares are rarely whole numbers, and a share rounded down may leave no memory. */
static bool write_host_each(const struct point *point, const struct result *result,
                            char text[VALUE], struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%.4g",
             host_bytes(point) / 1073741824.0 / model_gpus(&point->setup.model));
    return true;
}

static bool write_host_gb_each(const struct point *point, const struct result *result,
                               char text[VALUE], struct error *why)
{
    (void)result;
    (void)why;
    snprintf(text, VALUE, "%.0f", floor(host_bytes(point) / 1e9 / model_gpus(&point->setup.model)));
    return true;
}

/* KV of all sequences, each in whole blocks, and two blocks that vLLM keeps. Of requests that vary,
 * as many of the longest as run together, but no more than there is host memory. */
static bool write_host_pool(const struct point *point, const struct result *result,
                            char text[VALUE], struct error *why)
{
    const struct setup *setup = &point->setup;
    const struct cell *batch = &result->cells[COLUMN_BATCH], *kv = &result->cells[COLUMN_DRAM_KV];
    double token = token_bytes(point) * memory_host_copies(setup);
    double sequences = batch->set ? (double)batch->integer : (double)point->workload.sequences;
    double blocks = (sequences + 2) * (double)setup->mechanisms.prefix_block * token;
    double bytes = kv->set ? (double)kv->integer + blocks
                           : sequences * (double)longest_tokens(point) * token + blocks;
    (void)why;
    bytes = kv->set ? bytes : fmin(bytes, host_bytes(point));
    snprintf(text, VALUE, "%.0f", ceil(bytes / 1073741824.0));
    return true;
}

/* ---- values of a server; "" for a run without requests ---- */

static bool write_batched(const struct point *point, const struct result *result, char text[VALUE],
                          struct error *why)
{
    (void)result;
    (void)why;
    text[0] = '\0';
    if (point_serves(point)) {
        snprintf(text, VALUE, "%" PRIu64, point->workload.batched_tokens);
    }
    return true;
}

static bool write_block(const struct point *point, const struct result *result, char text[VALUE],
                        struct error *why)
{
    (void)result;
    (void)why;
    text[0] = '\0';
    if (point_serves(point)) {
        snprintf(text, VALUE, "%" PRIu64, point->setup.mechanisms.prefix_block);
    }
    return true;
}

/* Blocks that a rank of the server has for sequences. */
static int64_t pool_blocks(const struct point *point, const struct result *result)
{
    const struct cell *blocks = &result->cells[COLUMN_KV_BLOCKS];
    int64_t ranks = (int64_t)(point->workload.replicas * point->setup.model.parallel.data);
    return blocks->set ? blocks->integer / ranks : 0;
}

/* An engine does not start if its KV memory has no room for the longest sequence. A stated length
 * stands. */
static bool write_longest(const struct point *point, const struct result *result, char text[VALUE],
                          struct error *why)
{
    bool stated = point->workload.request_tokens > 0;
    uint64_t longest = longest_tokens(point);
    uint64_t room = (uint64_t)pool_blocks(point, result) * point->setup.mechanisms.prefix_block;
    (void)why;
    snprintf(text, VALUE, "%" PRIu64, !stated && room > 0 && room < longest ? room : longest);
    return true;
}

/* A real server was seen to have the pool only if the scenario gives it. */
static bool gives_pool(const struct point *point)
{
    return point->setup.kv_pool_tokens > 0;
}

/* vLLM never gives one block to a sequence: vllm/v1/core/block_pool.py, null_block. */
static bool write_pool_blocks(const struct point *point, const struct result *result,
                              char text[VALUE], struct error *why)
{
    int64_t blocks = pool_blocks(point, result);
    (void)why;
    text[0] = '\0';
    if (gives_pool(point) && blocks > 0) {
        snprintf(text, VALUE, "%" PRId64, blocks + 1);
    }
    return true;
}

static bool write_pool_tokens(const struct point *point, const struct result *result,
                              char text[VALUE], struct error *why)
{
    int64_t blocks = pool_blocks(point, result);
    (void)why;
    text[0] = '\0';
    if (gives_pool(point) && blocks > 0) {
        snprintf(text, VALUE, "%" PRId64, blocks * (int64_t)point->setup.mechanisms.prefix_block);
    }
    return true;
}

static const struct value {
    const char *name;
    bool (*write)(const struct point *point, const struct result *result, char text[VALUE],
                  struct error *why);
} values[] = {
    {"gpus", write_gpus},
    {"data_ranks", write_ranks},
    {"stages", write_stages},
    {"whole_experts", write_whole_experts},
    {"sequences", write_sequences},
    {"longest", write_longest},
    {"hbm_usable", write_hbm_usable},
    {"quantization", write_quantization},
    {"kv_dtype", write_kv_dtype},
    {"selected_tokens", write_selected},
    {"cache_tokens", write_cached},
    {"host_gib", write_host},
    {"host_gib_each", write_host_each},
    {"host_gb_each", write_host_gb_each},
    {"host_pool_gib", write_host_pool},
    {"batched_tokens", write_batched},
    {"block_tokens", write_block},
    {"pool_blocks", write_pool_blocks},
    {"pool_tokens", write_pool_tokens},
};

/* ---- the command ---- */

static const char *value_name(size_t index)
{
    return index < sizeof values / sizeof values[0] ? values[index].name : NULL;
}

/* The length of the name in "{name}" at `text`; 0 if there is no name, as in JSON. */
static size_t plan_server_name_length(const char *text)
{
    size_t length = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_");
    return text[0] == '{' && text[1 + length] == '}' ? length : 0;
}

/* Write the value whose name starts at `at`. `*length` is 0 if no name starts there. */
static bool plan_server_write_value(const struct point *point, const struct result *result,
                                    const char *at, char text[VALUE], size_t *length,
                                    struct error *why)
{
    *length = plan_server_name_length(at);
    if (*length == 0 || *length >= VALUE) {
        *length = 0;
        return true;
    }
    snprintf(text, VALUE, "%.*s", (int)*length, at + 1);
    int row = name_find(text, value_name, "value of a command", point->setup.system.name, 0, why);
    return row >= 0 && values[row].write(point, result, text, why);
}

static bool write_command(const struct point *point, const struct result *result,
                          char text[SERVER_COMMAND], struct error *why)
{
    size_t used = 0, part = 0; /* start of the part in [ ] */
    bool misses = false;       /* a value of that part does not apply */
    for (const char *at = point->setup.system.command;
         *at != '\0' && used + VALUE < SERVER_COMMAND;) {
        char value[VALUE];
        size_t length;
        if (!plan_server_write_value(point, result, at, value, &length, why)) {
            return false;
        }
        if (length > 0) {
            used += (size_t)snprintf(text + used, SERVER_COMMAND - used, "%s", value);
            misses = misses || value[0] == '\0';
            at += length + 2;
        } else if (*at == '[') {
            part = used;
            misses = false;
            at++;
        } else if (*at == ']') {
            used = misses ? part : used;
            at += misses && at[1] == ' ' ? 2 : 1;
        } else {
            text[used++] = *at++;
        }
    }
    while (used > 0 && text[used - 1] == ' ') {
        used--;
    }
    text[used] = '\0';
    return true;
}

/* Does the command say how the model of this point is shared? */
static bool says_form(const struct point *point)
{
    const struct model *model = &point->setup.model;
    uint32_t experts = model->parallel.experts;
    bool plain = model_passes(model) == 1 && experts == 1;
    bool whole = experts == 1 || experts == model->tensor_parallel * model->parallel.data;
    return plain || (whole && strstr(point->setup.system.command, "{data_ranks}") != NULL);
}

bool server_command(const struct scenario *scenario, const struct result *result,
                    char text[SERVER_COMMAND], uint64_t *pool, struct error *why)
{
    struct point point;
    *pool = 0;
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    text[0] = '\0';
    bool good = !says_form(&point) || write_command(&point, result, text, why);
    if (!gives_pool(&point) && strstr(point.setup.system.command, "{pool_") != NULL) {
        *pool = (uint64_t)pool_blocks(&point, result) * point.setup.mechanisms.prefix_block;
    }
    point_release(&point);
    return good;
}
