/* What a server's text says in facts that are no keys of scenarios. */
#include "predict/command/server_text.h"

#include "server/server_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool server_text_overrides(const struct server_text *said, const char *key)
{
    size_t length = strlen(key);
    for (uint32_t i = 0; i < said->override_count; i++) {
        if (strncmp(said->overrides[i], key, length) == 0 && said->overrides[i][length] == '=') {
            return true;
        }
    }
    return false;
}

void server_text_pass(struct server_text *said, int line, const char *name, const char *reason)
{
    struct server_unused *unused = &said->keys.unused;
    int index = unused->count++;
    if (index < SERVER_UNUSED) {
        struct server_unused_option *option = &unused->all[index];
        snprintf(option->name, sizeof option->name, "%.63s", name);
        option->line = line;
        option->reason = reason;
    }
}

static uint64_t stated_number(const struct stated_key *key, uint64_t unsaid)
{
    return key->value[0] != '\0' ? strtoull(key->value, NULL, 10) : unsaid;
}

static void set(struct stated_key *key, const struct stated_key *from, const char *value)
{
    snprintf(key->value, sizeof key->value, "%s", value);
    memmove(key->said, from->said, sizeof key->said);
    key->line = from->line;
}

static bool says(const struct stated_key *key, const char *value)
{
    return strcmp(key->value, value) == 0;
}

/* A command states a step's limits of all ranks that share layers (srt/server_args.py,
 * chunked_prefill_size and max_running_requests); a log those of each. */
static void divide_limits(struct stated_key *all, uint64_t ranks)
{
    for (int id = STATED_MAX_SEQUENCES; id <= STATED_BATCHED_TOKENS; id++) {
        uint64_t whole = stated_number(&all[id], 0);
        if (all[id].typed && whole >= ranks) {
            snprintf(all[id].value, sizeof all[id].value, "%" PRIu64, whole / ranks);
        }
    }
}

/* Where all GPUs are counted in tensor_parallel, as SGLang does, data_parallel are servers of their
 * own, unless the ranks share the layers outside attention: shared_ranks says so, and rank_count,
 * which counts these ranks apart. */
static void complete_ranks(struct stated_key *all)
{
    if (stated_number(&all[STATED_RANK_COUNT], 1) > 1) {
        if (all[STATED_DATA_PARALLEL].value[0] != '\0') {
            set(&all[STATED_REPLICAS], &all[STATED_DATA_PARALLEL], all[STATED_DATA_PARALLEL].value);
        }
        set(&all[STATED_DATA_PARALLEL], &all[STATED_RANK_COUNT], all[STATED_RANK_COUNT].value);
        set(&all[STATED_SHARED_RANKS], &all[STATED_RANK_COUNT], "yes");
    }
    uint64_t tensor = stated_number(&all[STATED_TENSOR_PARALLEL], 1);
    uint64_t data = stated_number(&all[STATED_DATA_PARALLEL], 1);
    if (data <= 1) {
        return;
    }
    if (says(&all[STATED_SHARED_RANKS], "yes")) {
        divide_limits(all, data);
    }
    if (!says(&all[STATED_SHARED_RANKS], "yes")) {
        set(&all[STATED_REPLICAS], &all[STATED_DATA_PARALLEL], all[STATED_DATA_PARALLEL].value);
        all[STATED_DATA_PARALLEL].value[0] = '\0';
    } else if (tensor % data == 0) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, tensor / data);
        set(&all[STATED_TENSOR_PARALLEL], &all[STATED_TENSOR_PARALLEL], text);
    }
}

/* Engines that state a pool each are data-parallel ranks. */
static void complete_engines(struct server_text *said)
{
    struct stated_key *ranks = &said->keys.all[STATED_DATA_PARALLEL],
                      *blocks = &said->keys.all[STATED_KV_BLOCKS];
    int count = __builtin_popcountll(said->engines);
    if (count < 2) {
        return;
    }
    if (ranks->value[0] == '\0') {
        snprintf(ranks->value, sizeof ranks->value, "%d", count);
        snprintf(ranks->said, sizeof ranks->said, "engines of its metrics");
        ranks->line = blocks->line;
    }
    snprintf(blocks->said, sizeof blocks->said, "num_gpu_blocks, the least of %d engines", count);
}

/* A manifest runs copies of the server, which may be several servers itself. */
static void complete_copies(struct stated_key *all)
{
    const struct stated_key *copies = &all[STATED_COPIES];
    char text[32];
    if (copies->value[0] != '\0') {
        snprintf(text, sizeof text, "%" PRIu64,
                 stated_number(copies, 1) * stated_number(&all[STATED_REPLICAS], 1));
        set(&all[STATED_REPLICAS], copies, text);
    }
}

/* A server says its pool in one way or several, and the user maybe in another: the first counts that
 * is there. */
static void complete_pool(const struct server_text *text, struct stated_key *all)
{
    bool said = false;
    for (int id = STATED_KV_TOKENS; id <= STATED_KV_BYTES; id++) {
        said = said || server_text_overrides(text, all[id].key);
    }
    for (int id = STATED_KV_TOKENS; id <= STATED_KV_BYTES; id++) {
        bool counts = !said || server_text_overrides(text, all[id].key);
        all[id].value[0] = counts ? all[id].value[0] : '\0';
        said = said || all[id].value[0] != '\0';
    }
}

