/* Commands in a text: words, options with their values, variables of the environment, and images.
 *
 * A command is split into words as a shell does. The words behind an option that is not read are
 * its values: but for the model, no word of a server's command stands alone. */
#include "predict/command/server_text.h"

#include "core/text.h"
#include "server/workload.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { WORD = 4096, STARTS_MOST = 100 }; /* bytes of a word, commands of a line that are read */

/* ---- words ------------------------------------------------------------------------------- */

/* Is the word an option? "-1" and "-.5" are values. */
static bool is_option(const char *word)
{
    return word[0] == '-' && !isdigit((unsigned char)word[1]) && word[1] != '.';
}

/* Read the next word if it can be an option's value: no typesetter's dash, no blank after a backslash. */
static bool next_value(const char **at, char out[WORD])
{
    const char *word = *at + strspn(*at, " \t\v");
    bool mistake = text_begins(word, "\xe2\x80") || text_matches(word, "\\\\[ \t]*");
    word += *word == '\'' || *word == '"';
    return !mistake && !is_option(word) && shell_word(at, out, WORD);
}

/* `--max-num-seqs=64`, or `--max-num-seqs 64` with the value still to come. Returns the value in
 * the word, or NULL; the word becomes the name. */
static char *split_option(char *word)
{
    char *name = word + strspn(word, "-"), *value = strchr(name, '=');
    if (value != NULL) {
        *value++ = '\0';
    }
    server_option_plain(name);
    memmove(word, name, strlen(name) + 1);
    return value;
}

/* Read a command's next word. A redirection, "2>&1", "> log", "< /dev/null", "&> log", is an empty one. */
static bool next_word(const char **at, char word[WORD])
{
    if (shell_word(at, word, WORD)) {
        return true;
    }
    const char *from = *at + strspn(*at, "0123456789");
    from += from[0] == '&' && from[1] == '>';
    size_t marks = strspn(from, "<>");
    from += marks + (marks > 0 && (from[marks] == '&' || from[marks] == '|'));
    from += strspn(from, " \t\v");
    *at = marks > 0 ? from + strcspn(from, " \t\v\n;|&") : *at;
    word[0] = '\0';
    return marks > 0;
}

/* Read the next word before `end`, of whatever command. */
static bool next_word_before(const char **at, const char *end, char word[WORD])
{
    for (; *at < end; ++*at) {
        if (shell_word(at, word, WORD)) {
            return true;
        }
    }
    return false;
}

/* Move behind the next option of a command, and write its name. */
static bool next_option(const char **rest, char word[WORD])
{
    bool is = false;
    while (!is && next_word(rest, word)) {
        is = is_option(word);
        split_option(word);
    }
    return is;
}

/* ---- options ----------------------------------------------------------------------------- */

/* Cut an option off behind its name: what follows may be a secret. */
static void keep_name(char *option)
{
    static const char name[] = "-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    option[strspn(option, name)] = '\0';
}

static void refuse_unknown(struct server_text *said, const char *typed, const char *name)
{
    const struct server_option *nearest = /* of the first, as others take it away */
        said->refused.found[0] == '\0' ? server_option_suggest(said->program, name) : NULL;
    struct error *why =
        server_text_refuse(said, NULL, "unknown option '%s'%s", typed,
                           strchr(name, ' ') != NULL ? ", which is one word with its value" : "");
    said->refused.kind = why->kind = ERROR_USAGE;
    error_expect(why, "an option of %s, or the command without it", said->program->title);
    error_nearest(why, nearest != NULL ? nearest->flag : NULL);
}

void server_text_pass_over(struct server_text *said, const struct server_option *option,
                           const char *typed)
{
    if (option->harmless) {
        server_text_pass(said, typed, option->reason);
    } else {
        server_text_refuse(said, "the command without it", "'%s': %s", typed, option->reason);
    }
}

static void take(struct server_text *said, const struct server_option *option, const char *typed,
                 const char *value);

