/* Completion for bash: the words that are valid at the cursor, given the words before it; file
 * names if none of them fits. */
#include "cli/frame/help.h"

#include "cli/frame/program.h"

#include <string.h>

/* Length of the group's name, or of the whole name of a command without a group. */
static int first_word(const struct command *command)
{
    return (int)strcspn(command->name, " ");
}

/* Is this the first command of its group? The commands of a group are adjacent. */
static bool starts_group(const struct command *const *commands, size_t i)
{
    int length = first_word(commands[i]);
    return i == 0 || first_word(commands[i - 1]) != length ||
           memcmp(commands[i]->name, commands[i - 1]->name, (size_t)length) != 0;
}

static void print_values(const struct command *command, FILE *out)
{
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        if (option->values != NULL) {
            fprintf(out, "    '%s '*'%s ') words='", command->name, option->name);
            for (const char *const *value = option->values; *value != NULL; value++) {
                fprintf(out, "%s ", *value);
            }
            fputs("' ;;\n", out);
        }
    }
}

static void print_words(const struct command *command, FILE *out)
{
    fprintf(out, "    '%s '*) words='", command->name);
    for (size_t i = 0; command->kind != NULL && command->kind(i) != NULL; i++) {
        fprintf(out, "%s ", command->kind(i));
    }
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        fprintf(out, "%s ", option->name);
    }
    fprintf(out, "%s' ;;\n", command_help.name);
}

static void completion_print_group(const struct command *const *commands, size_t first, FILE *out)
{
    int length = first_word(commands[first]);
    if (commands[first]->name[length] == '\0') {
        return;
    }
    fprintf(out, "    '%.*s ') words='", length, commands[first]->name);
    for (size_t i = first; commands[i] != NULL && (i == first || !starts_group(commands, i)); i++) {
        fprintf(out, "%s ", commands[i]->name + length + 1);
    }
    fprintf(out, "%s' ;;\n", command_help.name);
}

static void print_first_words(const struct command *const *commands, FILE *out)
{
    fputs("    '') words='", out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (starts_group(commands, i)) {
            fprintf(out, "%.*s ", first_word(commands[i]), commands[i]->name);
        }
    }
    for (const struct program_switch *row = program_switches; row->name != NULL; row++) {
        fprintf(out, "%s ", row->name);
    }
    fputs("' ;;\n", out);
}

void completion_bash(const struct program *program, FILE *out)
{
    const struct command *const *commands = program->commands;
    fputs("# bash completion for spillway; `spillway --completion` prints it.\n"
          "_spillway() {\n"
          "    local words='' before\n"
          "    printf -v before '%s ' \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"\n"
          "    [ \"$COMP_CWORD\" -gt 1 ] || before=''\n"
          "    case $before in\n",
          out);
    for (size_t i = 0; commands[i] != NULL; i++) {
        print_values(commands[i], out);
    }
    for (size_t i = 0; commands[i] != NULL; i++) {
        print_words(commands[i], out);
        if (starts_group(commands, i)) {
            completion_print_group(commands, i, out);
        }
    }
    print_first_words(commands, out);
    fputs("    esac\n"
          "    COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
          "}\n"
          "complete -o default -F _spillway spillway\n",
          out);
}
