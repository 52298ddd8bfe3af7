/* Facts that a server's text states, once all of it is read, become keys of a scenario. */
#include "predict/command/server_text.h"

#include "core/units.h"
#include "server/server_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF(id) (&said->keys.all[STATED_##id])

static bool is_stated(const struct stated_key *key)
{
    return key->value[0] != '\0';
}

static uint64_t stated_number(const struct stated_key *key, uint64_t unsaid)
{
    return is_stated(key) ? strtoull(key->value, NULL, 10) : unsaid;
}

/* The same, or what --set says. */
static uint64_t counted(const struct server_text *said, int id)
{
    const struct stated_key *key = &said->keys.all[id];
    const char *set = server_text_override(said, key->key);
    return set != NULL ? strtoull(set, NULL, 10) : stated_number(key, 1);
}

/* GPUs of a data-parallel rank. */
static double gpus_of(const struct server_text *said)
{
    return (double)(counted(said, STATED_TENSOR_PARALLEL) *
                    counted(said, STATED_PIPELINE_PARALLEL));
}

static void set(struct stated_key *key, const struct stated_key *from, const char *value)
{
    snprintf(key->value, sizeof key->value, "%s", value);
    memmove(key->said, from->said, sizeof key->said);
    key->line = from->line;
}

static void set_number(struct stated_key *key, const struct stated_key *from, uint64_t number,
                       const char *unit)
{
    char text[64];
    snprintf(text, sizeof text, "%" PRIu64 "%s", number, unit);
    set(key, from, text);
}

static bool says(const struct stated_key *key, const char *value)
{
    return strcmp(key->value, value) == 0;
}

/* Where all GPUs are counted in tensor_parallel, as SGLang does, data_parallel are servers of their
 * own, unless the ranks share the layers outside attention: shared_ranks says so, and rank_count,
 * which counts these ranks apart. */
static void complete_ranks(struct server_text *said)
{
    struct stated_key *data = OF(DATA_PARALLEL), *shared = OF(SHARED_RANKS),
                      *apart = OF(RANK_COUNT);
    if (stated_number(apart, 1) > 1) {
        if (is_stated(data)) {
            set(OF(REPLICAS), data, data->value);
        }
        set(data, apart, apart->value);
        set(shared, apart, "yes");
    }
    uint64_t tensor = stated_number(OF(TENSOR_PARALLEL), 1), ranks = stated_number(data, 1);
    bool shares = says(shared, "yes");
    if (ranks <= 1) {
        if (shared->typed && shares) {
            server_text_pass(
                said, shared->said,
                "it divides nothing without --dp-size N (up to 0.4.2, N is that of --tp-size)");
        }
        shared->value[0] = '\0';
    } else if (!shares) {
        set(OF(REPLICAS), data, data->value);
        data->value[0] = '\0';
    } else if (tensor % ranks == 0) {
        set_number(OF(TENSOR_PARALLEL), OF(TENSOR_PARALLEL), tensor / ranks, "");
    } else {
        server_text_refuse_at(said, data->line,
                              "a tp that is a multiple of the ranks of --enable-dp-attention",
                              "%u ranks divide %u GPUs", (unsigned)ranks, (unsigned)tensor);
    }
    /* A command states a step's limits of all ranks that share layers (srt/server_args.py,
     * chunked_prefill_size and max_running_requests); a log those of each. */
    for (struct stated_key *key = OF(MAX_SEQUENCES); key <= OF(BATCHED_TOKENS); key++) {
        uint64_t whole = stated_number(key, 0);
        if (ranks > 1 && shares && key->typed && whole >= ranks) {
            set_number(key, key, whole / ranks, "");
        }
    }
}

/* A server says its pool in one way or several, the user maybe in another: the first that is there counts. And
 * the weights of a GPU, where no line states them. */