/* The keys below a map of JSON are options whose names begin with that of the map. */
static void take_map(struct server_text *said, const char *name, const struct node *map)
{
    for (size_t i = 0; i < map->count; i++) {
        const struct node *child = map->children[i];
        char path[WORD];
        snprintf(path, sizeof path, "%.1000s.%s", name, child->key);
        keep_name(path);
        const struct server_option *option = server_option_find(said->program, path);
        if (child->kind == NODE_NULL && strchr(child->key, ':') != NULL) {
            /* {method:eagle3}, of which the shell has taken the quotes */
            server_text_refuse(said, "JSON in single quotes, such as '{\"method\": \"eagle3\"}'",
                               "'%.60s' is not JSON", child->key);
        } else if (child->kind == NODE_MAP) {
            take_map(said, path, child);
        } else if (option == NULL) {
            refuse_unknown(said, path, path);
        } else if (option->value == SERVER_VALUE_NONE || child->kind == NODE_SCALAR) {
            take(said, option, path, child->text);
        } else if (child->count > 0 && child->children[0]->text != NULL && option->sets != NULL &&
                   strcmp(option->sets, "graph_sequences") == 0) { /* the largest of all sizes */
            const struct node *most = child->children[0];
            for (size_t j = 1; j < child->count; j++) {
                const struct node *size = child->children[j];
                most = size->text != NULL && atoi(size->text) > atoi(most->text) ? size : most;
            }
            take(said, option, path, most->text);
        } else if (child->kind == NODE_LIST) {
            server_text_refuse(said, server_setting_expected[option->value], "'%s' is a list",
                               path);
        }
    }
}

static void take(struct server_text *said, const struct server_option *option, const char *typed,
                 const char *value)
{
    if (option->usual != NULL && value != NULL && strcasecmp(value, option->usual) == 0) {
        server_text_pass(said, typed, "it is the default");
    } else if (option->value == SERVER_VALUE_NONE) {
        server_text_pass_over(said, option, typed);
    } else if (option->value != SERVER_VALUE_JSON) {
        server_setting_take(option, value, said);
    } else {
        char path[WORD];
        snprintf(path, sizeof path, "%.1000s.", option->sets);
        const struct server_option *alone = server_option_find(said->program, path);
        bool word =
            strchr(value, '{') == NULL && alone != NULL && alone->value != SERVER_VALUE_NONE;
        struct node *map = word ? NULL : node_parse(value, strlen(value), said->file, ERROR_UNSEEN);
        if (word) {
            server_setting_take(alone, value, said);
        } else if (map != NULL && map->kind == NODE_MAP) {
            take_map(said, option->sets, map);
        } else {
            server_text_refuse(said, server_setting_expected[option->value], "'%s' is not read",
                               option->flag);
        }
        node_destroy(map);
    }
}

/* May the next word hold options: a variable, or the name of one without its dashes? */
static bool may_be_options(const struct server_program *program, const char *rest)
{
    char word[WORD];
    rest += strspn(rest, " \t\v");
    if (rest[strspn(rest, "\"'\\")] == '$' || !shell_word(&rest, word, sizeof word)) {
        return true;
    }
    split_option(word);
    const struct server_option *option =
        strchr(word, '_') != NULL ? server_option_find(program, word) : NULL;
    return option != NULL && option->value != SERVER_VALUE_NONE;
}

/* Does the option, maybe by another name of its row, stand again behind? */
static bool stands_again(const struct server_program *program, const struct server_option *option,
                         const char *word, const char *rest)
{
    char next[WORD];
    while (next_option(&rest, next)) {
        const struct server_option *other = server_option_find(program, next);
        if (other == option || strcmp(next, word) == 0 ||
            (other != NULL && other->also != NULL && other->also == option->also)) {
            return true;
        }
    }
    return false;
}

static void server_command_read_option(struct server_text *said, char *typed, const char **rest)
{
    char word[WORD], value[WORD] = "true", next[WORD];
    const char *at;
    snprintf(word, sizeof word, "%s", typed);
    const char *given = split_option(word);
    keep_name(typed);
    /* Its own, one of an object, "-O.mode=3", or the only one that begins so, --speculative-algo. */
    const struct server_option *option = server_option_find(said->program, word), *whole = NULL;
    char path[2 * WORD], *part = strchr(word, '.');
    if (option == NULL && part != NULL) {
        *part = '\0';
        option = server_option_find(said->program, word);
        *part = '.';
        if (option != NULL && option->value != SERVER_VALUE_NONE) {
            snprintf(path, sizeof path, "%s%s", option->sets != NULL ? option->sets : "", part);
            option = server_option_find(said->program, path);
        }
    }
    if (option == NULL || strchr(option->name, '*') != NULL) {
        whole = server_option_shortened(said->program, word);
    }
    option = whole != NULL ? whole : option;
    bool read = option != NULL && option->value != SERVER_VALUE_NONE;
    /* A word behind a switch, or a second one, is no value if it may hold options. */
    bool takes = !text_matches(word, "@(enable|disable|no|skip|trust|use)_*");
    while (!read && (takes || !may_be_options(said->program, *rest)) && next_value(rest, value)) {
        takes = false;
    }
    given = read && given == NULL && text_matches(word, "[A-Z][0-9]") ? word + 1 : given; /* -O3 */
    bool asks = read && given == NULL && !server_setting_is_switch(option);
    bool missing = asks && !next_value(rest, value);
    bool sizes = asks && option->sets != NULL && strcmp(option->sets, "graph_sequences") == 0;
    while (sizes && isdigit((unsigned char)value[0]) && /* "1 2 4", of which the largest counts */
           (at = *rest, next_value(&at, next)) && isdigit((unsigned char)next[0])) {
        memcpy(value, atof(next) > atof(value) ? next : value, WORD);
        *rest = at;
    }
    if (read && stands_again(said->program, option, word, *rest)) { /* where it counts */
        return;
    }
    if (given != NULL) {
        snprintf(value, sizeof value, "%s", given);
    }
    if (option == NULL) {
        refuse_unknown(said, typed, word);
    } else if (read && (missing || value[0] == '\0')) {
        server_text_refuse(said, server_setting_expected[option->value], "'%s' has no value", word);
    } else {
        take(said, option, typed, value);
    }
}

