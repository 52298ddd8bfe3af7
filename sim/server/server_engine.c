/* Engines from their files, and what follows from an engine's row and the GPU that it finds. A file
 * is read when an engine of it is first asked for, a version when it is; both are kept for the life
 * of the process, so that all points of a command see the same. */
#include "server/server_engine.h"

#include "core/text.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

const char *const server_compile_names[] = {
    [COMPILE_COLD] = "cold",
    [COMPILE_WARM] = "warm",
    [COMPILE_EAGER] = "eager",
    NULL,
};

const struct server_engine_gpus *server_engine_limits(const struct server_engine *engine,
                                                      const struct server_engine_gpu *gpu)
{
    const struct server_engine_gpus *found = engine->gpus;
    for (uint32_t i = 1; i < engine->gpu_count; i++) {
        const struct server_engine_gpus *row = &engine->gpus[i];
        bool fits = row->except == NULL || strstr(gpu->machine, row->except) == NULL;
        found = fits && gpu->bytes >= row->from ? row : found;
    }
    return found;
}

const struct server_connector *server_engine_connector(const struct server_engine *engine,
                                                       const char *name)
{
    const struct server_connector *found = NULL;
    for (size_t i = 0; i < engine->connector_count && found == NULL; i++) {
        found = strcmp(engine->connectors[i].name, name) == 0 ? &engine->connectors[i] : NULL;
    }
    return found;
}

/* The largest batch that is captured: 0 if only the sizes limit it. */
static uint64_t most_captured(const struct server_engine *engine,
                              const struct server_engine_gpu *gpu)
{
    const struct server_engine_gpus *row = server_engine_limits(engine, gpu);
    return gpu->captured > 0 ? gpu->captured : gpu->gpus < 4 ? row->graphs : row->graphs_of_4;
}

double server_engine_usable(const struct server_engine *engine, const struct server_engine_gpu *gpu,
                            uint64_t batched_tokens)
{
    const struct server_engine_reserved *by = &engine->reserved;
    if (engine->usable > 0) {
        return engine->usable;
    }
    double captured = (double)most_captured(engine, gpu), gpus = gpu->gpus * fmax(1, gpu->stages);
    double rank = by->rank + (captured > (double)by->larger ? by->large : 0);
    double reserved = by->fixed + fmax((double)batched_tokens, (double)by->tokens) * by->token +
                      captured * by->graph + gpus * by->gpu;
    reserved += gpu->ranks > 1 ? captured * gpu->ranks * rank : 0;
    reserved = gpu->bytes > by->above ? fmax(reserved, by->least) : reserved;
    return fmax(0.001, round((gpu->bytes - reserved) / gpu->bytes * 1000) / 1000);
}

struct setup_engine server_engine_around(const struct server_engine *engine,
                                         const struct server_engine_gpu *gpu, bool launches)
{
    struct setup_engine around = {
        .runs = true,
        .overlaps = engine->path.overlaps,
        .launches = launches,
        .sequence_ns = engine->path.sequence_ns,
        .gap_ns = engine->path.gap_ns,
        .most_rows = most_captured(engine, gpu),
        .size_count = engine->size_count,
    };
    memcpy(around.sizes, engine->sizes, sizeof around.sizes);
    return around;
}

/* The number of sizes up to `most`. */
static uint32_t captured_sizes(const struct server_engine *engine, uint64_t most)
{
    uint64_t sizes = 0, from = 0;
    for (uint32_t i = 0; i < engine->size_count && from < most; i++) {
        const struct graph_sizes *size = &engine->sizes[i];
        sizes += (most < size->to ? most : size->to) / size->step - from / size->step;
        from = size->to;
    }
    return (uint32_t)sizes;
}

/* Piecewise graphs of all sizes, and full graphs of those that a step of decodes can have. */
uint32_t server_engine_graphs(const struct server_engine *engine, uint64_t sequences,
                              uint64_t batched_tokens)
{
    uint64_t largest = engine->size_count > 0 ? engine->sizes[engine->size_count - 1].to : 0;
    uint64_t most = 2 * sequences < largest ? 2 * sequences : largest;
    most = most < batched_tokens ? most : batched_tokens;
    return captured_sizes(engine, most) +
           captured_sizes(engine, most < sequences ? most : sequences);
}

/* ---- the keys of a version; engines/README.md says what they mean ---- */

static const char *const memory_words[] = {"share", "measured", "rest", NULL};
static const char *const sampler_words[] = {"none", "sort", "triton", "flashinfer", NULL};
static const char *const kind_words[] = {"pinned", "shared", NULL};
static const char *const rounding_words[] = {
    "exact", "pages", "powers-of-two", "each-pool", "first-of-latents", NULL};
