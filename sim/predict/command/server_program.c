#include "predict/command/server_program.h"

#include "core/array.h"
#include "core/named.h"
#include "predict/command/shell_text.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char folder[] = "engines/commands", suffix[] = "yaml";

static const char *const value_words[] = {"none",   "text",   "name", "whole", "length", "share",
                                          "switch", "number", "word", "json",  NULL};

static const struct node_field option_fields[] = {
    NODE_FIELD("also", TEXTS, server_option, also),
    NODE_FIELD("sets", TEXT, server_option, sets),
    NODE_FIELD("as", WORD, server_option, value, .words = value_words),
    NODE_FIELD("yes", TEXT, server_option, yes),
    NODE_FIELD("no", TEXT, server_option, no),
    NODE_FIELD("unit", TEXT, server_option, unit),
    NODE_FIELD("words", NODE, server_option, words),
    NODE_FIELD("of", TEXT, server_option, of),
    NODE_FIELD("writes", TEXT, server_option, writes),
    {.key = NULL}};

static const struct node_field program_fields[] = {
    NODE_FIELD("name", TEXT, server_program, title, .needed = true),
    NODE_FIELD("system", TEXT, server_program, system, .needed = true),
    NODE_FIELD("tiered", TEXT, server_program, tiered),
    NODE_FIELD("starts", TEXTS, server_program, starts, .needed = true),
    NODE_FIELD("image", TEXT, server_program, image, .needed = true),
    NODE_FIELD("image_serves", YES, server_program, image_serves),
    NODE_FIELD("router", TEXT, server_program, router),
    NODE_FIELD("router_image", TEXT, server_program, router_image),
    NODE_FIELD("logs", TEXTS, server_program, logs),
    NODE_FIELD("others", TEXTS, server_program, others),
    NODE_FIELD("elsewhere", TEXTS, server_program, elsewhere),
    NODE_FIELD("once", TEXTS, server_program, once),
    NODE_FIELD("fails", TEXTS, server_program, sayings[SAYING_FAILS]),
    NODE_FIELD("crashes", TEXTS, server_program, sayings[SAYING_CRASHES]),
    NODE_FIELD("ready", TEXTS, server_program, sayings[SAYING_READY]),
    NODE_FIELD("repeats", TEXTS, server_program, sayings[SAYING_REPEATS]),
    NODE_FIELD("beside", TEXTS, server_program, sayings[SAYING_BESIDE]),
    NODE_FIELD("signs", NODE, server_program, sayings[SAYING_MACHINE]),
    NODE_FIELD("says", NODE, server_program, sayings[SAYING_SETS]),
    NODE_FIELD("metrics", TEXT, server_program, metrics),
    NODE_FIELD("versions", TEXTS, server_program, versions),
    NODE_FIELD("units", NODE, server_program, units),
    NODE_FIELD("block", WHOLE, server_program, block, .unit = UNIT_TOKENS),
    NODE_FIELD("shares_whole", YES, server_program, shares_whole),
    NODE_FIELD("ranks_in_tensor", YES, server_program, ranks_in_tensor),
    NODE_FIELD("options", NODE, server_program, rows[0]),
    NODE_FIELD("ignored", NODE, server_program, rows[1]),
    NODE_FIELD("refused", NODE, server_program, rows[2]),
    NODE_FIELD("unknown", NODE, server_program, rows[3]),
    {.key = NULL}};

/* Has an option that is read as a word its map of words, each with the value of its key, nothing, or
 * a map of keys and their values? */
static bool check_words(const struct node *row, const struct server_option *option,
                        struct error *why)
{
    const struct node *words = option->words;
    bool good = option->value == SERVER_VALUE_WORD ? words != NULL && words->kind == NODE_MAP
                                                   : words == NULL;
    for (size_t i = 0; good && words != NULL && i < words->count; i++) {
        const struct node *keys = words->children[i];
        good = keys->kind != NODE_LIST && (keys->kind != NODE_SCALAR || option->sets != NULL);
        for (size_t j = 0; good && j < keys->count; j++) {
            good = keys->children[j]->kind == NODE_SCALAR &&
                   strlen(keys->children[j]->key) < SERVER_KEY;
        }
    }
    return good || node_error(row, why, "'%s' has no map of words and what they set", row->key);
}

