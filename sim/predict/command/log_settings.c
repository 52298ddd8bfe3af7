/* Settings in a line of a log: NAME=value, 'NAME': value, and objects of such. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

enum { PATH = 1100, SHORTEST = 3 }; /* names of a log; shorter ones are a command line's */

/* The end of what the value at `at` encloses: "{...}", "Name(...)"; NULL if it encloses nothing. */
static const char *enclosed_end(const char *at)
{
    const char *from = at;
    while (server_text_is_word(*at)) {
        at++;
    }
    if (*at != '{' && (*at != '(' || at == from)) {
        return NULL;
    }
    char quote = '\0';
    for (int depth = 0; *at != '\0'; at++) {
        bool ends = quote != '\0' && *at == quote;
        quote = quote == '\0' && (*at == '\'' || *at == '"') ? *at : ends ? '\0' : quote;
        depth += quote == '\0' && strchr("{([", *at) != NULL;
        depth -= quote == '\0' && strchr("})]", *at) != NULL;
        if (depth == 0) {
            return at;
        }
    }
    return at;
}

/* Does a value say that its option is in use? */
static bool is_on(const char *value)
{
    static const char *const off[] = {"", "None", "null", "False", "false", "0", "0.0", "[", "{"};
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        if (strcmp(value, off[i]) == 0) {
            return false;
        }
    }
    return true;
}

/* What is read of objects within objects, and of one line: no server prints more. */
enum { DEEPEST = 8, LINE_MOST = 64 << 10 };

/* A line whose settings are read. `chosen`: it has those alone that the server was told. */
struct settings_line {
    struct server_text *said;
    bool chosen;
    int depth;
};

static bool read_pairs(struct settings_line *in, const char *from, const char *end,
                       const char *prefix, struct error *why);

/* A setting of a line: its name, the option of that name (NULL: none), where its value begins, and
 * where what that encloses ends (NULL: it encloses nothing). */
struct settings_pair {
    const char *path;
    const struct server_option *option;
    const char *at, *end;
};

/* Is an option that may not be in a command in use? Of a line that has what was `chosen` alone, each is
 * that has a value; of one with all settings, each that is on or has not its usual value. */
static bool is_in_use(const struct settings_line *in, const struct server_option *option,
                      const char *value)
{
    bool on = in->chosen || strcmp(value, "True") == 0 ||
              (option->usual != NULL && strcmp(value, option->usual) != 0);
    return on && is_on(value);
}

/* Within an object of an option, settings are those below it. An option that is refused in a command
 * is refused here, too, if it is in use. */
static bool read_pair(struct settings_line *in, const struct settings_pair *pair, struct error *why)
{
    const struct server_option *option = pair->option;
    bool below = strchr(pair->path, '.') != NULL;
    char value[512];
    copy_value(pair->at, value, sizeof value);
    if (option != NULL && option->value == SERVER_VALUE_JSON) {
        return pair->end == NULL || read_pairs(in, pair->at, pair->end, option->sets, why);
    }
    if (option != NULL && option->value == SERVER_VALUE_NONE && !option->harmless &&
        is_in_use(in, option, value) && pair->end == NULL) {
        return server_text_pass_over(in->said, option, pair->path, why);
    }
    if (below && pair->end != NULL) {
        return read_pairs(in, pair->at, pair->end, pair->path, why);
    }
    return !below || option == NULL || option->value == SERVER_VALUE_NONE ||
           server_setting_take(option, value, in->said, why);
}

/* All names between the two that stand before '=' or ':', with `prefix` and a dot in front. */
static bool read_pairs(struct settings_line *in, const char *from, const char *end,
                       const char *prefix, struct error *why)
{
    char path[PATH];
    bool good = true;
    if (in->depth == DEEPEST) {
        return true;
    }
    in->depth++;
    for (const char *at = from; good && at < end;) {
        size_t length = 0;
        while (server_text_is_word(at[length])) {
            length++;
        }
        const char *after = at + length + (at[length] == '\'' || at[length] == '"');
        if (length == 0 || (*after != '=' && *after != ':')) {
            at += length > 0 ? length : 1;
            continue;
        }
        snprintf(path, sizeof path, "%.1000s%s%.*s", prefix, prefix[0] != '\0' ? "." : "",
                 (int)(length < 64 ? length : 64), at);
        after += 1 + strspn(after + 1, " ");
        const struct settings_pair pair = {path, server_option_find(in->said->program, path), after,
                                           enclosed_end(after)};
        bool own =
            prefix[0] != '\0' || (pair.option != NULL && pair.option->value == SERVER_VALUE_JSON);
        good = read_pair(in, &pair, why);
        /* Settings lie in "args: {...}", too. */
        at = own && pair.end != NULL ? pair.end : after;
    }
    in->depth--;
    return good;
}

bool log_settings_read(struct server_text *said, const char *line, struct error *why)
{
    const struct server_program *program = said->program;
    for (size_t i = 0; i < program->option_count; i++) {
        char value[512];
        const struct server_option *option = &program->options[i];
        bool named = option->value != SERVER_VALUE_NONE && option->value != SERVER_VALUE_JSON &&
                     strlen(option->name) >= SHORTEST;
        const char *at = named ? server_text_find_value(line, option->name) : NULL;
        if (at == NULL) {
            continue;
        }
        copy_value(at, value, sizeof value);
        if (!server_setting_take(option, value, said, why)) {
            return false;
        }
    }
    size_t length = strlen(line);
    struct settings_line in = {.said = said, .chosen = strstr(line, "non-default args:") != NULL};
    return length > LINE_MOST || read_pairs(&in, line, line + length, "", why);
}
