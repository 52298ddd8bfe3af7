#include "predict/command/server_program.h"

#include "core/array.h"
#include "core/named.h"
#include "core/name.h"
#include "core/node.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char folder[] = "engines/commands", suffix[] = "yaml";

/* ---- keys -------------------------------------------------------------------------------- */

static const char *const value_words[] = {"none",   "text",  "name", "whole", "length", "share",
                                          "switch", "bytes", "word", "json",  NULL};

/* A row, and what is read by code of its own. */
struct option_read {
    struct server_option option;
    const struct node *also;
};
static const struct node_field option_fields[] = {
    NODE_FIELD("also", TEXTS, option_read, also),
    NODE_FIELD("sets", TEXT, option_read, option.sets),
    NODE_FIELD("as", WORD, option_read, option.value, .words = value_words),
    NODE_FIELD("yes", TEXT, option_read, option.yes),
    NODE_FIELD("no", TEXT, option_read, option.no),
    NODE_FIELD("unit", TEXT, option_read, option.unit),
    NODE_FIELD("words", NODE, option_read, option.words),
    NODE_FIELD("of", TEXT, option_read, option.of),
    NODE_FIELD("writes", TEXT, option_read, option.writes),
    {.key = NULL}};

struct program_read {
    struct server_program program;
    const struct node *options, *refused, *ignored, *unknown;
};
static const struct node_field program_fields[] = {
    NODE_FIELD("name", TEXT, program_read, program.title),
    NODE_FIELD("system", TEXT, program_read, program.system),
    NODE_FIELD("tiered", TEXT, program_read, program.tiered),
    NODE_FIELD("starts", TEXTS, program_read, program.starts),
    NODE_FIELD("image", TEXT, program_read, program.image),
    NODE_FIELD("image_serves", YES, program_read, program.image_serves),
    NODE_FIELD("router", TEXT, program_read, program.router),
    NODE_FIELD("router_image", TEXT, program_read, program.router_image),
    NODE_FIELD("logs", TEXTS, program_read, program.logs),
    NODE_FIELD("others", TEXTS, program_read, program.others),
    NODE_FIELD("elsewhere", TEXTS, program_read, program.elsewhere),
    NODE_FIELD("once", TEXTS, program_read, program.once),
    NODE_FIELD("fails", TEXTS, program_read, program.fails),
    NODE_FIELD("says", NODE, program_read, program.says),
    NODE_FIELD("metrics", TEXT, program_read, program.metrics),
    NODE_FIELD("versions", TEXTS, program_read, program.versions),
    NODE_FIELD("units", NODE, program_read, program.units),
    NODE_FIELD("block", WHOLE, program_read, program.block, .unit = UNIT_TOKENS),
    NODE_FIELD("ranks_in_tensor", YES, program_read, program.ranks_in_tensor),
    NODE_FIELD("options", NODE, program_read, options),
    NODE_FIELD("refused", NODE, program_read, refused),
    NODE_FIELD("ignored", NODE, program_read, ignored),
    NODE_FIELD("unknown", NODE, program_read, unknown),
    {.key = NULL}};

/* ---- reading ----------------------------------------------------------------------------- */

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

static bool add_option(struct server_program *program, const struct node *at, const char *flag,
                       struct server_option option, struct error *why)
{
    const char *name = flag + strspn(flag, "-");
    if (*name == '\0' || strlen(name) >= sizeof option.name) {
        node_error(at, why, "'%.80s' is no name of an option", flag);
        return error_expect(why, "fewer than %zu letters", sizeof option.name);
    }
    if (option.sets != NULL && strlen(option.sets) >= SERVER_KEY) {
        return node_error(at, why, "'%.80s' is no key of a scenario", option.sets);
    }
    option.flag = flag;
    snprintf(option.name, sizeof option.name, "%s", name);
    char *equals = strchr(option.name, '=');
    if (equals != NULL) {
        *equals = '\0';
        option.usual = strchr(flag, '=') + 1;
    }
    for (char *c = option.name; *c != '\0'; c++) {
        *c = *c == '-' ? '_' : *c;
    }
    if (!array_reserve(&program->options, &program->option_capacity, program->option_count + 1,
                       sizeof *program->options, why)) {
        return false;
    }
    program->options[program->option_count++] = option;
    return true;
}

static bool read_options(struct server_program *program, const struct node *map, struct error *why)
{
    bool good = map == NULL || map->kind == NODE_MAP ||
                node_error(map, why, "'options' is no map of options");
    for (size_t i = 0; good && map != NULL && i < map->count; i++) {
        const struct node *row = map->children[i];
        struct option_read read = {.option = {.sets = NULL}};
        good = node_fields_read(row, option_fields, row->key, &read, why) &&
               check_words(row, &read.option, why) &&
               add_option(program, row, row->key, read.option, why);
        for (size_t j = 0; good && read.also != NULL && j < read.also->count; j++) {
            struct server_option alias = read.option;
            alias.writes = NULL;
            good = add_option(program, row, read.also->children[j]->text, alias, why);
        }
    }
    return good;
}

