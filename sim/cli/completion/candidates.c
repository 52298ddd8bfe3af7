/* An option's or operand's spelling in the help says what it takes: a row of `sources` says which
 * names those are. */
#include "cli/completion/candidates.h"

#include "cli/completion/names.h"
#include "cli/frame/help.h"

#include <string.h>

/* What an argument takes: of which command, or "COMMAND FIRST_OPERAND" (NULL: any), spelt how, or of
 * which option. */
static const struct {
    const char *command, *spelling;
    names_source *names;
} sources[] = {
    {NULL, "--set", names_settings},
    {NULL, "--over", names_axes},
    {NULL, "--minimise", names_axes},
    {NULL, "--maximise", names_axes},
    {NULL, "--system", names_systems},
    {NULL, "--hardware", names_machines},
    {NULL, "--price", names_machines},
    {NULL, "--workload", names_workloads},
    {NULL, "--weights", names_dtypes},
    {"kernels", "--dtype", names_dtypes},
    {NULL, "MODEL", names_models},
    {"advise", "MACHINE", names_machines},
    {"kernels", "MACHINE", names_machines},
    {"validate", "PROFILE", names_machines},
    {"trace generate", "PROFILE", names_trace_profiles},
    {NULL, "SYSTEM", names_systems},
    {NULL, "TRACE", names_traces},
    {NULL, "POLICY", names_policies},
    {"list hardware", "NAME", names_machines},
    {"list models", "NAME", names_models},
};

/* The words before the cursor, as far as they matter. */
struct typed {
    const struct command *command;
    const char *const *words; /* [count] behind the command's name; the last is under the cursor */
    uint32_t count;
    char context[64]; /* the command's name and its first operand */
};

/* ---- the command ---- */

static bool is_group(const struct command *const *commands, const char *word)
{
    while (*commands != NULL && !command_in_group(*commands, word)) {
        commands++;
    }
    return *commands != NULL;
}

static void offer_first_words(const struct command *const *commands, const struct offer *offer)
{
    char last[32] = "";
    for (; *commands != NULL; commands++) {
        char word[sizeof last];
        snprintf(word, sizeof word, "%.*s", (int)strcspn((*commands)->name, " "),
                 (*commands)->name);
        if (strcmp(word, last) != 0) { /* the commands of a group are adjacent */
            offer_name(offer, word, "");
        }
        strcpy(last, word);
    }
    for (const struct program_switch *row = program_switches; row->name != NULL; row++) {
        offer_name(offer, row->name, "");
    }
}

static void offer_second_words(const struct command *const *commands, const char *group,
                               const struct offer *offer)
{
    for (; *commands != NULL; commands++) {
        if (command_in_group(*commands, group)) {
            offer_name(offer, (*commands)->name + strlen(group) + 1, "");
        }
    }
    offer_name(offer, command_help.name, "");
}

/* ---- what an argument takes ---- */

/* Is `spelling`, such as "[FILE...]", "TRACE|IDS.u32" or "MODEL", of this word? */
static bool is_spelt(const char *spelling, const char *word)
{
    spelling += spelling[0] == '[';
    size_t length = strlen(word);
    return strncmp(spelling, word, length) == 0 && strchr(" |.,[]", spelling[length]) != NULL;
}

static names_source *find_source(const struct typed *typed, const char *option,
                                 const char *spelling)
{
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        const char *command = sources[i].command;
        bool here = command == NULL || strcmp(command, typed->command->name) == 0 ||
                    strcmp(command, typed->context) == 0;
        bool named = option != NULL && strcmp(sources[i].spelling, option) == 0;
        if (here && (named || is_spelt(spelling, sources[i].spelling))) {
            return sources[i].names;
        }
    }
    return NULL;
}

static void offer_value(const struct typed *typed, const struct command_option *option,
                        const struct offer *offer)
{
    names_source *names = find_source(typed, option->name, option->argument);
    bool many = option->list || strchr(option->argument, ',') != NULL;
    struct offer item = many ? offer_behind(offer, ",") : *offer;
    if (names == names_axes && strchr(offer_part(offer), '[') != NULL) {
        item = *offer; /* its commas may separate values */
    }
    offer_names(&item, option->values);
    if (names != NULL) {
        names(&item);
    }
}

