/* Line by line. A line with a mark of a server is searched for the names of all settings, followed
 * by '=' or ':' and a value; a line with a server's command goes to server_command.h. */
#include "scenario/server/server_text.h"

#include "scenario/server/server_command.h"
#include "scenario/server/server_complete.h"
#include "scenario/server/server_setting.h"
#include "serve/server_engine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const stated_key_names[STATED_COUNT] = {
    [STATED_MODEL] = "model",
    [STATED_SYSTEM] = "system",
    [STATED_PREFIX] = "mechanisms.prefix",
    [STATED_ENGINE] = "engine",
    [STATED_COMPILE] = "compile",
    [STATED_TENSOR_PARALLEL] = "tensor_parallel",
    [STATED_DATA_PARALLEL] = "data_parallel",
    [STATED_PIPELINE_PARALLEL] = "pipeline_parallel",
    [STATED_EXPERT_PARALLEL] = "expert_parallel",
    [STATED_REPLICAS] = "replicas",
    [STATED_MAX_SEQUENCES] = "max_sequences",
    [STATED_BATCHED_TOKENS] = "batched_tokens",
    [STATED_REQUEST_TOKENS] = "request_tokens",
    [STATED_HBM_USABLE] = "hbm_usable",
    [STATED_KV_DTYPE] = "dtype.kv",
    [STATED_WEIGHTS_DTYPE] = "dtype.weights",
    [STATED_KV_POOL] = "kv_pool_tokens",
};

/* ---- settings in a line ------------------------------------------------------------------ */

static bool server_text_is_word(char c)
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
static const char *server_text_find_value(const char *line, const char *name)
{
    for (const char *at = line; (at = strstr(at, name)) != NULL; at++) {
        const char *end = at + strlen(name);
        end += *end == '\'' || *end == '"';
        if ((at == line || !server_text_is_word(at[-1])) && (*end == '=' || *end == ':')) {
            end++;
            return end + strspn(end, " ");
        }
    }
    return NULL;
}

enum { SHORTEST = 3 }; /* names of a log; shorter ones are a command line's */

static bool read_settings(struct server_said *said, const char *line, struct error *why)
{
    const struct server_setting *setting;
    for (size_t i = 0; (setting = server_setting_at(i)) != NULL; i++) {
        char value[512];
        const char *name = server_setting_name(setting);
        const char *at = strlen(name) < SHORTEST ? NULL : server_text_find_value(line, name);
        if (at == NULL) {
            continue;
        }
        copy_value(at, value, sizeof value);
        if (!server_setting_take(setting, value, said, NULL, why)) {
            return false;
        }
    }
    return true;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* vLLM's logo in a log stands beside its version. */
static void server_text_read_version(struct server_said *said, const char *line)
{
    static const char *const marks[] = {"LLM engine (v", "API server version ",
                                        "vllm/vllm-openai:v", "\u2588  version "};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *at = strstr(line, marks[i]);
        int major, minor;
        if (at == NULL || sscanf(at + strlen(marks[i]), "%d.%d", &major, &minor) != 2) {
            continue;
        }
        struct stated_key *engine = &said->all[STATED_ENGINE];
        snprintf(engine->value, sizeof engine->value, "vllm-%d.%d", major, minor);
        snprintf(engine->said, sizeof engine->said, "version %d.%d", major, minor);
        engine->line = said->line;
        said->maker = SERVER_VLLM;
    }
}

/* Does the mark stand in the line; one of metrics at its beginning? Returns what follows. */
static const char *server_text_after(const char *line, const char *mark)
{
    size_t length = strlen(mark);
    bool metric = strcmp(mark, "vllm:") == 0 || strcmp(mark, "sglang:") == 0;
    const char *at = metric ? (strncmp(line, mark, length) == 0 ? line : NULL) : strstr(line, mark);
    return at != NULL ? at + length : NULL;
}

static bool read_log(struct server_said *said, const char *line, struct error *why)
{
    static const struct {
        const char *mark;
        enum server_maker maker;
    } marks[] = {
        {"non-default args:", SERVER_VLLM},
        {" with config: ", SERVER_VLLM},
        {"GPU KV cache size: ", SERVER_VLLM},
        {"Chunked prefill is enabled with", SERVER_VLLM},
        {"vllm:", SERVER_VLLM},
        {"server_args=ServerArgs(", SERVER_SGLANG},
        {"max_total_num_tokens=", SERVER_SGLANG},
        {"sglang:", SERVER_SGLANG},
    };
    const struct server_setting *tokens = server_setting_find("max_total_num_tokens");
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        const char *rest = server_text_after(line, marks[i].mark);
        if (rest == NULL) {
            continue;
        }
        said->maker = marks[i].maker;
        const char *value = strrchr(line, ' ');
        bool pool = strncmp(rest, "max_total_num_tokens{", 21) == 0 && value != NULL;
        return read_settings(said, line, why) &&
               (!pool || server_setting_take(tokens, value + 1, said, NULL, why));
    }
    return true;
}

static bool server_text_read_line(struct server_said *said, const char *line, struct error *why)
{
    bool found;
    server_text_read_version(said, line);
    return server_command_read(said, line, &found, why) && (found || read_log(said, line, why));
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

static bool server_text_read_lines(struct server_said *said, char *text, struct error *why)
{
    bool ok = true;
    said->line = 1;
    for (char *line = text; ok && line != NULL;) {
        char *end = strchr(line, '\n');
        if (end != NULL) {
            *end = '\0';
        }
        ok = server_text_read_line(said, line, why);
        for (; *line != '\0'; line++) {
            said->line += *line == '\v';
        }
        said->line++;
        line = end != NULL ? end + 1 : NULL;
    }
    return ok;
}

/* ---- the whole text ---------------------------------------------------------------------- */

bool server_text_read(const char *text, size_t size, const char *file, struct stated_keys *out,
                      struct error *why)
{
    struct server_said said = {.file = file};
    char *copy = join_lines(text, size);
    if (copy == NULL) {
        return error_set(why, file, 0, "out of memory");
    }
    bool ok = server_text_read_lines(&said, copy, why);
    free(copy);
    if (ok && said.maker == SERVER_UNKNOWN) {
        error_set(why, file, 0, "no line is a server's");
        return error_expect(why,
                            "the start-up log of vLLM or SGLang, a command such as 'vllm serve "
                            "MODEL', or its /metrics");
    }
    if (ok) {
        server_command_end(&said);
        ok = server_complete(&said, why);
    }
    memcpy(out->all, said.all, sizeof out->all);
    out->unused = said.unused;
    return ok;
}
