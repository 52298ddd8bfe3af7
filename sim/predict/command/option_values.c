/* Values of options, by how their rows say that they are read. */
#include "predict/command/server_text.h"

#include "core/node.h"
#include "core/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
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
    [SERVER_VALUE_TWO_BYTES] = "auto, bfloat16, float16 or half; 4 bytes a weight are not modelled",
    [SERVER_VALUE_KV] = "auto, bfloat16, float16, or a form of fp8, int8, int4, nvfp4 or fp4_e2m1",
    [SERVER_VALUE_WEIGHTS] = "a method of quantization",
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

/* Digits, with commas in the whole part of a log's number: returns what follows them, `*number` in
 * units of 1 / `*parts`. A number past 32 bits stays past them. */
static const char *read_digits(const char *at, uint64_t *number, uint64_t *parts)
{
    enum { MOST_PARTS = 1000000000 };
    bool fraction = false;
    for (*number = 0, *parts = 1;; at++) {
        bool digit = isdigit((unsigned char)*at), keeps = !fraction || *parts < MOST_PARTS;
        if (digit && keeps && *number < UINT64_MAX / 10 - 10) {
            *number = 10 * *number + (uint64_t)(*at - '0');
            *parts *= fraction ? 10 : 1;
        } else if (*at == '.' && !fraction && isdigit((unsigned char)at[1])) {
            fraction = true;
        } else if (!digit && (*at != ',' || fraction)) {
            return at;
        }
    }
}

/* "k", "Ki": how many one of the program's units is. */
static bool read_multiple(const struct server_program *program, const char *unit, uint64_t *out)
{
    struct error unread;
    return node_get(program->units, unit) != NULL &&
           node_whole(program->units, unit, UNIT_COUNT, UINT32_MAX, out, &unread);
}

/* "41,408", "2048", "25.6k", "8K", "430913.0". Only decimal units may follow a fraction. */
static bool parse_whole(const struct server_program *program, const char *text, uint64_t *out)
{
    uint64_t number, parts, times = 1;
    const char *end = read_digits(text, &number, &parts);
    bool known = *end == '\0' || read_multiple(program, end, &times);
    if (!isdigit((unsigned char)*text) || !known || number / parts > UINT32_MAX) {
        return false;
    }
    *out = number / parts * times + number % parts * times / parts;
    return *out <= UINT32_MAX && (number % parts == 0 || times % 1000 == 0);
}

/* Negative or 0: not set in a log, and invalid in a command. */
static bool server_setting_read_whole(const struct server_text *said, const char *name,
                                      const char *value, char *out, size_t size, struct error *why)
{
    uint64_t number;
    bool minus = *value == '-', good = parse_whole(said->program, value + minus, &number);
    bool counts = good && !minus && number > 0;
    if (!good || (said->typed && !counts)) {
        return invalid(said, name, value, expected[SERVER_VALUE_WHOLE], why);
    }
    if (counts) {
        snprintf(out, size, "%" PRIu64, number);
    }
    return true;
}

static bool server_setting_read_share(const struct server_text *said, const char *name,
                                      const char *value, char *out, size_t size, struct error *why)
{
    char *end;
    double share = strtod(value, &end);
    if (end == value || *end != '\0' || !(share > 0 && share <= 1)) {
        return invalid(said, name, value, expected[SERVER_VALUE_SHARE], why);
    }
    snprintf(out, size, "%.6g", share);
    return true;
}

/* A number, and maybe one of the server's units behind it. 0 is what no size states. */
static bool read_units(const struct server_text *said, const struct server_option *option,
                       const char *value, char *out, size_t size, struct error *why)
{
    char *end;
    double number = strtod(value, &end);
    uint64_t times = 1;
    bool known = *end == '\0' || read_multiple(said->program, end, &times);
    number *= (double)times;
    if (end == value || !known || !(number >= 0 && number < 1e18)) {
        return invalid(said, option->name, value, expected[SERVER_VALUE_BYTES], why);
    }
    if (number > 0) {
        snprintf(out, size, "%.15g", number);
    }
    return true;
}

/* Types as engines call them, and their names here; "" is what the model has, as any of two bytes. What
 * other methods of quantization mean is in the model's config.json. */
