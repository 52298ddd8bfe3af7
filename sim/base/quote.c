#include "base/quote.h"

#include "base/text.h"

#include <string.h>
#include <strings.h>

#define QUOTE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define QUOTE_DIGITS "0123456789"

/* Characters that end a line in some reader, that a terminal obeys, or that change the order or
 * the look of their neighbours. */
static bool is_hidden(uint32_t character)
{
    static const struct {
        uint32_t from, to;
    } hidden[] = {{0, 0x1f},        {0x7f, 0x9f},     {0xad, 0xad},     {0x200b, 0x200f},
                  {0x2028, 0x202e}, {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xffff}};
    for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
        if (character >= hidden[i].from && character <= hidden[i].to) {
            return true;
        }
    }
    return false;
}

/* Write the character at `*at`, hidden ones as escapes, behind a backslash if it is in `special`,
 * and step over it. */
static void quote_character(const char **at, const char *special, FILE *out)
{
    const char *start = *at;
    char escaped[TEXT_ESCAPED];
    if (is_hidden(text_character(at))) {
        *at = start;
        text_escape(at, escaped);
        fputs(escaped, out);
        return;
    }
    fputs(strchr(special, *start) != NULL ? "\\" : "", out);
    fwrite(start, 1, (size_t)(*at - start), out);
}

static void quote_line(const char *text, FILE *out)
{
    while (*text != '\0') {
        quote_character(&text, "", out);
    }
}

/* JSON's escapes reach 16 bits; all hidden characters do. */
static void quote_json(const char *text, FILE *out)
{
    while (*text != '\0') {
        quote_character(&text, "\"\\", out);
    }
}

static void quote_markdown(const char *text, FILE *out)
{
    while (*text != '\0') {
        quote_character(&text, "\\`*_[]<>|~&#$", out);
    }
}

static void quote_single(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, out);
    }
}

static void quote_shell(const char *text, FILE *out)
{
    static const char plain[] = QUOTE_LETTERS QUOTE_DIGITS "_./-+:=,@%";
    bool bare = *text != '\0' && text[strspn(text, plain)] == '\0';
    fputs(bare ? "" : "'", out);
    quote_single(text, out);
    fputs(bare ? "" : "'", out);
}

/* The quotes end, for a part in single ones: an interactive shell obeys '!' within double ones. */
static void quote_double(const char *text, FILE *out)
{
    fputs("\"'", out);
    quote_single(text, out);
    fputs("'\"", out);
}

static void quote_escaped(const char *text, bool variables, FILE *out)
{
    while (*text != '\0') {
        char escaped[TEXT_ESCAPED];
        fputs(variables && *text == '$' ? "$" : "", out);
        text_escape(&text, escaped);
        fputs(escaped, out);
    }
}

/* Only texts of plain letters, digits and signs go without quotes. */
static void quote_scalar(const char *text, bool variables, FILE *out)
{
    static const char others[] = QUOTE_LETTERS QUOTE_DIGITS "_./%+-=";
    bool starts = text[0] != '\0' && strchr(QUOTE_LETTERS QUOTE_DIGITS "/.", text[0]) != NULL;
    bool bare = starts && text[strspn(text, others)] == '\0' && strcasecmp(text, "null") != 0;
    fputs(bare ? "" : "\"", out);
    quote_escaped(text, variables, out);
    fputs(bare ? "" : "\"", out);
}

static void quote_yaml(const char *text, FILE *out)
{
    quote_scalar(text, false, out);
}

static void quote_manifest(const char *text, FILE *out)
{
    quote_scalar(text, true, out);
}

static void quote_manifest_double(const char *text, FILE *out)
{
    quote_escaped(text, true, out);
}

void quote_write(enum quote quote, const char *text, FILE *out)
{
    static void (*const writers[])(const char *text, FILE *out) = {
        [QUOTE_LINE] = quote_line,           [QUOTE_SHELL] = quote_shell,
        [QUOTE_SHELL_SINGLE] = quote_single, [QUOTE_SHELL_DOUBLE] = quote_double,
        [QUOTE_JSON] = quote_json,           [QUOTE_YAML] = quote_yaml,
        [QUOTE_MANIFEST] = quote_manifest,   [QUOTE_MANIFEST_DOUBLE] = quote_manifest_double,
        [QUOTE_MARKDOWN] = quote_markdown,
    };
    writers[quote](text, out);
}

char *quote_text(enum quote quote, const char *text, struct error *why)
{
    struct text_file file;
    if (!text_open(&file, why)) {
        return NULL;
    }
    quote_write(quote, text, file.out);
    return text_close(&file, true, why);
}
