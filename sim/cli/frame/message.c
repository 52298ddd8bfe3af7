#include "cli/frame/message.h"

#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/json_writer.h"

static bool in_json;

/* A line is written at once, so that other processes' lines do not come between. */
void message_use_json(void)
{
    in_json = true;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
}

bool message_is_json(void)
{
    return in_json;
}

static void put_some(struct json_writer *json, const char *key, const char *text)
{
    if (text[0] != '\0') {
        json_put_text(json, key, text);
    }
}

void message_error(const struct error *why, int status)
{
    char text[ERROR_TEXT];
    error_format(why, text, sizeof text);
    if (in_json) {
        struct json_writer json = {.out = stderr};
        json_begin(&json, NULL, '{');
        json_put_text(&json, "error", text);
        put_some(&json, "key", why->key);
        put_some(&json, "file", why->file);
        if (why->line > 0) {
            json_put(&json, "line", "%d", why->line);
        }
        json_put_text(&json, "found", why->found);
        put_some(&json, "expected", why->expected);
        put_some(&json, "nearest", why->nearest);
        json_put(&json, "status", "%d", status);
        if (why->kind == ERROR_UNMET) {
            json_put(&json, "unmet", "true");
        }
        json_end(&json, '}');
    } else {
        fprintf(stderr, "spillway: %s", text);
    }
    fputc('\n', stderr);
}

void message_note(const char *format, ...)
{
    char text[ERROR_TEXT];
    struct json_writer json = {.out = stderr};
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (in_json) {
        json_begin(&json, NULL, '{');
        json_put_text(&json, "note", text);
        json_end(&json, '}');
    } else {
        fputs(text, stderr);
    }
    fputc('\n', stderr);
}

enum { LINE = 256, LEAST_SECONDS = 2 };
#define BETWEEN 0.1 /* seconds from one object to the next */

static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Does a program wait at the other end, which has read what was sent, and is it time? */
static bool progress_is_awaited(void)
{
    static double next;
    struct stat info;
    struct pollfd end = {.fd = STDERR_FILENO, .events = POLLOUT};
    double now = seconds_now();
    if (!message_is_json() || now < next || fstat(STDERR_FILENO, &info) != 0 ||
        !(S_ISFIFO(info.st_mode) || S_ISSOCK(info.st_mode)) || poll(&end, 1, 0) != 1) {
        return false;
    }
    next = now + BETWEEN;
    return true;
}

void progress_show(uint32_t done, uint32_t total, const char *format, ...)
{
    char line[LINE];
    va_list arguments;
    bool watched = isatty(STDERR_FILENO);
    if (!watched && !progress_is_awaited()) {
        return;
    }
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (watched) {
        /* A terminal shall obey this: a line that wrapped at its edge could not be erased. */
        dprintf(STDERR_FILENO, "\r\033[?7l");
        fputs(line, stderr);
        fflush(stderr);
        dprintf(STDERR_FILENO, "\033[K\033[?7h");
    } else {
        struct json_writer json = {.out = stderr};
        json_begin(&json, NULL, '{');
        json_put_text(&json, "progress", line);
        json_put(&json, "done", "%u", done);
        if (total > 0) {
            json_put(&json, "total", "%u", total);
        }
        json_end(&json, '}');
        fputc('\n', stderr);
    }
}

const char *progress_left_after(double seconds, double share, char text[PROGRESS_LEFT])
{
    static const struct {
        double seconds, most;
        const char *name;
    } units[] = {{1, 90, "s"}, {60, 90 * 60, "min"}, {3600, INFINITY, "h"}};
    bool known = share > 0;
    double span = known ? seconds * (1 - share) / share : floor(seconds);
    int unit = 0;
    text[0] = '\0';
    if (seconds < LEAST_SECONDS || share >= 1) {
        return text;
    }
    while (ceil(span) > units[unit].most) {
        unit++;
    }
    snprintf(text, PROGRESS_LEFT, ", %.0f %s %s", ceil(span / units[unit].seconds),
             units[unit].name, known ? "left" : "so far");
    return text;
}

const char *progress_left(double share, char text[PROGRESS_LEFT])
{
    static double began;
    began = began > 0 ? began : seconds_now();
    return progress_left_after(seconds_now() - began, share, text);
}

void progress_clear(void)
{
    if (isatty(STDERR_FILENO)) {
        dprintf(STDERR_FILENO, "\r\033[K");
    }
}

void progress_study(uint32_t done, uint32_t all, const char *what, void *context)
{
    char left[PROGRESS_LEFT];
    (void)context;
    if (all > 0 && done >= all) {
        progress_clear();
        return;
    }
    /* It is called when a run is done, and would show the seconds of the first call until then. */
    double share = done > 0 ? (double)done / all : 1;
    if (all > 0) {
        progress_show(done, all, "%u of %u %s%s", done, all, what, progress_left(share, left));
    } else {
        progress_show(0, 0, "%s%s", what, progress_left(0, left));
    }
}
