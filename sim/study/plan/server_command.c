#include "study/plan/server_command.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/name.h"
#include "core/named.h"
#include "core/quote.h"
#include "core/text.h"
#include "decode/plan/memory.h"
#include "model/parallel.h"
#include "predict/command/server_program.h"
#include "predict/scenario/sources.h"
#include "server/requests/requests.h"
#include "study/plan/host_room.h"

enum { VALUE = SERVER_MODEL + 128, SERVER_TEMPLATE = 2 * SERVER_COMMAND };
#define GIB 1073741824.0

/* The run whose server the command starts. */
struct commanded {
    const struct point *point;
    const struct result *result;
    struct server_checkpoint own;
    const struct point *server; /* the same with the system whose command it is */
    const struct node *root;    /* the run's scenario */
    const char *model;          /* as the engine finds it */
};

/* ---- numbers; NaN: the value does not apply ---- */

/* A number of parts, if there are several. */
static double several(uint32_t parts)
{
    return parts > 1 ? parts : (double)NAN;
}

static double command_gpus(const struct commanded *run)
{
    return run->point->setup.model.tensor_parallel;
}

static double count_ranks(const struct commanded *run)
{
    return several(run->point->setup.model.parallel.data);
}

static double count_stages(const struct commanded *run)
{
    return several(run->point->setup.model.parallel.pipeline);
}

/* Each stage has a batch under way. */
static double count_sequences(const struct commanded *run)
{
    const struct cell *batch = result_cell(run->result, COLUMN(batch));
    return batch->set ? (double)batch->integer * run->point->setup.model.parallel.pipeline
                      : (double)run->point->workload.sequences;
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

/* Each engine counts its own share. */
static double hbm_usable(const struct commanded *run)
{
    return run->server->setup.hbm_usable;
}

static double selected_tokens(const struct commanded *run)
{
    const struct setup *setup = &run->point->setup;
    return setup_share(setup, &setup->mechanisms.selection) * (double)setup->context;
}

/* Tokens of a head's cache. A budget of so many selections says it of every run, also of one whose
 * cache is not counted: requests that vary have none, nor has KV that stays in HBM. */
static double cached_tokens(const struct commanded *run)
{
    const struct setup *setup = &run->point->setup;
    const struct amount *budget = &setup->mechanisms.budget;
    const struct cell *batch = result_cell(run->result, COLUMN(batch));
    const struct cell *cache = result_cell(run->result, COLUMN(cache_bytes));
    double sequences = batch->set ? (double)batch->integer : 1;
    if (budget->unit == UNIT_TIMES && !budget->rest) {
        return floor(budget->value * selected_tokens(run));
    }
    return cache->set ? floor((double)cache->integer /
                              (sequences * (double)model_kv_tokens_bytes(&setup->model)))
                      : 0;
}

/* A server that attends only to its cache needs room there for all selected tokens. Here these have
 * buffers of their own. */
static double cache_tokens(const struct commanded *run)
{
    return fmax(cached_tokens(run), selected_tokens(run));
}

static double host_bytes(const struct point *point)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    return point->setup.room[TIER_HOST] > 0
               ? (double)point->setup.room[TIER_HOST]
               : profile_value(&point->setup.profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen);
}

/* What prefixes may have: as stated, or what the engine can take of the server's part. */
static double host_for_prefixes(const struct commanded *run)
{
    return run->point->setup.room[TIER_HOST] > 0 ? host_bytes(run->point)
                                                 : (double)host_most_gib(run->point) * GIB;
}

static double host_gib(const struct commanded *run)
{
    return floor(host_for_prefixes(run) / GIB);
}

/* Shares are rarely whole numbers, and a share rounded down may leave no memory. */
static double host_gib_each(const struct commanded *run)
{
    return host_for_prefixes(run) / GIB / model_gpus(&run->point->setup.model);
}

/* An engine that takes whole units has no less than was simulated. */
static double host_gb_each(const struct commanded *run)
{
    return ceil(host_for_prefixes(run) / 1e9 / model_gpus(&run->point->setup.model));
}

static double host_gb(const struct commanded *run)
{
    return floor(host_for_prefixes(run) / 1e9);
}

static double disk_bytes(const struct commanded *run)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    const struct setup *setup = &run->point->setup;
    return setup->room[TIER_DISK] > 0
               ? (double)setup->room[TIER_DISK]
               : profile_value(&setup->profile, CURVE_DISK_CAPACITY, 0, &unseen);
}

