#include "core/quote.h"

#include "core/text.h"

#include <string.h>
#include <strings.h>

#define QUOTE_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define QUOTE_DIGITS "0123456789"

/* Characters that end a line in some reader, that a terminal obeys, or that reorder or hide others. */
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

/* Write the character at `*at` as an ASCII escape of YAML, and step over it. JSON's differ past 16 bits. */
static void quote_escape(const char **at, FILE *out)
{
    uint32_t character = text_character(at);
    if (character >= ' ' && character < 0x7f) {
        fputs(character == '"' || character == '\\' ? "\\" : "", out);
        fputc((int)character, out);
    } else {
        fprintf(out, character <= 0xffff ? "\\u%04x" : "\\U%08x", character);
    }
}

/* The text with escapes for hidden characters, and a backslash before those in `special`. */
static void quote_visible(const char *text, const char *special, FILE *out)
{
    for (const char *start = text; *text != '\0'; start = text) {
        if (is_hidden(text_character(&text))) {
            text = start;
            quote_escape(&text, out);
        } else {
            fputs(strchr(special, *start) != NULL ? "\\" : "", out);
            fwrite(start, 1, (size_t)(text - start), out);
        }
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

static void quote_escaped(const char *text, bool variables, FILE *out)
{
    while (*text != '\0') {
        fputs(variables && *text == '$' ? "$" : "", out);
        quote_escape(&text, out);
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

void quote_write(enum quote quote, const char *text, FILE *out)
{
    switch (quote) {
    case QUOTE_LINE:
        quote_visible(text, "", out);
        break;
    case QUOTE_MARKDOWN:
        quote_visible(text, "\\`*_[]<>|~&#$", out);
        break;
    case QUOTE_SHELL:
        quote_shell(text, out);
        break;
    case QUOTE_SHELL_SINGLE:
        quote_single(text, out);
        break;
    case QUOTE_SHELL_DOUBLE: /* closed for it: an interactive shell obeys '!' within them */
        fputs("\"'", out);
        quote_single(text, out);
        fputs("'\"", out);
        break;
    case QUOTE_YAML:
        quote_scalar(text, false, out);
        break;
    case QUOTE_YAML_DOUBLE:
        quote_escaped(text, false, out);
        break;
    case QUOTE_MANIFEST:
        quote_scalar(text, true, out);
        break;
    case QUOTE_MANIFEST_DOUBLE:
        quote_escaped(text, true, out);
        break;
    }
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