/* ---- variables of the environment -------------------------------------------------------- */

/* The first quote of those that are open at `end`; NULL: there is none. */
static const char *open_quote(const char *at, const char *end)
{
    const char *open = NULL;
    for (char quote = '\0'; at < end;) {
        const char *from = at;
        bool was = quote != '\0';
        shell_step(&at, &quote);
        open = quote == '\0' ? NULL : was ? open : from;
    }
    return open;
}

/* Take the value of a variable that is a setting. It is refused in a branch, and behind a command that may have
 * read another value. */
static void take_variable(struct server_text *said, const struct server_option *option,
                          const char *name, const char *value, bool branch)
{
    text_append(said->taken, sizeof said->taken, " %s ", name);
    if (branch) {
        server_text_refuse(said, "the lines that run", "'%s' is set in a branch", name);
        return;
    }
    const struct stated_keys was = said->keys;
    bool same = true;
    take(said, option, name, value);
    for (int i = 0; said->command_line > 0 && i < STATED_MOST; i++) {
        const char *old = was.all[i].value;
        same = same && (old[0] == '\0' || strcmp(old, said->keys.all[i].value) == 0);
    }
    if (!same) {
        server_text_refuse(said, "the lines up to the command",
                           "'%s' is set again behind the command", name);
    }
}

/* The variable that the word sets, and its value: NAME=value, "-eNAME=value", "--env=NAME=value", what systemd
 * writes, "${NAME:=value}". NULL: none, or as other shells and languages do (stray_settings.c). */
static char *variable_of(char *word, char **value)
{
    char *name = word + (text_begins(word, "--env=")               ? 6
                         : text_begins(word, "Environment=")       ? 12
                         : text_matches(word, "@(-e[A-Z]|${*:=)*") ? 2
                                                                   : 0);
    char *equals = strchr(name, '=');
    if (equals == NULL || text_begins(word, "$env:") || strstr(word, "environ[") != NULL) {
        return NULL;
    }
    *value = equals + 1;
    equals -= word[0] == '$' && equals[-1] == ':';
    *equals = '\0';
    return name;
}

/* Take the variables that the first `length` bytes of the line set, alone or behind "export"; a file of them has
 * the name that systemd gives it. */
static void read_variables(struct server_text *said, const char *line, size_t length)
{
    const struct server_program *before = said->program;
    struct shell_blocks blocks = said->before;
    const char *open = open_quote(line, line + length);
    bool sourced = false, unset = false;
    char word[WORD], *value;
    if (open != NULL) {
        read_variables(said, line, (size_t)(open - line));
        length -= (size_t)(open + 1 - line);
        line = open + 1;
    }
    for (const char *at = line, *end = line; at + strspn(at, " \t\v") < line + length;) {
        if (at >= end && !shell_command(&blocks, &at, &end)) {
            return;
        }
        if (!shell_word(&at, word, sizeof word)) {
            at += at < end;
            continue;
        }
        bool file = (sourced && text_matches(word, "*@(.env|env.sh)")) ||
                    /* "export $(cat .env)" */
                    text_matches(word, "@(--env-file*|direnv|dotenv|$[(]*.env*[)])");
        sourced = strcmp(word, "source") == 0 || strcmp(word, ".") == 0;
        if (file) {
            strcpy(word, "EnvironmentFile=x");
        }
        if (text_matches(word, "@(environment=*=|numprocs=[!1])*")) {
            server_text_refuse(said,
                               "variables and copies in the words of a shell, and --set replicas=N",
                               "supervisord's '%.*s' is not read", (int)strcspn(word, "="), word);
        }
        unset = unset || strcmp(word, "unset") == 0;
        if (unset) {
            text_append(said->taken, sizeof said->taken, " %s ", word);
        }
        for (int i = 0; unset && said->command_line == 0 && i < STATED_MOST; i++) {
            struct stated_key *key = &said->keys.all[i];
            key->value[0] = strcmp(key->said, word) == 0 ? '\0' : key->value[0];
        }
        char *name = variable_of(word, &value);
        const struct server_option *option =
            name != NULL && isupper((unsigned char)name[0]) /* as names of variables are */
                ? server_option_of_any(said->programs, name, &said->program)
                : NULL;
        if (option != NULL) {
            take_variable(said, option, name, value, strchr(blocks.open, 't') != NULL);
        }
        said->program = before;
    }
}