/* Number `at` of the operands, by its word in the usage line. */
static void offer_operand(const struct typed *typed, uint32_t at, const struct offer *offer)
{
    const struct command *command = typed->command;
    const char *spelling = command->operands;
    for (size_t i = 0; at == 0 && command->kind != NULL && command->kind(i) != NULL; i++) {
        offer_name(offer, command->kind(i), "");
    }
    if (command->kind != NULL && at-- == 0) {
        return;
    }
    for (; at > 0 && strchr(spelling, ' ') != NULL; at--) {
        spelling = strchr(spelling, ' ') + 1;
    }
    names_source *names = find_source(typed, NULL, spelling);
    bool many = strcmp(command->name, "advise") == 0; /* machines, with commas */
    if (names != NULL && at == 0) {
        const struct offer item = many ? offer_behind(offer, ",") : *offer;
        names(&item);
    }
}

static void offer_options(const struct command *command, const struct offer *offer)
{
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        offer_name(offer, option->name, "");
    }
    offer_name(offer, command_help.name, "");
}

/* ---- the words of a command ---- */

/* The option that `word` is, maybe with "=" and a value; NULL if it is none. */
static const struct command_option *option_of(const struct command *command, const char *word)
{
    for (const struct command_option *option = command->options; option->name != NULL; option++) {
        size_t length = strlen(option->name);
        bool letter = option->letter != 0 && word[0] == '-' && word[1] == option->letter;
        if ((letter && word[2] == '\0') || (strncmp(word, option->name, length) == 0 &&
                                            (word[length] == '\0' || word[length] == '='))) {
            return option;
        }
    }
    return NULL;
}

/* The option whose value is under the cursor, as the next word; NULL: none. Counts the operands
 * before the cursor. */
static const struct command_option *candidates_read_before(struct typed *typed, uint32_t *operands)
{
    const struct command_option *open = NULL;
    *operands = 0;
    for (uint32_t i = 0; i + 1 < typed->count; i++) {
        const char *word = typed->words[i];
        const struct command_option *option =
            open == NULL && word[0] == '-' ? option_of(typed->command, word) : NULL;
        if (open == NULL && word[0] != '-' && (*operands)++ == 0) {
            snprintf(typed->context, sizeof typed->context, "%s %.30s", typed->command->name, word);
        }
        open =
            option != NULL && option->argument != NULL && strchr(word, '=') == NULL ? option : NULL;
    }
    return open;
}

static void offer_word(struct typed *typed, FILE *out)
{
    struct offer offer = {out, typed->words[typed->count - 1], 0};
    uint32_t operands;
    const struct command_option *open = candidates_read_before(typed, &operands);
    const struct command_option *here =
        strchr(offer.word, '=') != NULL ? option_of(typed->command, offer.word) : NULL;
    if (open != NULL) {
        offer_value(typed, open, &offer);
    } else if (here != NULL && here->argument != NULL) {
        offer.kept = strlen(here->name) + 1;
        offer_value(typed, here, &offer);
    } else if (offer.word[0] == '-' || operands >= typed->command->most_operands) {
        offer_options(typed->command, &offer);
    } else {
        offer_operand(typed, operands, &offer);
    }
}

void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out)
{
    const struct offer offer = {out, count > 0 ? words[count - 1] : "", 0};
    if (count <= 1) {
        offer_first_words(commands, &offer);
        return;
    }
    bool group = is_group(commands, words[0]);
    if (group && count == 2) {
        offer_second_words(commands, words[0], &offer);
        return;
    }
    char name[64];
    uint32_t own = group ? 2 : 1;
    snprintf(name, sizeof name, "%s%s%s", words[0], group ? " " : "", group ? words[1] : "");
    for (; *commands != NULL; commands++) {
        if (strcmp((*commands)->name, name) == 0) {
            struct typed typed = {*commands, words + own, count - own, ""};
            snprintf(typed.context, sizeof typed.context, "%s", name);
            offer_word(&typed, out);
        }
    }
}