static void complete_experts(struct stated_key *all)
{
    char text[32];
    if (says(&all[STATED_WHOLE_EXPERTS], "yes")) {
        snprintf(text, sizeof text, "%" PRIu64,
                 stated_number(&all[STATED_TENSOR_PARALLEL], 1) *
                     stated_number(&all[STATED_DATA_PARALLEL], 1));
        set(&all[STATED_EXPERT_PARALLEL], &all[STATED_WHOLE_EXPERTS], text);
    }
}

/* A size of each rank becomes that of all. */
static void complete_size(struct stated_key *all, int each, int whole)
{
    char *unit, text[64];
    double number = strtod(all[each].value, &unit);
    double ranks = 1;
    for (int id = STATED_TENSOR_PARALLEL; id <= STATED_PIPELINE_PARALLEL; id++) {
        ranks *= (double)stated_number(&all[id], 1);
    }
    if (all[each].value[0] != '\0' && all[whole].value[0] == '\0') {
        snprintf(text, sizeof text, "%.15g%s", number * ranks, unit);
        set(&all[whole], &all[each], text);
    }
}

/* Forget what another system alone has. */
static void drop_of_others(const struct server_program *program, struct server_text *said)
{
    const struct stated_key *system = &said->keys.all[STATED_SYSTEM];
    const char *name = system->value[0] != '\0' ? system->value : program->system;
    for (int i = 0; i < STATED_MOST; i++) {
        struct stated_key *key = &said->keys.all[i];
        if (key->value[0] != '\0' && key->of != NULL && strcmp(key->of, name) != 0) {
            server_text_pass(said, key->line, key->said,
                             "only a server with its connector reads it");
            key->value[0] = '\0';
        }
    }
}

/* The system that keeps prefixes outside the GPU, how much of them, and whether the GPU keeps
 * some, too. */
static void complete_tiers(const struct server_program *program, struct server_text *said)
{
    struct stated_key *all = said->keys.all, *system = &all[STATED_SYSTEM];
    drop_of_others(program, said);
    complete_size(all, STATED_HOST_EACH, STATED_HOST);
    complete_size(all, STATED_DISK_EACH, STATED_DISK);
    if (system->value[0] == '\0' && all[STATED_HOST].value[0] != '\0') {
        set(system, &all[STATED_HOST], program->tiered);
    }
    if (says(&all[STATED_GPU_PREFIXES], "no")) {
        bool tiers = system->value[0] != '\0';
        set(tiers ? &all[STATED_PREFIX] : system, &all[STATED_GPU_PREFIXES],
            tiers ? "host" : "none");
    }
    if (stated_number(&all[STATED_BLOCK_TOKENS], program->block) != program->block) {
        char text[48];
        snprintf(text, sizeof text, "%.40stok", all[STATED_BLOCK_TOKENS].value);
        set(&all[STATED_PREFIX_BLOCK], &all[STATED_BLOCK_TOKENS], text);
    }
}

/* Pages of a host tier are whole blocks here. */
static void complete_pages(struct stated_key *all)
{
    enum { BLOCK = 16 };
    const struct stated_key *page = &all[STATED_PAGE_TOKENS];
    char text[32];
    if (page->value[0] != '\0') {
        uint64_t blocks = (stated_number(page, 0) + BLOCK - 1) / BLOCK;
        snprintf(text, sizeof text, "%" PRIu64 "tok", blocks * BLOCK);
        set(&all[STATED_PREFIX_UNIT], page, text);
    }
}

/* A drafter without a method is a model. */
static void complete_drafts(struct stated_key *all)
{
    const struct stated_key *drafter = &all[STATED_DRAFTER];
    struct stated_key *method = &all[STATED_DRAFT_METHOD];
    if (drafter->value[0] != '\0' && method->value[0] == '\0') {
        set(method, drafter, "model");
    }
    if (drafter->value[0] != '\0' && says(method, "model")) {
        set(&all[STATED_DRAFT_MODEL], drafter, drafter->value);
    }
}

/* The preset; and of a program whose logs do not state its version, the latest that is known. */
static bool complete_program(const struct server_program *program, struct stated_key *all,
                             struct error *why)
{
    struct stated_key own = {.line = 0};
    snprintf(own.said, sizeof own.said, "%s", program->title);
    if (all[STATED_SYSTEM].value[0] == '\0') {
        set(&all[STATED_SYSTEM], &own, program->system);
    }
    bool unsaid = program->versions == NULL && all[STATED_ENGINE].value[0] == '\0';
    const char *engine = unsaid ? server_engine_latest(program->file, why) : "";
    if (engine != NULL && engine[0] != '\0') {
        set(&all[STATED_ENGINE], &own, engine);
    }
    return engine != NULL;
}

/* A form of parallelism with a single rank is the default, and need not be stated. */
static void drop_single_ranks(struct stated_key *all)
{
    for (int id = STATED_DATA_PARALLEL; id <= STATED_EXPERT_PARALLEL; id++) {
        if (says(&all[id], "1")) {
            all[id].value[0] = '\0';
        }
    }
}

bool stated_complete(struct server_text *said, struct error *why)
{
    complete_engines(said);
    if (said->program->ranks_in_tensor) {
        complete_ranks(said->keys.all);
    }
    complete_copies(said->keys.all);
    complete_tiers(said->program, said);
    complete_pages(said->keys.all);
    complete_drafts(said->keys.all);
    complete_pool(said, said->keys.all);
    complete_experts(said->keys.all);
    drop_single_ranks(said->keys.all);
    return complete_program(said->program, said->keys.all, why);
}