void server_command_read_variables(struct server_text *said, const char *line)
{
    char word[WORD];
    const char *at = line;
    bool sets = false, more = shell_word(&at, word, sizeof word);
    for (; more && text_matches(word, "[A-Z_]*=*"); more = shell_word(&at, word, sizeof word)) {
        sets = true;
    }
    /* "[gpu_worker.py:490] ... To try it now, set NAME=1": a log advises, and sets nothing. */
    bool others = sets && more && islower((unsigned char)word[strspn(word, "./")]);
    if (others) {
        strcpy(said->taken, "*");
    } else if (strstr(line, ".py:") == NULL) {
        read_variables(said, line, strlen(line));
    }
}

/* ---- a command --------------------------------------------------------------------------- */

/* May the variable stand for the model, of which options of the command have no word? Not one that is called
 * after options, or a list: it is more than a model. One that is called after nothing is, where a command takes
 * the model without an option: "vllm serve $X". */
static bool may_be_model(const struct server_text *said, const char *variable, const char *at)
{
    char word[WORD];
    bool named = false,
         serves = text_begins(at - 5, "serve") && strcmp(said->program->file, "sglang") != 0;
    while (!named && next_option(&at, word)) {
        const struct server_option *of = server_option_find(said->program, word);
        named = of != NULL && of->sets != NULL && strcmp(of->sets, "model") == 0;
    }
    return !named && (serves || strcasestr(variable, "model") != NULL) &&
           fnmatch("*@(args|flags|opts|option|extra|param|cmd|command|[[][@*])*", variable,
                   FNM_EXTMATCH | FNM_CASEFOLD) != 0;
}

/* The words behind a server's command, up to its end. One alone is the model, unless an option was. */
static void server_command_read_words(struct server_text *said, const char **rest)
{
    const struct server_option *model = server_option_find(said->program, "model");
    const struct stated_key *stated = &said->keys.all[STATED_MODEL];
    const char *begin = *rest, *counted = begin;
    int line = said->line;
    static const char in_place[] = "in the model's place, which --set model fills";
    bool placed = false; /* a variable stands for the model, which it does not tell */
    char word[WORD];
    said->typed = true;
    while (next_word(rest, word)) {
        said->line += server_text_count(counted, *rest, '\v');
        const char *mark = counted + strspn(counted, " \t\v");
        counted = *rest;
        bool stands = word[0] == '\0' && text_matches(mark, "<[.A-Za-z]*([^<> \t\v\n])>*");
        if (stands && !placed && stated->value[0] == '\0' &&
            text_matches(mark, "<*([^>])[Mm][Oo][Dd][Ee][Ll]*")) {
            snprintf(word, sizeof word, "%.*s", (int)strcspn(mark, ">") + 1, mark);
            server_text_pass(said, word, in_place);
            placed = true;
        } else if (stands) {
            server_text_refuse(
                said, "the command as it was typed, without marks of HTML and placeholders",
                "'%.*s' stands for something else", (int)strcspn(mark, ">") + 1, mark);
        } else if (word[0] == '\0') { /* a redirection */
        } else if (is_option(word)) {
            server_command_read_option(said, word, rest);
        } else if (text_matches(word, "$[@*]") || text_matches(word, "${[@*]*")) {
            server_text_pass(said, word, "a script's own arguments are taken to be none");
        } else if (model != NULL && !placed && (stated->value[0] == '\0' || !stated->typed) &&
                   (strchr(word, '$') == NULL || may_be_model(said, word, begin))) {
            server_setting_take(model, word, said);
            if ((placed = stated->value[0] == '\0')) {
                server_text_pass(said, word, in_place);
            }
        } else {
            error_expect(server_text_refuse(said, NULL, "'%.*s' stands without an option",
                                            (int)strcspn(word, "="), word),
                         "options of %s, each with its value", said->program->title);
        }
    }
    said->typed = false;
    said->line = line;
}

