#include "predict/command/server_complete.h"

#include "server/server_engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t server_complete_number_of(const struct stated_key *key, uint64_t unsaid)
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

/* Where all GPUs are counted in tensor_parallel, as SGLang does, data_parallel are servers of their
 * own, unless the ranks share the layers outside attention: shared_ranks says so, and rank_count,
 * which counts these ranks apart. */
static void complete_ranks(struct stated_key *all)
{
    if (server_complete_number_of(&all[STATED_RANK_COUNT], 1) > 1) {
        if (all[STATED_DATA_PARALLEL].value[0] != '\0') {
            set(&all[STATED_REPLICAS], &all[STATED_DATA_PARALLEL], all[STATED_DATA_PARALLEL].value);
        }
        set(&all[STATED_DATA_PARALLEL], &all[STATED_RANK_COUNT], all[STATED_RANK_COUNT].value);
        set(&all[STATED_SHARED_RANKS], &all[STATED_RANK_COUNT], "yes");
    }
    uint64_t tensor = server_complete_number_of(&all[STATED_TENSOR_PARALLEL], 1);
    uint64_t data = server_complete_number_of(&all[STATED_DATA_PARALLEL], 1);
    if (data <= 1) {
        return;
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

/* The pool from its blocks, and the ranks of experts. */
static void complete_counts(const struct server_program *program, struct stated_key *all)
{
    const struct stated_key *blocks = &all[STATED_KV_BLOCKS];
    char text[32];
    if (blocks->value[0] != '\0' && all[STATED_KV_POOL].value[0] == '\0') {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(blocks, 0) *
                     server_complete_number_of(&all[STATED_BLOCK_TOKENS], program->block));
        set(&all[STATED_KV_POOL], blocks, text);
    }
    if (says(&all[STATED_WHOLE_EXPERTS], "yes")) {
        snprintf(text, sizeof text, "%" PRIu64,
                 server_complete_number_of(&all[STATED_TENSOR_PARALLEL], 1) *
                     server_complete_number_of(&all[STATED_DATA_PARALLEL], 1));
        set(&all[STATED_EXPERT_PARALLEL], &all[STATED_WHOLE_EXPERTS], text);
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
    const char *engine = program->versions == NULL ? server_engine_latest(program->file, why) : "";
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

bool server_complete(struct server_text *said, struct error *why)
{
    complete_counts(said->program, said->all);
    if (said->program->ranks_in_tensor) {
        complete_ranks(said->all);
    }
    drop_single_ranks(said->all);
    return complete_program(said->program, said->all, why);
}
