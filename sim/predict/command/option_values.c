/* Values of options, by how their rows say that they are read; and settings in a line of a log: NAME=value,
 * 'NAME': value, and objects of such. */
#include "predict/command/server_text.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *const server_setting_expected[] = {
    [SERVER_VALUE_TEXT] = "a name or a path",
    [SERVER_VALUE_NAME] = "a name",
    [SERVER_VALUE_WHOLE] = "a whole number above 0",
    [SERVER_VALUE_LENGTH] = "a whole number above 0, or auto",
    [SERVER_VALUE_SHARE] = "a share above 0 and at most 1",
    [SERVER_VALUE_SWITCH] = "true or false",
    [SERVER_VALUE_NUMBER] = "a number above 0",
    [SERVER_VALUE_WORD] = "a word",
    [SERVER_VALUE_JSON] = "an object in JSON",
};

bool server_setting_is_switch(const struct server_option *option)
{
    return option->value == SERVER_VALUE_SWITCH || node_get(option->words, "[Tt]rue") != NULL;
}

/* Refuse the value, unless an override replaces it. */
static void invalid(const struct server_option *option, const char *value, const char *instead,
                    struct server_text *said)
{
    bool type = strcmp(option->name, "dtype") == 0; /* of which it says less than a key */
    const char *key = type ? "dtype.weights" : option->sets;
    if (key == NULL || !server_text_overrides(said, key)) {
        server_text_refuse(said, instead, "'%s' is '%.60s'", option->name, value);
    }
}

/* The place of a key. */
static struct stated_key *key_of(struct server_text *said, const char *name)
{
    struct stated_key *key = said->keys.all, *end = key + STATED_MOST - 1;
    while (key < end && key->key != NULL && strcmp(key->key, name) != 0) {
        key++;
    }
    if (key == end) {
        server_text_refuse(said, NULL, "options set more than %d keys of their own",
                           STATED_MOST - STATED_KNOWN - 1);
        return NULL;
    }
    key->key = name;
    return key;
}

static const char between[] = " ... "; /* "A ... B" in a log replaces what was said before */

/* Set a key. What an option's word implies gives way to an option of its own; a name of logs, and a length
 * that a log mentions, to any other. */
static void put(const struct server_option *option, const char *name, const char *text,
                struct server_text *said)
{
    struct stated_key *key = name != NULL ? key_of(said, name) : NULL;
    if (key == NULL) {
        return;
    }
    ptrdiff_t id = key - said->keys.all;
    bool implied = option->value == SERVER_VALUE_WORD && option->flag != NULL;
    bool words = strchr(option->name, ' ') != NULL;
    double was = strtod(key->value, NULL), is = strtod(text, NULL);
    /* A log says a pool once more for another worker or engine; the least counts. */
    bool pool = id >= STATED_KV_TOKENS && id <= STATED_KV_BYTES && !key->typed && !said->typed;
    if (pool && id == STATED_KV_TOKENS && words) {
        int place = 0; /* those that differ are of several processes */
        struct server_rank *rank = &said->ranks[STATED_REPLICAS];
        while (place < STRAYS - 1 && said->pools[place] != 0 && said->pools[place] != is) {
            place++;
        }
        said->pools[place] = is;
        *rank =
            place > rank->rank ? (struct server_rank){.rank = place, .line = said->line} : *rank;
    }
    /* Drafts are loaded later, and have less. */
    bool most = id == STATED_LOADED || id == STATED_CLASS ||
                (id >= STATED_ALLOCATED_KEYS && id <= STATED_FREE_BEHIND);
    if (key->value[0] != '\0' &&
        ((most && was >= is) ||
         (strstr(option->name, between) == NULL &&
          ((implied && !key->implied) || option->value == SERVER_VALUE_NAME ||
           (option->value == SERVER_VALUE_LENGTH && words) || (pool && was <= is))))) {
        return;
    }
    const char *unit = text[0] != '\0' && option->unit != NULL ? option->unit : "";
    snprintf(key->value, sizeof key->value, "%s%s", text, unit);
    snprintf(key->said, sizeof key->said, "%.63s", option->name);
    key->line = said->line;
    key->typed = said->typed;
    key->implied = implied;
    key->of = option->of;
}

/* Take a number: "41,408", "25.6k", "430913.0", "-1"; with commas in a log, maybe with a unit of the program.
 * 0: not set in a log, where a negative number switches off, and both are invalid in a command; of bytes, 0
 * is what no size states. */
