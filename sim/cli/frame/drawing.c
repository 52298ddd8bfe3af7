#include "cli/frame/drawing.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/frame/harness.h"
#include "cli/frame/output.h"
#include "core/named.h"
#include "core/quote.h"

static const char *const formats[] = {"svg", "png", "pdf", NULL};

const char *drawing_format(const char *path, struct error *why)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && formats[i] != NULL; i++) {
        if (strcmp(dot + 1, formats[i]) == 0) {
            return formats[i];
        }
    }
    error_usage(why, NULL, 0, "'%s' does not name a picture format", path);
    error_expect(why, "a name that ends in .svg, .png or .pdf");
    return NULL;
}

/* ---- the rows ---- */

void drawing_text(const char *text, FILE *rows)
{
    for (; *text != '\0'; text++) {
        fputc(*text == '"' || *text == '`' ? '\''
              : *text == '\\'              ? '/'
              : (unsigned char)*text < ' ' ? ' '
                                           : *text,
              rows);
    }
}

/* A file in memory, which a child process can open by its number. */
static FILE *open_memory(const char *name, struct error *why)
{
    int descriptor = memfd_create(name, 0);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w+");
    if (file == NULL) {
        error_set(why, NULL, 0, "no memory for a picture: %s", strerror(errno));
    }
    return file;
}

FILE *drawing_rows(struct error *why)
{
    return open_memory("rows", why);
}

/* ---- the picture ---- */

/* gnuplot does not say when its picture could not be written, so it draws into memory. */
static bool run_gnuplot(const char *script, FILE *rows, const char *format, FILE *drawn,
                        struct error *why)
{
    char path[4096], folder[4096], from[64], into[64], *printed;
    struct error fault;
    if (!find_path("plots", script, "gp", path, sizeof path, why) ||
        !find_path("plots", "", "", folder, sizeof folder, why)) {
        return false;
    }
    snprintf(from, sizeof from, "/proc/self/fd/%d", fileno(rows));
    snprintf(into, sizeof into, "/proc/self/fd/%d", fileno(drawn));
    const char *const arguments[] = {"gnuplot", "-c", path, from, into, format, folder, NULL};
    if (child_read("gnuplot", arguments, &printed, &fault)) {
        free(printed);
        return true;
    }
    bool absent = strncmp(fault.found, "cannot be run", strlen("cannot be run")) == 0;
    error_set(why, NULL, 0, absent ? "gnuplot %s" : "gnuplot failed: %s", fault.found);
    return absent ? error_expect(why, "gnuplot on the PATH: apt-get install gnuplot-nox") : false;
}

static bool copy_picture(FILE *drawn, const char *path, FILE *out, struct error *why)
{
    char buffer[65536];
    off_t offset = 0;
    ssize_t count;
    while ((count = pread(fileno(drawn), buffer, sizeof buffer, offset)) > 0) {
        if (fwrite(buffer, 1, (size_t)count, out) < (size_t)count) {
            return error_set(why, path, 0, "cannot be written: %s", strerror(errno));
        }
        offset += count;
    }
    return count == 0 && offset > 0 ? true : error_set(why, NULL, 0, "gnuplot drew nothing");
}

bool drawing_draw(const char *script, FILE *rows, const char *format, const char *path, FILE *out,
                  struct error *why)
{
    FILE *drawn = open_memory("picture", why);
    if (drawn == NULL) {
        return false;
    }
    bool ok = run_gnuplot(script, rows, format, drawn, why) && copy_picture(drawn, path, out, why);
    fclose(drawn);
    return ok;
}

bool drawing_save(const char *script, FILE *rows, const char *path, struct error *why)
{
    struct output output;
    const char *format = drawing_format(path, why);
    if (format == NULL || !output_open(path, &output, why)) {
        return false;
    }
    if (!drawing_draw(script, rows, format, path, output.file, why)) {
        output_discard(&output);
        return false;
    }
    return output_commit(&output, why);
}

void html_text(const char *text, FILE *out)
{
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (; *text != '\0'; text++) {
        const char *at = strchr(special, *text);
        if (at != NULL) {
            fputs(names[at - special], out);
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

void html_picture(const char *svg, const char *prefix, const char *title, FILE *out)
{
    const char *box = strstr(svg, "viewBox="); /* its size, up to the `>` */
    const char *end = box != NULL ? strchr(box, '>') : NULL;
    const char *body = strstr(svg, "</desc>");
    int length = end != NULL ? (int)(end - box) : 0;
    fprintf(out, "<svg role=\"img\" aria-labelledby=\"%s-title\" %.*s>\n", prefix, length,
            end != NULL ? box : "");
    fprintf(out, "<title id=\"%s-title\">", prefix);
    html_text(title, out);
    fputs("</title>\n", out);
    body = body != NULL ? body + strlen("</desc>") : "</svg>\n";
    while (*body != '\0') {
        size_t mark = 0;
        for (int i = 0; mark == 0 && name_marks[i] != NULL; i++) {
            bool is = strncmp(body, name_marks[i], strlen(name_marks[i])) == 0;
            mark = is ? strlen(name_marks[i]) : 0;
        }
        fwrite(body, 1, mark > 0 ? mark : 1, out);
        body += mark > 0 ? mark : 1;
        fputs(mark > 0 ? prefix : "", out);
    }
}
