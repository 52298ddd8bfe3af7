/* `spillway completion`: what a shell needs to complete the words of a command. The script of each shell only
 * asks: it runs `spillway completion words -- WORD...` with the words behind the program's name up to the
 * cursor, and offers the lines that this prints, or files if there are none. So all shells offer the same,
 * and a name that is new is offered at once. */
#include "cli/frame/arguments.h"
#include "cli/frame/program.h"
#include "cli/report/report_query.h"
#include "predict/scenario/resolve.h"

#include <stdlib.h>
#include <string.h>

struct offer {
    FILE *out;
    const char *word; /* under the cursor, as far as it is typed */
    const char *part; /* of it, which is completed: behind "--set=", "model=", "mechanisms." */
};

/* Print the word with this name, and `ending`, in place of the part that begins it. "=", ".": it goes on. */
static void offer_name(struct offer offer, const char *name, const char *ending)
{
    if (strncmp(name, offer.part, strlen(offer.part)) == 0) {
        fprintf(offer.out, "%.*s%s%s\n", (int)(offer.part - offer.word), offer.word, name, ending);
    }
}

static void offer_names(struct offer offer, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        offer_name(offer, *names, "");
    }
}

static void offer_files(struct offer offer, const struct named_kind *kind)
{
    char **names;
    size_t count;
    bool found = find_names(kind->folder, kind->suffix, &names, &count, ERROR_UNSEEN);
    for (size_t i = 0; found && i < count; i++) {
        offer_name(offer, names[i], "");
        free(names[i]);
    }
    free(found ? names : NULL);
}

static void offer_values(struct offer offer, const char *path)
{
    static const char *const switches[] = {"yes", "no", NULL};
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    bool inside = strncmp(path, "mechanisms.", 11) == 0;
    int place = inside ? name_index(path + 11, NAMES(mechanism_keys)) : -1;
    if (place >= 0) {
        const struct mechanism_key *row = &mechanism_keys[place];
        offer_names(offer, row->type == MECHANISM_SWITCH ? switches : row->values);
        for (size_t i = 0; row->type == MECHANISM_POLICY && policies[i] != NULL; i++) {
            offer_name(offer, policies[i]->name, "");
        }
    }
    for (int i = 0; i < DTYPE_COUNT && strncmp(path, "dtype.", 6) == 0; i++) {
        offer_name(offer, dtype_name((enum dtype)i), "");
    }
    if (key == NULL) {
        return;
    }
    offer_names(offer, key->shape == SCENARIO_SWITCH   ? switches
                       : key->shape == SCENARIO_ENGINE ? server_engine_names(ERROR_UNSEEN)
                                                       : key->words);
    if (key->shape == SCENARIO_NAME || key->shape == SCENARIO_MACHINE) {
        offer_files(offer, key->shape == SCENARIO_NAME ? key->named : &named_machine);
    } else if (key->shape == SCENARIO_TRACE) {
        offer_files(offer, &named_trace);
        offer_name(offer, ENSEMBLE_NAME, "");
        offer_files(offer, &named_trace_profile);
    }
}

/* What follows an option, or is an operand as the help spells it. Of a list, the last item. */
static void offer_argument(struct offer offer, const char *spelling)
{
    static const struct {
        const char *spelling, *key;
    } takes[] = {
        {"--system", "system"}, {"--hardware", "hardware"}, {"--workload", "workload"},
        {"MODEL", "model"},     {"MACHINE", "hardware"},    {"TRACE", "trace"},
        {"PROFILE", "trace"},
    };
    bool axis = strcmp(spelling, "--over") == 0;
    if (axis || strcmp(spelling, "--set") == 0) {
        /* KEY=VALUE of a scenario, or a key. Mechanisms are offered once "mechanisms." is typed: they are many. */
        const char *ending = axis ? "" : "=";
        static const char map[] = "mechanisms.";
        const char *equals = strchr(offer.part, '=');
        char path[SCENARIO_PATH];
        if (equals != NULL) {
            snprintf(path, sizeof path, "%.*s", (int)(equals - offer.part), offer.part);
            offer.part = equals + 1;
            offer_values(offer, path);
        } else if (strncmp(offer.part, map, strlen(map)) == 0) {
            offer.part += strlen(map);
            for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
                offer_name(offer, key->name, ending);
            }
        } else {
            for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
                offer_name(offer, key->name, key->shape == SCENARIO_MECHANISMS ? "." : ending);
            }
        }
    }
    for (size_t i = 0; i < sizeof takes / sizeof takes[0]; i++) {
        if (strncmp(spelling, takes[i].spelling, strlen(takes[i].spelling)) == 0) {
            const char *comma = strrchr(offer.part, ',');
            offer.part = comma != NULL ? comma + 1 : offer.part;
            offer_values(offer, takes[i].key);
        }
    }
}

