/* `spillway completion`: what a shell needs to complete the words of a command.
 *
 * The script of each shell only asks: it runs `spillway completion words -- WORD...` with the words
 * behind the program's name up to the cursor, and offers the lines that this prints, or files if
 * there are none. So all shells offer the same, and a name that is new is offered at once. */
#include "cli/completion/completion.h"

#include "cli/frame/arguments.h"
#include "cli/frame/help.h"
#include "core/find.h"
#include "core/named.h"
#include "decode/mechanisms.h"
#include "model/model.h"
#include "policy/policy.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/scenario_keys.h"
#include "server/server_engine.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is offered: names that begin as the word under the cursor does ---- */

struct offer {
    FILE *out;
    const char *word; /* as far as it is typed */
    size_t kept;      /* its bytes before the part that is completed: "model=", "vllm," */
};

static const char *offer_part(const struct offer *offer)
{
    return offer->word + offer->kept;
}

/* Print the whole word with this name in place of the part, on a line, if the part begins it.
 * `ending` follows the name; an ending of "=", "." or "," says that the word goes on. */
static void offer_name(const struct offer *offer, const char *name, const char *ending)
{
    const char *part = offer_part(offer);
    if (strncmp(name, part, strlen(part)) == 0) {
        fprintf(offer->out, "%.*s%s%s\n", (int)offer->kept, offer->word, name, ending);
    }
}

static void offer_names(const struct offer *offer, const char *const *names)
{
    for (; names != NULL && *names != NULL; names++) {
        offer_name(offer, *names, "");
    }
}

/* The same offer behind the last of these characters in its part. */
static struct offer offer_behind(const struct offer *offer, const char *separators)
{
    struct offer behind = *offer;
    for (const char *at = offer_part(offer); *at != '\0'; at++) {
        if (strchr(separators, *at) != NULL) {
            behind.kept = (size_t)(at + 1 - offer->word);
        }
    }
    return behind;
}

/* ---- names: those of the tables that reading a scenario walks; fewer where the data is missing ---- */

/* Offer all names of one kind. */
typedef void names_source(const struct offer *offer);

static void offer_files(const struct offer *offer, const struct named_kind *kind)
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

static void offer_traces(const struct offer *offer)
{
    offer_files(offer, &named_trace);
    offer_name(offer, ENSEMBLE_NAME, "");
}

static void offer_workloads(const struct offer *offer)
{
    offer_files(offer, &named_workload);
    offer_name(offer, "synthetic:prompt", "=");
    offer_name(offer, "synthetic:lengths", "=");
}

static void offer_policies(const struct offer *offer)
{
    for (const struct policy_kind *const *policy = policies; *policy != NULL; policy++) {
        offer_name(offer, (*policy)->name, "");
    }
}

static void offer_dtypes(const struct offer *offer)
{
    for (int i = 0; i < DTYPE_COUNT; i++) {
        offer_name(offer, dtype_name((enum dtype)i), "");
    }
}

/* ---- values of keys ---- */

static const char *const switches[] = {"yes", "no", NULL};
static const char mechanisms[] = "mechanisms.", sweep[] = "sweep.", hardware[] = "hardware.";

static void offer_mechanism(const struct offer *offer, const char *key)
{
    for (const struct mechanism_key *row = mechanism_keys; row->name != NULL; row++) {
        if (strcmp(row->name, key) == 0) {
            offer_names(offer, row->type == MECHANISM_SWITCH ? switches : row->values);
            if (row->type == MECHANISM_POLICY) {
                offer_policies(offer);
            }
        }
    }
}

static void offer_key(const struct offer *offer, const struct scenario_key *key)
{
    struct error unread;
    offer_names(offer, key->shape == SCENARIO_SWITCH ? switches : key->words);
    if (key->shape == SCENARIO_NAME && key->named == &named_workload) {
        offer_workloads(offer);
    } else if (key->shape == SCENARIO_NAME) {
        offer_files(offer, key->named);
    } else if (key->shape == SCENARIO_MACHINE) {
        offer_files(offer, &named_machine);
    } else if (key->shape == SCENARIO_ENGINE) {
        offer_names(offer, server_engine_names(&unread));
    } else if (key->shape == SCENARIO_TRACE) {
        offer_traces(offer);
        offer_files(offer, &named_trace_profile);
    }
}

/* The bytes of `start` if the text begins with it, or 0. */
static size_t begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0 ? strlen(start) : 0;
}