static double disk_gib_each(const struct commanded *run)
{
    return disk_bytes(run) / GIB / model_gpus(&run->point->setup.model);
}

static double disk_gb(const struct commanded *run)
{
    return floor(disk_bytes(run) / 1e9);
}

/* KV of all sequences, each in whole blocks, and two blocks that vLLM keeps. Of requests that vary,
 * as many of the longest as run together, but no more than there is host memory. */
static double host_pool_gib(const struct commanded *run)
{
    const struct point *point = run->point;
    const struct setup *setup = &point->setup;
    const struct cell *batch = result_cell(run->result, COLUMN(batch));
    const struct cell *kv = result_cell(run->result, COLUMN(dram_kv_bytes));
    double token = (double)model_kv_tokens_bytes(&setup->model) * memory_host_copies(setup);
    double sequences = batch->set ? (double)batch->integer : (double)point->workload.sequences;
    double blocks = (sequences + 2) * (double)setup->mechanisms.prefix_block * token;
    double bytes = kv->set ? (double)kv->integer + blocks
                           : fmin(sequences * (double)longest_tokens(point) * token + blocks,
                                  host_bytes(point));
    return ceil(bytes / GIB);
}

/* ---- numbers of a server; a run without requests has none ---- */

static double batched_tokens(const struct commanded *run)
{
    return point_serves(run->point) ? (double)run->point->workload.batched_tokens : (double)NAN;
}

static double block_tokens(const struct commanded *run)
{
    uint64_t block = run->server->setup.mechanisms.prefix_block;
    return point_serves(run->point) ? (double)block : (double)NAN;
}

/* Blocks that a rank of the server has for sequences. */
static uint64_t kv_blocks(const struct commanded *run)
{
    const struct cell *blocks = result_cell(run->result, COLUMN(kv_blocks));
    uint64_t ranks = run->point->workload.replicas * run->point->setup.model.parallel.data;
    return blocks->set ? (uint64_t)blocks->integer / ranks : 0;
}

static uint64_t kv_tokens(const struct commanded *run)
{
    return kv_blocks(run) * run->point->setup.mechanisms.prefix_block;
}

/* An engine does not start if its KV memory has no room for the longest sequence. A stated length
 * stands. */
static double longest(const struct commanded *run)
{
    bool stated = run->point->workload.request_tokens > 0;
    uint64_t tokens = longest_tokens(run->point), room = kv_tokens(run);
    return (double)(!stated && room > 0 && room < tokens ? room : tokens);
}

/* A real server was seen to have the pool only if the scenario gives it. */
static bool gives_pool(const struct commanded *run)
{
    return run->point->setup.kv_pool_tokens > 0 && kv_blocks(run) > 0;
}

/* vLLM never gives one block to a sequence: vllm/v1/core/block_pool.py, null_block. */
static double pool_blocks(const struct commanded *run)
{
    uint64_t blocks = kv_tokens(run) / run->server->setup.mechanisms.prefix_block;
    return gives_pool(run) ? (double)blocks + 1 : (double)NAN;
}

static double pool_tokens(const struct commanded *run)
{
    return gives_pool(run) ? (double)kv_tokens(run) : (double)NAN;
}

/* ---- words; "": the value does not apply ---- */

/* vLLM either keeps experts whole, on all GPUs of all ranks, or splits each over all of them. */
static bool write_whole_experts(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct point *point = run->point;
    (void)why;
    bool whole = point->setup.model.parallel.experts > 1;
    snprintf(text, VALUE, "%s", whole ? "--enable-expert-parallel" : "");
    return true;
}

/* A type other than fp8 is the model's own. This fp8 is the one that vLLM calls plain fp8. */
static bool write_kv_dtype(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct point *point = run->point;
    (void)why;
    const char *name = dtype_name(point->setup.model.kv);
    snprintf(text, VALUE, "%s", strcmp(name, "fp8") == 0 ? "fp8_e4m3" : "auto");
    return true;
}

/* TensorRT-LLM's word for it, and none for the model's own type. */
static bool write_kv_fp8(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct point *point = run->point;
    (void)why;
    snprintf(text, VALUE, "%s", point->setup.model.kv == DTYPE_FP8 ? "fp8" : "");
    return true;
}

static bool write_quantization(const struct commanded *run, char text[VALUE], struct error *why)
{
    (void)why;
    bool quantizes = server_quantizes(&run->point->setup.model, &run->own);
    snprintf(text, VALUE, "%s", quantizes ? "fp8" : "");
    return true;
}

