/* Line by line. A line with a mark of a server is searched for the names of all settings, followed
 * by '=' or ':' and a value; a line with a server's command goes to server_command.h. */
#include "predict/command/server_text.h"

#include "core/array.h"
#include "core/text.h"
#include "predict/command/server_command.h"
#include "predict/command/server_complete.h"
#include "predict/command/server_setting.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const known_keys[STATED_KNOWN] = {
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
    [STATED_KV_BLOCKS] = "kv_blocks",
    [STATED_BLOCK_TOKENS] = "block_tokens",
    [STATED_WHOLE_EXPERTS] = "whole_experts",
    [STATED_SHARED_RANKS] = "shared_ranks",
    [STATED_RANK_COUNT] = "rank_count",
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

enum { MOST_WRAPPED = 64, LONGEST = 16 << 20 };
enum { SHORTEST = 3 }; /* names of a log; shorter ones are a command line's */

static bool read_settings(struct server_text *said, const char *line, struct error *why)
{
    const struct server_program *program = said->program;
    for (size_t i = 0; i < program->option_count; i++) {
        char value[512];
        const struct server_option *option = &program->options[i];
        bool named = option->value != SERVER_VALUE_NONE && strlen(option->name) >= SHORTEST;
        const char *at = named ? server_text_find_value(line, option->name) : NULL;
        if (at == NULL) {
            continue;
        }
        copy_value(at, value, sizeof value);
        if (!server_setting_take(option, value, said, NULL, why)) {
            return false;
        }
    }
    return true;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* vLLM's logo in a log stands beside its version. */
static void server_text_read_version(struct server_text *said, const char *line)
{
    for (size_t i = 0; i < said->program_count; i++) {
        const struct server_program *program = &said->programs[i];
        const struct node *marks = program->versions;
        for (size_t j = 0; marks != NULL && j < marks->count; j++) {
            const char *at = strstr(line, marks->children[j]->text);
            int major, minor;
            if (at == NULL ||
                sscanf(at + strlen(marks->children[j]->text), "%d.%d", &major, &minor) != 2) {
                continue;
            }
            struct stated_key *engine = &said->all[STATED_ENGINE];
            snprintf(engine->value, sizeof engine->value, "%s-%d.%d", program->file, major, minor);
            snprintf(engine->said, sizeof engine->said, "version %d.%d", major, minor);
            engine->line = said->line;
            said->program = program;
        }
    }
}

/* What follows a mark of the program's logs in the line, or the beginning of its metrics. */
static const char *after_mark(const struct server_program *program, const char *line)
{
    size_t length = program->metrics != NULL ? strlen(program->metrics) : 0;
    bool metric = length > 0 && strncmp(line, program->metrics, length) == 0;
    return metric ? line + length : server_program_after(program->logs, line);
}

/* The value of a metric that is a setting itself stands behind its labels. */
static bool read_metric(struct server_text *said, const char *metric, struct error *why)
{
    char name[64];
    size_t length = strcspn(metric, "{ ");
    const char *value = strrchr(metric, ' ');
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : 0), metric);
    const struct server_option *option =
        metric[length] == '{' && value != NULL ? server_option_find(said->program, name) : NULL;
    return option == NULL || option->value == SERVER_VALUE_NONE ||
           server_setting_take(option, value + 1, said, NULL, why);
}

static bool read_log(struct server_text *said, const char *line, struct error *why)
{
    for (size_t i = 0; i < said->program_count; i++) {
        const char *rest = after_mark(&said->programs[i], line);
        if (rest != NULL) {
            said->program = &said->programs[i];
            return read_settings(said, line, why) && read_metric(said, rest, why);
        }
    }
    return true;
}

static bool server_text_read_line(struct server_text *said, const char *line, struct error *why)
{
    bool found;
    server_text_read_version(said, line);
    return server_command_read(said, line, &found, why) && (found || read_log(said, line, why));
}

/* Lines that are read and not yet looked at, each with its '\n'. */
struct lines {
    FILE *in;
    const char *file;
    char *text;
    size_t used, capacity;
};

/* A byte of a text; a blank for one that no text has. */
static int read_byte(FILE *in)
{
    int c = getc_unlocked(in), next = c == '\r' ? getc_unlocked(in) : EOF;
    if (c == '\r' && next == '\n') {
        return '\n';
    }
    if (c == '\r') {
        ungetc(next, in);
    }
    return c == '\0' || c == '\v' || c == '\r' ? ' ' : c;
}

