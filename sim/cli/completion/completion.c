/* `spillway completion`: what a shell needs to complete the words of a command.
 *
 * The script of each shell only asks: it runs `spillway completion words -- WORD...` with the words
 * behind the program's name up to the cursor, and offers the lines that this prints, or files if
 * there are none. So all shells offer the same, and a name that is new is offered at once. */

#include "cli/completion/completion.h"

#include <stdlib.h>
#include <string.h>

#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/help.h"
#include "core/find.h"
#include "core/named.h"
#include "decode/mechanisms.h"
#include "model/model.h"
#include "policy/policy.h"
#include "predict/scenario/ensemble.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

/* bash takes "=" and ":" for ends of words, and replaces only what follows the last one. */
static const char bash[] =
    "# bash completion for spillway; `spillway completion bash` prints it.\n"
    "_spillway() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} word before=\n"
    "    local -a words\n"
    "    read -r -a words <<<\"$line\"\n"
    "    case $line in *[[:space:]]) words+=('') ;; esac\n"
    "    word=${words[${#words[@]}-1]}\n"
    "    mapfile -t COMPREPLY < <(\"${words[0]/#\\~/$HOME}\" completion words -- \"${words[@]:1}\" "
    "2>/dev/null)\n"
    "    case $COMP_WORDBREAKS in *[=:]*) before=${word%\"${word##*[=:]}\"} ;; esac\n"
    "    COMPREPLY=(\"${COMPREPLY[@]#\"$before\"}\")\n"
    "    case ${COMPREPLY[*]} in *[=.,[]) compopt -o nospace 2>/dev/null ;; esac\n"
    "}\n"
    "complete -o default -F _spillway spillway\n";

static const char zsh[] =
    "#compdef spillway\n"
    "# zsh completion for spillway; `spillway completion zsh` prints it.\n"
    "_spillway() {\n"
    "    local -a found open\n"
    "    found=(${(f)\"$(${~words[1]} completion words -- \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
    "    (( $#found )) || { _files; return }\n"
    "    open=(${(M)found:#*[=.,[]}) found=(${found:#*[=.,[]})\n"
    "    compadd -Q -- $found\n"
    "    compadd -Q -S '' -- $open\n"
    "}\n"
    "if [ \"$funcstack[1]\" = _spillway ]; then _spillway \"$@\"; else compdef _spillway spillway; fi\n";

static const char fish[] = "# fish completion for spillway; `spillway completion fish` prints it.\n"
                           "function __spillway_words\n"
                           "    set -l words (commandline -opc)\n"
                           "    set -l word (commandline -ct)\n"
                           "    $words[1] completion words -- $words[2..-1] \"$word\" 2>/dev/null\n"
                           "end\n"
                           "complete -c spillway -n 'count (__spillway_words) >/dev/null' -f\n"
                           "complete -c spillway -a '(__spillway_words)'\n";

static const struct {
    const char *name, *script; /* NULL: candidates */
} kinds[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}, {"words", NULL}};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const char *completion_kind(size_t index)
{
    return index < KINDS ? kinds[index].name : NULL;
}

static bool completion_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *const *operands = arguments_operands(arguments, &count);
    size_t kind = 0;
    while (strcmp(kinds[kind].name, operands[0]) != 0) {
        kind++;
    }
    if (kinds[kind].script == NULL) {
        candidates_print(arguments->commands, operands + 1, count - 1, stdout);
    } else if (count > 1) {
        error_usage(why, NULL, 0, "'completion %s' takes no argument '%s'", operands[0],
                    operands[1]);
        return error_expect(why, "spillway completion %s", operands[0]);
    } else {
        fputs(kinds[kind].script, stdout);
    }
    return true;
}

static const struct command_option options[] = {{.name = NULL}};

const struct command command_completion = {
    .name = "completion",
    .operands = "[-- WORD...]",
    .least_operands = 1,
    .most_operands = COMMAND_MANY,
    .kind = completion_kind,
    .summary = "print a shell's completion of commands, keys and names, or the words that fit",
    .example = "source <(spillway completion bash)\n"
               "spillway completion words -- simulate --set model=qwen",
    .options = options,
    .run = completion_run,
};

/* An option's or operand's spelling in the help says what it takes: a row of `sources` says which
 * names those are. */

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

static const char *const switches[] = {"yes", "no", NULL};
static const char mechanisms[] = "mechanisms.", sweep[] = "sweep.", hardware[] = "hardware.";

/* ---- files and words ---- */

static void names_files(const struct offer *offer, const struct named_kind *kind)
{
    char **names;
    size_t count;
    struct error unread;
    if (!find_names(kind->folder, kind->suffix, &names, &count, &unread)) {
        return;
    }
    for (size_t i = 0; i < count; i++) {
        offer_name(offer, names[i], "");
        free(names[i]);
    }
    free(names);
}

void names_models(const struct offer *offer)
{
    names_files(offer, &named_model);
}

void names_machines(const struct offer *offer)
{
    names_files(offer, &named_machine);
}

void names_systems(const struct offer *offer)
{
    names_files(offer, &named_system);
}

void names_trace_profiles(const struct offer *offer)
{
    names_files(offer, &named_trace_profile);
}

void names_traces(const struct offer *offer)
{
    names_files(offer, &named_trace);
    offer_name(offer, ENSEMBLE_NAME, "");
}

void names_workloads(const struct offer *offer)
{
    names_files(offer, &named_workload);
    offer_name(offer, "synthetic:prompt", "=");
    offer_name(offer, "synthetic:lengths", "=");
}