/* May the word of a "docker run" be an image of the program? Its own name, without registry, folders
 * and tag, has the program's: "registry.example.com/team/my-vllm:3". Mounted folders are none, and
 * no name without any of these behind an option, such as --name. */
static bool may_be_image(const struct server_program *program, const char *word, bool behind_option)
{
    const char *slash = strrchr(word, '/'), *name = slash != NULL ? slash + 1 : word;
    size_t length = strcspn(name, ":@");
    bool plain = slash == NULL && name[length] == '\0';
    const char *at = strstr(name, program->file);
    return at != NULL && at < name + length && strchr("/.~-", word[0]) == NULL &&
           strstr(word, ":/") == NULL && strchr(word, '=') == NULL && !(plain && behind_option);
}

/* What stands behind an image that starts the program's server in the text's "docker run"; NULL: nothing. */
static const char *behind_image(const struct server_program *program, const char *text)
{
    static const char *const runs[] = {"docker run ",  "podman run ",    "container run ",
                                       "nerdctl run ", "apptainer run ", "singularity run "};
    const char *at = NULL;
    char word[WORD];
    for (size_t i = 0; program->image_serves && at == NULL && i < sizeof runs / sizeof *runs; i++) {
        at = strstr(text, runs[i]);
    }
    at = at != NULL ? strstr(at, "run ") + strlen("run ") : NULL;
    for (bool behind = false; at != NULL && shell_word(&at, word, sizeof word);
         behind = is_option(word)) {
        if (text_begins(word, "--entrypoint")) {
            return NULL; /* in place of the server */
        }
        if (may_be_image(program, word, behind)) {
            const char *next = at + strspn(at, " \t\v"); /* a shell's command replaces its own */
            return text_matches(next, "@(bash|sh|/bin/*sh) *") ? NULL : at;
        }
    }
    return NULL;
}

/* What stands behind a command that starts a server, or behind an image; NULL if the text has none. */
static const char *behind_command(const struct server_text *said, const char *text,
                                  const struct server_program **found)
{
    for (const struct server_program *program = said->programs; program->file != NULL; program++) {
        const char *rest = server_program_after(program->starts, text, true);
        rest = rest != NULL ? rest : behind_image(program, text);
        if (rest == NULL || strchr(" \t\v", *rest) == NULL) { /* or the line's end */
            continue;
        }
        bool prose = (strpbrk(rest, "/-\v") == NULL && text_matches(rest, "*:")) ||
                     (strstr(rest, " -") == NULL && /* of what it starts */
                      text_matches(rest, " @(for|with|on|at) *"));
        const char *help = strstr(rest, " --help"); /* it is printed */
        if (!prose && !text_matches(rest, "*[[]@(options|OPTIONS|-h)]*") &&
            (help == NULL || help >= rest + strcspn(rest, "|;&\n"))) {
            *found = program;
            return rest;
        }
    }
    return NULL;
}

bool server_command_starts(const struct server_text *said, const char *text)
{
    const struct server_program *program;
    return behind_command(said, text, &program) != NULL;
}

/* A variable that is called after an option, and that no command uses: an image of one's own (`foreign`) may read
 * it. Returns whether the word sets a variable. */
static bool read_unused(struct server_text *said, const char *word, bool foreign)
{
    const struct server_program *program = said->program;
    char copy[WORD], plain[64], *value;
    const char *sets = NULL, *name = variable_of(strcpy(copy, word), &value);
    if (name == NULL || !isupper((unsigned char)name[0])) {
        return false;
    }
    const char *own_name = name + (text_begins(name, "SM_") ? 3 : 0);
    own_name += foreign && text_begins(own_name, "VLLM_") ? 5 : 0;
    snprintf(plain, sizeof plain, "%s", own_name);
    for (char *at = plain; *at != '\0'; at++) {
        *at = (char)tolower((unsigned char)*at);
    }
    const struct server_option *option = server_option_find(program, plain);
    if (text_matches(own_name, "*MODEL?(_[INP][DA]*)")) {
        sets = "model";
    } else if (option != NULL && option->value != SERVER_VALUE_NONE) {
        sets = option->sets;
    }
    bool read = shell_variable_is_used(said, name) ||
                (sets == NULL && !(foreign && strstr(own_name, "ARGS") != NULL));
    for (int i = 0; !read && sets != NULL && i < STATED_MOST; i++) {
        const struct stated_key *key = &said->keys.all[i];
        read = key->key != NULL && strcmp(key->key, sets) == 0 && key->typed;
    }
    if (!read && foreign) {
        error_expect(server_text_refuse(said, NULL,
                                        "'%s': what the image makes of the variable is not known",
                                        name),
                     "options of %s behind the image", program->title);
    } else if (!read) {
        server_text_pass(said, name, "no command here uses the variable");
    }
    return true;
}

