#include "study/plan/start_line.h"

#include "core/quote.h"
#include "core/text.h"
#include "decode/mechanism_values.h"
#include "decode/plan/memory.h"
#include "model/sharding.h"
#include "predict/command/server_program.h"
#include "study/plan/host_room.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE = SERVER_MODEL + 128, SERVER_TEMPLATE = 2 * SERVER_COMMAND };
#define GIB 1073741824.0

/* Stands for the model where the weights are to be in a type that its checkpoint does not have, and
 * that the engine does not make of it; and for the network that drafts, whose id nobody stated. */
#define SERVER_CHECKPOINT "CHECKPOINT"
#define SERVER_DRAFT "DRAFT"

/* Types of the weights that the checkpoint of a scenario's model has. */
struct server_checkpoint {
    enum dtype weights, experts;
};

struct commanded {
    const struct point *point;
    const struct result *result;
    struct server_checkpoint own;
    const struct node *root; /* the run's scenario */
    const char *model;       /* as the engine finds it */
};

/* A value of the run. It does not apply if its number is NaN, or its word "". */
struct command_value {
    const char *name;
    double number;
    int digits; /* 0: the number is whole */
    const char *word;
    bool (*write)(const struct commanded *run, char text[VALUE], struct error *why);
};

/* ---- the checkpoint, and what a command cannot say ---- */