void names_policies(const struct offer *offer)
{
    for (const struct policy_kind *const *policy = policies; *policy != NULL; policy++) {
        offer_name(offer, (*policy)->name, "");
    }
}

void names_dtypes(const struct offer *offer)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        offer_name(offer, dtype_name((enum dtype)i), "");
    }
}

/* ---- values of keys ---- */

static void names_of_mechanism(const struct offer *offer, const char *key)
{
    const struct mechanism_key *row = mechanism_keys;
    while (row->name != NULL && strcmp(row->name, key) != 0) {
        row++;
    }
    if (row->name == NULL) {
        return;
    }
    offer_names(offer, row->type == MECHANISM_SWITCH ? switches : row->values);
    if (row->type == MECHANISM_POLICY) {
        names_policies(offer);
    }
}

static void names_engines(const struct offer *offer)
{
    struct error unread;
    const char *const *names = server_engine_names(&unread);
    if (names != NULL) {
        offer_names(offer, names);
    }
}

static void names_of_part(const struct offer *offer, const char *part)
{
    for (size_t i = 0; named_parts[i] != NULL; i++) {
        if (strcmp(named_parts[i]->what, part) == 0) {
            names_files(offer, named_parts[i]);
        }
    }
}

static void names_of_key(const struct offer *offer, const struct scenario_key *key)
{
    offer_names(offer, key->shape == SCENARIO_SWITCH ? switches : key->words);
    if (key->shape == SCENARIO_NAME && key->named == &named_workload) {
        names_workloads(offer);
    } else if (key->shape == SCENARIO_NAME) {
        names_files(offer, key->named);
    } else if (key->shape == SCENARIO_MACHINE) {
        names_machines(offer);
    } else if (key->shape == SCENARIO_ENGINE) {
        names_engines(offer);
    } else if (key->shape == SCENARIO_TRACE) {
        names_traces(offer);
        names_trace_profiles(offer);
    }
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The values of a key by its path, without "sweep.". */
static void names_of_path(const struct offer *offer, const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    if (key != NULL) {
        names_of_key(offer, key);
    } else if (begins_with(path, "dtype.")) {
        names_dtypes(offer);
    } else if (begins_with(path, hardware)) {
        names_of_part(offer, path + strlen(hardware));
    } else {
        names_of_mechanism(offer, path + (begins_with(path, mechanisms) ? strlen(mechanisms) : 0));
    }
}

static void names_of_setting(const struct offer *offer)
{
    char path[128];
    const char *part = offer_part(offer);
    part += begins_with(part, sweep) ? strlen(sweep) : 0;
    size_t length = strcspn(part, "=");
    if (length < sizeof path) {
        memcpy(path, part, length);
        path[length] = '\0';
        const struct offer value = {offer->out, offer->word,
                                    (size_t)(part + length + 1 - offer->word)};
        const struct offer item = offer_behind(&value, "[, ");
        names_of_path(&item, path);
    }
}

/* ---- keys ---- */

/* Those of maps are offered once their map is typed: there are many. */
static void names_of_keys(const struct offer *offer, const char *ending)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        bool map = key->shape == SCENARIO_MECHANISMS || key->shape == SCENARIO_SWEEP ||
                   key->shape == SCENARIO_CONFIG;
        offer_name(offer, key->name, map ? "." : ending);
    }
}

static void names_of_mechanisms(const struct offer *offer, const char *ending)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        offer_name(offer, key->name, ending);
    }
}

static void names_of_parts(const struct offer *offer, const char *ending)
{
    for (size_t i = 0; named_parts[i] != NULL; i++) {
        offer_name(offer, named_parts[i]->what, ending);
    }
}

void names_settings(const struct offer *offer)
{
    static const struct {
        const char *map;
        void (*names)(const struct offer *, const char *ending);
    } maps[] = {{mechanisms, names_of_mechanisms}, {hardware, names_of_parts}};
    const char *part = offer_part(offer);
    struct offer inside = *offer;
    if (strchr(part, '=') != NULL) {
        names_of_setting(offer);
        return;
    }
    inside.kept += begins_with(part, sweep) ? strlen(sweep) : 0;
    const char *ending = inside.kept > offer->kept ? "=[" : "=";
    for (size_t i = 0; i < sizeof maps / sizeof maps[0]; i++) {
        if (begins_with(offer_part(&inside), maps[i].map)) {
            inside.kept += strlen(maps[i].map);
            maps[i].names(&inside, ending);
            return;
        }
    }
    names_of_keys(&inside, ending);
}

void names_axes(const struct offer *offer)
{
    if (strchr(offer_part(offer), '=') != NULL) {
        names_of_setting(offer);
        return;
    }
    names_of_keys(offer, "");
    names_of_mechanisms(offer, "");
    offer_name(offer, "link", "");
}

const char *offer_part(const struct offer *offer)
{
    return offer->word + offer->kept;
}

void offer_name(const struct offer *offer, const char *name, const char *ending)
{
    const char *part = offer_part(offer);
    if (strncmp(name, part, strlen(part)) == 0) {
        fprintf(offer->out, "%.*s%s%s\n", (int)offer->kept, offer->word, name, ending);
    }
}

void offer_names(const struct offer *offer, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        offer_name(offer, *names, "");
    }
}

struct offer offer_behind(const struct offer *offer, const char *separators)
{
    struct offer behind = *offer;
    for (const char *at = offer_part(offer); *at != '\0'; at++) {
        if (strchr(separators, *at) != NULL) {
            behind.kept = (size_t)(at + 1 - offer->word);
        }
    }
    return behind;
}
