/* Engines from their files. A file is read when an engine of it is first asked for, a version when it
 * is; both are kept for the life of the process, so that all points of a command see the same. */
#include "core/array.h"
#include "core/find.h"
#include "core/name.h"
#include "core/text.h"
#include "server/server_engine_read.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char folder[] = "engines", suffix[] = "yaml", none[] = "none";
enum { DEEPEST = 32 };

static const char *const program_keys[] = {"versions", NULL};

/* ---- versions ---- */

enum { PARTS = 3, DIGITS = 3 };
struct version {
    int number[PARTS], parts;
};

/* The version in "-0.21", "==0.21.0", " v0.21.1.post1". */
static bool version_parse(const char *text, struct version *out)
{
    *out = (struct version){.parts = 0};
    text += strspn(text, "-_=:@ ");
    text += *text == 'v' || *text == 'V';
    while (out->parts < PARTS) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > DIGITS) {
            return false;
        }
        out->number[out->parts++] = atoi(text);
        text += digits;
        if (*text != '.' || !isdigit((unsigned char)text[1])) {
            break;
        }
        text++;
    }
    return out->parts > 1 && strchr(".+-r", *text) != NULL;
}

static int version_compare(const struct version *a, const struct version *b)
{
    int by = 0;
    for (int i = 0; i < PARTS && by == 0; i++) {
        by = a->number[i] - b->number[i];
    }
    return by;
}

/* ---- files ---- */

struct program_version {
    const struct node *node; /* of the program's tree; its key is the version */
    struct version number;
    char name[SERVER_ENGINE_NAME];
    struct node *merged; /* with the keys of what it extends; NULL: it was not read */
    struct server_engine engine;
};

/* A file of engines, by its name, or by its path if it is a user's own. */
struct engine_file {
    char name[SERVER_ENGINE_NAME];
    bool own;
    struct node *root; /* NULL: it was not read */
    int parts;         /* of the numbers of its versions, at most */
    struct program_version *versions;
    size_t count;
};

/* What was read. It lives as long as the process. */
static struct {
    pthread_mutex_t lock;
    bool listed;
    struct engine_file **all;
    size_t count, capacity;
    const char **names;
} engine_files = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct engine_file *engine_file_add(const char *name, size_t length, bool own,
                                           struct error *why)
{
    struct engine_file *program = array_zeroed(1, sizeof *program, why);
    if (program == NULL || !array_reserve(&engine_files.all, &engine_files.capacity,
                                          engine_files.count + 1, sizeof *engine_files.all, why)) {
        free(program);
        return NULL;
    }
    snprintf(program->name, sizeof program->name, "%.*s", (int)length, name);
    program->own = own;
    engine_files.all[engine_files.count++] = program;
    return program;
}

/* Know the names of the shipped programs. */
static bool engine_files_list(struct error *why)
{
    char **names;
    size_t count;
    if (engine_files.listed) {
        return true;
    }
    if (!find_names(folder, suffix, &names, &count, why)) {
        return false;
    }
    engine_files.listed = true;
    for (size_t i = 0; i < count; i++) {
        engine_files.listed &= engine_file_add(names[i], strlen(names[i]), false, why) != NULL;
        free(names[i]);
    }
    free(names);
    return engine_files.listed;
}

/* The program whose name, or whose file's path, the text begins with, and what follows; NULL if there
 * is none. */
static struct engine_file *engine_file_find(const char *text, const char **rest, struct error *why)
{
    const char *dot = strstr(text, ".yaml");
    size_t path = dot != NULL ? (size_t)(dot - text) + strlen(".yaml") : 0, longest = 0;
    struct engine_file *found = NULL;
    if (strlen(text) >= SERVER_ENGINE_NAME || (path == 0 && !engine_files_list(why))) {
        return NULL;
    }
    for (size_t i = 0; i < engine_files.count; i++) {
        struct engine_file *program = engine_files.all[i];
        size_t length = strlen(program->name);
        bool begins = path > 0 ? length == path && strncmp(text, program->name, length) == 0
                               : strncasecmp(text, program->name, length) == 0;
        if (program->own == (path > 0) && begins && length > longest) {
            found = program;
            longest = length;
        }
    }
    *rest = text + (path > 0 ? path : longest);
    return found == NULL && path > 0 ? engine_file_add(text, path, true, why) : found;
}