/* ---- drafts ---- */

/* A model as an engine finds it: the id that was typed, or the first that the shipped model has; a
 * path stays, and is never an option. */
static bool write_id(const struct node *node, char *text, size_t size, struct error *why)
{
    char id[NAMED_SIZE];
    const char *model = node->typed != NULL ? node->typed : node->text;
    bool has = !named_id(model, "json") && named_first_id(&named_model, model, id);
    int length = snprintf(text, size, "%s%s", model[0] == '-' ? "./" : "", has ? id : model);
    return (size_t)length < size ||
           error_set(why, node->file, node->line, "the path of this model is too long");
}

/* Which EAGLE-3 network drafts is no part of a scenario. */
static bool write_draft_model(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct drafts *drafts = &run->point->setup.drafts;
    bool eagle = drafts->count > 0 && drafts->method == DRAFT_EAGLE3;
    snprintf(text, VALUE, "%s", eagle ? SERVER_DRAFT : "");
    return drafts->count == 0 || drafts->method != DRAFT_MODEL ||
           write_id(node_find(run->root, "drafts.model"), text, VALUE, why);
}

/* vllm/config/speculative.py: SpeculativeConfig. */
static bool write_draft_config(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct point *point = run->point;
    static const char *const methods[DRAFT_METHODS] = {[DRAFT_NGRAM] = "ngram",
                                                       [DRAFT_MODEL] = "draft_model",
                                                       [DRAFT_EAGLE3] = "eagle3",
                                                       [DRAFT_MTP] = "mtp"};
    const struct drafts *drafts = &point->setup.drafts;
    char model[VALUE], *quoted;
    text[0] = '\0';
    if (drafts->count == 0 || !write_draft_model(run, model, why) ||
        (quoted = quote_text(QUOTE_JSON, model, why)) == NULL) {
        return drafts->count == 0;
    }
    bool named = model[0] != '\0';
    int length = snprintf(text, VALUE, "{\"method\": \"%s\", %s%s%s\"num_speculative_tokens\": %u}",
                          methods[drafts->method], named ? "\"model\": \"" : "", quoted,
                          named ? "\", " : "", drafts->count);
    free(quoted);
    return length < VALUE || error_set(why, NULL, 0, "the path of the draft model is too long");
}

/* docs.sglang.io, speculative decoding. MTP is EAGLE with the network of the model's own. */
static bool write_draft_algorithm(const struct commanded *run, char text[VALUE], struct error *why)
{
    const struct point *point = run->point;
    (void)why;
    static const char *const algorithms[DRAFT_METHODS] = {[DRAFT_NGRAM] = "NGRAM",
                                                          [DRAFT_MODEL] = "STANDALONE",
                                                          [DRAFT_EAGLE3] = "EAGLE3",
                                                          [DRAFT_MTP] = "EAGLE"};
    const struct drafts *drafts = &point->setup.drafts;
    snprintf(text, VALUE, "%s", drafts->count > 0 ? algorithms[drafts->method] : "");
    return true;
}

/* Drafts are a chain: a pass of the network each. */
static double draft_passes(const struct commanded *run)
{
    const struct drafts *drafts = &run->point->setup.drafts;
    bool passes = drafts->count > 0 && drafts->method != DRAFT_NGRAM;
    return passes ? (double)drafts->count : (double)NAN;
}

static double draft_rows(const struct commanded *run)
{
    const struct drafts *drafts = &run->point->setup.drafts;
    return drafts->count > 0 ? (double)drafts->count + 1 : (double)NAN;
}