static void take_number(const struct server_option *option, const char *value,
                        struct server_text *said)
{
    const struct node *units = said->program->units;
    char plain[64], text[32], *end;
    size_t length = 0;
    uint64_t times = 1;
    for (const char *at = value; *at != '\0' && length + 1 < sizeof plain; at++) {
        plain[length] = *at;
        length += *at != ',';
    }
    plain[length] = '\0';
    double number = strtod(plain, &end);
    const char *digit = plain + (plain[0] == '-' || plain[0] == '+');
    bool good = *end == '\0' ||
                (!said->typed && text_matches(end, "?( )G?(i)B")) || /* GiB of logs */
                (node_get(units, end) != NULL &&
                 node_whole(units, end, UNIT_COUNT, UINT32_MAX, &times, ERROR_UNSEEN));
    number *= (double)times;
    /* No GPU has a million GiB: a version logged bytes. */
    bool bytes = !said->typed && option->unit != NULL && strcmp(option->unit, "GiB") == 0;
    number /= bytes && number > 1000000 ? 1 << 30 : 1;
    good = good && isdigit((unsigned char)digit[*digit == '.']) && fabs(number) < 1e18;
    bool share = option->value == SERVER_VALUE_SHARE;
    if (share || option->value == SERVER_VALUE_NUMBER) {
        good = good && (share ? number > 0 && number <= 1 : number >= 0);
    } else {
        good = good && fabs(number - nearbyint(number)) < 1e-6 && fabs(number) <= UINT32_MAX &&
               (number > 0 || !said->typed);
        number = nearbyint(number);
    }
    if (!good) {
        invalid(option, value, server_setting_expected[option->value], said);
    } else if (number != 0) {
        snprintf(text, sizeof text, share ? "%.6g" : "%.15g", number);
        put(option, option->sets, text, said);
    }
}

/* What the row says that the word sets: its own key, or keys of its map. A log has "torch.bfloat16". */
static void take_word(const struct server_option *option, const char *value,
                      struct server_text *said)
{
    char words[320] = "";
    const char *plain = value + (text_begins(value, "torch.") ? 6 : 0);
    for (size_t i = 0; i < option->words->count; i++) {
        const struct node *word = option->words->children[i];
        if (text_matches(plain, word->key)) {
            if (word->kind == NODE_SCALAR) {
                put(option, option->sets, word->text, said);
            }
            for (size_t j = 0; j < word->count; j++) {
                const struct node *set = word->children[j];
                const struct stated_key *key =
                    option->sets != NULL ? key_of(said, option->sets) : NULL;
                bool ignored = text_matches(set->key, "@(ignored|told)");
                if (strcmp(set->key, "refused") == 0) {
                    if (option->sets == NULL || !server_text_overrides(said, option->sets)) {
                        server_text_refuse(said, NULL, "'%s' is '%.60s': %s", option->name, value,
                                           set->text);
                    }
                } else if (!ignored) {
                    put(option, set->key, set->text, said);
                } else if (said->typed && key != NULL && key->value[0] != '\0' && key->implied) {
                    invalid(option, value, "one of it and of what an option before says", said);
                } else if (said->typed || strcmp(set->key, "told") == 0 ||
                           isupper((unsigned char)option->flag[0])) { /* a variable */
                    server_text_pass(said, option->flag, set->text);
                }
            }
            return;
        }
        text_append(words, sizeof words, "%s%s", i > 0 ? ", " : "", word->key);
    }
    if (option->sets != NULL) {
        text_append(words, sizeof words, "; or --set %s=", option->sets);
    }
    invalid(option, value, words, said);
}

void server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said)
{
    bool on = strcasecmp(value, "true") == 0, off = strcasecmp(value, "false") == 0;
    bool list = value[0] == '[' && !said->typed; /* a log says the largest, too */
    if (value[0] == '\0' || list || strcmp(value, "None") == 0 || strcmp(value, "null") == 0) {
        return;
    }
    if (said->typed && strchr(value, '$') != NULL) {
        invalid(option, value, "its value: the lines before do not say what the variable is", said);
    } else if (option->value == SERVER_VALUE_WORD) {
        take_word(option, value, said);
    } else if (strlen(value) >= sizeof said->keys.all->value) {
        invalid(option, value, "fewer than 256 characters", said);
    } else if (server_setting_is_switch(option) && !on && !off) {
        invalid(option, value, server_setting_expected[option->value], said);
    } else if (server_setting_is_switch(option)) {
        bool plain = option->yes == NULL && option->no == NULL;
        const char *set = plain ? (on ? "yes" : "no") : on ? option->yes : option->no;
        put(option, option->sets, set != NULL ? set : "", said);
    } else if (option->value == SERVER_VALUE_TEXT || option->value == SERVER_VALUE_NAME) {
        put(option, option->sets, value, said);
    } else if (option->value == SERVER_VALUE_LENGTH &&
               (strcasecmp(value, "auto") == 0 || strcmp(value, "-1") == 0 ||
                (!said->typed && strcmp(value, "reduced") == 0))) {
        said->keys.fits_length = true; /* as long as there is room */
    } else {
        said->keys.fits_length &= option->value != SERVER_VALUE_LENGTH ||
                                  (!said->typed && strstr(option->name, between) == NULL);
        take_number(option, value, said);
    }
}