static const char *const piece_words[] = {"unit", "block", "layer", "half", "row", "side", NULL};
static const char *const mover_words[] = {"calls", "batch", "kernel", NULL};
static const char *const too_long_words[] = {"aborted", "refused", NULL};

/* Bounds of what a step can have, and of times. */
#define COUNTED .most = UINT32_MAX
#define TOKENS .unit = UNIT_TOKENS, COUNTED
#define TIME .unit = UNIT_NS, .most = 3600000000000
#define IN_BYTES .unit = UNIT_BYTES

static const struct node_field graph_sizes_fields[] = {
    NODE_FIELD("to", WHOLE, graph_sizes, to, COUNTED),
    NODE_FIELD("step", WHOLE, graph_sizes, step, COUNTED),
    {.key = NULL}};
static const struct node_field kv_group_rules_fields[] = {
    NODE_FIELD("block", WHOLE, kv_group_rules, block, TOKENS),
    NODE_FIELD("latents", WHOLE, kv_group_rules, latents, TOKENS),
    NODE_FIELD("alignment", WHOLE, kv_group_rules, alignment, TOKENS),
    NODE_FIELD("steps", WHOLE, kv_group_rules, steps, COUNTED),
    NODE_FIELD("alike", REAL, kv_group_rules, alike),
    NODE_FIELD("states_full", YES, kv_group_rules, states_full),
    {.key = NULL}};
static const struct node_field kv_pool_rules_fields[] = {
    NODE_FIELD("windows", REAL, kv_pool_rules, windows),
    NODE_FIELD("states", REAL, kv_pool_rules, states),
    NODE_FIELD("slots", WHOLE, kv_pool_rules, slots, COUNTED),
    {.key = NULL}};

