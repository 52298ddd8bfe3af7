/* Line by line. A line with a mark of a server is searched for the names of all settings, followed
 * by '=' or ':' and a value; a line with a server's
 * command is split into words as a shell does. */
#include "predict/command/server_text.h"

#include "core/array.h"
#include "core/text.h"
#include "predict/command/server_program.h"
#include "server/server_engine.h"

#include <ctype.h>
#include <errno.h>
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

/* Facts that are no key of a scenario become keys: kv_blocks of block_tokens the KV pool, whole_experts
 * the ranks of experts, shared_ranks and rank_count the ways in which SGLang counts GPUs; and the program
 * its preset. Fails if no version of it is known. */
static bool server_complete(struct server_text *said, struct error *why)
{
    complete_counts(said->program, said->all);
    if (said->program->ranks_in_tensor) {
        complete_ranks(said->all);
    }
    drop_single_ranks(said->all);
    return complete_program(said->program, said->all, why);
}

/* A command is split into words as a shell does. The words behind an option that is not used are
 * its values: after the model, no word of a server's command stands alone. */

/* Far more than a server has; for each, all names of options are looked at. */
enum { WORD = 512, MOST_UNUSED = 500 };

/* ---- words ------------------------------------------------------------------------------- */

static bool ends_command(const char *at)
{
    bool redirected = isdigit((unsigned char)*at) && (at[1] == '>' || at[1] == '<');
    return *at == '\0' || redirected || strchr("|;&><#\n", *at) != NULL;
}

/* Does the character behind this backslash stand for itself? */
static bool is_escape(const char *at, char quote)
{
    return at[0] == '\\' && at[1] != '\0' &&
           (quote == '\0' || (quote == '"' && strchr("\\\"$`", at[1]) != NULL));
}

/* The next word of a shell command, without its quotes; false after the last. `open`: the text ends
 * within quotes. */
static bool read_word(const char **at, char *out, size_t size, bool *open)
{
    size_t length = 0;
    char quote = '\0';
    *at += strspn(*at, " \t\v");
    *open = false;
    if (ends_command(*at)) {
        return false;
    }
    for (; **at != '\0' && (quote != '\0' || strchr(" \t\v\n|;&><", **at) == NULL); (*at)++) {
        bool escape = is_escape(*at, quote);
        bool opens = quote == '\0' && (**at == '\'' || **at == '"'), closes = **at == quote;
        quote = opens ? **at : closes ? '\0' : quote;
        *at += escape;
        if (!opens && !closes && length + 1 < size) {
            out[length++] = **at;
        }
    }
    out[length] = '\0';
    *open = quote != '\0';
    return true;
}

static bool server_command_next_word(const char **at, char *out, size_t size)
{
    bool open;
    return read_word(at, out, size, &open);
}