void server_setting_copy(const char *at, char *out, size_t size)
{
    const char *member = *at == '<' ? at + strcspn(at, ":>,") : ""; /* <OptimizationLevel.O0: 0> */
    at = text_begins(member, ": ") ? member + 2 : at;
    char quote = *at == '\'' || *at == '"' ? *at : '\0';
    const char *ends = ",;)}]|`*>\" \t\v\n"; /* a quote may enclose the whole line */
    size_t length = 0;
    if (*at == '[' && isdigit((unsigned char)at[1])) { /* sizes, of which the largest counts */
        unsigned long most = 0;
        char *end;
        for (at++; isdigit((unsigned char)*at); at = end + strcspn(end, "0123456789]")) {
            unsigned long next = strtoul(at, &end, 10);
            most = next > most ? next : most;
        }
        snprintf(out, size, "%lu", most);
        return;
    }
    at += quote != '\0';
    while (at[length] != '\0' && (quote != '\0' ? at[length] != quote
                                                : strchr(ends, at[length]) == NULL ||
                                                      (at[length] == ',' && length > 0 &&
                                                       isdigit((unsigned char)at[length - 1]) &&
                                                       isdigit((unsigned char)at[length + 1])))) {
        length++;
    }
    if (quote == '\0' && length > 1 && text_begins(at + length - 2, "\\n\"")) {
        length -= 2; /* the line's end in JSON */
    }
    length -= quote == '\0' && length > 0 && at[length - 1] == '.'; /* a sentence ends */
    length = length < size - 1 ? length : size - 1;
    memcpy(out, at, length);
    out[length] = '\0';
}

enum { PATH = 1100, SHORTEST = 3 }; /* names of a log; shorter ones are a command line's */

/* The end of what the value at `at` encloses: "{...}", "Name(...)"; NULL if it encloses nothing. */
static const char *enclosed_end(const char *at)
{
    size_t name = shell_name(at);
    at += name;
    if (*at != '{' && (*at != '(' || name == 0)) {
        return NULL;
    }
    char quote = '\0';
    for (int depth = 0; *at != '\0'; shell_step(&at, &quote)) {
        depth += quote == '\0' && strchr("{([", *at) != NULL;
        depth -= quote == '\0' && strchr("})]", *at) != NULL;
        if (depth == 0) {
            break;
        }
    }
    return at;
}

const char *log_settings_behind(const struct server_text *said, const char *line)
{
    const char *at = NULL;
    for (const struct server_program *of = said->programs; at == NULL && of->file != NULL; of++) {
        at = server_program_after(of->logs, line, false);
    }
    return at;
}

bool log_settings_open(const struct server_text *said, const char *line, bool maybe)
{
    const char *at = log_settings_behind(said, line), *last = line + strlen(line);
    while (last > line && strchr(" \t\v\n", last[-1]) != NULL) {
        last--;
    }
    if (at == NULL || at >= last) {
        return at != NULL && maybe;
    }
    at -= at[-1] == '(' ? 2 : 0; /* "Namespace(" */
    const char *end = enclosed_end(at + strspn(at, " \v\n"));
    return end != NULL ? *end == '\0' : maybe && last > line && last[-1] == ',';
}

/* What is read of objects within objects, and of one line: no server prints more. */
enum { DEEPEST = 8, LINE_MOST = 64 << 10 };

/* A line whose settings are read. `chosen`: it has those alone that the server was told. `list`: where names
 * of its list begin, behind what is within an unknown one; NULL: it has none. */
struct settings_line {
    struct server_text *said;
    const char *list;
    bool chosen;
    int depth;
};

static bool is_switched_off(const char *value)
{
    return text_matches(value, "@(|None|null|none|False|false|0|0.0|-1|[[]|{)");
}

bool server_setting_is_usual(const struct server_option *option, const char *value)
{
    bool on = option->usual != NULL && strcmp(option->usual, "True") == 0;
    bool usual = option->usual != NULL && strcmp(value, option->usual) == 0;
    return on ? strcmp(value, "False") != 0 : usual || is_switched_off(value);
}

/* All names between the two that stand before '=' or ':', with `prefix` and a dot in front. Within an object
 * of an option, settings are those below it. An option that is refused in a command is refused here, too,
 * unless it is off or has its default. */