static void complete_pool(struct server_text *said)
{
    struct stated_key *tokens = OF(KV_TOKENS), *bytes = OF(KV_BYTES);
    const struct stated_key *keys = OF(ALLOCATED_KEYS), *values = OF(ALLOCATED_VALUES),
                            *before = OF(FREE_BEFORE), *behind = OF(FREE_BEHIND);
    bool known = false;
    char sum[32];
    if (!is_stated(tokens) && is_stated(OF(ALLOCATED))) {
        set(tokens, OF(ALLOCATED), OF(ALLOCATED)->value);
    }
    if (is_stated(tokens) && is_stated(bytes) && !bytes->typed) {
        set(OF(KV_MEMORY), bytes, bytes->value);
    }
    if (is_stated(keys)) {
        snprintf(sum, sizeof sum, "%.15gGiB", atof(keys->value) + atof(values->value));
        set(OF(KV_MEMORY), keys, sum);
    }
    if (!is_stated(OF(LOADED)) && is_stated(before) && is_stated(behind)) {
        snprintf(sum, sizeof sum, "%.2fGiB", atof(before->value) - atof(behind->value));
        set(OF(LOADED), behind, sum); /* free memory shrinks by it */
    }
    for (struct stated_key *key = tokens; key <= bytes; key++) {
        known = known || server_text_overrides(said, key->key);
    }
    for (struct stated_key *key = tokens; key <= bytes; key++) {
        bool counts = !known || server_text_overrides(said, key->key);
        key->value[0] = counts ? key->value[0] : '\0';
        known = known || is_stated(key);
    }
}

/* A size of each rank, or of each engine, becomes that of all: data-parallel ranks are engines. */
static void complete_size(struct server_text *said, const struct stated_key *each,
                          struct stated_key *whole)
{
    char *unit, text[64];
    const struct stated_key *from = is_stated(whole) ? whole : each;
    double number = strtod(from->value, &unit) * (double)counted(said, STATED_DATA_PARALLEL) *
                    (from == whole ? 1 : gpus_of(said));
    if (is_stated(from)) {
        snprintf(text, sizeof text, "%.15g%s", number, unit);
        set(whole, from, text);
    }
}

/* Refuse host memory that the container, or the job, does not give the server's `gpus`. */
static void check_memory(struct server_text *said, const struct stated_key *key, double gpus)
{
    double bytes = 0, most = said->job.number[JOB_MEMORY];
    struct error unread;
    if (most > 0 && is_stated(key) &&
        units_parse(key->value, UNIT_BYTES, said->file, 0, "", &bytes, &unread) &&
        bytes * gpus > most) {
        error_expect(server_text_refuse_at(said, said->job.line[JOB_MEMORY], NULL,
                                           "'%s' is %s, more than the memory of its container",
                                           key->said, key->value),
                     "less than %.4g GiB, or the text without that limit", most / (1 << 30));
    }
}

/* The system that keeps prefixes outside the GPU, how much of them, and whether the GPU keeps some, too. */
static void complete_tiers(struct server_text *said)
{
    enum { BLOCK = 16 }; /* tokens of a tier's block, unless pages are no whole ones */
    struct stated_key *system = OF(SYSTEM), *host = OF(HOST);
    uint64_t block = stated_number(OF(BLOCK_TOKENS), said->program->block);
    /* Forget what another system alone has, and settings of drafts without a method. */
    const char *name = is_stated(system) ? system->value : said->program->system;
    for (struct stated_key *key = said->keys.all; key < said->keys.all + STATED_MOST; key++) {
        bool counts = key->of == NULL || strcmp(key->of, name) == 0 ||
                      (strcmp(key->of, "drafts") == 0 && is_stated(OF(DRAFT_METHOD)));
        if (is_stated(key) && !counts) {
            server_text_pass(said, key->said,
                             "only a server with its connector or drafts reads it");
            key->value[0] = '\0';
        }
    }
    /* A connector's default counts where the text would say another size: not in a log, nor beside a file of
     * variables. */
    const struct stated_key *each = OF(HOST_EACH), *file = OF(HOST_UNSAID);
    bool usual = is_stated(each) && each->implied && (is_stated(file) || !each->typed);
    if ((usual || says(file, "yes")) && !is_stated(host) &&
        !server_text_overrides(said, "host_memory")) {
        server_text_refuse_at(said, system->line, "--set host_memory=N, that of all GPUs",
                              "the size of its host memory is not stated here");
    }
    complete_size(said, each, host);
    complete_size(said, OF(DISK_EACH), OF(DISK));
    check_memory(said, host, 1);
    check_memory(said, OF(WEIGHTS_OUTSIDE), gpus_of(said));
    if (!is_stated(system) && is_stated(host)) {
        set(system, host, said->program->tiered);
    }
    if (says(OF(GPU_PREFIXES), "no")) {
        bool tiers = is_stated(system);
        set(tiers ? OF(PREFIX) : system, OF(GPU_PREFIXES), tiers ? "host" : "none");
    }
    if (block != said->program->block) {
        set_number(OF(PREFIX_BLOCK), OF(BLOCK_TOKENS), block, "tok");
    }
    /* Pages of KV are blocks of prefixes; those of a tier have a size of their own, of which a page is a multiple. */
    const struct stated_key *page = OF(PAGE_TOKENS);
    bool tiered = says(system, said->program->tiered), whole = stated_number(page, 1) % BLOCK == 0;
    if (is_stated(page) && tiered) {
        set_number(OF(PREFIX_UNIT), page, stated_number(page, 1), "tok");
    }
    if (tiered ? !whole && is_stated(page) : stated_number(page, 1) > 1) {
        set_number(OF(PREFIX_BLOCK), page, stated_number(page, 1), "tok");
    }
}

