/* Values of options, by how their rows say that they are read. */
#include "predict/command/server_text.h"

#include "core/node.h"
#include "core/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const expected[] = {
    [SERVER_VALUE_TEXT] = "a name or a path",
    [SERVER_VALUE_NAME] = "a name",
    [SERVER_VALUE_WHOLE] = "a whole number above 0",
    [SERVER_VALUE_LENGTH] = "a whole number above 0, or auto",
    [SERVER_VALUE_SHARE] = "a share above 0 and at most 1",
    [SERVER_VALUE_SWITCH] = "true or false",
    [SERVER_VALUE_SWITCH_OFF] = "true or false",
    [SERVER_VALUE_BYTES] = "a number above 0",
    [SERVER_VALUE_WORD] = "a word",
    [SERVER_VALUE_JSON] = "an object in JSON",
};

const char *server_setting_expected(const struct server_option *option)
{
    return expected[option->value];
}

bool server_setting_is_switch(const struct server_option *option)
{
    return option->value == SERVER_VALUE_SWITCH || option->value == SERVER_VALUE_SWITCH_OFF;
}

static bool invalid(const struct server_text *said, const char *name, const char *value,
                    const char *instead, struct error *why)
{
    error_set(why, said->file, said->line, "'%s' is '%.60s'", name, value);
    return error_expect(why, "%s", instead);
}

/* "41,408", "25.6k", "430913.0", "-1": a number, with commas in a log, and maybe one of the program's units
 * behind it. */
static bool read_number(const struct server_program *program, const char *value, double *out)
{
    char plain[64], *end;
    size_t length = 0;
    uint64_t times = 1;
    struct error unread;
    for (; *value != '\0' && length + 1 < sizeof plain; value++) {
        plain[length] = *value;
        length += *value != ',';
    }
    plain[length] = '\0';
    *out = strtod(plain, &end);
    bool known =
        *end == '\0' || (node_get(program->units, end) != NULL &&
                         node_whole(program->units, end, UNIT_COUNT, UINT32_MAX, &times, &unread));
    *out *= (double)times;
    return known && isdigit((unsigned char)plain[plain[0] == '-']) && fabs(*out) < 1e18;
}

/* Read a number; `out` stays empty if it says nothing. Negative or 0: not set in a log, and invalid in a
 * command; of bytes, 0 is what no size states. */
static bool take_number(const struct server_text *said, const struct server_option *option,
                        const char *value, char *out, size_t size, struct error *why)
{
    double number;
    bool good = read_number(said->program, value, &number);
    if (option->value == SERVER_VALUE_SHARE) {
        good = good && number > 0 && number <= 1;
    } else if (option->value == SERVER_VALUE_BYTES) {
        good = good && number >= 0;
    } else {
        good = good && fabs(number - nearbyint(number)) < 1e-6 && fabs(number) <= UINT32_MAX &&
               (number > 0 || !said->typed);
        number = nearbyint(number);
    }
    if (good && number > 0) {
        snprintf(out, size, option->value == SERVER_VALUE_SHARE ? "%.6g" : "%.15g", number);
    }
    return good || invalid(said, option->name, value, expected[option->value], why);
}

static bool read_switch(const struct server_text *said, const struct server_option *option,
                        const char *value, bool *on, struct error *why)
{
    *on = strcasecmp(value, "true") == 0;
    if (!*on && strcasecmp(value, "false") != 0) {
        return invalid(said, option->name, value, expected[SERVER_VALUE_SWITCH], why);
    }
    *on = *on == (option->value == SERVER_VALUE_SWITCH);
    return true;
}

/* The place of a key. */
static struct stated_key *key_of(struct server_text *said, const char *name, struct error *why)
{
    struct stated_key *key = said->keys.all, *end = key + STATED_MOST - 1;
    while (key < end && key->key != NULL && strcmp(key->key, name) != 0) {
        key++;
    }
    if (key == end) {
        error_set(why, said->file, said->line, "options set more than %d keys of their own",
                  STATED_MOST - STATED_KNOWN - 1);
        return NULL;
    }
    key->key = name;
    return key;
}

/* Set a key. What a word implies gives way to what an option of its own says; and a name that only
 * logs have, to any other. */
static bool put(const struct server_option *option, const char *name, const char *text,
                struct server_text *said, struct error *why)
{
    struct stated_key *key = name != NULL ? key_of(said, name, why) : NULL;
    bool implied = option->value == SERVER_VALUE_WORD;
    if (key == NULL) {
        return name == NULL;
    }
    if (key->value[0] != '\0' &&
        ((implied && !key->implied) || option->value == SERVER_VALUE_NAME)) {
        return true;
    }
    const char *unit = text[0] != '\0' && option->unit != NULL ? option->unit : "";
    snprintf(key->value, sizeof key->value, "%s%s", text, unit);
    snprintf(key->said, sizeof key->said, "%.63s", option->name);
    key->line = said->line;
    key->typed = said->typed;
    key->implied = implied;
    key->of = option->of;
    return true;
}

/* What the row says that the word sets: the row's own key, or keys of its map. In a log a type is
 * "torch.bfloat16". */
static bool take_word(const struct server_option *option, const char *value,
                      struct server_text *said, struct error *why)
{
    char words[256] = "";
    const char *plain = value + (strncmp(value, "torch.", 6) == 0 ? 6 : 0);
    for (size_t i = 0; i < option->words->count; i++) {
        const struct node *word = option->words->children[i];
        if (fnmatch(word->key, plain, 0) == 0) {
            bool good =
                word->kind != NODE_SCALAR || put(option, option->sets, word->text, said, why);
            for (size_t j = 0; good && j < word->count; j++) {
                good = put(option, word->children[j]->key, word->children[j]->text, said, why);
            }
            return good;
        }
        text_append(words, sizeof words, "%s%s", i > 0 ? ", " : "", word->key);
    }
    return invalid(said, option->name, value, words, why);
}

/* Take a value that says something. */
static bool take_stated(const struct server_option *option, const char *value,
                        struct server_text *said, struct error *why)
{
    char text[sizeof said->keys.all->value] = "";
    bool on;
    if (said->typed && strchr(value, '$') != NULL) {
        return invalid(said, option->name, value, "its value: variables are not expanded", why);
    }
    if (strlen(value) >= sizeof text) {
        return invalid(said, option->name, value, "fewer than 256 characters", why);
    }
    if (server_setting_is_switch(option)) {
        bool plain = option->yes == NULL && option->no == NULL;
        if (!read_switch(said, option, value, &on, why)) {
            return false;
        }
        const char *set = plain ? (on ? "yes" : "no") : on ? option->yes : option->no;
        return put(option, option->sets, set != NULL ? set : "", said, why);
    }
    if (option->value == SERVER_VALUE_WORD) {
        return take_word(option, value, said, why);
    }
    bool named = option->value == SERVER_VALUE_TEXT || option->value == SERVER_VALUE_NAME;
    bool unset = option->value == SERVER_VALUE_LENGTH && /* as long as there is room */
                 (strcasecmp(value, "auto") == 0 || strcmp(value, "-1") == 0);
    if (!named && !unset && !take_number(said, option, value, text, sizeof text, why)) {
        return false;
    }
    value = named ? value : text;
    return value[0] == '\0' || put(option, option->sets, value, said, why);
}

bool server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said, struct error *why)
{
    return value[0] == '\0' || strcmp(value, "None") == 0 || strcmp(value, "null") == 0 ||
           take_stated(option, value, said, why) ||
           (option->sets != NULL && server_text_overrides(said, option->sets));
}