/* A value is a number, whole unless it has digits, or words. */
static const struct value {
    const char *name;
    double (*number)(const struct commanded *run);
    int digits;
    bool (*write)(const struct commanded *run, char text[VALUE], struct error *why);
} values[] = {
    {.name = "gpus", .number = command_gpus},
    {.name = "data_ranks", .number = count_ranks},
    {.name = "stages", .number = count_stages},
    {.name = "whole_experts", .write = write_whole_experts},
    {.name = "sequences", .number = count_sequences},
    {.name = "longest", .number = longest},
    {.name = "hbm_usable", .number = hbm_usable, .digits = 4},
    {.name = "quantization", .write = write_quantization},
    {.name = "kv_dtype", .write = write_kv_dtype},
    {.name = "kv_fp8", .write = write_kv_fp8},
    {.name = "selected_tokens", .number = selected_tokens},
    {.name = "cache_tokens", .number = cache_tokens},
    {.name = "host_gib", .number = host_gib},
    {.name = "host_gib_each", .number = host_gib_each, .digits = 4},
    {.name = "host_gb_each", .number = host_gb_each},
    {.name = "host_gb", .number = host_gb},
    {.name = "disk_gib_each", .number = disk_gib_each, .digits = 4},
    {.name = "disk_gb", .number = disk_gb},
    {.name = "host_pool_gib", .number = host_pool_gib},
    {.name = "batched_tokens", .number = batched_tokens},
    {.name = "block_tokens", .number = block_tokens},
    {.name = "pool_blocks", .number = pool_blocks},
    {.name = "pool_tokens", .number = pool_tokens},
    {.name = "draft_config", .write = write_draft_config},
    {.name = "draft_algorithm", .write = write_draft_algorithm},
    {.name = "draft_steps", .number = draft_passes},
    {.name = "draft_rows", .number = draft_rows},
    {.name = "draft_model", .write = write_draft_model},
};

static bool write_value(const struct commanded *run, const struct value *value, char text[VALUE],
                        struct error *why)
{
    if (value->write != NULL) {
        return value->write(run, text, why);
    }
    double number = value->number(run);
    text[0] = '\0';
    if (!isnan(number)) {
        snprintf(text, VALUE, value->digits > 0 ? "%.*g" : "%.*f", value->digits, number);
    }
    return true;
}

/* ---- the command ---- */

static const char *value_name(size_t index)
{
    return index < sizeof values / sizeof values[0] ? values[index].name : NULL;
}

/* The length of the name in "{name}" or "{?name}" at `text`; 0 if there is no name, as in JSON. */
static size_t plan_server_name_length(const char *text)
{
    size_t asks = text[0] == '{' && text[1] == '?';
    size_t length = asks + strspn(text + 1 + asks, "abcdefghijklmnopqrstuvwxyz_0123456789");
    return text[0] == '{' && text[1 + length] == '}' ? length : 0;
}

/* Write the value whose name starts at `at`. `*length` is 0 if no name starts there. */
static bool plan_server_write_value(const struct commanded *run, const char *at, char text[VALUE],
                                    size_t *length, struct error *why)
{
    *length = plan_server_name_length(at);
    if (*length == 0 || *length >= VALUE) {
        *length = 0;
        return true;
    }
    int asks = at[1] == '?';
    snprintf(text, VALUE, "%.*s", (int)*length - asks, at + 1 + asks);
    int row =
        name_find(text, value_name, "value of a command", run->server->setup.system.name, 0, why);
    return row >= 0 && write_value(run, &values[row], text, why);
}

/* A command that is being written. */
struct written {
    char *text;
    size_t used, part; /* `part`: start of the part in [ ] */
    bool misses;       /* a value of that part does not apply */
    char quote;        /* the quotes of the shell that are open, or 0 */
};

static bool append(struct written *out, const char *text, size_t length, struct error *why)
{
    if (out->used + length >= SERVER_COMMAND) {
        return error_set(why, NULL, 0, "the command of a server has more than %d bytes",
                         SERVER_COMMAND - 1);
    }
    memcpy(out->text + out->used, text, length);
    out->used += length;
    return true;
}

/* A value is text to the shell, also within the quotes of the preset's command. */
static bool append_quoted_value(struct written *out, const char *value, struct error *why)
{
    enum quote quote = out->quote == '\''  ? QUOTE_SHELL_SINGLE
                       : out->quote == '"' ? QUOTE_SHELL_DOUBLE
                                           : QUOTE_SHELL;
    char *quoted = value[0] != '\0' ? quote_text(quote, value, why) : NULL;
    bool good = value[0] == '\0' || (quoted != NULL && append(out, quoted, strlen(quoted), why));
    free(quoted);
    return good;
}

static char quote_after(char quote, char next)
{
    return next != '\'' && next != '"' ? quote
           : quote == '\0'             ? next
           : quote == next             ? '\0'
                                       : quote;
}