void server_command_second(struct server_text *said, int first, int line)
{
    said->line = line;
    server_text_refuse(said, "one server; keep the other's command in a file of its own",
                       "a second command starts a server; the first is in line %d", first);
}

/* Write what a command says: its variables and options before the server's name, and all words behind that. Returns
 * its end. */
static const char *copy_command(const char *at, const char *name, char out[COMMAND_MOST])
{
    char word[WORD];
    bool counts = false;
    out[0] = '\0';
    while (next_word_before(&at, name, word)) {
        counts = counts || (is_option(word) && strcmp(word, "-m") != 0) ||
                 strcmp(word, "run") == 0 || strcmp(word, "ssh") == 0 || strchr(word, '=') != NULL;
        text_append(out, COMMAND_MOST, "%s%s", counts ? word : "", counts ? " " : "");
    }
    while (next_word(&name, word)) {
        text_append(out, COMMAND_MOST, "%s%s", word, word[0] != '\0' ? " " : "");
    }
    return name;
}

/* May what stands at `end` be started several times: by a loop, a function, or a program that starts others? An
 * alias is a function, whose calls are not read. */
static bool starts_several(struct server_text *said, const char *line, const char *end,
                           const char *blocks_of)
{
    static const char others[] =
        "@(@(alias|xargs|parallel|pdsh|clush|pssh|ansible) *|"
        "@(kubectl|sky|pm2) *@(--replicas|--num-nodes| -i)[= ]@([!1]|1[0-9])*)";
    struct shell_blocks blocks = said->before;
    bool several = false;
    for (const char *at = line, *next; at < end && shell_command(&blocks, &at, &next); at = next) {
        char piece[WORD];
        snprintf(piece, sizeof piece, "%.*s", (int)(next - at < WORD ? next - at : WORD), at);
        bool slurm = text_begins(piece, "srun ");
        struct server_job job = slurm ? said->job : (struct server_job){.line = {0}};
        if (slurm || (text_begins(piece, "mpi") && strstr(at, "llmapi-launch") == NULL)) {
            server_job_read(said, &job, at, end);
        }
        several = text_matches(piece, others) || server_job_is_several(&job);
    }
    return several || strpbrk(blocks.open, blocks_of) != NULL;
}

static void refuse_several(struct server_text *said, bool several)
{
    if (several && !server_text_overrides(said, "replicas")) {
        server_text_refuse(said,
                           "the command of one alone; and --set replicas=N, the number of them",
                           "a loop or a function may start several servers");
    }
}

/* A router knows prefixes unless it has another policy. */
static void assume_router(struct server_text *said, enum routing routing)
{
    struct stated_key *key = &said->keys.all[STATED_ROUTING];
    snprintf(key->value, sizeof key->value, "%s", routing_names[routing]);
    snprintf(key->said, sizeof key->said, "a router");
    key->line = said->line;
    key->implied = true;
}

/* Take the quoting off the text in the quote, which becomes a command of its own, and end the line where that
 * ends: bash -c "..." > log. A quote that nothing closes is an apostrophe. */
static void unquote(char *open)
{
    char quote = *open, *end = open + 1, *to = end;
    bool again;
    while ((again = quote == '\'' && text_begins(end, "'\\''")) ||
           (*end != '\0' && *end != quote)) {
        end += again ? 4 : 1 + (quote == '"' && *end == '\\' && end[1] != '\0');
    }
    bool closes = *end == quote && strchr(" \t\v\n;&|>)", end[1]) != NULL;
    *open = closes ? ';' : ' ';
    for (const char *from = open + 1; closes && from < end; from++) {
        from += quote == '"' && *from == '\\' && strchr("\\\"$`", from[1]) != NULL;
        from += text_begins(from, "'\\''") && quote == '\'' ? 3 : 0;
        *to++ = *from;
    }
    if (closes) {
        *to++ = '\n';
        memmove(to, end + 1, strlen(end));
    }
}