void server_option_plain(char *name)
{
    for (; *name != '\0'; name++) {
        *name = *name == '-' ? '_' : *name;
    }
}

static bool add_option(struct server_program *program, const struct node *at, const char *flag,
                       struct server_option option, struct error *why)
{
    const char *name = flag + strspn(flag, "-");
    if (*name == '\0' || strlen(name) >= sizeof option.name ||
        (option.sets != NULL && strlen(option.sets) >= SERVER_KEY)) {
        node_error(at, why, "'%.80s' is no name of an option, or sets no key of a scenario", flag);
        return error_expect(why, "fewer than %zu letters", sizeof option.name);
    }
    option.flag = flag;
    snprintf(option.name, sizeof option.name, "%s", name);
    char *equals = strchr(option.name, '=');
    if (equals != NULL) {
        *equals = '\0';
        option.usual = strchr(flag, '=') + 1;
    }
    server_option_plain(option.name);
    option.fixed = strchr("*?[", option.name[0]) == NULL;
    if (!array_reserve(&program->options, &program->option_capacity, program->option_count + 1,
                       sizeof *program->options, why)) {
        return false;
    }
    program->options[program->option_count++] = option;
    return true;
}

/* Options by their names, or those that are not read by the reason. */
static bool read_options(struct server_program *program, const struct node *map, bool read,
                         bool harmless, struct error *why)
{
    bool good =
        map == NULL || map->kind == NODE_MAP || node_error(map, why, "'%s' is no map", map->key);
    for (size_t i = 0; good && map != NULL && i < map->count; i++) {
        const struct node *row = map->children[i];
        struct server_option option = {.reason = read ? NULL : row->key, .harmless = harmless};
        good = read ? node_fields_read(row, option_fields, row->key, &option, why) &&
                          check_words(row, &option, why) &&
                          add_option(program, row, row->key, option, why)
                    : node_check_texts(row, why);
        const struct node *names = read ? option.also : row;
        option.writes = NULL;
        for (size_t j = 0; good && names != NULL && j < names->count; j++) {
            good = add_option(program, names->children[j], names->children[j]->text, option, why);
        }
    }
    return good;
}

/* What was read lives as long as the process, also that of a file that failed. */
static struct server_program *programs;
static char **program_files;
static bool programs_are_good;
static struct error programs_fault = {.kind = ERROR_FAILURE,
                                      .found = "no programs in engines/commands, or too many"};

/* Read all files; if one fails, there is none. */
static void programs_read(void)
{
    char path[PATH_MAX];
    size_t count;
    struct error *why = &programs_fault;
    bool good = find_names(folder, suffix, &program_files, &count, why) && count > 0 &&
                count <= SERVER_PROGRAMS_MOST;
    programs = good ? array_zeroed(count + 1, sizeof *programs, why) : NULL;
    good = programs != NULL;
    for (size_t i = 0; good && i < count; i++) {
        struct server_program *at = &programs[i];
        at->file = program_files[i];
        good = find_path(folder, at->file, suffix, path, sizeof path, why) &&
               (at->root = node_load(path, why)) != NULL &&
               node_fields_read(at->root, program_fields, at->file, at, why);
        at->tiered = at->tiered != NULL ? at->tiered : at->system;
        for (int j = 0; good && j < SERVER_ROWS; j++) {
            good = read_options(at, at->rows[j], j == 0, j % 2 == 1, why);
        }
    }
    programs_are_good = good;
}

const struct server_program *server_programs(struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, programs_read);
    if (!programs_are_good) {
        *why = programs_fault;
    }
    return programs_are_good ? programs : NULL;
}