/* Is the word an option? "-1" and "-.5" are values. */
static bool is_option(const char *word)
{
    return word[0] == '-' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* The same for the next word if it can be an option's value. */
static bool next_value(const char **at, char *out, size_t size)
{
    const char *after = *at;
    if (!server_command_next_word(&after, out, size) || is_option(out)) {
        return false;
    }
    *at = after;
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

/* ---- options ----------------------------------------------------------------------------- */

/* Cut an option off behind its name: what follows may be a secret. */
static void keep_name(char *option)
{
    static const char name[] = "-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    option[strspn(option, name)] = '\0';
}

/* Count an option as unused; one for which there is no room is only counted. */
static void add_unused(struct server_text *said, int line, const char *name, bool harmless)
{
    struct server_unused *unused = &said->unused;
    int index = unused->count++;
    if (index < SERVER_UNUSED) {
        struct server_unused_option *option = &unused->all[index];
        snprintf(option->name, sizeof option->name, "%.63s", name);
        option->line = line;
        option->harmless = harmless;
    }
}

/* An option that no setting has; the words behind it are its values. */
static bool read_unused(struct server_text *said, const char *typed, char *name, const char **rest,
                        struct error *why)
{
    char value[WORD];
    name[strcspn(name, ".")] = '\0'; /* a part of an option: --compilation-config.mode 3 */
    const struct server_option *known = server_option_find(said->program, name);
    const struct server_option *nearest =
        known == NULL ? server_option_suggest(said->program, name) : NULL;
    if (nearest != NULL) {
        error_usage(why, said->file, said->line, "unknown option '%s'", typed);
        error_expect(why, "an option of %s", said->program->title);
        return error_nearest(why, nearest->flag);
    }
    if (said->unused.count >= MOST_UNUSED) {
        return error_set(why, said->file, said->line, "more than %d options are unknown",
                         MOST_UNUSED);
    }
    add_unused(said, said->line, typed, known != NULL && known->harmless);
    while (next_value(rest, value, sizeof value)) {
    }
    return true;
}

static bool server_command_read_option(struct server_text *said, char *typed, const char **rest,
                                       struct error *why)
{
    char word[WORD], value[WORD] = "true";
    bool used;
    snprintf(word, sizeof word, "%s", typed);
    const char *given = split_option(word);
    keep_name(typed);
    const struct server_option *setting = server_option_find(said->program, word);
    if (setting == NULL || setting->value == SERVER_VALUE_NONE) {
        return read_unused(said, typed, word, rest, why);
    }
    if (given != NULL) {
        snprintf(value, sizeof value, "%s", given);
    }
    if ((given == NULL && !server_setting_is_switch(setting) &&
         !next_value(rest, value, sizeof value)) ||
        value[0] == '\0') {
        error_set(why, said->file, said->line, "'%s' has no value", word);
        return error_expect(why, "%s", server_setting_expected(setting));
    }
    if (!server_setting_take(setting, value, said, &used, why)) {
        return false;
    }
    if (!used) {
        add_unused(said, said->line, typed, false);
    }
    return true;
}

/* ---- a command --------------------------------------------------------------------------- */

/* The words behind a server's command, up to its end. The first one is the model if it is no
 * option. */
static bool server_command_read_words(struct server_text *said, const char **rest,
                                      struct error *why)
{
    const struct server_option *model = server_option_find(said->program, "model");
    const char *counted = *rest;
    char word[WORD];
    for (bool ok = true, first = true; server_command_next_word(rest, word, sizeof word);
         first = false) {
        for (; counted < *rest; counted++) {
            said->line += *counted == '\v';
        }
        if (is_option(word)) {
            ok = server_command_read_option(said, word, rest, why);
        } else if (first && model != NULL) {
            ok = server_setting_take(model, word, said, NULL, why);
        } else {
            add_unused(said, said->line, "a word without an option", false);
        }
        if (!ok) {
            return false;
        }
    }
    return true;
}

/* What stands behind a command that starts a server of the program, or behind its image, whose tag may
 * follow; NULL if the text has none. */
static const char *behind_program(const struct server_program *program, const char *text)
{
    const char *rest = server_program_after(program->starts, text);
    if (rest == NULL && program->image_serves && (rest = strstr(text, program->image)) != NULL) {
        rest += strlen(program->image);
        rest += *rest == ':' ? strcspn(rest, " \t\v") : 0;
    }
    return rest != NULL && strchr(" \t\v", *rest) != NULL ? rest : NULL; /* or the line's end */
}

static const char *behind_command(const struct server_text *said, const char *text,
                                  const struct server_program **found)
{
    for (size_t i = 0; i < said->program_count; i++) {
        const struct server_program *program = &said->programs[i];
        const char *rest = program->reads ? behind_program(program, text) : NULL;
        if (rest != NULL) {
            *found = program;
            return rest;
        }
    }
    return NULL;
}

static bool read_command(struct server_text *said, const char **rest, struct error *why)
{
    int begins = said->line;
    if (said->command_line > 0) {
        error_set(why, said->file, said->line,
                  "a second command starts a server; the first is in "
                  "line %d",
                  said->command_line);
        return error_expect(why, "one server; keep the other's command in a file of its own");
    }
    said->command_line = begins;
    said->typed = true;
    bool ok = server_command_read_words(said, rest, why);
    said->typed = false;
    said->line = ok ? begins : said->line;
    return ok;
}

/* Read the line's command, if it has one; a '\v' in the line ends a line of the file. `found`: it
 * has. Each option becomes a fact or is counted as unused. Fails if the value of a used option is
 * missing or invalid, if there was a command before, and (a usage error) if an unknown option has a
 * name near that of a used one. */
static bool server_command_read(struct server_text *said, const char *line, bool *found,
                                struct error *why)
{
    bool ok = true;
    const char *rest = line + strspn(line, " \t");
    *found = false;
    while (ok && *rest != '#' && (line = behind_command(said, rest, &said->program)) != NULL) {
        *found = true;
        rest = line;
        ok = read_command(said, &rest, why);
    }
    return ok;
}

/* Does the line end within quotes of a command, so that the next one goes on with it? */
static bool server_command_is_open(const struct server_text *said, const char *line)
{
    const struct server_program *program;
    char word[WORD];
    const char *rest =
        line[strspn(line, " \t")] == '#' ? NULL : behind_command(said, line, &program);
    bool open = false;
    while (rest != NULL && !open && read_word(&rest, word, sizeof word, &open)) {
    }
    return open;
}

/* Count as unused an option that only acts together with another one that was not given. Call it
 * after the last line. */
static void server_command_end(struct server_text *said)
{
    const struct stated_key *tokens = &said->all[STATED_BLOCK_TOKENS];
    if (tokens->typed && said->all[STATED_KV_BLOCKS].value[0] == '\0') {
        add_unused(said, tokens->line, "--block-size", false);
    }
}

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

/* A server that failed may have started again: the last word counts. */
static void read_failure(struct server_text *said, const char *line)
{
    for (size_t i = 0; i < said->program_count && line[strspn(line, " \t")] != '#'; i++) {
        const struct node *fails = said->programs[i].fails;
        for (size_t j = 0; said->failure == NULL && fails != NULL && j < fails->count; j++) {
            const char *text = fails->children[j]->text;
            said->failure = strstr(line, text) != NULL ? text : NULL;
            said->failed_line = said->line;
        }
    }
}

static bool read_log(struct server_text *said, const char *line, struct error *why)
{
    read_failure(said, line);
    for (size_t i = 0; i < said->program_count; i++) {
        const char *rest = after_mark(&said->programs[i], line);
        if (rest != NULL) {
            said->program = &said->programs[i];
            said->failure = NULL;
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
    if (ok && said.failure != NULL) {
        error_set(why, file, said.failed_line, "the server failed: '%s'", said.failure);
        return error_expect(why, "the log of one that started");
    }
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
