#include "cli/frame/program.h"
#include "core/text.h"
#include "core/version.h"
#include "tables/table.h"

#include <string.h>

static void help_version(const struct program *program, FILE *out)
{
    fprintf(out, "spillway %s%s%s\n", spillway_program,
            program->commit[0] != '\0' ? ", commit " : "", program->commit);
}

const struct program_switch program_switches[] = {
    {"--help", "print this help", help_program},
    {"--version", "print the version, a hash of what computes, and the commit", help_version},
    {NULL, NULL, NULL},
};

bool command_in_group(const struct command *command, const char *group)
{
    size_t length = strlen(group);
    return strncmp(command->name, group, length) == 0 && command->name[length] == ' ';
}

void command_operands_spelling(const struct command *command, char *text, size_t size)
{
    text[0] = '\0';
    for (size_t i = 0; command_kind(command, i) != NULL; i++) {
        text_append(text, size, "%s%s", i > 0 ? "|" : "", command_kind(command, i));
    }
    bool both = text[0] != '\0' && command->operands[0] != '\0';
    text_append(text, size, "%s%s", both ? " " : "", command->operands);
}

void help_entry(const char *name, int width, const char *text, FILE *out)
{
    int indent = width + 3;
    fprintf(out, "  %-*s ", width, name);
    if (strlen(name) > (size_t)width) {
        fprintf(out, "\n%*s", indent, "");
    }
    table_wrap(text, (size_t)indent, out);
    fputc('\n', out);
}

static void print_option(const struct command_option *option, FILE *out)
{
    char spelling[64];
    /* "-o, --output FILE"; "--set KEY=VALUE..." may be given several times. */
    char letter[8] = "";
    if (option->letter != 0) {
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    }
    snprintf(spelling, sizeof spelling, "%s%s%s%s%s", letter, option->name,
             option->argument != NULL ? " " : "", option->argument != NULL ? option->argument : "",
             option->repeats ? "..." : "");
    help_entry(spelling, 22, option->summary, out);
}

void help_command(const struct command *command, FILE *out)
{
    char label[64];
    snprintf(label, sizeof label, "spillway %s: ", command->name);
    table_line(label, command->summary, out);
    fputc('\n', out);
    /* The options stand below; those that have to be given stand here, too. */
    char operands[160], text[320] = "";
    command_operands_spelling(command, operands, sizeof operands);
    text_append(text, sizeof text, "spillway %s%s%s", command->name, operands[0] != '\0' ? " " : "",
                operands);
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        if (option->required) {
            text_append(text, sizeof text, " %s %s", option->name, option->argument);
        }
    }
    text_append(text, sizeof text, "%s", command->options->name != NULL ? " [OPTION...]" : "");
    table_line("usage: ", text, out);
    fputs("\nexample:\n", out);
    for (const char *line = command->example; *line != '\0'; line += line[0] == '\n') {
        size_t length = strcspn(line, "\n");
        fprintf(out, "  %.*s\n", (int)length, line);
        line += length;
    }
    fputs("\noptions:\n", out);
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        print_option(option, out);
    }
    print_option(&command_help, out);
    if (command->more != NULL) {
        fputc('\n', out);
        command->more(out);
    }
}

void help_program(const struct program *program, FILE *out)
{
    fputs(
        "spillway predicts how fast a language model decodes once its KV cache no longer fits the "
        "GPU\n\nusage: spillway COMMAND\n\ncommands:\n",
        out);
    for (const struct command *const *row = program->commands; *row != NULL; row++) {
        help_entry((*row)->name, 14, (*row)->summary, out);
    }
    fputs("\noptions:\n", out);
    for (const struct program_switch *row = program_switches; row->name != NULL; row++) {
        help_entry(row->name, 14, row->summary, out);
    }
    fputs("\n'spillway COMMAND --help' shows the options of a command.\n", out);
}