/* What the checkpoint of the scenario's model has its weights in. */
static bool read_checkpoint(const struct node *root, struct sources *sources,
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

/* Does the checkpoint have its weights in bf16, and the run in fp8? Engines quantise such weights
 * as they load them. Experts may have been in fp8 before. */
static bool quantizes(const struct model *model, const struct server_checkpoint *own)
{
    bool experts = model->experts == own->experts || own->experts == DTYPE_BF16;
    return model->weights == DTYPE_FP8 && own->weights == DTYPE_BF16 && experts;
}

/* Do the run's weights need a checkpoint that the model's id is not? */
static bool needs_checkpoint(const struct model *model, const struct server_checkpoint *own,
                             const char *command)
{
    bool says = strstr(command, "{quantization}") != NULL && quantizes(model, own);
    bool as_loaded = own->experts == DTYPE_MXFP4 && model->experts == DTYPE_MXFP4_FP8;
    return !says && !as_loaded &&
           (model->weights != own->weights || model->experts != own->experts);
}

static const char *separator(const char *text)
{
    return text[0] != '\0' ? "; " : "";
}

/* Write what `command`, a preset's text with {NAME}s, leaves out of the run, or "". The server
 * would start, and be another one than was predicted. */
static void write_lacks(const struct point *point, const struct server_checkpoint *own,
                        const char *id, const char *command, char text[SERVER_LACKS])
{
    const struct setup *setup = &point->setup;
    const struct model *model = &setup->model;
    const struct drafts *drafts = &setup->drafts;
    bool tiers = point_serves(point) && mechanisms_host_prefixes(setup->mechanisms);
    text[0] = '\0';
    if (needs_checkpoint(model, own, command)) {
        bool weights = model->weights != own->weights;
        text_append(text, SERVER_LACKS,
                    "the id of a checkpoint of %.200s with %s in %s, for which " SERVER_CHECKPOINT
                    " stands: its own has %s",
                    id, weights ? "weights" : "experts",
                    dtype_name(weights ? model->weights : model->experts),
                    dtype_name(weights ? own->weights : own->experts));
    }
    if (model->kv == DTYPE_FP8 && strstr(command, "{kv_") == NULL) {
        text_append(text, SERVER_LACKS, "%sKV in fp8", separator(text));
    }
    if (tiers && strstr(command, "{host_") == NULL) {
        text_append(text, SERVER_LACKS, "%shost memory for prompts that begin alike",
                    separator(text));
    }
    if (setup->kv_pool_tokens > 0 && strstr(command, "{pool_") == NULL) {
        text_append(text, SERVER_LACKS, "%sa KV pool of %" PRIu64 " tokens", separator(text),
                    setup->kv_pool_tokens);
    }
    if (drafts->count > 0 && strstr(command, "{draft_") == NULL) {
        text_append(text, SERVER_LACKS, "%s%u drafts a step (%s)", separator(text), drafts->count,
                    draft_methods[drafts->method]);
    } else if (drafts->count > 0 && drafts->method == DRAFT_EAGLE3) {
        text_append(text, SERVER_LACKS,
                    "%sthe id of the network that drafts, for which " SERVER_DRAFT " stands",
                    separator(text));
    }
}

/* A command starts processes on its own machine. */
static void write_machines(const struct point *server, char text[SERVER_LACKS])
{
    uint32_t gpus = model_gpus(&server->setup.model);
    uint64_t machine = point_machine_gpus(server);
    if (gpus > machine && server->engine.machines != NULL) {
        text_append(text, SERVER_LACKS, "%s%u GPUs are %" PRIu64 " machines: %s", separator(text),
                    gpus, (gpus + machine - 1) / machine, server->engine.machines);
    }
}

static double selected_tokens(const struct setup *setup)
{
    return setup_share(setup, &setup->mechanisms->selection) * (double)setup->context;
}

/* Tokens of a head's cache. A budget of so many selections says it of every run, also of one whose
 * cache is not counted: requests that vary have none, nor has KV that stays in HBM. */
static double cached_tokens(const struct commanded *run, double sequences)
{
    const struct setup *setup = &run->point->setup;
    const struct amount *budget = &setup->mechanisms->budget;
    const struct cell *cache = result_cell(run->result, COLUMN(cache_bytes));
    double token = (double)model_kv_tokens_bytes(&setup->model);
    if (budget->unit == UNIT_TIMES && !budget->rest) {
        return floor(budget->value * selected_tokens(setup));
    }
    return cache->set ? floor((double)cache->integer / (sequences * token)) : 0;
}

static uint64_t longest_tokens(const struct point *point)
{
    struct setup_cohort cohort = setup_cohort(&point->setup, setup_cohort_count(&point->setup) - 1);
    uint64_t end = cohort.prompt + point->setup.output;
    uint64_t longest = end > cohort.context ? end : cohort.context;
    uint64_t taken = point_serves(point) ? point_taken_tokens(point) : 0;
    return !point_serves(point) ? longest
           : taken > 0          ? taken
                                : requests_most_tokens(point->requests);
}

static uint64_t kv_tokens(const struct commanded *run)
{
    const struct cell *blocks = result_cell(run->result, COLUMN(kv_blocks));
    uint64_t ranks = run->point->workload.replicas * run->point->setup.model.parallel.data;
    return blocks->set
               ? (uint64_t)blocks->integer / ranks * run->point->setup.mechanisms->prefix_block
               : 0;
}

/* An engine does not start if its KV memory has no room for the longest sequence. A stated length stands. */
static double longest(const struct commanded *run)
{
    bool stated = run->point->workload.request_tokens > 0;
    uint64_t tokens = longest_tokens(run->point), room = kv_tokens(run);
    return (double)(!stated && room > 0 && room < tokens ? room : tokens);
}

/* Bytes of a tier, as stated, or as the machine has; NaN: it has none. */
static double tier_bytes(const struct setup *setup, enum tier_id tier)
{
    struct trust unseen = {.basis = BASIS_MEASURED};
    enum curve_id capacity = tier_kinds[tier].capacity;
    return setup->room[tier] > 0 ? (double)setup->room[tier]
           : profile_states(&setup->profile, capacity)
               ? profile_value(&setup->profile, capacity, 0, &unseen)
               : (double)NAN;
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
    double blocks = (sequences + 2) * (double)setup->mechanisms->prefix_block * token;
    double bytes = kv->set ? (double)kv->integer + blocks
                           : fmin(sequences * (double)longest_tokens(point) * token + blocks,
                                  host_part(point));
    return ceil(bytes / GIB);
}

static uint64_t host_bytes(const struct commanded *run, const char *command)
{
    if (strstr(command, "{host_pool_gib}") != NULL) {
        return (uint64_t)(host_pool_gib(run) * GIB);
    }
    double unseen;
    uint64_t gib = host_given_gib(run->point, run->result, &unseen);
    return strstr(command, "{host_") != NULL ? (uint64_t)host_takes(run->point, gib) : 0;
}

/* A model as an engine finds it: the id that was typed, or the shipped model's first; a path is no option. */
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
    static const char *const methods[DRAFT_METHODS] = {[DRAFT_NGRAM] = "ngram",
                                                       [DRAFT_MODEL] = "draft_model",
                                                       [DRAFT_EAGLE3] = "eagle3",
                                                       [DRAFT_MTP] = "mtp"};
    const struct drafts *drafts = &run->point->setup.drafts;
    char model[VALUE];
    text[0] = '\0';
    if (drafts->count == 0 || !write_draft_model(run, model, why)) {
        return drafts->count == 0;
    }
    json_t *config =
        json_pack("{s:s, s:s*, s:i}", "method", methods[drafts->method], "model",
                  model[0] != '\0' ? model : NULL, "num_speculative_tokens", (int)drafts->count);
    size_t length = json_dumpb(config, text, VALUE - 1, JSON_ENSURE_ASCII);
    json_decref(config);
    if (length == 0 || length >= VALUE) {
        return error_set(why, NULL, 0, "the path of the draft model is too long, or not UTF-8");
    }
    text[length] = '\0';
    return true;
}

