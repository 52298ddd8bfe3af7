/* The man page, in the man(7) macros. */
#include "cli/frame/help.h"

#include "core/version.h"
#include "cli/frame/program.h"

#include <string.h>

/* Print text with roff's markup characters escaped. */
static void man_print_text(const char *text, FILE *out)
{
    for (const char *c = text; *c != '\0'; c++) {
        bool starts_line = c == text || c[-1] == '\n';
        if (starts_line && (*c == '.' || *c == '\'')) {
            fputs("\\&", out);
        }
        if (*c == '\\') {
            fputs("\\e", out);
        } else if (*c == '-') {
            fputs("\\-", out);
        } else {
            fputc(*c, out);
        }
    }
}

static void man_print_line(const char *macro, const char *text, FILE *out)
{
    fputs(macro, out);
    man_print_text(text, out);
    fputc('\n', out);
}

static void print_item(const char *spelling, const char *summary, FILE *out)
{
    fputs(".TP\n", out);
    man_print_line(".B ", spelling, out);
    man_print_line("", summary, out);
}

static void man_print_command(const struct command *command, FILE *out)
{
    char operands[128];
    command_operands_spelling(command, operands, sizeof operands);
    fputs(".SS spillway ", out);
    man_print_text(command->name, out);
    man_print_line(operands[0] != '\0' ? " " : "", operands, out);
    man_print_line("", command->summary, out);
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        char spelling[64];
        command_option_spelling(option, spelling, sizeof spelling);
        print_item(spelling, option->summary, out);
    }
    fputs(".PP\nExample:\n.PP\n.nf\n.RS\n", out);
    man_print_line("", command->example, out);
    fputs(".RE\n.fi\n", out);
    if (command->more != NULL) {
        fputs(".PP\n.nf\n", out);
        command->more(out);
        fputs(".fi\n", out);
    }
}

void man_page(const struct program *program, FILE *out)
{
    fprintf(out, ".TH SPILLWAY 1 \"\" \"spillway %s\"\n", SPILLWAY_VERSION);
    fputs(".SH NAME\nspillway \\- ", out);
    man_print_line("", program_summary, out);
    fputs(".SH SYNOPSIS\n.B spillway\n.I COMMAND\n.RI [ OPTION ...]\n.SH OPTIONS\n", out);
    for (const struct program_switch *row = program_switches; row->name != NULL; row++) {
        print_item(row->name, row->summary, out);
    }
    fputs(".SH COMMANDS\n", out);
    for (const struct command *const *row = program->commands; *row != NULL; row++) {
        man_print_command(*row, out);
    }
    fputs(".SH EXIT STATUS\n"
          "0: success; 1: failure; 2: invalid request.\n"
          ".SH ENVIRONMENT\n"
          ".TP\n"
          ".B SPILLWAY_DATA\n"
          "The folder of models, hwprofiles, engines, scenarios, traces and plots. By default the "
          "program looks in the folders above its own.\n",
          out);
}
