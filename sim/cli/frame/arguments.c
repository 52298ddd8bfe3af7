#include "cli/frame/arguments.h"

#include "cli/frame/program.h"
#include "core/array.h"
#include "core/text.h"
#include "predict/scenario/scenario_keys.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct command_option command_help = {.name = "--help", .summary = "print this help"};

bool arguments_ask_help(const char *word)
{
    return strcmp(word, command_help.name) == 0 || strcmp(word, "-h") == 0;
}

static uint32_t option_count(const struct command *command)
{
    uint32_t count = 0;
    while (command->options[count].name != NULL) {
        count++;
    }
    assert(count <= COMMAND_MOST_OPTIONS);
    return count;
}

static int option_number(const struct command *command, const char *name)
{
    return name_index(name, NAMES(command->options));
}

static bool unknown_option(const struct command *command, const char *text, size_t length,
                           struct error *why)
{
    const char *names[COMMAND_MOST_OPTIONS + 2];
    char given[64] = "", path[SCENARIO_PATH];
    uint32_t count = option_count(command);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = command->options[i].name;
    }
    names[count] = command_help.name;
    names[count + 1] = NULL;
    strncat(given, text, length < sizeof given ? length : sizeof given - 1);
    error_usage(why, NULL, 0, "unknown option '%s' of '%s'", given, command->name);
    const char *name = given + strspn(given, "-");
    const struct scenario_key *key = scenario_key_find(name, strlen(name));
    const char *nearest = name_nearest(given, NAMES(names)),
               *alias = key != NULL ? key->name : NULL;
    bool begins = nearest != NULL && strncmp(nearest, given, strlen(given)) == 0;
    if (alias == NULL && !begins) { /* an option that begins so is meant, as --gpus by --gpu */
        alias = nearest != NULL ? scenario_alias(name, path) : scenario_suggest(name, path);
    }
    int hint = command->hints != NULL ? name_index(name, NAMES(command->hints)) : -1;
    if (hint >= 0) {
        return error_expect(why, "%s", command->hints[hint].expected);
    }
    if (option_number(command, "--set") >= 0 && alias != NULL) {
        bool map = key != NULL && key->example[0] == '{';
        return error_expect(why, "--set %s=%s", alias, map ? key->example : "VALUE");
    }
    char help[96];
    snprintf(help, sizeof help, "spillway %s --help", command->name);
    name_expect(given, NAMES(names), why);
    return error_rest(why, help);
}

/* Is `text` this option? If so, `*value` is the value that is part of it, or NULL. */
static bool arguments_matches(const struct command_option *option, const char *text,
                              const char **value)
{
    size_t length = strlen(option->name);
    *value = NULL;
    if (strncmp(text, option->name, length) == 0 && (text[length] == '=' || text[length] == '\0')) {
        *value = text[length] == '=' ? text + length + 1 : NULL;
        return true;
    }
    if (option->letter != 0 && text[0] == '-' && text[1] == option->letter) {
        *value = text[2] != '\0' ? text + 2 : NULL;
        return true;
    }
    return false;
}

static bool arguments_check_value(const struct command_option *option, const char *value,
                                  struct error *why)
{
    for (const char *const *known = option->values; known == NULL || *known != NULL; known++) {
        if (known == NULL || strcmp(*known, value) == 0) {
            return true;
        }
    }
    error_usage(why, NULL, 0, "unknown %s '%s' of '%s'", option->argument, value, option->name);
    return name_expect(value, NAMES(option->values), why);
}

static bool argument_add(struct argument *given, const char *text, struct error *why)
{
    if (!array_reserve(&given->all, &given->capacity, given->count + 1, sizeof *given->all, why)) {
        return false;
    }
    given->all[given->count++] = text;
    return true;
}

/* Add each item of the list to the option's, and the list to the whole. */
static bool argument_add_list(struct argument *given, const char *list, struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    if (good) {
        fprintf(file.out, "%s%s%s", given->count > 0 ? given->whole : "",
                given->count > 0 ? "," : "", list);
    }
    free(given->whole);
    free(given->items);
    given->whole = text_close(&file, good, why);
    given->items = given->whole != NULL ? text_duplicate(given->whole, why) : NULL;
    const char *rest = given->items, *item;
    size_t length;
    good = rest != NULL;
    for (given->count = 0; good && text_item(&rest, &item, &length);) {
        good = argument_add(given, item, why);
        ((char *)item)[length] = '\0';
    }
    return good;
}

/* Read the option at `*at`; `*at` advances if its value is the next word. */
static bool arguments_read_option(struct arguments *out, int *at, struct error *why)
{
    const struct command *command = out->command;
    const char *text = out->typed[*at];
    for (uint32_t i = 0; command->options[i].name != NULL; i++) {
        const struct command_option *option = &command->options[i];
        const char *value;
        if (!arguments_matches(option, text, &value)) {
            continue;
        }
        if (option->argument == NULL) {
            return value == NULL ? argument_add(&out->given[i], option->name, why)
                                 : error_usage(why, NULL, 0, "'%s' takes no value", option->name);
        }
        if (value == NULL && *at + 1 < out->count && strncmp(out->typed[*at + 1], "--", 2) != 0) {
            value = out->typed[++*at];
        }
        if (value == NULL) {
            error_usage(why, NULL, 0, "'%s' has no value", option->name);
            return error_expect(why, "%s %s", option->name, option->argument);
        }
        return arguments_check_value(option, value, why) &&
               (option->list ? argument_add_list : argument_add)(&out->given[i], value, why);
    }
    const char *unwanted;
    return arguments_matches(&command_help, text, &unwanted)
               ? error_usage(why, NULL, 0, "'%s' takes no value", command_help.name)
               : unknown_option(command, text, strcspn(text, "="), why);
}