static const struct {
    enum server_value value;
    const char *name, *dtype; /* name: a pattern (fp8_e5m2, int8_per_token_head, awq_marlin) */
} types[] = {
    {SERVER_VALUE_TWO_BYTES, "auto", ""},
    {SERVER_VALUE_TWO_BYTES, "bfloat16", ""},
    {SERVER_VALUE_TWO_BYTES, "float16", ""},
    {SERVER_VALUE_TWO_BYTES, "half", ""},
    {SERVER_VALUE_KV, "auto", ""},
    {SERVER_VALUE_KV, "bfloat16", "bf16"},
    {SERVER_VALUE_KV, "bf16", "bf16"},
    {SERVER_VALUE_KV, "float16", "bf16"},
    {SERVER_VALUE_KV, "fp8*", "fp8"},
    {SERVER_VALUE_KV, "int8*", "int8"},
    {SERVER_VALUE_KV, "int4*", "int4"},
    {SERVER_VALUE_KV, "nvfp4*", "nvfp4"},
    {SERVER_VALUE_KV, "fp4_e2m1*", "mxfp4"},
    {SERVER_VALUE_WEIGHTS, "fp8*", "fp8"},
    {SERVER_VALUE_WEIGHTS, "awq*", "int4"},
    {SERVER_VALUE_WEIGHTS, "gptq*", "int4"},
    {SERVER_VALUE_WEIGHTS, "mxfp4*", "mxfp4"},
    {SERVER_VALUE_WEIGHTS, "*", ""},
};

/* In a log "torch.bfloat16", and types that no command can name. */
static bool read_value_type(const struct server_text *said, const struct server_option *option,
                            const char *value, char *out, size_t size, struct error *why)
{
    const char *type = value + (strncmp(value, "torch.", 6) == 0 ? 6 : 0);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (types[i].value == option->value && fnmatch(types[i].name, type, 0) == 0) {
            snprintf(out, size, "%s", types[i].dtype);
            return true;
        }
    }
    return (option->value == SERVER_VALUE_TWO_BYTES && !said->typed &&
            strcmp(type, "float32") != 0) ||
           invalid(said, option->name, value, expected[option->value], why);
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

/* Read the value by its kind; `out` stays empty if it says nothing. */
static bool server_setting_read_value(const struct server_text *said,
                                      const struct server_option *option, const char *value,
                                      char *out, size_t size, struct error *why)
{
    switch (option->value) {
    case SERVER_VALUE_WHOLE:
        return server_setting_read_whole(said, option->name, value, out, size, why);
    case SERVER_VALUE_LENGTH: /* "auto" and -1: as long as there is room */
        return strcasecmp(value, "auto") == 0 || strcmp(value, "-1") == 0 ||
               server_setting_read_whole(said, option->name, value, out, size, why);
    case SERVER_VALUE_SHARE:
        return server_setting_read_share(said, option->name, value, out, size, why);
    case SERVER_VALUE_BYTES:
        return read_units(said, option, value, out, size, why);
    case SERVER_VALUE_TWO_BYTES:
    case SERVER_VALUE_KV:
    case SERVER_VALUE_WEIGHTS:
        return read_value_type(said, option, value, out, size, why);
    default: /* TEXT, NAME */
        snprintf(out, size, "%s", value);
        return true;
    }
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

/* What the row says that the word sets. */
static bool take_word(const struct server_option *option, const char *value,
                      struct server_text *said, struct error *why)
{
    char words[256] = "";
    for (size_t i = 0; i < option->words->count; i++) {
        const struct node *word = option->words->children[i];
        if (fnmatch(word->key, value, 0) == 0) {
            bool good = true;
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
                        struct server_text *said, bool *used, struct error *why)
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
    if (!server_setting_read_value(said, option, value, text, sizeof text, why)) {
        return false;
    }
    bool default_type =
        option->value == SERVER_VALUE_KV || option->value == SERVER_VALUE_TWO_BYTES; /* "auto" */
    *used = text[0] != '\0' || default_type;
    return text[0] == '\0' || put(option, option->sets, text, said, why);
}

bool server_setting_take(const struct server_option *option, const char *value,
                         struct server_text *said, bool *used, struct error *why)
{
    bool taken = true;
    used = used != NULL ? used : &taken;
    *used = true;
    return value[0] == '\0' || strcmp(value, "None") == 0 || strcmp(value, "null") == 0 ||
           take_stated(option, value, said, used, why) ||
           (option->sets != NULL && server_text_overrides(said, option->sets));
}
