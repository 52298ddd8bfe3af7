#include "predict/command/shell_text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

static const char blanks[] = " \t\v";

size_t shell_name(const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') {
        length++;
    }
    return length;
}

bool shell_is_comment(const char *line)
{
    return line[strspn(line, blanks)] == '#';
}

bool text_begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool text_matches(const char *text, const char *pattern)
{
    return fnmatch(pattern, text, FNM_EXTMATCH) == 0;
}

void shell_step(const char **at, char *quote)
{
    char c = **at;
    if (c == '\\' && *quote != '\'' && (*at)[1] != '\0') {
        ++*at;
    } else if (*quote == '\0' ? c == '\'' || c == '"' : c == *quote) {
        *quote = *quote == '\0' ? c : '\0';
    }
    ++*at;
}

const char *shell_output_end(const char *at, bool begins)
{
    enum { LONGEST = 4096 };
    bool ticks = *at == '`' && begins, calls = *at == '$' && at[1] == '(';
    int depth = 0;
    for (const char *end = at + 1;
         (ticks || calls) && end - at < LONGEST && *end != '\0' && *end != '\n'; end++) {
        depth += *end == '(' ? 1 : *end == ')' ? -1 : 0;
        if (ticks ? *end == '`' : depth == 0) {
            return end + 1;
        }
    }
    return NULL;
}

bool shell_word(const char **at, char *out, size_t size)
{
    size_t length = 0;
    char quote = '\0';
    *at += strspn(*at, blanks);
    bool redirected = isdigit((unsigned char)**at) && ((*at)[1] == '>' || (*at)[1] == '<');
    if (**at == '\0' || redirected || strchr("|;&><#)\n", **at) != NULL) {
        return false;
    }
    const char *begin = *at, *output = NULL;
    while (**at != '\0' && (quote != '\0' || strchr(" \t\v\n|;&><", **at) == NULL)) {
        const char *from = *at;
        char was = quote;
        output = quote == '\0' ? shell_output_end(from, from == begin) : NULL;
        if (output != NULL) { /* as it stands */
            *at = output;
        } else {
            shell_step(at, &quote);
            from += quote != was; /* an escaped character stands for itself */
            from += *at - from == 2 && (quote == '\0' || strchr("\\\"$`", from[1]) != NULL);
        }
        for (; from < *at; from++) {
            out[length] = *from == '\v' ? ' ' : *from;
            length += length + 1 < size;
        }
    }
    out[length] = '\0';
    return true;
}

/* Words behind which a command begins, and how they change the blocks. */
static const char *const reserved[] = {"if +i",  "then i+t", "else ",   "elif ",    "fi it",
                                       "do ",    "while +w", "done lw", "until +w", "case +c",
                                       "esac c", "{ +{",     "} {f",    "( +{",     ") {"};
enum { RESERVED = sizeof reserved / sizeof *reserved };

/* Close the inmost of the blocks before the '+', with what was left open in it, and open the one behind it.
 * Without one to close nothing opens; where there is no room, the outmost goes. */
static void change_blocks(struct shell_blocks *in, const char *change)
{
    size_t closes = strcspn(change, "+"), count = strlen(in->open);
    while (closes > 0 && count > 0 && memchr(change, in->open[count - 1], closes) == NULL) {
        count--;
    }
    if (closes == 0 || count > 0) {
        count -= closes > 0;
        if (count + 2 > sizeof in->open) {
            memmove(in->open, in->open + 1, count--);
        }
        snprintf(in->open + count, 2, "%s", change + closes + (change[closes] == '+'));
    }
}

const char *shell_command_end(const char *at, bool *open)
{
    bool list = false; /* "NAME=(", which a comment does not end */
    char quote = '\0';
    for (char last = ' '; *at != '\0'; last = at[-1]) {
        size_t others = strcspn(at, quote == '\0' ? ";&|\n#()'\"\\" : "'\"\\");
        if (others > 0) {
            at += others;
            continue;
        }
        bool plain = quote == '\0', comment = plain && *at == '#' && strchr(blanks, last) != NULL;
        list = plain ? (list || (*at == '(' && last == '=')) && *at != ')' : list;
        if (!list && (comment || (plain && strchr(";&|\n", *at) != NULL))) {
            break;
        }
        shell_step(&at, &quote);
        at += comment ? strcspn(at, "\v\n") : 0;
    }
    *open = quote != '\0' || list;
    return at;
}

bool shell_command(struct shell_blocks *in, const char **at, const char **end)
{
    static const char ends[] = " \t\v\n;&|";
    for (size_t length, row;; *at += length) {
        char word[sizeof in->end];
        *at += strspn(*at, ends);
        length = strcspn(*at, ends);
        snprintf(word, sizeof word, "%.*s", (int)(length % sizeof word), *at);
        if (in->end[0] != '\0' && strcmp(word, in->end) == 0) {
            change_blocks(in, "<");
            in->end[0] = '\0';
            return false;
        }
        if (length == 0 || **at == '#') {
            return false;
        }
        const char *pair = memmem(*at, length, "()", 2);
        bool function = strcmp(word, "function") == 0, body = in->names_function && word[0] == '{';
        for (row = 0; row < RESERVED && (strncmp(reserved[row], word, length) != 0 ||
                                         reserved[row][length] != ' ');) {
            row++;
        }
        if (function) {
            *at += length + strspn(*at + length, blanks);
            length = strcspn(*at, " \t\v{(");
        } else if (pair != NULL) {
            length = (size_t)(pair - *at) + 2;
        } else if (row < RESERVED) {
            change_blocks(in, body ? "+f" : reserved[row] + length + 1);
        } else {
            break;
        }
        in->names_function = function || pair != NULL;
    }
    bool open;
    in->names_function = false;
    *end = shell_command_end(*at, &open);
    size_t size = (size_t)(*end - *at);
    if (text_begins(*at, "for ")) {
        bool list = (*at)[4] == '(' || (memmem(*at, size, " in ", 4) != NULL && (*end)[-1] != ':');
        change_blocks(in, list ? "+l" : "+w");
    }
    const char *here = memmem(*at, size, "<<", 2);
    if (here != NULL && here[2] != '<' && in->end[0] == '\0') {
        here += 2 + strspn(here + 2, "- '\"");
        snprintf(in->end, sizeof in->end, "%.*s", (int)(shell_name(here) % sizeof in->end), here);
        change_blocks(in, in->end[0] != '\0' ? "+<" : "");
    }
    return true;
}