/* Write what stands at `at`, a sign if it is nothing else, and go on behind it. */
static bool write_next(const struct commanded *run, const char **at, struct written *out,
                       struct error *why)
{
    char value[VALUE];
    size_t length;
    if (!plan_server_write_value(run, *at, value, &length, why)) {
        return false;
    }
    if (length > 0) {
        bool asks = (*at)[1] == '?';
        out->misses = out->misses || value[0] == '\0';
        *at += length + 2;
        return asks || append_quoted_value(out, value, why);
    }
    if (**at == '[') {
        out->part = out->used;
        out->misses = false;
        (*at)++;
        return true;
    }
    if (**at == ']') {
        out->used = out->misses ? out->part : out->used;
        *at += out->misses && (*at)[1] == ' ' ? 2 : 1;
        return true;
    }
    if (strncmp(*at, "MODEL", strlen("MODEL")) == 0) {
        *at += strlen("MODEL");
        return append_quoted_value(out, run->model, why);
    }
    out->quote = quote_after(out->quote, **at);
    return append(out, (*at)++, 1, why);
}

/* Write the preset's command with a part for each option of its program in place of {options}. The
 * value of a switch says whether it is there. */
static bool expand_options(const char *command, char text[SERVER_TEMPLATE], struct error *why)
{
    static const char mark[] = "{options}";
    const char *at = strstr(command, mark);
    int before = at != NULL ? (int)(at - command) : (int)strlen(command);
    snprintf(text, SERVER_TEMPLATE, "%.*s", before, command);
    if (at == NULL) {
        return true;
    }
    const struct server_program *program = server_program_of(command, why);
    if (program == NULL) {
        error_set(why, NULL, 0, "'%.100s' starts no program that is known", command);
        return error_expect(why, "one of engines/commands for {options}");
    }
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *option = &program->options[i];
        bool on = option->value == SERVER_VALUE_SWITCH;
        if (option->writes != NULL) {
            text_append(text, SERVER_TEMPLATE, "[%s%s{%s%s}] ", option->flag, on ? "" : " ",
                        on ? "?" : "", option->writes);
        }
    }
    text_append(text, SERVER_TEMPLATE, "%s", at + strlen(mark) + (at[strlen(mark)] == ' '));
    return true;
}

static bool write_command(const struct commanded *run, const char *command,
                          char text[SERVER_COMMAND], struct error *why)
{
    struct written out = {.text = text};
    for (const char *at = command; *at != '\0';) {
        if (!write_next(run, &at, &out, why)) {
            return false;
        }
    }
    while (out.used > 0 && text[out.used - 1] == ' ') {
        out.used--;
    }
    text[out.used] = '\0';
    return true;
}

/* Does the command say how the model of this point is shared? */
static bool says_form(const struct point *point, const char *command)
{
    const struct model *model = &point->setup.model;
    uint32_t experts = model->parallel.experts;
    bool plain = model_passes(model) == 1 && experts == 1;
    bool whole = experts == 1 || experts == model->tensor_parallel * model->parallel.data;
    return plain || (whole && strstr(command, "{data_ranks}") != NULL);
}

static bool write_server(const struct commanded *run, struct server_command *out, struct error *why)
{
    char command[SERVER_TEMPLATE];
    if (!expand_options(run->server->setup.system.command, command, why)) {
        return false;
    }
    if (run->point->setup.kv_pool_tokens == 0 && strstr(command, "{pool_") != NULL) {
        out->pool = kv_tokens(run);
    }
    if (!says_form(run->point, command) || command[0] == '\0') {
        return true;
    }
    server_lacks(run->point, &run->own, out->model, command, out->lacks);
    out->needs_checkpoint = server_needs_checkpoint(&run->point->setup.model, &run->own, command);
    if (out->needs_checkpoint) {
        snprintf(out->model, sizeof out->model, SERVER_CHECKPOINT);
    }
    return write_command(run, command, out->text, why);
}

/* The point of the scenario with another system. */
static bool other_point(const struct scenario *scenario, const char *system, struct point *out,
                        struct error *why)
{
    struct scenario other;
    bool good = scenario_copy(scenario, &other, why) &&
                node_set(other.root, "system", system, why) && scenario_point(&other, 0, out, why);
    scenario_release(&other);
    return good;
}

bool server_command(const struct scenario *scenario, const struct result *result,
                    const char *system, struct server_command *out, struct error *why)
{
    struct point point, other;
    *out = (struct server_command){.pool = 0};
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    struct commanded run = {.point = &point,
                            .result = result,
                            .server = &point,
                            .root = scenario->root,
                            .model = out->model};
    bool good = write_id(node_get(scenario->root, "model"), out->model, sizeof out->model, why) &&
                server_checkpoint(scenario->root, point.sources, &run.own, why) &&
                (system == NULL || other_point(scenario, system, &other, why));
    if (good && system != NULL) {
        run.server = &other;
        good = write_server(&run, out, why);
        point_release(&other);
    } else if (good) {
        good = write_server(&run, out, why);
    }
    point_release(&point);
    return good;
}

