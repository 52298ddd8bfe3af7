/* Line by line. A line with a mark of a server is searched for the names of all settings, followed
 * by '=' or ':' and a value; a command line is split into words. */
#include "scenario/server_text.h"

#include "scenario/scenario.h"
#include "scenario/server_setting.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const server_fact_keys[FACT_COUNT] = {
    [FACT_MODEL] = "model",
    [FACT_SYSTEM] = "system",
    [FACT_ENGINE] = "engine",
    [FACT_TENSOR_PARALLEL] = "tensor_parallel",
    [FACT_DATA_PARALLEL] = "data_parallel",
    [FACT_PIPELINE_PARALLEL] = "pipeline_parallel",
    [FACT_EXPERT_PARALLEL] = "expert_parallel",
    [FACT_REPLICAS] = "replicas",
    [FACT_MAX_SEQUENCES] = "max_sequences",
    [FACT_BATCHED_TOKENS] = "batched_tokens",
    [FACT_HBM_USABLE] = "hbm_usable",
    [FACT_KV_DTYPE] = "dtype.kv",
    [FACT_WEIGHTS_DTYPE] = "dtype.weights",
    [FACT_KV_POOL] = "kv_pool_tokens",
};

enum maker { UNKNOWN, VLLM, SGLANG };

struct reader {
    enum maker maker;
    struct server_said said;
};

/* ---- settings in a line ------------------------------------------------------------------ */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Copy the value that begins at `at`: in quotes, or up to what ends it. */
static void copy_value(const char *at, char *out, size_t size)
{
    char quote = *at == '\'' || *at == '"' ? *at : '\0';
    const char *ends = ",)}] \t\v";
    size_t length = 0;
    at += quote != '\0';
    while (at[length] != '\0' && (quote != '\0' ? at[length] != quote
                                                : strchr(ends, at[length]) == NULL ||
                                                      (at[length] == ',' && length > 0 &&
                                                       isdigit((unsigned char)at[length - 1]) &&
                                                       isdigit((unsigned char)at[length + 1])))) {
        length++;
    }
    length -= quote == '\0' && length > 0 && at[length - 1] == '.'; /* a sentence ends */
    length = length < size - 1 ? length : size - 1;
    memcpy(out, at, length);
    out[length] = '\0';
}

/* Where the value of the setting begins in the line: behind NAME=, 'NAME': or "NAME":. */
static const char *find_value(const char *line, const char *name)
{
    for (const char *at = line; (at = strstr(at, name)) != NULL; at++) {
        const char *end = at + strlen(name);
        end += *end == '\'' || *end == '"';
        if ((at == line || !is_word(at[-1])) && (*end == '=' || *end == ':')) {
            end++;
            return end + strspn(end, " ");
        }
    }
    return NULL;
}

enum { SHORTEST = 3 }; /* names of a log; shorter ones are a command line's */

static bool read_settings(struct reader *reader, const char *line, struct error *why)
{
    const struct server_setting *setting;
    for (size_t i = 0; (setting = server_setting_at(i)) != NULL; i++) {
        char value[512];
        const char *name = server_setting_name(setting);
        const char *at = strlen(name) < SHORTEST ? NULL : find_value(line, name);
        if (at == NULL) {
            continue;
        }
        copy_value(at, value, sizeof value);
        if (!server_setting_take(setting, value, &reader->said, why)) {
            return false;
        }
    }
    return true;
}

/* ---- a command --------------------------------------------------------------------------- */

/* The next word of a shell command, without its quotes; false after the last. */
static bool next_word(const char **at, char *out, size_t size)
{
    size_t length = 0;
    char quote = '\0';
    *at += strspn(*at, " \t\v");
    if (**at == '\0' || strchr("|;&><#", **at) != NULL) {
        return false;
    }
    for (; **at != '\0' && (quote != '\0' || strchr(" \t\v", **at) == NULL); (*at)++) {
        bool opens = quote == '\0' && (**at == '\'' || **at == '"'), closes = **at == quote;
        quote = opens ? **at : closes ? '\0' : quote;
        if (!opens && !closes && length + 1 < size) {
            out[length++] = **at;
        }
    }
    out[length] = '\0';
    return true;
}

/* `--max-num-seqs=64`, or `--max-num-seqs 64` with the value still to come. Returns the value in
 * the word, or NULL; the word becomes the name. */
static char *split_option(char *word)
{
    char *name = word + strspn(word, "-"), *value = strchr(name, '=');
    if (value != NULL) {
        *value++ = '\0';
    }
    for (char *at = name; *at != '\0'; at++) {
        *at = *at == '-' ? '_' : *at;
    }
    memmove(word, name, strlen(name) + 1);
    return value;
}

static bool read_option(struct reader *reader, char *word, const char **rest, struct error *why)
{
    char value[512] = "true";
    const char *given = split_option(word);
    const struct server_setting *setting = server_setting_find(word);
    if (setting == NULL) {
        return true;
    }
    if (given == NULL && !server_setting_is_switch(setting) &&
        !next_word(rest, value, sizeof value)) {
        return error_set(why, reader->said.file, reader->said.line, "'%s' has no value", word);
    }
    return server_setting_take(setting, given != NULL ? given : value, &reader->said, why);
}