static void read_pairs(struct settings_line *in, const char *from, const char *end,
                       const char *prefix)
{
    char path[PATH];
    if (in->depth == DEEPEST) {
        return;
    }
    in->depth++;
    for (const char *at = from; at < end;) {
        size_t length = shell_name(at);
        const char *after = at + length + (at[length] == '\'' || at[length] == '"');
        if (in->list != NULL && (text_begins(at, "...") || text_begins(at, "\xe2\x80\xa6"))) {
            server_text_refuse(in->said,
                               "the line whole; or without it, if these have their defaults",
                               "'...' stands for settings left out");
        }
        if (length == 0 || (*after != '=' && *after != ':')) {
            at += length > 0 ? length : 1;
            continue;
        }
        snprintf(path, sizeof path, "%.1000s%s%.*s", prefix, prefix[0] != '\0' ? "." : "",
                 (int)(length < 64 ? length : 64), at);
        bool listed = prefix[0] == '\0' && in->list != NULL && at >= in->list &&
                      islower((unsigned char)path[0]) && (*after == '=' || in->list[-1] == '{');
        after += 1 + strspn(after + 1, " \v");
        const struct server_option *option = server_option_find(in->said->program, path);
        const char *inside = enclosed_end(after);
        bool own = prefix[0] != '\0' || in->chosen ||
                   (option != NULL && option->value == SERVER_VALUE_JSON);
        char value[512];
        server_setting_copy(after, value, sizeof value);
        bool below = strchr(path, '.') != NULL, map = inside != NULL;
        enum server_value as = option != NULL ? option->value : SERVER_VALUE_NONE;
        if (as == SERVER_VALUE_JSON) {
            read_pairs(in, after, map ? inside : after, option->sets);
        } else if (option != NULL && as == SERVER_VALUE_NONE &&
                   (option->harmless
                        ? in->chosen && !below
                        : !server_setting_is_usual(option, value) && !(map && below))) {
            server_text_pass_over(in->said, option, path);
        } else if (below && map) {
            read_pairs(in, after, inside, path);
        } else if (below && as != SERVER_VALUE_NONE) {
            server_setting_take(option, value, in->said);
        }
        if (option == NULL && listed && (in->chosen || !is_switched_off(value))) {
            server_text_pass(in->said, path, "what an unknown argument changes is not known");
        }
        in->list = listed && inside != NULL ? inside : in->list;
        const char *closes = in->chosen && *after != '\0' && strchr("'\"[", *after) != NULL
                                 ? strchr(after + 1, *after == '[' ? ']' : *after)
                                 : NULL;
        /* Settings lie in "args: {...}", too. */
        at = own && inside != NULL ? inside : closes != NULL ? closes + 1 : after;
    }
    in->depth--;
}

void log_settings_read(struct server_text *said, const char *line)
{
    const struct server_program *program = said->program;
    for (size_t i = 0; i < program->option_count; i++) {
        char value[512];
        const struct server_option *option = &program->options[i];
        bool named = option->value != SERVER_VALUE_NONE && option->value != SERVER_VALUE_JSON &&
                     strlen(option->name) >= SHORTEST;
        /* Behind NAME=, 'NAME': or "NAME":; of "A ... B" behind B. */
        const char *name = option->name, *dots = strstr(name, between), *at = named ? line : NULL;
        bool words = strchr(name, ' ') != NULL;
        if (dots != NULL) {
            snprintf(value, sizeof value, "%.*s", (int)(dots - name), name);
            at = named ? strstr(line, value) : NULL;
            name = dots + strlen(between);
        }
        for (; at != NULL && (at = strstr(at, name)) != NULL; at++) {
            const char *end = at + strlen(name);
            end += *end == '\'' || *end == '"' ? 1 + strspn(end + 1, " ") : 0;
            bool sentence = *end == ' ' && words &&
                            isdigit((unsigned char)end[1 + (end[1] == '(' || end[1] == '[')]);
            if ((at == line || (!isalnum((unsigned char)at[-1]) && at[-1] != '_')) &&
                (*end == '=' || *end == ':' || sentence)) {
                end += 1 + strspn(end + 1, sentence ? "(" : " \v");
                server_setting_copy(end, value, sizeof value);
                server_setting_take(option, value, said);
                break;
            }
        }
    }
    static const char *const lists[] = {"non-default args: {", "server_args={", "ServerArgs(",
                                        "Namespace(", " with config:"};
    struct settings_line in = {.said = said};
    for (size_t i = 0; in.list == NULL && i < sizeof lists / sizeof *lists; i++) {
        in.list = strstr(line, lists[i]);
        in.chosen = in.list != NULL && i == 0;
        in.list += in.list != NULL ? strlen(lists[i]) : 0;
    }
    line = in.list != NULL ? in.list : line;
    size_t length = in.chosen ? (size_t)(enclosed_end(line - 1) - line) : strlen(line);
    if (length <= LINE_MOST) {
        read_pairs(&in, line, line + length, "");
    }
}