/* Read a line, and those that its backslashes join to it: '\v' stands for the end of one. */
static bool server_text_read_on(struct lines *lines, struct error *why)
{
    size_t start = lines->used;
    for (int c = ' '; c != '\n';) {
        if (lines->used > LONGEST) {
            return error_set(why, lines->file, 0, "a line is longer than %d MiB", LONGEST >> 20);
        }
        if (!array_reserve(&lines->text, &lines->capacity, lines->used + 2, 1, why)) {
            return false;
        }
        c = read_byte(lines->in);
        if (c == '\n' && lines->used > start && lines->text[lines->used - 1] == '\\') {
            lines->text[lines->used - 1] = ' ';
            c = '\v';
        }
        c = c == EOF ? '\n' : c;
        lines->text[lines->used++] = (char)c;
        lines->text[lines->used] = '\0';
    }
    return !ferror(lines->in) ||
           error_set(why, lines->file, 0, "cannot be read: %s", strerror(errno));
}

/* The bytes of the first line; 0: there is none. A quote that a command opens goes on in the next
 * lines, unless none of them closes it. */
static bool server_text_read_first(const struct server_text *said, struct lines *lines,
                                   size_t *bytes, struct error *why)
{
    bool open = true;
    *bytes = 0;
    for (int more = 0; open && more < MOST_WRAPPED; more++) {
        if (*bytes == lines->used && feof(lines->in)) {
            break;
        }
        if (*bytes == lines->used && !server_text_read_on(lines, why)) {
            return false;
        }
        char *end = strchr(lines->text + *bytes, '\n');
        *end = '\0';
        open = server_command_is_open(said, lines->text);
        *end = '\n';
        *bytes = (size_t)(end - lines->text) + 1;
    }
    *bytes = open && *bytes > 0 ? strcspn(lines->text, "\n") + 1 : *bytes;
    for (size_t i = 0; i < *bytes; i++) {
        char *byte = &lines->text[i];
        *byte = *byte != '\n' ? *byte : i + 1 == *bytes ? '\0' : '\v';
    }
    return true;
}

static bool server_text_read_lines(struct server_text *said, struct lines *lines, struct error *why)
{
    size_t bytes = 0;
    bool ok = true;
    said->line = 1;
    while (ok && (ok = server_text_read_first(said, lines, &bytes, why)) && bytes > 0) {
        ok = server_text_read_line(said, lines->text, why);
        for (size_t i = 0; ok && i < bytes; i++) {
            said->line += lines->text[i] == '\v' || lines->text[i] == '\0';
        }
        lines->used -= bytes;
        memmove(lines->text, lines->text + bytes, lines->used + 1);
    }
    return ok;
}

/* ---- the whole text ---------------------------------------------------------------------- */

/* "SGLang or vLLM" */
static void name_programs(const struct server_text *said, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; i < said->program_count; i++) {
        if (said->programs[i].reads) {
            text_append(text, size, "%s%s", text[0] != '\0' ? " or " : "", said->programs[i].title);
        }
    }
}

static bool no_server(const struct server_text *said, struct error *why)
{
    char programs[128];
    name_programs(said, programs, sizeof programs);
    error_set(why, said->file, 0, "no line is a server's");
    return error_expect(
        why, "the start-up log of %s, a command such as 'vllm serve MODEL', or its /metrics",
        programs);
}

bool server_text_read(FILE *in, const char *file, struct stated_keys *out, struct error *why)
{
    struct server_text said = {.file = file};
    struct lines lines = {.in = in, .file = file};
    for (int i = 0; i < STATED_KNOWN; i++) {
        said.all[i].key = known_keys[i];
    }
    said.programs = server_programs(&said.program_count, why);
    bool ok = said.programs != NULL && server_text_read_lines(&said, &lines, why);
    free(lines.text);
    if (ok && said.program == NULL) {
        return no_server(&said, why);
    }
    if (ok) {
        server_command_end(&said);
        ok = server_complete(&said, why);
    }
    for (int i = STATED_FACTS; i < STATED_KNOWN; i++) {
        said.all[i].value[0] = '\0';
    }
    memcpy(out->all, said.all, sizeof out->all);
    out->unused = said.unused;
    return ok;
}
