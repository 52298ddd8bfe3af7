/* Versions of serving engines: of which row of server_engines[] each one is. */
#include "base/name.h"
#include "serve/server_engine.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    enum server_engine_id first, last; /* its rows */
} makers[] = {
    {"vllm", SERVER_ENGINE_VLLM_008, SERVER_ENGINE_VLLM_029},
    {"sglang", SERVER_ENGINE_SGLANG_05, SERVER_ENGINE_SGLANG_05},
    {"tensorrt-llm", SERVER_ENGINE_TENSORRT_LLM_10, SERVER_ENGINE_TENSORRT_LLM_10},
};
enum { MAKERS = sizeof makers / sizeof *makers };

/* The maker with whose name the text begins, and what follows; -1 for none. */
static int find_maker(const char *text, const char **rest)
{
    int found = -1;
    for (int i = 0; i < MAKERS; i++) {
        size_t length = strlen(makers[i].name);
        if (strncasecmp(text, makers[i].name, length) == 0) {
            *rest = text + length;
            found = i;
        }
    }
    return found;
}

/* The version in "-0.21", "==0.21.0", " v0.21.1.post1". */
static bool engine_version_read(const char *text, int *major, int *minor)
{
    int used = 0;
    text += strspn(text, "-_=:@ ");
    text += *text == 'v' || *text == 'V';
    bool plain = strspn(text, "0123456789") > 0;
    return plain && sscanf(text, "%3d.%3d%n", major, minor, &used) == 2 && used > 0 &&
           *major >= 0 && *minor >= 0 && strchr(".+-r", text[used]) != NULL;
}

/* The two numbers of a row's name. */
static void version_of(enum server_engine_id id, int *major, int *minor)
{
    sscanf(strrchr(server_engine_names[id], '-') + 1, "%d.%d", major, minor);
}

/* Rows of a maker stand oldest first. */
static enum server_engine_id row_of(int maker, int major, int minor)
{
    enum server_engine_id found = makers[maker].first;
    for (enum server_engine_id id = found; id <= makers[maker].last; id++) {
        int row_major, row_minor;
        version_of(id, &row_major, &row_minor);
        found = major > row_major || (major == row_major && minor >= row_minor) ? id : found;
    }
    return found;
}

bool server_engine_read(const char *text, struct server_engine_version *out)
{
    const char *rest;
    int major, minor, known = name_match(text, server_engine_names);
    if (known >= 0) {
        out->id = (enum server_engine_id)known;
        snprintf(out->name, sizeof out->name, "%s", server_engine_names[known]);
        return true;
    }
    int maker = find_maker(text, &rest);
    if (maker < 0 || !engine_version_read(rest, &major, &minor)) {
        return false;
    }
    out->id = row_of(maker, major, minor);
    snprintf(out->name, sizeof out->name, "%s-%d.%d", makers[maker].name, major, minor);
    return true;
}

bool server_engine_canonical(const char *text, char *out, size_t size)
{
    struct server_engine_version version;
    return server_engine_read(text, &version) &&
           snprintf(out, size, "%s", version.name) < (int)size;
}

bool server_engine_find(const char *text, const char *file, int line,
                        struct server_engine_version *out, struct error *why)
{
    const char *rest;
    if (server_engine_read(text, out)) {
        return true;
    }
    int maker = find_maker(text, &rest);
    if (maker < 0) {
        error_input(why, file, line, "unknown engine '%.100s'", text);
        return name_expect(text, server_engine_names, why);
    }
    error_input(why, file, line, "'%.100s' is no version of %s", text, makers[maker].name);
    error_expect(why, "a version, such as %s (the latest that is known)",
                 server_engine_names[makers[maker].last]);
    return error_nearest(why, server_engine_names[makers[maker].last]);
}

const char *server_engine_stand_in(const struct server_engine_version *version)
{
    const char *rest = "", *row = server_engine_names[version->id];
    int major, minor, row_major, row_minor, maker = find_maker(version->name, &rest);
    if (strcmp(version->name, row) == 0 || maker < 0 ||
        !engine_version_read(rest, &major, &minor)) {
        return NULL;
    }
    version_of(version->id, &row_major, &row_minor);
    bool before = major < row_major || (major == row_major && minor < row_minor);
    bool past = version->id == makers[maker].last;
    return before ? "earliest" : past ? "latest" : "nearest earlier";
}