static bool read_versions(struct engine_file *program, const struct node *versions,
                          struct error *why)
{
    program->versions = array_zeroed(versions->count, sizeof *program->versions, why);
    for (program->count = 0; program->versions != NULL && program->count < versions->count;
         program->count++) {
        struct program_version *version = &program->versions[program->count];
        version->node = versions->children[program->count];
        if (!version_parse(version->node->key, &version->number) ||
            snprintf(version->name, sizeof version->name, "%s-%s", program->name,
                     version->node->key) >= (int)sizeof version->name) {
            node_error(version->node, why, "'%s' is no version", version->node->key);
            return error_expect(why, "numbers with dots, such as 0.19");
        }
        int parts = version->number.parts;
        program->parts = parts > program->parts ? parts : program->parts;
    }
    return program->versions != NULL;
}

static bool engine_file_read(struct engine_file *program, struct error *why)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s", program->name);
    if (program->root != NULL) {
        return true;
    }
    if (!program->own && !find_path(folder, program->name, suffix, path, sizeof path, why)) {
        return false;
    }
    struct node *root = node_load(path, why);
    const struct node *versions = node_get(root, "versions");
    bool good = root != NULL && node_check_keys(root, program_keys, "engine", why);
    if (good && (versions == NULL || versions->kind != NODE_MAP || versions->count == 0)) {
        node_error(root, why, "this file has no 'versions'");
        good = error_expect(why, "a map of versions, such as 0.19: {extends: 0.18, ...}");
    }
    if (!good || !read_versions(program, versions, why)) {
        free(program->versions);
        node_destroy(root);
        return false;
    }
    program->root = root;
    return true;
}

/* The version by which one is computed: the newest that is no newer, else the oldest. NULL for the
 * number: the newest of all. */
static struct program_version *version_for(const struct engine_file *program,
                                           const struct version *number)
{
    struct program_version *found = NULL, *oldest = program->versions;
    for (size_t i = 0; i < program->count; i++) {
        struct program_version *at = &program->versions[i];
        bool fits = number == NULL || version_compare(&at->number, number) <= 0;
        bool newer = found == NULL || version_compare(&at->number, &found->number) > 0;
        found = fits && newer ? at : found;
        oldest = version_compare(&at->number, &oldest->number) < 0 ? at : oldest;
    }
    return found != NULL ? found : oldest;
}

/* ---- reading a version ---- */

static struct node *merge_version(const struct engine_file *program,
                                  const struct program_version *version, int depth,
                                  struct error *why);

/* The version that another one extends: "0.19" of the same file, or "vllm-0.19". */
static struct node *merge_base(const struct engine_file *program, const struct node *extends,
                               int depth, struct error *why)
{
    const char *rest = extends->text != NULL ? extends->text : "";
    struct version number;
    if (depth == DEEPEST) {
        node_error(extends, why, "'%s' extends itself", rest);
        return NULL;
    }
    if (!isdigit((unsigned char)*rest)) {
        struct engine_file *other = engine_file_find(rest, &rest, why);
        program = other != NULL && engine_file_read(other, why) ? other : NULL;
    }
    for (size_t i = 0; program != NULL && version_parse(rest, &number) && i < program->count; i++) {
        if (version_compare(&program->versions[i].number, &number) == 0) {
            return merge_version(program, &program->versions[i], depth + 1, why);
        }
    }
    node_error(extends, why, "'extends' names no version that is known");
    error_expect(why, "another version of this file, or one such as vllm-0.19");
    return NULL;
}

/* The version's keys over those of what it extends; the caller destroys the tree. */
static struct node *merge_version(const struct engine_file *program,
                                  const struct program_version *version, int depth,
                                  struct error *why)
{
    const struct node *extends = node_get(version->node, "extends");
    if (extends == NULL) {
        return node_copy(version->node, why);
    }
    struct node *merged = merge_base(program, extends, depth, why);
    if (merged != NULL) {
        node_remove(merged, "summary");
        node_remove(merged, "source");
    }
    if (merged != NULL && !node_merge(merged, version->node, why)) {
        node_destroy(merged);
        merged = NULL;
    }
    return merged;
}

static bool version_read(const struct engine_file *program, struct program_version *version,
                         struct error *why)
{
    if (version->merged != NULL) {
        return true;
    }
    struct node *merged = merge_version(program, version, 0, why);
    bool good = merged != NULL &&
                server_engine_read(version->node, merged, version->name, &version->engine, why);
    if (!good) {
        node_destroy(merged);
        return false;
    }
    version->merged = merged; /* the engine's texts are its own */
    return true;
}