bool server_checkpoint(const struct node *root, struct sources *sources,
                       struct server_checkpoint *out, struct error *why)
{
    const struct node *name = node_get(root, "model");
    const struct model_options options = {
        .weights = -1, .kv = -1, .tensor_parallel = 1, .config = node_stated(root, "config")};
    struct model model;
    if (!model_load(sources_files(sources), name->text, &options, name->file, name->line, &model,
                    why)) {
        return false;
    }
    *out = (struct server_checkpoint){model.weights, model.experts};
    model_release(&model);
    return true;
}

/* Experts may have been in fp8 before. */
bool server_quantizes(const struct model *model, const struct server_checkpoint *own)
{
    bool experts = model->experts == own->experts || own->experts == DTYPE_BF16;
    return model->weights == DTYPE_FP8 && own->weights == DTYPE_BF16 && experts;
}

/* Add one thing; several are parted by semicolons. */
__attribute__((format(printf, 2, 3))) static void server_lacks_add(char text[SERVER_LACKS],
                                                                   const char *format, ...)
{
    size_t used = strlen(text);
    used += (size_t)snprintf(text + used, SERVER_LACKS - used, "%s", used > 0 ? "; " : "");
    va_list values;
    va_start(values, format);
    vsnprintf(text + used, SERVER_LACKS - used, format, values);
    va_end(values);
}

bool server_needs_checkpoint(const struct model *model, const struct server_checkpoint *own,
                             const char *command)
{
    bool says = strstr(command, "{quantization}") != NULL && server_quantizes(model, own);
    bool as_loaded = own->experts == DTYPE_MXFP4 && model->experts == DTYPE_MXFP4_FP8;
    return !says && !as_loaded &&
           (model->weights != own->weights || model->experts != own->experts);
}

static void server_lacks_add_weights(const struct model *model, const struct server_checkpoint *own,
                                     const char *id, const char *command, char text[SERVER_LACKS])
{
    bool weights = model->weights != own->weights;
    if (server_needs_checkpoint(model, own, command)) {
        server_lacks_add(
            text,
            "the id of a checkpoint of %.200s with %s in %s, for which " SERVER_CHECKPOINT
            " stands: its own has %s",
            id, weights ? "weights" : "experts",
            dtype_name(weights ? model->weights : model->experts),
            dtype_name(weights ? own->weights : own->experts));
    }
}

static void server_lacks_add_drafts(const struct drafts *drafts, const char *command,
                                    char text[SERVER_LACKS])
{
    if (drafts->count > 0 && strstr(command, "{draft_") == NULL) {
        server_lacks_add(text, "%u drafts a step (%s)", drafts->count,
                         draft_methods[drafts->method]);
    } else if (drafts->count > 0 && drafts->method == DRAFT_EAGLE3) {
        server_lacks_add(text,
                         "the id of the network that drafts, for which " SERVER_DRAFT " stands");
    }
}

/* KV, and the memory for it. */
static void server_lacks_add_kv(const struct point *point, const char *command,
                                char text[SERVER_LACKS])
{
    const struct setup *setup = &point->setup;
    bool tiers = point_serves(point) && setup->mechanisms.prefix == PREFIX_TWO_TIER;
    if (setup->model.kv == DTYPE_FP8 && strstr(command, "{kv_") == NULL) {
        server_lacks_add(text, "KV in fp8");
    }
    if (tiers && strstr(command, "{host_") == NULL) {
        server_lacks_add(text, "host memory for prompts that begin alike");
    }
    if (setup->kv_pool_tokens > 0 && strstr(command, "{pool_") == NULL) {
        server_lacks_add(text, "a KV pool of %" PRIu64 " tokens", setup->kv_pool_tokens);
    }
}

void server_lacks(const struct point *point, const struct server_checkpoint *own, const char *id,
                  const char *command, char text[SERVER_LACKS])
{
    text[0] = '\0';
    server_lacks_add_weights(&point->setup.model, own, id, command, text);
    server_lacks_add_kv(point, command, text);
    server_lacks_add_drafts(&point->setup.drafts, command, text);
}
