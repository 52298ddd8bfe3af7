/* Fuzzes hostile names on their way into other languages: a reader of the language gets back the
 * name, byte for byte, and nothing else stands there. tests/script/deploy.sh has the same names in
 * whole files, and a shell. */
#include "core/node.h"
#include "core/quote.h"
#include "core/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4096 };

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* Read one word as a POSIX shell does. Outside quotes only characters may stand that no shell
 * obeys, and a backslash that escapes a quote. */
static void read_word(const char *at, char *out)
{
    static const char dull[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_./-+:=,@%";
    while (*at != '\0') {
        if (*at == '\'') {
            const char *end = strchr(++at, '\'');
            require(end != NULL);
            memcpy(out, at, (size_t)(end - at));
            out += end - at;
            at = end + 1;
        } else if (*at == '"') { /* of "'...'", only its ends are used */
            require(at[1] == '"');
            at += 2;
        } else {
            at += *at == '\\';
            require(at[0] == '\'' ? at[-1] == '\\' : strchr(dull, *at) != NULL);
            *out++ = *at++;
        }
    }
    *out = '\0';
}

static char *quoted(enum quote quote, const char *before, const char *text, const char *behind)
{
    struct error why;
    char *written = quote_text(quote, text, &why);
    require(written != NULL);
    char *whole = malloc(strlen(written) + strlen(before) + strlen(behind) + 1);
    require(whole != NULL);
    strcpy(whole, before);
    strcat(whole, written);
    strcat(whole, behind);
    free(written);
    return whole;
}

static void check_shell(enum quote quote, const char *name, const char *around)
{
    char read[5 * LONGEST], *word = quoted(quote, around, name, around);
    read_word(word, read);
    require(strcmp(read, name) == 0);
    free(word);
}

/* The scalar that YAML reads in `before`, the quoted name and `behind`: the value of "key". */
static void check_yaml(enum quote quote, const char *before, const char *name, const char *behind)
{
    struct error why = {.found = ""};
    char *text = quoted(quote, before, name, behind);
    struct node *root = node_parse(text, strlen(text), "fuzz", &why);
    require(root != NULL && root->kind == NODE_MAP && root->count == 2);
    const struct node *key = node_get(root, "key"), *next = node_get(root, "next");
    require(key != NULL && key->kind == NODE_SCALAR && next != NULL);
    const char *at = key->text;
    bool variables = quote == QUOTE_MANIFEST || quote == QUOTE_MANIFEST_DOUBLE;
    for (; *name != '\0'; name++, at++) {
        at += variables && *at == '$';
        require(*at == *name);
    }
    require(*at == '\0');
    node_destroy(root);
    free(text);
}

/* A line stays a line, also for readers to whom other characters than '\n' end one. */
static void check_line(const char *name, char *line)
{
    struct error why;
    char *text = quote_text(QUOTE_LINE, name, &why);
    require(text != NULL);
    for (const char *at = text; *at != '\0';) {
        uint32_t character = text_character(&at);
        require(character >= ' ' && (character < 0x7f || character > 0x9f) && character != 0x2028 &&
                character != 0x2029 && character != 0xfffd);
    }
    strcpy(line, text);
    free(text);
}

/* Without its backslashes Markdown's text is the line; each character that it obeys has one. */
static void check_markdown(const char *name, const char *line)
{
    char *text = quoted(QUOTE_MARKDOWN, "", name, "");
    const char *at = text;
    for (; *line != '\0'; line++, at++) {
        bool special = strchr("\\`*_[]<>|~&#$", *line) != NULL;
        /* The backslash of an escaped control character is no character of the name. */
        require(!special || *at == '\\');
        at += special && at[1] == *line;
        require(*at == *line);
    }
    require(*at == '\0');
    free(text);
}

static bool is_valid(const char *name)
{
    while (*name != '\0') {
        const char *start = name;
        if (text_character(&name) == 0xfffd && strncmp(start, "\xef\xbf\xbd", 3) != 0) {
            return false;
        }
    }
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char name[LONGEST + 1], line[12 * LONGEST];
    size_t length = size < LONGEST ? size : LONGEST;
    memcpy(name, data, length);
    name[length] = '\0';
    check_shell(QUOTE_SHELL, name, "");
    check_shell(QUOTE_SHELL_SINGLE, name, "'");
    check_shell(QUOTE_SHELL_DOUBLE, name, "\"");
    check_line(name, line);
    check_markdown(name, line);
    if (is_valid(name)) {
        check_yaml(QUOTE_YAML, "{key: ", name, ", next: 1}");
        check_yaml(QUOTE_YAML, "key: ", name, " # comment\nnext: 1\n");
        check_yaml(QUOTE_MANIFEST, "{key: ", name, ", next: 1}");
        check_yaml(QUOTE_MANIFEST_DOUBLE, "key: \"", name, "\"\nnext: 1\n");
    }
    return 0;
}