/* Number `at` of the operands, by its word in the usage line. */
static void offer_operand(struct offer offer, const struct command *command, uint32_t at)
{
    const char *spelling = command->operands;
    for (size_t i = 0; at == 0 && command_kind(command, i) != NULL; i++) {
        offer_name(offer, command_kind(command, i), "");
    }
    if (at == 0 && command->kinds.first != NULL) {
        return;
    }
    for (at -= command->kinds.first != NULL; at > 0 && spelling != NULL; at--) {
        spelling = strchr(spelling, ' ');
        spelling += spelling != NULL;
    }
    if (spelling != NULL) {
        offer_argument(offer, spelling);
    }
}

/* The option with an argument that `word` is, maybe with "=" and a value; NULL if it is none. */
static const struct command_option *option_of(const struct command *command, const char *word)
{
    const struct command_option *option = command->options;
    size_t length = strcspn(word, "=");
    while (option->name != NULL && (option->argument == NULL || strlen(option->name) != length ||
                                    strncmp(word, option->name, length) != 0)) {
        option++;
    }
    return option->name != NULL ? option : NULL;
}

static void offer_word(const struct command *command, const char *const *words, uint32_t count,
                       FILE *out)
{
    const char *word = words[count - 1], *equals = strchr(word, '=');
    struct offer offer = {out, word, word};
    const struct command_option *open = NULL; /* its value is the next word */
    uint32_t operands = 0, least, most;
    arguments_operand_counts(command, &least, &most);
    for (uint32_t i = 0; i + 1 < count; i++) {
        bool is_value = open != NULL;
        open = is_value || strchr(words[i], '=') != NULL ? NULL : option_of(command, words[i]);
        operands += !is_value && words[i][0] != '-';
    }
    if (open == NULL && equals != NULL && (open = option_of(command, word)) != NULL) {
        offer.part = equals + 1;
    }
    if (open != NULL) {
        offer_names(offer, open->values);
        offer_argument(offer, open->name);
    } else if (word[0] == '-' || operands >= most) {
        for (const struct command_option *row = command->options; row->name != NULL; row++) {
            offer_name(offer, row->name, "");
        }
        offer_name(offer, command_help.name, "");
    } else {
        offer_operand(offer, command, operands);
    }
}

void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out)
{
    const char *word = count > 0 ? words[count - 1] : "";
    const struct offer offer = {out, word, word};
    char both[64] = "", first[64], before[64] = "";
    bool group = false;
    snprintf(both, sizeof both, "%s %s", count > 2 ? words[0] : "", count > 2 ? words[1] : "");
    for (; *commands != NULL; commands++) {
        const char *name = (*commands)->name;
        snprintf(first, sizeof first, "%.*s", (int)strcspn(name, " "), name);
        if (count <= 1 && strcmp(first, before) != 0) { /* those of a group are adjacent */
            offer_name(offer, first, "");
        } else if (count == 2 && command_in_group(*commands, words[0])) {
            offer_name(offer, name + strlen(first) + 1, "");
            group = true;
        } else if (count > 1 && strcmp(name, words[0]) == 0) {
            offer_word(*commands, words + 1, count - 1, out);
        } else if (strcmp(name, both) == 0) {
            offer_word(*commands, words + 2, count - 2, out);
        }
        strcpy(before, first);
    }
    for (size_t i = 0; count <= 1 && program_switches[i].name != NULL; i++) {
        offer_name(offer, program_switches[i].name, "");
    }
    if (group) {
        offer_name(offer, command_help.name, "");
    }
}

/* The scripts of shells, completion/spillway.SHELL, and the words that they ask for. */
static const char *const kinds[] = {"bash", "zsh", "fish", "words", NULL};

static bool completion_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    if (strcmp(operands[0], "words") == 0) {
        candidates_print(arguments->commands, operands + 1, count - 1, stdout);
        return true;
    }
    if (count > 1) {
        error_usage(why, NULL, 0, "'completion %s' takes no argument '%s'", operands[0],
                    operands[1]);
        return error_expect(why, "spillway completion %s", operands[0]);
    }
    return plot_copy_file("completion", "spillway", operands[0], stdout, why);
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_completion = {
    .name = "completion",
    .operands = "[-- WORD...]",
    .kinds = {kinds, sizeof *kinds},
    .summary = "print a shell's completion of commands, keys and names, or the words that fit",
    .example = "source <(spillway completion bash)\n"
               "spillway completion words -- simulate --set model=qwen",
    .options = options,
    .run = completion_run,
};