/* Refuse a log whose lines stand newest first, or tell more than its settings do: ranks of processes,
 * drafts. */
static void check_lines(struct server_text *said)
{
    if (said->backwards) {
        server_text_refuse_at(said, said->keys.start_line,
                              "lines in the order in which they were written: tac FILE",
                              "lines of an earlier start stand behind a later one's");
    }
    uint64_t data = counted(said, STATED_DATA_PARALLEL);
    uint64_t tensor = counted(said, STATED_TENSOR_PARALLEL);
    uint64_t stages = counted(said, STATED_PIPELINE_PARALLEL);
    const uint64_t known[STATED_MAX_SEQUENCES] = {
        [STATED_DATA_PARALLEL] = data * counted(said, STATED_REPLICAS),
        [STATED_TENSOR_PARALLEL] = tensor,
        [STATED_PIPELINE_PARALLEL] = stages,
        [STATED_REPLICAS] = data * tensor * stages}; /* of one server */
    for (int id = 0; id < STATED_MAX_SEQUENCES; id++) {
        int rank = said->ranks[id].rank;
        if (rank > 0 && (uint64_t)rank >= known[id]) {
            error_expect(
                server_text_refuse_at(said, said->ranks[id].line, NULL,
                                      "a process has rank %d, but the text states %u in all", rank,
                                      (unsigned)known[id]),
                "--set %s=N%s",
                said->keys.all[id == STATED_REPLICAS ? STATED_TENSOR_PARALLEL : id].key,
                id == STATED_DATA_PARALLEL ? ", or --set replicas=N" : "");
        }
    }
    bool shared = says(OF(SHARED_RANKS), "yes") && said->program->ranks_in_tensor;
    server_job_check(said, tensor, shared ? 1 : data, stages);
    const struct server_need *at = said->needs; /* for what a line says, another states a key */
    for (; at < said->needs + SERVER_NEEDS && at->says != NULL; at++) {
        const char *need = node_get(at->says, "needs")->text;
        bool drafts = text_begins(need, "drafts");
        bool stated =
            server_text_overrides(said, need) ||
            (drafts && server_text_overrides(said, "drafts")) ||
            (strcmp(need, OF(EXPERT_PARALLEL)->key) == 0 && says(OF(WHOLE_EXPERTS), "yes"));
        for (int i = 0; !stated && i < STATED_MOST; i++) {
            const struct stated_key *key = &said->keys.all[i];
            stated = is_stated(key) && strcmp(key->key, need) == 0;
        }
        if (!stated) {
            error_expect(server_text_refuse_at(said, at->line, NULL,
                                               "'%s', but no line states '%s'", at->says->key,
                                               need),
                         "%s--set %s=VALUE%s", drafts ? "--set drafts=none, or " : "", need,
                         drafts ? " and the others of drafts" : "");
        }
    }
}