/* ---- finding ---- */

/* Write the version as its user named it, with as many numbers as the program's versions have. */
static void name_version(const struct engine_file *program, const struct version *number,
                         struct server_engine *out)
{
    text_copy(out->name, sizeof out->name, program->name);
    for (int i = 0; i < program->parts && i < number->parts; i++) {
        text_append(out->name, sizeof out->name, "%c%d", i == 0 ? '-' : '.', number->number[i]);
    }
}

static const char *stand_in(const struct engine_file *program, const struct program_version *row,
                            const struct version *number)
{
    return version_compare(&row->number, number) > 0 ? "earliest"
           : row == version_for(program, NULL)       ? "latest"
                                                     : "nearest earlier";
}

static bool unknown_engine(const char *text, const char *file, int line, struct error *why)
{
    const char *const *names = server_engine_names(why);
    if (names != NULL) {
        error_input(why, file, line, "unknown engine '%.100s'", text);
        name_expect(text, names, why);
    }
    return false;
}

/* The same as server_engine_find() but for "none"; the lock is held. `*known`: there is a program of
 * this name. */
static bool engine_find(const char *text, const char *file, int line, struct server_engine *out,
                        bool *known, struct error *why)
{
    const char *rest;
    struct version number;
    struct engine_file *program = engine_file_find(text, &rest, why);
    *known = program != NULL;
    if (program == NULL || !engine_file_read(program, why)) {
        return false;
    }
    struct program_version *row = version_for(program, NULL);
    if (version_parse(rest, &number)) {
        row = version_for(program, &number);
    } else if (program->own && *rest == '\0') {
        number = row->number;
    } else {
        error_input(why, file, line, "'%.100s' is no version of %s", text, program->name);
        error_expect(why, "a version, such as %s (the latest that is known)", row->name);
        return error_nearest(why, row->name);
    }
    if (!version_read(program, row, why)) {
        return false;
    }
    *out = row->engine;
    name_version(program, &number, out);
    out->stand_in = strcmp(out->name, row->name) != 0 ? stand_in(program, row, &number) : NULL;
    return true;
}

bool server_engine_find(const char *text, const char *file, int line, struct server_engine *out,
                        struct error *why)
{
    bool known;
    if (name_same(text, none)) {
        *out = (struct server_engine){.name = "none"};
        return true;
    }
    pthread_mutex_lock(&engine_files.lock);
    bool good = engine_find(text, file, line, out, &known, why);
    pthread_mutex_unlock(&engine_files.lock);
    return known ? good : unknown_engine(text, file, line, why);
}

bool server_engine_canonical(const char *text, char *out, size_t size)
{
    struct server_engine engine;
    struct error unread;
    return server_engine_find(text, NULL, 0, &engine, &unread) &&
           snprintf(out, size, "%s", engine.name) < (int)size;
}

/* Read all shipped programs and collect the names of their versions; the lock is held. */
static bool list_names(struct error *why)
{
    size_t count = 2, used = 1;
    bool good = engine_files_list(why);
    for (size_t i = 0; good && i < engine_files.count; i++) {
        good = engine_files.all[i]->own || engine_file_read(engine_files.all[i], why);
        count += engine_files.all[i]->count;
    }
    const char **names = good ? array_zeroed(count, sizeof *names, why) : NULL;
    for (size_t i = 0; names != NULL && i < engine_files.count; i++) {
        const struct engine_file *program = engine_files.all[i];
        for (size_t j = 0; !program->own && j < program->count; j++) {
            names[used++] = program->versions[j].name;
        }
    }
    if (names != NULL) {
        names[0] = none;
    }
    engine_files.names = names;
    return names != NULL;
}

const char *const *server_engine_names(struct error *why)
{
    pthread_mutex_lock(&engine_files.lock);
    bool good = engine_files.names != NULL || list_names(why);
    pthread_mutex_unlock(&engine_files.lock);
    return good ? engine_files.names : NULL;
}

const char *server_engine_latest(const char *program, struct error *why)
{
    const char *rest;
    pthread_mutex_lock(&engine_files.lock);
    struct engine_file *found = engine_file_find(program, &rest, why);
    bool good = found != NULL && engine_file_read(found, why);
    pthread_mutex_unlock(&engine_files.lock);
    return good ? version_for(found, NULL)->name : NULL;
}
