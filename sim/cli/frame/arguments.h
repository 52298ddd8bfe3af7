/* The words typed after a command's name, checked against its row. Options may stand anywhere; "--name
 * VALUE", "--name=VALUE", "-o VALUE" and "-oVALUE" are the same, and "--" ends the options. A value that
 * begins with "--" needs the form with "=". An option that takes one value and is given twice is an error.
 * "--name A,B" and "--name A --name B" are the same list; commas within brackets, braces or quotes do not
 * separate. */
#pragma once

#include "cli/frame/command.h"
#include "core/units.h"

/* What was typed for an option; a switch has its name as value. */
struct argument {
    const char **all; /* [count] argv's, or within `items`; owned */
    uint32_t count;
    size_t capacity;
    char *whole, *items; /* of an option that takes a list: "A,B", and its items; owned */
};

struct arguments {
    const struct command *command;
    const struct command *const *commands; /* all of the program; NULL until it is run */
    char *const *typed;                    /* [count] argv's, as they were typed */
    int count;
    struct argument given[COMMAND_MOST_OPTIONS + 1]; /* by option; behind the last one, operands */
    bool help; /* --help was given: nothing else was checked */
};

/* Read argv[0] ... argv[count - 1], the words after the command's name. */
bool arguments_parse(const struct command *command, int count, char *const *argv,
                     struct arguments *out, struct error *why);
void arguments_release(struct arguments *arguments);

/* How many operands the command takes, its kind among them. */
void arguments_operand_counts(const struct command *command, uint32_t *least, uint32_t *most);

bool arguments_ask_help(const char *word);

/* Take from an error the option that it blames, if nobody typed that option: operands and other
 * options are read as if they were --set or --target. */
void arguments_blame(const struct arguments *arguments, struct error *why);

/* The value of the command's option number `option`, a list as "A,B"; NULL when it was not given.
 * arguments_all() gives each value, and each item of a list. */
const char *arguments_text(const struct arguments *arguments, int option);
bool arguments_given(const struct arguments *arguments, int option);
const char *const *arguments_all(const struct arguments *arguments, int option, uint32_t *count);
const char *const *arguments_operands(const struct arguments *arguments, uint32_t *count);

/* Read the whole number of an option that is given, from `least` to `most`; else `*out` stays. */
bool arguments_whole(const struct arguments *arguments, int option, enum unit unit, uint32_t least,
                     uint32_t most, uint32_t *out, struct error *why);

/* The number of the option that several commands have under this name, such as "--db". -1 if the
 * command does not have it; such an option is not given. arguments_shared() is its value. */
int arguments_number(const struct arguments *arguments, const char *name);
const char *arguments_shared(const struct arguments *arguments, const char *name);