/* Read the command whose variables stand at `head`, and whose options at `*rest`, which moves to its end. */
static void read_start(struct server_text *said, const char *head, const char **rest)
{
    const struct server_program *program = said->program;
    char whole[COMMAND_MOST], word[WORD];
    const char *name = *rest, *end = copy_command(head, name, whole);
    int begins = said->line;
    read_variables(said, head, (size_t)(name - head));
    said->line += server_text_count(head, name, '\v');
    if (said->command_line > 0) {
        *rest = end;
        size_t length = strcspn(said->command, "\n");
        if (strncmp(said->command, whole, length) != 0 || whole[length] != '\0' ||
            length == COMMAND_MOST - 1) {
            server_command_second(said, said->command_line, said->line);
        }
    } else {
        memcpy(said->command, whole, sizeof whole);
        said->command_line = said->line;
        server_text_check_program(said, said->program);
        server_job_read(said, &said->job, head, name);
        gpu_users_server(said);
        const char *router = strstr(head, "router.launch_server ");
        if (router != NULL && router < name) { /* before the servers that it starts */
            assume_router(said, ROUTE_PREFIX_LOAD);
        }
        server_command_read_words(said, rest);
    }
    said->line = begins;
    const char *own = strstr(head, program->image);
    bool foreign =
        server_program_after(program->starts, head, true) == NULL && (own == NULL || own >= name);
    for (bool behind = false; next_word_before(&head, name, word);
         behind = is_option(word)) { /* an option */
        bool image = text_begins(word, "image=");
        if (image || (!read_unused(said, word, foreign) &&
                      (text_matches(word, "*.s[iq][fs]*") ||
                       (may_be_image(program, word, behind) && strstr(word, "/bin/") == NULL &&
                        strpbrk(word, "/:@") != NULL)))) {
            server_text_read_image(said, word + (image ? 6 : 0));
        }
    }
}

static void find_between(struct server_text *said, char *from, char *end)
{
    char was = *end;
    *end = '\0';
    stray_settings_find(said, from);
    *end = was;
}

/* Find settings around the commands of a line: in a sentence before the first one's name, "With --max-num-seqs 8:
 * vllm serve m", and behind the last one's end. */
static void find_around(struct server_text *said, char *text, char *name, char *end)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char *begins = text + strspn(text, " \t>*-`");
    if (isupper((unsigned char)*begins) && strchr(" ", begins[strspn(begins, letters)]) != NULL) {
        find_between(said, begins, name);
    }
    said->line += server_text_count(text, end, '\v');
    end += strspn(end, "|;& \t\n");
    find_between(said, end, end + (*end == '#' ? strlen(end) : strcspn(end, "\v\n")));
}

/* Read the options behind a variable that stands for the server's command, `head` being its own command, and move
 * `*rest` to their end. What sets a variable anew, CMD="$CMD --port 80", starts nothing. */
static void read_use(struct server_text *said, struct shell_variable *of, const char *head,
                     const char **rest, bool sets)
{
    char whole[COMMAND_MOST];
    const char *end = copy_command(head, *rest, whole), *first = strchr(said->command, '\n');
    if (!sets && of->used) {
        if (strcmp(first != NULL ? first + 1 : "", whole) != 0) {
            server_command_second(said, said->command_line, said->line);
        }
        *rest = end;
        return;
    }
    if (!sets) {
        of->used = true;
        text_append(said->command, sizeof said->command, "\n%s", whole);
        server_job_read(said, &said->job, head, *rest);
        gpu_users_server(said);
        read_variables(said, head, (size_t)(*rest - head));
    }
    server_command_read_words(said, rest);
}

/* Read the line's variables that stand for the server's command: "nohup $CMD --port 80", bash -c "$CMD ...".
 * Returns whether there is one. */
static bool read_uses(struct server_text *said, char *text)
{
    static const char prints[] = "@(echo|printf|print|log*|info|warn*|die|say|[[]|test|#)[ \t]*";
    struct shell_blocks blocks = said->before;
    struct shell_variable *of;
    const char *rest = said->command_line > 0 ? shell_server_variable(said, text, &of) : NULL;
    bool found = false;
    for (const char *at = text, *end, *open; rest != NULL && shell_command(&blocks, &at, &end);
         at = end) {
        bool sets = false, passes = text_matches(at, prints), alone = false;
        if (rest > end) {
            continue;
        }
        while (!passes && !alone && (open = open_quote(at, rest)) != NULL) {
            const char *name = open + 1 + strspn(open + 1, "${");
            sets = sets || open[-1] == '=';
            passes = sets && (at > text + strspn(text, " \t") || blocks.open[0] != '\0');
            alone =
                !sets && open[1] == '$' && name + shell_name(name) + 4 >= rest && *rest == *open;
            if (alone) { /* "${CMD[@]}" */
                passes = rest[-2] != ']';
                rest++;
            } else if (!passes) {
                unquote(text + (open - text));
                rest = shell_server_variable(said, open, &of);
            }
        }
        if (!passes) {
            refuse_several(said, !sets && starts_several(said, text, rest, "l"));
            read_use(said, of, at, &rest, sets);
            found = true;
            end = rest;
        }
        rest = shell_server_variable(said, rest, &of);
    }
    return found;
}