/* The values of a key by its path, without "sweep.". */
static void offer_path(const struct offer *offer, const char *path)
{
    const struct scenario_key *key = scenario_key_find(path, strlen(path));
    size_t part = begins_with(path, hardware);
    if (key != NULL) {
        offer_key(offer, key);
    } else if (begins_with(path, "dtype.")) {
        offer_dtypes(offer);
    } else if (part == 0) {
        offer_mechanism(offer, path + begins_with(path, mechanisms));
    }
    for (size_t i = 0; part > 0 && named_parts[i] != NULL; i++) {
        if (strcmp(named_parts[i]->what, path + part) == 0) {
            offer_files(offer, named_parts[i]);
        }
    }
}

/* Behind the "=", also in a list: "sweep.system=[vllm,retro". */
static void offer_setting(const struct offer *offer)
{
    char path[128];
    const char *part = offer_part(offer);
    part += begins_with(part, sweep);
    size_t length = strcspn(part, "=");
    if (length < sizeof path) {
        memcpy(path, part, length);
        path[length] = '\0';
        const struct offer value = {offer->out, offer->word,
                                    (size_t)(part + length + 1 - offer->word)};
        const struct offer item = offer_behind(&value, "[, ");
        offer_path(&item, path);
    }
}

/* ---- keys ---- */

/* Those of maps are offered once their map is typed: there are many. */
static void offer_keys(const struct offer *offer, const char *ending)
{
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        bool map = key->shape == SCENARIO_MECHANISMS || key->shape == SCENARIO_SWEEP ||
                   key->shape == SCENARIO_CONFIG;
        offer_name(offer, key->name, map ? "." : ending);
    }
}

static void offer_mechanisms(const struct offer *offer, const char *ending)
{
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        offer_name(offer, key->name, ending);
    }
}

/* KEY=VALUE of a scenario. */
static void offer_settings(const struct offer *offer)
{
    const char *part = offer_part(offer);
    struct offer inside = *offer;
    if (strchr(part, '=') != NULL) {
        offer_setting(offer);
        return;
    }
    inside.kept += begins_with(part, sweep);
    const char *ending = inside.kept > offer->kept ? "=[" : "=";
    size_t mechanism = begins_with(offer_part(&inside), mechanisms);
    size_t hardware_part = begins_with(offer_part(&inside), hardware);
    inside.kept += mechanism + hardware_part;
    if (mechanism > 0) {
        offer_mechanisms(&inside, ending);
    } else if (hardware_part == 0) {
        offer_keys(&inside, ending);
    }
    for (size_t i = 0; hardware_part > 0 && named_parts[i] != NULL; i++) {
        offer_name(&inside, named_parts[i]->what, ending);
    }
}

/* Keys and mechanisms that can be an axis; behind a "=" as above. */
static void offer_axes(const struct offer *offer)
{
    if (strchr(offer_part(offer), '=') != NULL) {
        offer_setting(offer);
        return;
    }
    offer_keys(offer, "");
    offer_mechanisms(offer, "");
    offer_name(offer, "link", "");
}

/* ---- what an argument takes ---- */

/* An option's or operand's spelling in the help says what it takes. Of which command, or "COMMAND
 * FIRST_OPERAND" (NULL: any), spelt how, or of which option; names of files, or others. */
static const struct names_of {
    const char *command, *spelling;
    const struct named_kind *files;
    names_source *others;
} sources[] = {
    {NULL, "--set", NULL, offer_settings},
    {NULL, "--over", NULL, offer_axes},
    {NULL, "--minimise", NULL, offer_axes},
    {NULL, "--maximise", NULL, offer_axes},
    {NULL, "--system", &named_system, NULL},
    {NULL, "--hardware", &named_machine, NULL},
    {NULL, "--price", &named_machine, NULL},
    {NULL, "--workload", NULL, offer_workloads},
    {NULL, "--weights", NULL, offer_dtypes},
    {"kernels", "--dtype", NULL, offer_dtypes},
    {NULL, "MODEL", &named_model, NULL},
    {"advise", "MACHINE", &named_machine, NULL},
    {"kernels", "MACHINE", &named_machine, NULL},
    {"validate", "PROFILE", &named_machine, NULL},
    {"trace generate", "PROFILE", &named_trace_profile, NULL},
    {NULL, "SYSTEM", &named_system, NULL},
    {NULL, "TRACE", NULL, offer_traces},
    {NULL, "POLICY", NULL, offer_policies},
    {"list hardware", "NAME", &named_machine, NULL},
    {"list models", "NAME", &named_model, NULL},
    {"list model", "NAME", &named_model, NULL},
    {NULL, NULL, NULL, NULL},
};