/* The words behind a server's command. The first one is the model if it is no option. */
static bool read_command(struct reader *reader, const char *rest, struct error *why)
{
    char word[512];
    bool first = true;
    while (next_word(&rest, word, sizeof word)) {
        bool option = word[0] == '-';
        if (option ? !read_option(reader, word, &rest, why)
                   : first && !server_setting_take(server_setting_find("model"), word,
                                                   &reader->said, why)) {
            return false;
        }
        first = false;
    }
    return true;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* vLLM's logo in a log stands beside its version. */
static void read_version(struct reader *reader, const char *line)
{
    static const char *const marks[] = {"LLM engine (v", "API server version ",
                                        "vllm/vllm-openai:v", "\u2588  version "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(line, marks[i]);
        int major, minor;
        if (at == NULL || sscanf(at + strlen(marks[i]), "%d.%d", &major, &minor) != 2) {
            continue;
        }
        struct server_fact *engine = &reader->said.all[FACT_ENGINE];
        snprintf(engine->value, sizeof engine->value, "%s",
                 server_engine_names[server_engine_of_vllm(major, minor)]);
        snprintf(engine->said, sizeof engine->said, "version %d.%d", major, minor);
        engine->line = reader->said.line;
        reader->maker = VLLM;
    }
}

/* Does the mark stand in the line; one of metrics at its beginning? Returns what follows. */
static const char *behind(const char *line, const char *mark)
{
    size_t length = strlen(mark);
    bool metric = strcmp(mark, "vllm:") == 0 || strcmp(mark, "sglang:") == 0;
    const char *at = metric ? (strncmp(line, mark, length) == 0 ? line : NULL) : strstr(line, mark);
    return at != NULL ? at + length : NULL;
}

static bool read_log(struct reader *reader, const char *line, struct error *why)
{
    static const struct {
        const char *mark;
        enum maker maker;
    } marks[] = {
        {"non-default args:", VLLM},
        {" with config: ", VLLM},
        {"GPU KV cache size: ", VLLM},
        {"Chunked prefill is enabled with", VLLM},
        {"vllm:", VLLM},
        {"server_args=ServerArgs(", SGLANG},
        {"max_total_num_tokens=", SGLANG},
        {"sglang:", SGLANG},
    };
    const struct server_setting *tokens = server_setting_find("max_total_num_tokens");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *rest = behind(line, marks[i].mark);
        if (rest == NULL) {
            continue;
        }
        reader->maker = marks[i].maker;
        const char *value = strrchr(line, ' ');
        bool pool = strncmp(rest, "max_total_num_tokens{", 21) == 0 && value != NULL;
        return read_settings(reader, line, why) &&
               (!pool || server_setting_take(tokens, value + 1, &reader->said, why));
    }
    return true;
}

/* What stands behind a command that starts a server, or behind the image of one; NULL if the line
 * has none. */
static const char *behind_command(struct reader *reader, const char *line)
{
    static const struct {
        const char *mark;
        enum maker maker;
        bool image; /* a tag may follow */
    } commands[] = {
        {"vllm serve", VLLM, false},
        {"vllm.entrypoints.openai.api_server", VLLM, false},
        {"sglang.launch_server", SGLANG, false},
        {"sglang serve", SGLANG, false},
        {"vllm/vllm-openai", VLLM, true},
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const char *rest = behind(line, commands[i].mark);
        if (rest != NULL && commands[i].image && *rest == ':') {
            rest += strcspn(rest, " \t\v");
        }
        if (rest != NULL && strchr(" \t\v", *rest) != NULL) { /* or the line's end */
            reader->maker = commands[i].maker;
            return rest;
        }
    }
    return NULL;
}

static bool read_line(struct reader *reader, const char *line, struct error *why)
{
    const char *command = behind_command(reader, line);
    read_version(reader, line);
    return command != NULL ? read_command(reader, command, why) : read_log(reader, line, why);
}

/* A copy in which a line that ends in a backslash goes on: '\v' stands for its end, and a blank for
 * a byte that no text has. */
static char *join_lines(const char *text, size_t size)
{
    char *copy = malloc(size + 1);
    for (size_t i = 0; copy != NULL && i < size; i++) {
        bool ends = text[i] == '\n' && i > 0 && (copy[i - 1] == '\\' || copy[i - 1] == '\v');
        bool carriage = text[i] == '\r' && i > 0 && copy[i - 1] == '\\';
        copy[i] = text[i] == '\0' || text[i] == '\v' || text[i] == '\r' ? ' ' : text[i];
        if (carriage) { /* its '\n' comes next */
            copy[i - 1] = ' ';
            copy[i] = '\\';
        } else if (ends) {
            copy[i - 1] = ' ';
            copy[i] = '\v';
        }
    }
    if (copy != NULL) {
        copy[size] = '\0';
    }
    return copy;
}