bool server_command_read(struct server_text *said, char *text)
{
    const char *head = text + strspn(text, " \t"), *rest, *name = NULL; /* the first server's */
    bool several = false;
    int first = said->line;
    server_job_read_line(said, text);
    for (int starts = 0;
         *head != '#' && (rest = behind_command(said, head, &said->program)) != NULL; starts++) {
        if (starts == STARTS_MOST) { /* each reads the line's rest */
            server_command_second(said, said->command_line, said->line);
            break;
        }
        const char *open = open_quote(head, rest);
        several = starts_several(said, head, open != NULL ? open : rest, "lf") || several;
        if (open != NULL) { /* such as that of "bash -c", whose text is read as the line's own */
            unquote(text + (open - text));
            continue;
        }
        refuse_several(said, several);
        name = name != NULL ? name : rest;
        several = false;
        read_start(said, head, &rest);
        head = rest;
    }
    if (name != NULL) {
        find_around(said, text, text + (name - text), text + (head - text));
        said->line = first;
    }
    return name != NULL || read_uses(said, text);
}

bool server_router_read(struct server_text *said, const char *line)
{
    const char *rest = NULL;
    char word[WORD], value[WORD], path[WORD + 8];
    const struct server_program *program = said->programs, *before = said->program;
    if (strstr(line, "least_conn;") != NULL && !shell_is_comment(line)) { /* of nginx */
        assume_router(said, ROUTE_LEAST_REQUESTS);
        return true;
    }
    for (; program->file != NULL && !shell_is_comment(line); program++) {
        if (server_program_after(program->starts, line, true) != NULL) {
            return false;
        }
        const char *name = program->router != NULL ? strrchr(program->router, ' ') : NULL;
        name = name != NULL ? name + 1 : program->router;
        const char *install = strstr(line, " install "), *at = line;
        while (rest == NULL && name != NULL && (at = strstr(at, name)) != NULL) {
            at += strlen(name);
            at += *at == ':' ? strcspn(at, " \t\v") : 0; /* the tag of its image */
            bool installs =
                install != NULL && install < at && install + strcspn(install, ";&|") > at;
            bool options = strchr(" \t\v", *at) != NULL && at[strspn(at, " \t\v")] == '-';
            rest = options && !installs ? at : NULL;
        }
    }
    if (rest == NULL) {
        return false;
    }
    assume_router(said, ROUTE_PREFIX_LOAD);
    while (shell_word(&rest, word, sizeof word)) {
        bool typed = is_option(word);
        const char *given = typed ? split_option(word) : NULL;
        if (strcmp(word, "worker_urls") == 0) {
            said->urls_line = said->line;
            for (said->urls = given != NULL; next_value(&rest, value);) {
                said->urls++;
            }
        }
        snprintf(path, sizeof path, "router_%s", word); /* as a server has it that starts one */
        const struct server_option *option =
            server_option_of_any(said->programs, path, &said->program);
        if (option != NULL && option->value != SERVER_VALUE_NONE &&
            (given != NULL || next_value(&rest, value))) {
            server_setting_take(option, given != NULL ? given : value, said);
        } else if (typed && (option == NULL || !option->harmless)) {
            keep_name(word);
            server_text_refuse(
                said, "the router without it, or --set routing=POLICY and the servers alone",
                "the router's '%s' is not modelled", word);
        }
    }
    said->program = before;
    return true;
}

bool server_command_is_open(const struct server_text *said, const char *line)
{
    const struct server_program *program;
    const char *set = line + strspn(line, " \t"), *rest = set;
    bool list = false, open = false, comment = *set == '#';
    set += text_begins(set, "export ") ? 7 : text_begins(set, "declare -a ") ? 11 : 0;
    set += shell_name(set);
    set += *set == '+';
    if (*set == '=') {
        shell_command_end(set, &list);
    }
    if (!comment && (rest = behind_command(said, line, &program)) != NULL) {
        shell_command_end(rest, &open);
    }
    return list || open;
}