/* The preset; and of a program whose logs do not state its version, the latest that is known. */
static bool complete_program(struct server_text *said, struct error *why)
{
    const struct server_program *program = said->program;
    struct stated_key own = {.line = 0}, *engine = OF(ENGINE);
    snprintf(own.said, sizeof own.said, "%s", program->title);
    if (!is_stated(OF(SYSTEM))) {
        set(OF(SYSTEM), &own, program->system);
    }
    const struct server_worded *worded = &said->worded[program - said->programs];
    if (!text_begins(engine->value, program->file)) {
        engine->value[0] = '\0'; /* another program's */
        said->line = 0;
        server_text_state_version(said, program, worded->stated);
    }
    said->line = worded->line;
    if (!is_stated(engine) && server_text_state_version(said, program, worded->version) &&
        worded->other[0] != '\0' && strcmp(worded->other, worded->version) != 0) {
        server_text_pass(said, worded->other, "another version in words; the first counts");
    }
    const char *latest = "";
    if (!is_stated(engine) && !server_text_overrides(said, "engine")) {
        latest = program->versions == NULL ? server_engine_latest(program->file, why) : "";
        set(engine, &own, latest != NULL ? latest : "");
        server_text_pass(said, "version",
                         program->versions != NULL
                             ? server_version_unsaid
                             : "no line states it, so the latest counts (--set engine=NAME-N)");
    }
    return latest != NULL;
}

/* What a text states in several places: engines of its metrics are ranks; copies that a manifest runs, and servers
 * behind a router, may each be several servers. */
static void complete_copies(struct server_text *said)
{
    bool routed = said->urls > said->copies;
    uint64_t servers = routed ? said->urls : said->copies;
    const struct stated_key engines = {.said = "engines of its metrics",
                                       .line = OF(KV_BLOCKS)->line};
    const struct stated_key copies = {.said = "replicas",
                                      .line = routed ? said->urls_line : said->copies_line};
    if (said->engines > 1 && !is_stated(OF(DATA_PARALLEL))) {
        set_number(OF(DATA_PARALLEL), &engines, said->engines, "");
    }
    if (said->program->ranks_in_tensor) {
        complete_ranks(said);
    }
    if (servers > 1) {
        set_number(OF(REPLICAS), &copies, servers * stated_number(OF(REPLICAS), 1), "");
    }
}

/* Experts, and the processes, of ranks; a parallelism of 1 is the default. */
static void complete_parallel(struct server_text *said)
{
    const struct stated_key *servers = OF(API_SERVERS);
    uint64_t ranks = stated_number(OF(DATA_PARALLEL), 1);
    if (is_stated(servers) && stated_number(servers, 1) != ranks) {
        server_text_refuse_at(said, servers->line, "the command without it",
                              "'%s' is %s: a rank has one process that reads and sends texts",
                              servers->said, servers->value);
    }
    if (says(OF(WHOLE_EXPERTS), "yes")) {
        set_number(OF(EXPERT_PARALLEL), OF(WHOLE_EXPERTS),
                   counted(said, STATED_TENSOR_PARALLEL) * counted(said, STATED_DATA_PARALLEL), "");
    }
    if (ranks == 1) { /* one alone exchanges nothing */
        OF(EXPERT_EXCHANGE)->value[0] = '\0';
    }
    for (struct stated_key *key = OF(DATA_PARALLEL); key <= OF(EXPERT_PARALLEL); key++) {
        key->value[0] = says(key, "1") ? '\0' : key->value[0];
    }
}

bool stated_complete(struct server_text *said, struct error *why)
{
    const struct stated_key *drafter = OF(DRAFTER); /* a model, unless a method is stated */
    check_lines(said);
    if (said->keys.fits_length) { /* of a log, the length before it was fitted */
        OF(REQUEST_TOKENS)->value[0] = '\0';
    }
    for (struct stated_key *key = said->keys.all; key < said->keys.all + STATED_MOST; key++) {
        if (key->value[0] == '-' && server_text_overrides(said, key->key)) {
            key->value[0] = '\0';
        } else if (key->value[0] == '-') { /* in a log, and no later line says more */
            server_text_refuse_at(said, key->line,
                                  "a number above 0: without it a server is not modelled",
                                  "'%s' is %s", key->said, key->value);
        }
    }
    complete_copies(said);
    complete_tiers(said);
    if (is_stated(OF(DRAFT_TREE))) {
        server_text_refuse_at(said, OF(DRAFT_TREE)->line, "1",
                              "'%s': a tree of drafts is not modelled", OF(DRAFT_TREE)->said);
    }
    if (is_stated(drafter) && !is_stated(OF(DRAFT_METHOD))) {
        set(OF(DRAFT_METHOD), drafter, "model");
    }
    if (is_stated(drafter) && says(OF(DRAFT_METHOD), "model")) {
        set(OF(DRAFT_MODEL), drafter, drafter->value);
    }
    complete_pool(said);
    complete_parallel(said);
    return complete_program(said, why);
}