static bool read_lines(struct reader *reader, char *text, struct error *why)
{
    bool ok = true;
    reader->said.line = 1;
    for (char *line = text; ok && line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        ok = read_line(reader, line, why);
        for (; *line != '\0'; line++) {
            reader->said.line += *line == '\v';
        }
        reader->said.line++;
        line = end != NULL ? end + 1 : NULL;
    }
    return ok;
}

/* ---- what follows ------------------------------------------------------------------------ */

static uint64_t number_of(const struct server_fact *fact, uint64_t unsaid)
{
    return fact->value[0] != '\0' ? strtoull(fact->value, NULL, 10) : unsaid;
}

static void set(struct server_fact *fact, const struct server_fact *from, const char *value)
{
    snprintf(fact->value, sizeof fact->value, "%s", value);
    memmove(fact->said, from->said, sizeof fact->said);
    fact->line = from->line;
}

static bool says(const struct server_fact *fact, const char *value)
{
    return strcmp(fact->value, value) == 0;
}

/* SGLang counts all GPUs in tp_size, and its dp_size are servers of their own, unless the ranks
 * share the layers outside attention. */
static void complete_ranks(struct server_fact *all)
{
    uint64_t tensor = number_of(&all[FACT_TENSOR_PARALLEL], 1);
    uint64_t data = number_of(&all[FACT_DATA_PARALLEL], 1);
    if (data <= 1) {
        return;
    }
    if (!says(&all[SAID_RANKS], "yes")) {
        all[FACT_REPLICAS] = all[FACT_DATA_PARALLEL];
        all[FACT_DATA_PARALLEL].value[0] = '\0';
    } else if (tensor % data == 0) {
        char text[32];
        snprintf(text, sizeof text, "%" PRIu64, tensor / data);
        set(&all[FACT_TENSOR_PARALLEL], &all[FACT_TENSOR_PARALLEL], text);
    }
}

/* The pool as blocks, the ranks of experts, the preset. */
static void complete(struct reader *reader)
{
    struct server_fact *all = reader->said.all, *blocks = &all[SAID_BLOCKS];
    char text[32];
    if (blocks->value[0] != '\0' && all[FACT_KV_POOL].value[0] == '\0') {
        snprintf(text, sizeof text, "%" PRIu64,
                 number_of(blocks, 0) * number_of(&all[SAID_BLOCK_TOKENS], 16));
        set(&all[FACT_KV_POOL], blocks, text);
    }
    if (says(&all[SAID_EXPERTS], "yes")) {
        snprintf(text, sizeof text, "%" PRIu64,
                 number_of(&all[FACT_TENSOR_PARALLEL], 1) * number_of(&all[FACT_DATA_PARALLEL], 1));
        set(&all[FACT_EXPERT_PARALLEL], &all[SAID_EXPERTS], text);
    }
    if (reader->maker == VLLM) {
        bool off = says(&all[SAID_PREFIX], "no");
        set(&all[FACT_SYSTEM], off ? &all[SAID_PREFIX] : &(struct server_fact){.said = "vLLM"},
            off ? "none" : "vllm");
    }
    if (reader->maker == SGLANG) {
        const struct server_fact sglang = {.said = "SGLang"};
        complete_ranks(all);
        set(&all[FACT_ENGINE], &sglang, server_engine_names[SERVER_ENGINE_SGLANG_05]);
        if (says(&all[SAID_TIERS], "yes")) {
            set(&all[FACT_SYSTEM], &all[SAID_TIERS], "sglang-hicache");
        }
    }
}

/* Forms of parallelism in which the server has a single rank are the default. */
static bool check_parallel(const struct reader *reader, struct server_facts *out, struct error *why)
{
    for (int id = FACT_DATA_PARALLEL; id <= FACT_EXPERT_PARALLEL; id++) {
        struct server_fact *fact = &out->all[id];
        const char *key = server_fact_keys[id];
        if (says(fact, "1")) {
            fact->value[0] = '\0';
        }
        if (fact->value[0] != '\0' && scenario_key_find(key, strlen(key)) == NULL) {
            return error_set(why, reader->said.file, fact->line,
                             "'%s' of %s: a scenario has no such parallelism", fact->said,
                             fact->value);
        }
    }
    return true;
}

bool server_text_read(const char *text, size_t size, const char *file, struct server_facts *out,
                      struct error *why)
{
    struct reader reader = {.said = {.file = file}};
    char *copy = join_lines(text, size);
    if (copy == NULL) {
        return error_set(why, file, 0, "out of memory");
    }
    bool ok = read_lines(&reader, copy, why);
    free(copy);
    if (ok && reader.maker == UNKNOWN) {
        error_set(why, file, 0, "no line is a server's");
        return error_expect(why, "the start-up log of vLLM or SGLang, its command line, or its "
                                 "/metrics");
    }
    complete(&reader);
    memcpy(out->all, reader.said.all, sizeof out->all);
    return ok && check_parallel(&reader, out, why);
}