/* docs.sglang.io, speculative decoding. MTP is EAGLE with the network of the model's own. */
static const char *const sglang_methods[DRAFT_METHODS] = {[DRAFT_NGRAM] = "NGRAM",
                                                          [DRAFT_MODEL] = "STANDALONE",
                                                          [DRAFT_EAGLE3] = "EAGLE3",
                                                          [DRAFT_MTP] = "EAGLE"};

enum { VALUES = 35 };

static double several(uint32_t parts)
{
    return parts > 1 ? parts : (double)NAN;
}

static void list_values(const struct commanded *run, struct command_value values[VALUES])
{
    const struct point *point = run->point;
    const struct setup *setup = &point->setup;
    const struct model_parallel *parallel = &setup->model.parallel;
    const struct drafts *drafts = &setup->drafts;
    const struct cell *batch = result_cell(run->result, COLUMN(batch));
    double sequences = batch->set ? (double)batch->integer : NAN, gpus = model_gpus(&setup->model);
    double block = (double)run->point->setup.mechanisms->prefix_block;
    double ratio, given = (double)host_given_gib(point, run->result, &ratio) * GIB;
    double host = setup->room[TIER_HOST] > 0 ? tier_bytes(setup, TIER_HOST) : given;
    double disk = tier_bytes(setup, TIER_DISK), pool = (double)kv_tokens(run);
    bool serves = point_serves(point), fp8 = setup->model.kv == DTYPE_FP8;
    bool gives_pool = setup->kv_pool_tokens > 0 && pool > 0; /* a real server was seen to have it */
    bool passes = drafts->count > 0 && drafts->method != DRAFT_NGRAM;
    uint32_t ranks = point_joined_ranks(point);
    double in_step =
        batch->set ? sequences * parallel->pipeline : (double)point->workload.sequences;
    double batched = serves ? (double)point->workload.batched_tokens : NAN;
    const struct command_value all[VALUES] = {
        {"gpus", .number = setup->model.tensor_parallel},
        /* SGLang counts GPUs, and what a step takes, of all ranks that share experts. */
        {"gpus_of_ranks", .number = setup->model.tensor_parallel * ranks},
        {"sequences_of_ranks", .number = in_step * ranks},
        {"batched_tokens_of_ranks", .number = batched * ranks},
        {"shared_ranks", .word = ranks > 1 ? "--enable-dp-attention" : ""},
        {"expert_groups", .number = several(parallel->experts)},
        {"data_ranks", .number = several(parallel->data)},
        {"stages", .number = several(parallel->pipeline)},
        /* vLLM either keeps experts whole, on all GPUs of all ranks, or splits each over all. */
        {"whole_experts", .word = parallel->experts > 1 ? "--enable-expert-parallel" : ""},
        /* Each stage has a batch under way. */
        {"sequences", .number = in_step},
        {"longest", .number = longest(run)},
        /* Each engine counts its own share. */
        {"hbm_usable", .number = run->point->setup.hbm_usable, .digits = 4},
        {"own_code", .word = setup->model.own_code ? "yes" : ""},
        {"quantization", .word = quantizes(&setup->model, &run->own) ? "fp8" : ""},
        /* A type other than fp8 is the model's own, unless the engine takes another for it. This fp8 is what vLLM
         * calls plain fp8. */
        {"kv_dtype", .word = fp8                    ? "fp8_e4m3"
                             : point->engine.own_kv ? "bfloat16"
                                                    : "auto"},
        {"kv_fp8", .word = fp8 ? "fp8" : ""},
        {"selected_tokens", .number = selected_tokens(setup)},
        /* A server that attends only to its cache needs room there for all selected tokens. Here
         * these have buffers of their own. */
        {"cache_tokens",
         .number = fmax(cached_tokens(run, batch->set ? sequences : 1), selected_tokens(setup))},
        {"host_gib", .number = floor(host / GIB)},
        {"host_gib_of_rank", .number = floor(host / GIB / ranks)},
        /* Shares are rarely whole numbers, and a share rounded down may leave no memory. */
        {"host_gib_each", .number = host / GIB / gpus, .digits = 4},
        /* An engine that takes whole units has no less than was simulated; what it has by default is not said. */
        {"host_gb_each", .number = ratio > 0 ? (double)NAN : ceil(host / 1e9 / gpus)},
        {"host_gb", .number = floor(host / 1e9)},
        {"disk_gib_each", .number = disk / GIB / gpus, .digits = 4},
        {"disk_gb", .number = floor(disk / 1e9)},
        {"host_pool_gib", .number = host_pool_gib(run)},
        {"batched_tokens", .number = batched},
        {"block_tokens", .number = serves ? block : NAN},
        /* vLLM never gives one block to a sequence: vllm/v1/core/block_pool.py, null_block. */
        {"pool_blocks", .number = gives_pool ? floor(pool / block) + 1 : NAN},
        {"pool_tokens", .number = gives_pool ? pool : NAN},
        {"draft_config", .write = write_draft_config},
        {"draft_algorithm", .word = drafts->count > 0 ? sglang_methods[drafts->method] : ""},
        /* Drafts are a chain: a pass of the network each. */
        {"draft_steps", .number = passes ? (double)drafts->count : NAN},
        {"draft_rows", .number = drafts->count > 0 ? (double)drafts->count + 1 : NAN},
        {"draft_model", .write = write_draft_model},
    };
    memcpy(values, all, sizeof all);
}