static bool arguments_check_options(const struct arguments *arguments, struct error *why)
{
    const struct command *command = arguments->command;
    for (uint32_t i = 0; command->options[i].name != NULL; i++) {
        const struct command_option *option = &command->options[i];
        uint32_t count = arguments->given[i].count;
        if (count > 1 && !option->repeats && !option->list) {
            return error_usage(why, NULL, 0, "'%s' is given %u times", option->name, count);
        }
        if (count == 0 && option->required) {
            error_usage(why, NULL, 0, "'%s' needs %s", command->name, option->name);
            return error_expect(why, "%s %s", option->name, option->argument);
        }
    }
    return true;
}

const char *command_kind(const struct command *command, size_t index)
{
    return command->kinds.first != NULL ? name_at(command->kinds, index) : NULL;
}

void arguments_operand_counts(const struct command *command, uint32_t *least, uint32_t *most)
{
    bool optional = false;
    *least = *most = command->kinds.first != NULL;
    for (const char *word = command->operands; *word != '\0'; word += *word == ' ') {
        optional = optional || *word == '[';
        *least += !optional;
        *most += 1;
        word += strcspn(word, " ");
    }
    *most = strstr(command->operands, "...") != NULL ? UINT32_MAX : *most;
}

static bool check_operands(const struct arguments *arguments, struct error *why)
{
    const struct command *command = arguments->command;
    uint32_t count, least, most;
    const char *const *operands = arguments_operands(arguments, &count);
    if (count > 0 && command->kinds.first != NULL && name_index(operands[0], command->kinds) < 0) {
        error_usage(why, NULL, 0, "'%s' does not know '%s'", command->name, operands[0]);
        return name_expect(operands[0], command->kinds, why);
    }
    arguments_operand_counts(command, &least, &most);
    if (count >= least && count <= most) {
        return true;
    }
    char spelling[128];
    command_operands_spelling(command, spelling, sizeof spelling);
    if (count > most) {
        error_usage(why, NULL, 0, "'%s' takes no argument '%s'", command->name, operands[most]);
    } else {
        error_usage(why, NULL, 0, "a word is missing after '%s'", command->name);
    }
    return error_expect(why, "spillway %s%s%s", command->name, spelling[0] != '\0' ? " " : "",
                        spelling);
}

bool arguments_parse(const struct command *command, int count, char *const *argv,
                     struct arguments *out, struct error *why)
{
    *out = (struct arguments){.command = command, .typed = argv, .count = count};
    struct argument *operands = &out->given[option_count(command)];
    bool ended = false, good = true;
    for (int at = 0; good && !out->help && at < count; at++) {
        const char *text = argv[at];
        if (ended || text[0] != '-' || text[1] == '\0') {
            good = argument_add(operands, text, why);
        } else if (strcmp(text, "--") == 0) {
            ended = true;
        } else if (arguments_ask_help(text)) {
            out->help = true;
        } else {
            good = arguments_read_option(out, &at, why);
        }
    }
    good = good && (out->help || (arguments_check_options(out, why) && check_operands(out, why)));
    if (!good) {
        arguments_release(out);
    }
    return good;
}

void arguments_blame(const struct arguments *arguments, struct error *why)
{
    const struct command_option *options = arguments->command->options;
    bool typed = strncmp(why->file, "--", 2) != 0;
    for (int i = 0; !typed && options[i].name != NULL; i++) {
        typed = strcmp(why->file, options[i].name) == 0 && arguments_given(arguments, i);
    }
    if (!typed) {
        why->file[0] = '\0';
    }
}

void arguments_release(struct arguments *arguments)
{
    for (size_t i = 0; i <= COMMAND_MOST_OPTIONS; i++) {
        free(arguments->given[i].all);
        free(arguments->given[i].whole);
        free(arguments->given[i].items);
    }
    *arguments = (struct arguments){.command = NULL};
}

const char *const *arguments_all(const struct arguments *arguments, int option, uint32_t *count)
{
    *count = option < 0 ? 0 : arguments->given[option].count;
    return option < 0 ? NULL : arguments->given[option].all;
}

const char *const *arguments_operands(const struct arguments *arguments, uint32_t *count)
{
    return arguments_all(arguments, (int)option_count(arguments->command), count);
}

const char *arguments_text(const struct arguments *arguments, int option)
{
    const struct argument *given = option < 0 ? NULL : &arguments->given[option];
    return given == NULL || given->count == 0 ? NULL
           : given->whole != NULL             ? given->whole
                                              : given->all[0];
}

bool arguments_given(const struct arguments *arguments, int option)
{
    return arguments_text(arguments, option) != NULL;
}

bool arguments_whole(const struct arguments *arguments, int option, enum unit unit, uint32_t least,
                     uint32_t most, uint32_t *out, struct error *why)
{
    const char *text = arguments_text(arguments, option);
    const char *name = text != NULL ? arguments->command->options[option].name : "";
    uint64_t value;
    if (text == NULL) {
        return true;
    }
    if (!units_parse_whole(text, unit, most, NULL, 0, name, &value, why)) {
        return false;
    }
    *out = (uint32_t)value;
    return value >= least || (error_usage(why, NULL, 0, "'%s' is %.40s", name, text),
                              error_expect(why, "%u or more", least));
}

int arguments_number(const struct arguments *arguments, const char *name)
{
    return option_number(arguments->command, name);
}

const char *arguments_shared(const struct arguments *arguments, const char *name)
{
    return arguments_text(arguments, arguments_number(arguments, name));
}