/* Options that are not read, by the reason. */
static bool read_unread(struct server_program *program, const struct node *map, bool harmless,
                        struct error *why)
{
    bool good = map == NULL || map->kind == NODE_MAP ||
                node_error(map, why, "'%s' is no map of reasons", map->key);
    for (size_t i = 0; good && map != NULL && i < map->count; i++) {
        const struct node *names = map->children[i];
        good = node_check_texts(names, why);
        for (size_t j = 0; good && j < names->count; j++) {
            const struct server_option option = {.reason = names->key, .harmless = harmless};
            good = add_option(program, names->children[j], names->children[j]->text, option, why);
        }
    }
    return good;
}

static bool program_read(struct server_program *program, struct error *why)
{
    struct program_read read = {.program = *program};
    if (!node_fields_read(program->root, program_fields, program->file, &read, why)) {
        return false;
    }
    *program = read.program;
    if (program->title == NULL || program->system == NULL || program->starts == NULL ||
        program->image == NULL) {
        node_error(program->root, why, "'%s' is incomplete", program->file);
        return error_expect(why, "name, system, starts and image");
    }
    program->tiered = program->tiered != NULL ? program->tiered : program->system;
    return read_options(program, read.options, why) &&
           read_unread(program, read.ignored, true, why) &&
           read_unread(program, read.refused, false, why) &&
           read_unread(program, read.unknown, true, why);
}

/* What was read lives as long as the process. */
static struct server_program *programs;
static size_t program_count;
static char **program_files;
static struct error programs_fault = {.kind = ERROR_FAILURE,
                                      .found = "no programs in engines/commands"};

/* Read all files; if one fails, there is none. */
static void programs_read(void)
{
    char path[PATH_MAX];
    size_t count, read = 0;
    struct error *why = &programs_fault;
    bool good = find_names(folder, suffix, &program_files, &count, why) &&
                (programs = array_zeroed(count, sizeof *programs, why)) != NULL;
    for (; good && read < count; read++) {
        struct server_program *program = &programs[read];
        program->file = program_files[read];
        program->root = find_path(folder, program->file, suffix, path, sizeof path, why)
                            ? node_load(path, why)
                            : NULL;
        good = program->root != NULL && program_read(program, why);
    }
    program_count = good ? count : 0;
}

const struct server_program *server_programs(size_t *count, struct error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, programs_read);
    *count = program_count;
    if (program_count == 0) {
        *why = programs_fault;
    }
    return program_count > 0 ? programs : NULL;
}

/* ---- finding ----------------------------------------------------------------------------- */

static const struct server_option *option_named(const struct server_program *program,
                                                const char *name, bool read)
{
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *option = &program->options[i];
        if ((option->value != SERVER_VALUE_NONE) == read && fnmatch(option->name, name, 0) == 0) {
            return option;
        }
    }
    return NULL;
}

const struct server_option *server_option_find(const struct server_program *program,
                                               const char *name)
{
    const struct server_option *option = option_named(program, name, true);
    option = option != NULL ? option : option_named(program, name, false);
    if (option == NULL && strncmp(name, "no_", 3) == 0) {
        option = option_named(program, name + 3, false);
    }
    return option;
}

const struct server_option *server_option_shortened(const struct server_program *program,
                                                    const char *name)
{
    const struct server_option *found = NULL;
    for (size_t i = 0; i < program->option_count; i++) {
        const struct server_option *option = &program->options[i];
        bool typed = option->reason != NULL || strncmp(option->flag, "--", 2) == 0;
        if (typed && strncmp(option->name, name, strlen(name)) == 0 &&
            strchr(option->name, '.') == NULL) {
            if (found != NULL && (found->sets == NULL || found->sets != option->sets)) {
                return NULL;
            }
            found = option; /* or another spelling of it */
        }
    }
    return found;
}

/* Names of variables are in capitals. */
const struct server_option *server_variable(const struct server_program *programs, size_t count,
                                            const char *name, const struct server_program **program)
{
    for (size_t i = 0; i < count && isupper((unsigned char)name[0]); i++) {
        const struct server_option *option = server_option_find(&programs[i], name);
        if (option != NULL) {
            *program = &programs[i];
            return option;
        }
    }
    return NULL;
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

/* What follows `text` if the line begins with it; else NULL. Where words are apart in it, the line may have more
 * blanks, or end, joined to the next ('\v'). */
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

const char *server_program_after(const struct node *list, const char *line)
{
    const char *behind = NULL;
    for (size_t i = 0; behind == NULL && list != NULL && i < list->count; i++) {
        const char *text = list->children[i]->text;
        for (const char *at = line; behind == NULL && (at = strchr(at, text[0])) != NULL; at++) {
            bool within = at > line && isalpha((unsigned char)*at) &&
                          isalpha((unsigned char)at[-1]) &&
                          (at - line < 2 || at[-2] != '\\'); /* "minisglang", not "\nvllm" */
            behind = within ? NULL : behind_text(at, text);
        }
    }
    return behind;
}

const struct server_program *server_program_of(const char *command, struct error *why)
{
    size_t count;
    const struct server_program *all = server_programs(&count, why);
    for (size_t i = 0; i < count; i++) {
        if (server_program_after(all[i].starts, command) != NULL) {
            return &all[i];
        }
    }
    return NULL;
}