static bool write_value(const struct commanded *run, const char *name, char text[VALUE],
                        struct error *why)
{
    struct command_value values[VALUES];
    const char *names[VALUES + 1] = {NULL};
    list_values(run, values);
    for (size_t i = 0; i < VALUES; i++) {
        names[i] = values[i].name;
    }
    int row = name_match(name, names);
    if (row < 0) {
        error_input(why, run->point->setup.system.name, 0, "unknown value of a command '%s'", name);
        return name_expect(name, NAMES(names), why);
    }
    const struct command_value *value = &values[row];
    text[0] = '\0';
    if (value->write != NULL) {
        return value->write(run, text, why);
    }
    if (value->word != NULL) {
        snprintf(text, VALUE, "%s", value->word);
    } else if (!isnan(value->number)) {
        snprintf(text, VALUE, value->digits > 0 ? "%.*g" : "%.*f", value->digits, value->number);
    }
    return true;
}

/* Write the value named "{name}" or "{?name}" at `at`. `*length` is 0 if no name starts there, as in JSON. */
static bool plan_server_write_value(const struct commanded *run, const char *at, char text[VALUE],
                                    size_t *length, struct error *why)
{
    size_t asks = at[0] == '{' && at[1] == '?';
    *length = asks + strspn(at + 1 + asks, "abcdefghijklmnopqrstuvwxyz_0123456789");
    if (at[0] != '{' || at[1 + *length] != '}' || *length >= VALUE) {
        *length = 0;
        return true;
    }
    char name[VALUE];
    snprintf(name, sizeof name, "%.*s", (int)(*length - asks), at + 1 + asks);
    return *length == 0 || write_value(run, name, text, why);
}

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
    bool quotes = **at == '\'' || **at == '"';
    out->quote = !quotes || (out->quote != '\0' && out->quote != **at) ? out->quote
                 : out->quote == **at                                  ? '\0'
                                                                       : **at;
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

static bool says_form(const struct point *point, const char *command)
{
    const struct model *model = &point->setup.model;
    uint32_t experts = model->parallel.experts;
    bool whole = experts == 1 || experts == model->tensor_parallel * model->parallel.data;
    bool any = strstr(command, "{expert_groups}") != NULL;
    return (model->parallel.pipeline == 1 || strstr(command, "{stages}") != NULL) &&
           (model->parallel.data == 1 || strstr(command, "{data_ranks}") != NULL) &&
           (experts == 1 || any || (whole && strstr(command, "{?whole_experts}") != NULL));
}

static bool write_server(const struct commanded *run, struct server_command *out, struct error *why)
{
    char command[SERVER_TEMPLATE];
    if (!expand_options(run->point->setup.system.command, command, why)) {
        return false;
    }
    if (run->point->setup.kv_pool_tokens == 0 && strstr(command, "{pool_") != NULL) {
        out->pool = kv_tokens(run);
    }
    if (!says_form(run->point, command) || command[0] == '\0') {
        return true;
    }
    write_lacks(run->point, &run->own, out->model, command, out->lacks);
    write_machines(run->point, out->lacks);
    out->host = host_bytes(run, command);
    out->needs_checkpoint = needs_checkpoint(&run->point->setup.model, &run->own, command);
    if (out->needs_checkpoint) {
        snprintf(out->model, sizeof out->model, SERVER_CHECKPOINT);
    }
    return write_command(run, command, out->text, why);
}

bool server_command(const struct scenario *scenario, const struct result *result,
                    struct server_command *out, struct error *why)
{
    struct point point;
    *out = (struct server_command){.pool = 0};
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    struct commanded run = {
        .point = &point, .result = result, .root = scenario->root, .model = out->model};
    bool good = write_id(node_get(scenario->root, "model"), out->model, sizeof out->model, why) &&
                read_checkpoint(scenario->root, point.sources, &run.own, why) &&
                write_server(&run, out, why);
    point_release(&point);
    return good;
}
