#include "cli/frame/html.h"

#include "core/quote.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(const char *text, FILE *out)
{
    for (; *text != '\0'; text++) {
        const char *name = entity(*text);
        if (name != NULL) {
            fputs(name, out);
        } else {
            fputc((unsigned char)*text < ' ' || *text == 0x7f ? ' ' : *text, out);
        }
    }
}

void html_print(FILE *out, const char *format, ...)
{
    va_list texts;
    va_start(texts, format);
    for (const char *text; (text = strstr(format, "%s")) != NULL; format = text + 2) {
        fwrite(format, 1, (size_t)(text - format), out);
        html_text(va_arg(texts, const char *), out);
    }
    va_end(texts);
    fputs(format, out);
}

void html_word(const char *word, FILE *out)
{
    struct error unused;
    char *quoted = quote_text(QUOTE_SHELL, word, &unused);
    html_text(quoted != NULL ? quoted : "", out);
    free(quoted);
}

/* ---- pictures ---- */

/* The texts that gnuplot writes before a name. */
static const char *const name_marks[] = {" id='", " id=\"", "href='#", "url(#", NULL};

/* Length of the mark at `at`; 0: there is none. */
static size_t mark_length(const char *at)
{
    for (int i = 0; name_marks[i] != NULL; i++) {
        if (strncmp(at, name_marks[i], strlen(name_marks[i])) == 0) {
            return strlen(name_marks[i]);
        }
    }
    return 0;
}

static void write_prefixed(const char *svg, const char *prefix, FILE *out)
{
    while (*svg != '\0') {
        size_t length = mark_length(svg);
        fwrite(svg, 1, length > 0 ? length : 1, out);
        svg += length > 0 ? length : 1;
        fputs(length > 0 ? prefix : "", out);
    }
}

/* The part of gnuplot's text that states its size, up to its `>`; "" if there is none. */
static const char *view_box(const char *svg, int *length)
{
    const char *box = strstr(svg, "viewBox=");
    const char *end = box != NULL ? strchr(box, '>') : NULL;
    *length = end != NULL ? (int)(end - box) : 0;
    return end != NULL ? box : "";
}

void html_picture(const char *svg, const char *prefix, const char *title, FILE *out)
{
    int length;
    const char *box = view_box(svg, &length);
    const char *body = strstr(svg, "</desc>");
    fprintf(out, "<svg role=\"img\" aria-labelledby=\"%s-title\" %.*s>\n", prefix, length, box);
    fprintf(out, "<title id=\"%s-title\">", prefix);
    html_text(title, out);
    fputs("</title>\n", out);
    write_prefixed(body != NULL ? body + strlen("</desc>") : "</svg>\n", prefix, out);
}
