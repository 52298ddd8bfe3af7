/* A command is split into words as a shell does. The words behind an option that is not used are
 * its values: after the model, no word of a server's command stands alone. */
#include "predict/command/server_command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

bool server_command_read(struct server_text *said, const char *line, bool *found, struct error *why)
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

bool server_command_is_open(const struct server_text *said, const char *line)
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

void server_command_end(struct server_text *said)
{
    const struct stated_key *tokens = &said->all[STATED_BLOCK_TOKENS];
    if (tokens->typed && said->all[STATED_KV_BLOCKS].value[0] == '\0') {
        add_unused(said, tokens->line, "--block-size", false);
    }
}