/* Those that are read come first. */
const struct server_option *server_option_find(const struct server_program *program,
                                               const char *name)
{
    const struct server_option *option = program->options, *end = option + program->option_count;
    while (option < end &&
           ((option->fixed && option->name[0] != name[0]) || !text_matches(name, option->name))) {
        option++;
    }
    if (option < end || !text_begins(name, "no_")) {
        return option < end ? option : NULL;
    }
    option = server_option_find(program, name + 3);
    return option != NULL && option->value == SERVER_VALUE_NONE ? option : NULL;
}

const struct server_option *server_option_shortened(const struct server_program *program,
                                                    const char *name)
{
    const struct server_option *found = NULL;
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *option = &program->options[i];
        bool typed = option->reason != NULL || text_begins(option->flag, "--");
        if (typed && text_begins(option->name, name) && strchr(option->name, '.') == NULL) {
            if (found != NULL && (found->sets == NULL || found->sets != option->sets)) {
                return NULL;
            }
            found = option; /* or another spelling of it */
        }
    }
    return found;
}

const struct server_option *server_option_of_any(const struct server_program *all, const char *name,
                                                 const struct server_program **program)
{
    const struct server_option *option = NULL;
    for (; option == NULL && all->file != NULL; all++) {
        option = server_option_find(all, name);
        *program = option != NULL ? all : *program;
    }
    return option;
}

const struct server_option *server_option_suggest(const struct server_program *program,
                                                  const char *name)
{
    const struct server_option *nearest = NULL;
    int least = NAME_FAR;
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *option = &program->options[i];
        bool typed = option->value == SERVER_VALUE_NONE || option->flag[0] == '-';
        int distance = typed ? name_distance(name, option->name) : NAME_FAR;
        nearest = distance < least ? option : nearest;
        least = distance < least ? distance : least;
    }
    return nearest != NULL && nearest->value != SERVER_VALUE_NONE ? nearest : NULL;
}

/* What follows `text` if the line begins with it; else NULL. Where words are apart in it, the line may have
 * more blanks, or end, joined to the next ('\v'). */
static const char *behind_text(const char *line, const char *text)
{
    while (*text != '\0') {
        size_t apart = strspn(text, " "), blanks = apart > 0 ? strspn(line, " \t\v\n") : 0;
        text += apart > 0 ? apart : 1;
        bool ends = *line == '\0' && *text == '\0'; /* in place of the text's last blank */
        if (apart > 0 ? blanks == 0 && !ends : *line != text[-1]) {
            return NULL;
        }
        line += apart > 0 ? blanks : 1;
    }
    return line;
}

/* "minisglang" has none, nor have "lmcache_vllm serve" and "mini-vllm serve" where it has to be a program's whole
 * name; "\\nvllm serve" has. */
const char *server_program_after(const struct node *list, const char *line, bool whole)
{
    const char *behind = NULL;
    for (size_t i = 0; behind == NULL && list != NULL && i < list->count; i++) {
        const char *text = list->children[i]->text;
        for (const char *at = line; behind == NULL && (at = strchr(at, text[0])) != NULL;
             at += *at == ' ' ? strspn(at, " \t\v\n") : 1) { /* of a gap, its beginning */
            char before = at > line && isalpha((unsigned char)*at) ? at[-1] : ' ';
            bool within = (isalpha((unsigned char)before) || (whole && strchr("_-.", before))) &&
                          (at - line < 2 || at[-2] != '\\');
            behind = within ? NULL : behind_text(at, text);
            bool code =
                behind != NULL && behind[-1] == '{'; /* a text of Python, whose variable follows */
            behind = code && strchr("'\"\\}", *behind) == NULL ? NULL : behind;
        }
    }
    return behind;
}

const struct server_program *server_program_of(const char *command, struct error *why)
{
    const struct server_program *of = server_programs(why);
    while (of != NULL && of->file != NULL &&
           server_program_after(of->starts, command, true) == NULL) {
        of++;
    }
    return of != NULL && of->file != NULL ? of : NULL;
}
