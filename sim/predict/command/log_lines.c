/* How a log's line begins; and lines that a terminal or an editor wrapped, which become whole again.
 *
 * What follows a log's line up to the next one is the rest of it if the text was wrapped: at the largest
 * width exactly, within words, too (a terminal), or where the next word had no room (an editor). A text with
 * a single break was wrapped if settings follow the break; before other words, the break may be the
 * author's. */
#include "predict/command/server_text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NARROWEST = 40, WIDEST = 600 }; /* columns */

/* Has the text one of the marks of settings, whose last blank may be its end; or does it begin with one? */
static bool has_mark(const struct server_text *said, const char *from, size_t size, bool begins)
{
    bool has = false;
    for (const struct server_program *of = said->programs; of->file != NULL; of++) {
        for (size_t i = 0; !has && of->logs != NULL && i < of->logs->count; i++) {
            const char *mark = of->logs->children[i]->text;
            size_t length = strlen(mark), blank = mark[length - 1] == ' ';
            has = begins ? *mark != ' ' && strncmp(from, mark, length) == 0
                         : memmem(from, size, mark, length - blank) != NULL;
        }
    }
    return has;
}

bool log_line_begins(const struct server_text *said, const char *line)
{
    static const char *const levels[] = {"INFO", "WARN", "ERROR", "DEBUG"};
    char head[100];
    snprintf(head, sizeof head, "%.*s", (int)strcspn(line, "\n"), line);
    bool begins = (head[0] == '(' && strstr(head, " pid=") != NULL) ||
                  text_matches(head, "[[]20[0-9][0-9]-*");
    for (size_t i = 0; !begins && i < sizeof levels / sizeof *levels; i++) {
        const char *at = strstr(head, levels[i]), *end = at != NULL ? strpbrk(at, " :") : NULL;
        begins = end != NULL && end - at <= 7 && (at == head || strchr(" \"", at[-1]) != NULL);
    }
    return begins || has_mark(said, head, 0, true);
}

/* Do settings of a list go on in the line behind `last`, "e=None, max_seq_len=5" or "alse)"? Their blanks
 * stand behind commas alone, and a name of its own behind a comma. */
static bool continues_list(const struct server_text *said, char last, const char *line)
{
    char name[64];
    size_t word = strspn(line, "_.'\"0123456789abcdefghijklmnopqrstuvwxyzTFN");
    snprintf(name, sizeof name, "%.*s", (int)strspn(line, "abcdefghijklmnopqrstuvwxyz_"), line);
    bool apart = strchr(", ", last) == NULL && (strchr(")}", last) != NULL && *line != ',');
    const struct server_program *of = said->programs;
    for (; !apart && strchr(", ", last) == NULL && of->file != NULL; of++) {
        const struct server_option *option = server_option_find(of, name);
        apart = option != NULL && option->value != SERVER_VALUE_NONE;
    }
    const char *at = line;
    while (*at != '\0' && strchr("=\n", *at) == NULL &&
           (*at != ' ' || at == line || strchr(", ", at[-1]) != NULL)) {
        at++;
    }
    return !apart && (*at == '=' || (line[word] != '\0' && strchr(",)}]=", line[word]) != NULL));
}

/* A line of the text. Columns are characters of UTF-8; a terminal's colours take none. */
struct text_line {
    const char *line, *next,
        *unmarked;                 /* the log's line from where no mark was found yet, or NULL */
    size_t length, columns, first; /* those of the first line of a log's */
    bool of_log, more;             /* it is one's, which may go on in the next */
};

static bool next_text_line(const struct server_text *said, struct text_line *at)
{
    const char *line = at->line = at->next;
    at->length = strcspn(line, "\n");
    at->columns = 0;
    for (size_t i = 0; i < at->length; i++) {
        bool colour = line[i] == '\033';
        i += colour ? strcspn(line + i, "m\n") : 0;
        at->columns += !colour && ((unsigned char)line[i] & 0xc0) != 0x80;
    }
    at->next = line + at->length + (line[at->length] == '\n');
    at->first = at->more ? at->first : at->columns;
    at->unmarked = at->more ? at->unmarked : line;
    at->of_log = at->more || log_line_begins(said, line);
    at->more = at->of_log && strchr("\n", *at->next) == NULL && !log_line_begins(said, at->next);
    return *line != '\0';
}

char *log_unwrapped(const struct server_text *said, char *text)
{
    size_t width = 0, full = 0, breaks = 0, roomy = 0, ends = 0;
    struct text_line at = {.next = text};
    while (next_text_line(said, &at)) {
        width = at.of_log && at.columns > width ? at.columns : width;
    }
    for (at = (struct text_line){.next = text}; next_text_line(said, &at);) {
        breaks += at.more;
        roomy += at.more && at.columns + 1 + strcspn(at.next, " \n") <= width;
        full += at.more && at.columns + 1 >= width;
    }
    /* At the width, in words, too; or where the next word had no room. */
    bool wide = width >= NARROWEST && width <= WIDEST && breaks - roomy > 1;
    bool hard = wide && 5 * full >= 4 * (breaks - roomy);
    bool soft = wide && !hard && 4 * roomy <= breaks;
    char *out = breaks > 0 ? malloc(strlen(text) + breaks + 1) : NULL, *to = out;
    if (out == NULL) {
        return text;
    }
    for (at = (struct text_line){.next = text}; next_text_line(said, &at);) {
        char last = at.length > 0 ? at.line[at.length - 1] : ' ';
        bool word = at.columns == (hard ? width : at.first) && last != ':' &&
                    (last != ',' || isdigit((unsigned char)*at.next)); /* maybe within one */
        bool list = at.columns + 1 >= at.first && continues_list(said, last, at.next);
        if (list && at.unmarked != NULL) {
            size_t size = (size_t)(at.line + at.length - at.unmarked);
            at.unmarked = has_mark(said, at.unmarked, size, false) ? NULL : at.next;
        }
        size_t needs = hard ? 0 : strcspn(at.next, " \n");
        bool cut = hard ? at.columns + 1 >= width : soft && at.columns + 1 + needs > width;
        bool join = at.more && (cut || (list && at.unmarked == NULL));
        memcpy(to, at.line, at.length);
        to += at.length;
        if (join) {
            *to = ' ';
            to += soft || !word;
            ends++;
            continue;
        }
        memset(to, '\v', ends); /* they count the lines */
        to += ends;
        ends = 0;
        *to = '\n';
        to += at.line[at.length] == '\n';
    }
    *to = '\0';
    free(text);
    return out;
}