/* clang-format off */
#define STRUCT(name) static const struct node_field name##_fields[] = {
#define END {.key = NULL}};
#define MEMBER(type, member)
#define FIELD(owner, type, member, kind, key, ...) NODE_FIELD(key, kind, owner, member, ##__VA_ARGS__),
#define INSIDE(owner, inner, member, key) NODE_FIELD(key, MAP, owner, member, .inside = inner##_fields),
#define MANY(key, kind, owner, inner, member, number, ...)                                          \
    NODE_FIELD(key, kind, owner, member, .inside = inner##_fields, .size = sizeof(struct inner),    \
               .count = offsetof(struct owner, number), ##__VA_ARGS__),
#define LIST(owner, inner, member, number, limit, key) MANY(key, LIST, owner, inner, member, number, .most = limit)
#define ROWS(owner, inner, member, number, key) MANY(key, ROWS, owner, inner, member, number)
/* clang-format on */
#include "server/engine_fields.def"

/* The first key without which, or with whose value, nothing can be computed; NULL if there is none.
 * `*expected` says what it should be. */
static const char *wrong_key(const struct server_engine *engine, const char **expected)
{
    const struct kv_group_rules *groups = &engine->groups;
    bool limits = engine->gpu_count > 0 && engine->gpus[0].from == 0, rise = true;
    for (uint32_t i = 0; i < engine->gpu_count; i++) {
        limits = limits && engine->gpus[i].sequences > 0 && engine->gpus[i].batched_tokens > 0;
    }
    for (uint32_t i = 0; i < engine->size_count; i++) {
        const struct graph_sizes *size = &engine->sizes[i];
        rise = rise && size->step > 0 && (i == 0 || size->to > size[-1].to);
    }
    const struct {
        bool wrong;
        const char *key, *expected;
    } rules[] = {
        {engine->summary == NULL, "summary", "what is new in it, in a line"},
        {engine->source == NULL, "source", "the version and the files of its source, or the page"},
        {!limits, "gpus", "rows of max_sequences and batched_tokens, the first one without 'from'"},
        {!rise, "graphs", "rows such as {to: 256, step: 8}, whose 'to' rises"},
        {engine->usable > 1, "usable", "a share of at most 100%"},
        {groups->block > 0 && (groups->latents == 0 || groups->alignment == 0 ||
                               groups->steps == 0 || groups->alike < 1),
         "groups", "block, latents, alignment, steps, and alike of at least 1"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        if (rules[i].wrong) {
            *expected = rules[i].expected;
            return rules[i].key;
        }
    }
    return NULL;
}

/* A hash of what decides figures. */
static bool hash_content(const struct node *merged, uint64_t *out, struct error *why)
{
    static const char *const told[] = {"summary", "source", "earlier"};
    struct node *copy = node_copy(merged, why);
    for (size_t i = 0; copy != NULL && i < sizeof told / sizeof *told; i++) {
        node_remove(copy, told[i]);
    }
    char *text = copy != NULL ? node_canonical(copy, why) : NULL;
    *out = text != NULL ? XXH64(text, strlen(text), 0) : 0;
    node_destroy(copy);
    free(text);
    return *out != 0;
}

/* ---- versions ---- */

enum { PARTS = 3, DIGITS = 3, DEEPEST = 32 };
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

struct program_version {
    const struct node *node; /* of the program's tree; its key is the version */
    struct version number;
    char name[SERVER_ENGINE_NAME];
    struct node *merged; /* with the keys of what it extends, whose texts the engine's are */
    struct server_engine engine; /* without a row: it was not read */
};

/* A file of engines, by its name, or by its path if it is a user's own. It lives as long as the process. */
struct engine_file {
    struct engine_file *next;
    char name[SERVER_ENGINE_NAME];
    bool own;
    struct node *root; /* NULL: it was not read */
    int parts;         /* of the numbers of its versions, at most */
    struct program_version *versions;
    size_t count;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static struct engine_file *engine_files;
static const char **engine_names; /* NULL: not all shipped files were read */
static const char folder[] = "engines", suffix[] = "yaml", none[] = "none";

/* ---- files ---- */

static struct engine_file *engine_file_add(const char *name, size_t length, bool own,
                                           struct error *why)
{
    struct engine_file *program = array_zeroed(1, sizeof *program, why);
    if (program != NULL) {
        snprintf(program->name, sizeof program->name, "%.*s", (int)length, name);
        program->own = own;
        program->next = engine_files;
        engine_files = program;
    }
    return program;
}

/* Know the names of the shipped programs. */
static bool engine_files_list(struct error *why)
{
    static bool listed;
    char **names;
    size_t count;
    if (listed) {
        return true;
    }
    if (!find_names(folder, suffix, &names, &count, why)) {
        return false;
    }
    listed = true;
    for (size_t i = count; i-- > 0;) {
        listed &= engine_file_add(names[i], strlen(names[i]), false, why) != NULL;
        free(names[i]);
    }
    free(names);
    return listed;
}

/* The program whose name, or file's path, the text begins with, and what follows; NULL if there is none. */
static struct engine_file *engine_file_find(const char *text, const char **rest, struct error *why)
{
    const char *dot = strstr(text, ".yaml");
    size_t path = dot != NULL ? (size_t)(dot - text) + strlen(".yaml") : 0, longest = 0;
    struct engine_file *found = NULL;
    if (strlen(text) >= SERVER_ENGINE_NAME || (path == 0 && !engine_files_list(why))) {
        return NULL;
    }
    for (struct engine_file *program = engine_files; program != NULL; program = program->next) {
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
    static const char *const keys[] = {"versions", NULL};
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
    bool good = root != NULL && node_check_keys(root, NAMES(keys), "engine", why);
    if (good && (versions == NULL || versions->kind != NODE_MAP || versions->count == 0)) {
        node_error(root, why, "this file has no 'versions'");
        good = error_expect(why, "a map of versions, such as 0.19: {extends: 0.18, ...}");
    }
    if (!good || !read_versions(program, versions, why)) {
        free(program->versions);
        program->versions = NULL;
        node_destroy(root);
        return false;
    }
    program->root = root;
    return true;
}

/* The version by which one is computed: the newest no newer, else the oldest. NULL: the newest of all. */
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

static bool version_merge(const struct engine_file *program, struct program_version *version,
                          int depth, struct error *why);

/* A copy of the version that another one extends: "0.19" of the same file, or "vllm-0.19", unnamed. */
static struct node *version_base(const struct engine_file *program, const struct node *extends,
                                 int depth, struct error *why)
{
    const char *rest = extends->text != NULL ? extends->text : "";
    struct version number;
    if (!isdigit((unsigned char)*rest)) {
        struct engine_file *other = engine_file_find(rest, &rest, why);
        program = other != NULL && engine_file_read(other, why) ? other : NULL;
    }
    for (size_t i = 0; program != NULL && version_parse(rest, &number) && i < program->count; i++) {
        struct program_version *base = &program->versions[i];
        if (version_compare(&base->number, &number) == 0 && depth < DEEPEST) {
            struct node *copy =
                version_merge(program, base, depth + 1, why) ? node_copy(base->merged, why) : NULL;
            if (copy != NULL) {
                node_remove(copy, "summary");
                node_remove(copy, "source");
            }
            return copy;
        }
    }
    node_error(extends, why,
               depth < DEEPEST ? "'extends' names no version that is known"
                               : "this version extends itself");
    error_expect(why, "another version of this file, or one such as vllm-0.19");
    return NULL;
}

/* Lay the version's keys over those of what it extends. */
static bool version_merge(const struct engine_file *program, struct program_version *version,
                          int depth, struct error *why)
{
    const struct node *extends = node_get(version->node, "extends");
    if (version->merged != NULL) {
        return true;
    }
    struct node *merged = extends == NULL ? node_copy(version->node, why)
                                          : version_base(program, extends, depth, why);
    if (merged == NULL || (extends != NULL && !node_merge(merged, version->node, why))) {
        node_destroy(merged);
        return false;
    }
    node_remove(merged, "extends");
    version->merged = merged;
    return true;
}

static bool version_read(const struct engine_file *program, struct program_version *version,
                         struct error *why)
{
    struct server_engine *engine = &version->engine;
    const char *expected, *key;
    if (engine->row != NULL) {
        return true;
    }
    if (!version_merge(program, version, 0, why) ||
        !node_fields_read(node_get(version->merged, "runner"), server_engine_runner_fields,
                          "runner", &engine->dense,
                          why) || /* as the other models, unless it says otherwise */
        !node_fields_read(version->merged, server_engine_fields, version->name, engine, why) ||
        !hash_content(version->merged, &engine->content, why)) {
        return false;
    }
    if ((key = wrong_key(engine, &expected)) != NULL) {
        node_key_error(version->node, key, why, "engine '%s' %s '%s'", version->name,
                       node_get(version->node, key) != NULL ? "has an invalid" : "lacks", key);
        return error_expect(why, "%s", expected);
    }
    engine->row = version->name;
    return true;
}

/* ---- finding ---- */

/* As server_engine_find() but for "none"; the lock is held. `*known`: there is a program of this name. */
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
    struct program_version *latest = version_for(program, NULL), *row = latest;
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
    out->program = program->own ? NULL : program->name;
    /* As its user named it, with as many numbers as the program's versions have. */
    text_copy(out->name, sizeof out->name, program->name);
    for (int i = 0; i < program->parts && i < number.parts; i++) {
        text_append(out->name, sizeof out->name, "%c%d", i == 0 ? '-' : '.', number.number[i]);
    }
    if (strcmp(out->name, row->name) != 0) {
        out->stand_in = version_compare(&row->number, &number) > 0 ? "earliest"
                        : row == latest                            ? "latest"
                                                                   : "nearest earlier";
    }
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
    pthread_mutex_lock(&lock);
    bool good = engine_find(text, file, line, out, &known, why);
    pthread_mutex_unlock(&lock);
    const char *const *names = known ? NULL : server_engine_names(why);
    if (names != NULL) {
        error_input(why, file, line, "unknown engine '%.100s'", text);
        name_expect(text, NAMES(names), why);
    }
    return known && good;
}

bool server_engine_canonical(const char *text, char *out, size_t size)
{
    struct server_engine engine;
    return server_engine_find(text, NULL, 0, &engine, ERROR_UNSEEN) &&
           snprintf(out, size, "%s", engine.name) < (int)size;
}

/* Read all shipped programs and collect the names of their versions; the lock is held. */
static const char **list_names(struct error *why)
{
    const char **names = NULL;
    size_t capacity = 0, used = 1;
    bool good = engine_files_list(why) && array_reserve(&names, &capacity, 2, sizeof *names, why);
    for (struct engine_file *program = engine_files; good && program != NULL;
         program = program->next) {
        good = program->own || engine_file_read(program, why);
        for (size_t i = 0; good && !program->own && i < program->count; i++) {
            good = array_reserve(&names, &capacity, used + 2, sizeof *names, why);
            if (good) {
                names[used++] = program->versions[i].name;
            }
        }
    }
    if (!good) {
        free(names);
        return NULL;
    }
    names[0] = none;
    names[used] = NULL;
    return names;
}

const char *const *server_engine_names(struct error *why)
{
    pthread_mutex_lock(&lock);
    engine_names = engine_names != NULL ? engine_names : list_names(why);
    pthread_mutex_unlock(&lock);
    return engine_names;
}

const char *server_engine_latest(const char *program, struct error *why)
{
    const char *rest;
    pthread_mutex_lock(&lock);
    struct engine_file *found = engine_file_find(program, &rest, why);
    bool good = found != NULL && engine_file_read(found, why);
    pthread_mutex_unlock(&lock);
    return good ? version_for(found, NULL)->name : NULL;
}