/* The words before the cursor, as far as they matter. */
struct typed {
    const struct command *command;
    const char *const *words; /* [count] behind the command's name; the last is under the cursor */
    uint32_t count;
    char context[64]; /* the command's name and its first operand */
};

/* Is `spelling`, such as "[FILE...]", "TRACE|IDS.u32" or "MODEL", of this word? */
static bool is_spelt(const char *spelling, const char *word)
{
    spelling += spelling[0] == '[';
    size_t length = strlen(word);
    return strncmp(spelling, word, length) == 0 && strchr(" |.,[]", spelling[length]) != NULL;
}

/* The names that an option (NULL: an operand) of this spelling takes. */
static const struct names_of *find_source(const struct typed *typed, const char *option,
                                          const char *spelling)
{
    const struct names_of *source = sources;
    for (; source->spelling != NULL; source++) {
        const char *command = source->command;
        bool here = command == NULL || strcmp(command, typed->command->name) == 0 ||
                    strcmp(command, typed->context) == 0;
        if (here && ((option != NULL && strcmp(source->spelling, option) == 0) ||
                     is_spelt(spelling, source->spelling))) {
            break;
        }
    }
    return source;
}

static void offer_source(const struct offer *offer, const struct names_of *source)
{
    if (source->files != NULL) {
        offer_files(offer, source->files);
    } else if (source->others != NULL) {
        source->others(offer);
    }
}

static void offer_value(const struct typed *typed, const struct command_option *option,
                        const struct offer *offer)
{
    const struct names_of *source = find_source(typed, option->name, option->argument);
    bool many = option->list || strchr(option->argument, ',') != NULL;
    struct offer item = many ? offer_behind(offer, ",") : *offer;
    if (source->others == offer_axes && strchr(offer_part(offer), '[') != NULL) {
        item = *offer; /* its commas may separate values */
    }
    offer_names(&item, option->values);
    offer_source(&item, source);
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
    bool many = strcmp(command->name, "advise") == 0; /* machines, with commas */
    if (at == 0) {
        const struct offer item = many ? offer_behind(offer, ",") : *offer;
        offer_source(&item, find_source(typed, NULL, spelling));
    }
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
static const struct command_option *read_words_before(struct typed *typed, uint32_t *operands)
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
    const struct command_option *open = read_words_before(typed, &operands);
    const struct command_option *here =
        strchr(offer.word, '=') != NULL ? option_of(typed->command, offer.word) : NULL;
    if (open != NULL) {
        offer_value(typed, open, &offer);
    } else if (here != NULL && here->argument != NULL) {
        offer.kept = strlen(here->name) + 1;
        offer_value(typed, here, &offer);
    } else if (offer.word[0] == '-' || operands >= typed->command->most_operands) {
        for (const struct command_option *row = typed->command->options; row->name != NULL; row++) {
            offer_name(&offer, row->name, "");
        }
        offer_name(&offer, command_help.name, "");
    } else {
        offer_operand(typed, operands, &offer);
    }
}

void candidates_print(const struct command *const *commands, const char *const *words,
                      uint32_t count, FILE *out)
{
    const struct offer offer = {out, count > 0 ? words[count - 1] : "", 0};
    struct command_words valid;
    char name[64];
    uint32_t own = count > 1 && command_words(commands, words[0], &valid) > 0 ? 2 : 1;
    if (count <= own) {
        command_words(commands, own == 2 ? words[0] : NULL, &valid);
        offer_names(&offer, valid.names);
        if (own == 2) {
            offer_name(&offer, command_help.name, "");
        }
        return;
    }
    snprintf(name, sizeof name, "%s%s%s", words[0], own == 2 ? " " : "", own == 2 ? words[1] : "");
    for (; *commands != NULL; commands++) {
        if (strcmp((*commands)->name, name) == 0) {
            struct typed typed = {*commands, words + own, count - own, ""};
            snprintf(typed.context, sizeof typed.context, "%s", name);
            offer_word(&typed, out);
        }
    }
}

/* ---- the command ---- */

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
