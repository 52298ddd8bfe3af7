/* Trees of nodes: making, copying, finding, overriding, merging. Recursion is bounded by NODE_DEEPEST. */
#include "core/node.h"

#include "core/array.h"
#include "core/node_build.h"
#include "core/quote.h"
#include "core/text.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const char *node_intern(const char *file, struct error *why)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char **files;
    static size_t count, capacity;

    const char *interned = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count && interned == NULL; i++) {
        interned = strcmp(files[i], file) == 0 ? files[i] : NULL;
    }
    if (interned == NULL && array_reserve(&files, &capacity, count + 1, sizeof *files, why)) {
        files[count] = text_duplicate(file, why);
        interned = files[count];
        count += interned != NULL;
    }
    pthread_mutex_unlock(&lock);
    return interned;
}

struct node *node_create(enum node_kind kind, const char *file, int line, struct error *why)
{
    struct node *node = array_zeroed(1, sizeof *node, why);
    if (node != NULL) {
        *node = (struct node){.kind = kind, .file = file, .line = line};
    }
    return node;
}

struct node *node_map(const char *file, struct error *why)
{
    const char *interned = node_intern(file, why);
    return interned != NULL ? node_create(NODE_MAP, interned, 0, why) : NULL;
}

/* Free what a node holds, except its key, and make it NODE_NULL. */
static void node_clear(struct node *node)
{
    for (size_t i = 0; i < node->count; i++) {
        node_destroy(node->children[i]);
    }
    free(node->children);
    free(node->text);
    free(node->typed);
    *node = (struct node){.file = node->file, .line = node->line, .key = node->key};
}

void node_destroy(struct node *node)
{
    if (node != NULL) {
        node_clear(node);
        free(node->key);
        free(node);
    }
}

bool node_append(struct node *parent, struct node *child, struct error *why)
{
    if (!array_reserve(&parent->children, &parent->capacity, parent->count + 1,
                       sizeof(struct node *), why)) {
        return false;
    }
    parent->children[parent->count++] = child;
    return true;
}

static bool copy_text(const char *from, char **to, struct error *why)
{
    return from == NULL || (*to = text_duplicate(from, why)) != NULL;
}

struct node *node_copy(const struct node *node, struct error *why)
{
    struct node *copy = node_create(node->kind, node->file, node->line, why);
    bool good = copy != NULL && copy_text(node->key, &copy->key, why) &&
                copy_text(node->text, &copy->text, why) &&
                copy_text(node->typed, &copy->typed, why);
    for (size_t i = 0; good && i < node->count; i++) {
        struct node *child = node_copy(node->children[i], why);
        good = child != NULL && node_append(copy, child, why);
        if (!good) {
            node_destroy(child);
        }
    }
    if (!good) {
        node_destroy(copy);
        return NULL;
    }
    return copy;
}

static struct node *find_child(const struct node *map, const char *key, size_t length)
{
    for (size_t i = 0; map->kind == NODE_MAP && i < map->count; i++) {
        const char *name = map->children[i]->key;
        if (strncmp(name, key, length) == 0 && name[length] == '\0') {
            return map->children[i];
        }
    }
    return NULL;
}

const struct node *node_get(const struct node *map, const char *key)
{
    return map != NULL ? find_child(map, key, strlen(key)) : NULL;
}

const struct node *node_stated(const struct node *map, const char *key)
{
    const struct node *node = node_get(map, key);
    return node != NULL && node->kind != NODE_NULL ? node : NULL;
}

const struct node *node_find(const struct node *root, const char *path)
{
    const struct node *node = root;
    for (const char *part = path; node != NULL && part != NULL;) {
        size_t length = strcspn(part, ".");
        node = find_child(node, part, length);
        part = part[length] == '.' ? part + length + 1 : NULL;
    }
    return node;
}

/* Put the contents of `value` in place of `node`, which keeps its key. Takes over `value`. */
static void node_replace(struct node *node, struct node *value)
{
    char *key = node->key;
    node->key = NULL;
    node_clear(node);
    free(value->key);
    *node = *value;
    node->key = key;
    free(value);
}

/* The child of `map` with this key; an empty one is made if there is none. */
static struct node *child_made(struct node *map, const char *key, size_t length, const char *file,
                               struct error *why)
{
    struct node *child = find_child(map, key, length);
    if (child != NULL) {
        return child;
    }
    child = node_create(NODE_NULL, file, 0, why);
    if (child == NULL || (child->key = array_zeroed(length + 1, 1, why)) == NULL ||
        !node_append(map, child, why)) {
        node_destroy(child);
        return NULL;
    }
    memcpy(child->key, key, length);
    return child;
}

static void mark_override(struct node *node)
{
    node->line = 0;
    for (size_t i = 0; i < node->count; i++) {
        mark_override(node->children[i]);
    }
}

static bool check_path(const char *path, size_t value_depth, struct error *why)
{
    size_t depth = value_depth;
    for (const char *part = path;; part++) {
        size_t length = strcspn(part, ".");
        if (length == 0 || length > NODE_LONGEST_KEY) {
            error_usage(why, "--set", 0, "'%s' is not a valid key", path);
            return error_expect(why, "keys separated by single dots, such as mechanisms.sync");
        }
        part += length;
        depth++;
        if (*part == '\0') {
            break;
        }
    }
    return depth <= NODE_DEEPEST ||
           error_usage(why, "--set", 0, "'%s' is nested deeper than %d", path, NODE_DEEPEST);
}

/* The node at a checked path; it is made if it is not there. */
static struct node *node_reach(struct node *root, const char *path, const char *file,
                               struct error *why)
{
    struct node *node = root;
    const char *part = path;
    while (node != NULL) {
        if (node->kind == NODE_NULL) {
            node->kind = NODE_MAP;
        }
        if (node->kind != NODE_MAP) {
            int length = part > path ? (int)(part - path - 1) : 0;
            error_usage(why, "--set", 0, "'%s' cannot be set: '%.*s' is %s", path, length, path,
                        node->kind == NODE_LIST ? "a list" : "a single value");
            return NULL;
        }
        size_t length = strcspn(part, ".");
        node = child_made(node, part, length, file, why);
        part += length;
        if (*part == '\0') {
            return node;
        }
        part++;
    }
    return NULL;
}

/* Move `value` to the place at `path`; if there is no such place, free it. */
static bool node_place(struct node *root, const char *path, struct node *value, struct error *why)
{
    size_t depth;
    node_measure(value, &depth);
    struct node *at =
        check_path(path, depth, why) ? node_reach(root, path, value->file, why) : NULL;
    if (at == NULL) {
        node_destroy(value);
        return false;
    }
    node_replace(at, value);
    return true;
}

bool node_set(struct node *root, const char *path, const char *value, struct error *why)
{
    struct node *parsed = node_parse(value, strlen(value), "--set", why);
    if (parsed == NULL) {
        why->line = 0;
        return false;
    }
    mark_override(parsed);
    return node_place(root, path, parsed, why);
}

bool node_put(struct node *root, const char *path, const struct node *value, struct error *why)
{
    struct node *copy = node_copy(value, why);
    return copy != NULL && node_place(root, path, copy, why);
}

bool node_set_text(struct node *scalar, const char *text, struct error *why)
{
    char *copy = text_duplicate(text, why);
    if (copy == NULL) {
        return false;
    }
    char *old = scalar->text;
    scalar->text = copy;
    if (scalar->typed == NULL) {
        scalar->typed = old;
    } else {
        free(old);
    }
    return true;
}

void node_remove(struct node *map, const char *key)
{
    size_t kept = 0;
    for (size_t i = 0; i < map->count; i++) {
        struct node *child = map->children[i];
        if (kept == i && child->key != NULL && strcmp(child->key, key) == 0) {
            node_destroy(child); /* and `key`, if it is the child's own */
        } else {
            map->children[kept++] = child;
        }
    }
    map->count = kept;
}

bool node_merge(struct node *base, const struct node *over, struct error *why)
{
    if (base->kind == NODE_MAP && over->kind == NODE_NULL) {
        return true;
    }
    if (base->kind != NODE_MAP || over->kind != NODE_MAP) {
        struct node *copy = node_copy(over, why);
        if (copy != NULL) {
            node_replace(base, copy);
        }
        return copy != NULL;
    }
    for (size_t i = 0; i < over->count; i++) {
        const struct node *value = over->children[i];
        struct node *child = child_made(base, value->key, strlen(value->key), value->file, why);
        if (child == NULL || !node_merge(child, value, why)) {
            return false;
        }
    }
    return true;
}

/* One text for equal trees: flow style, keys sorted by bytes, scalars in double quotes, in ASCII. It is YAML
 * (and JSON, but for characters past 16 bits), and gives itself when read and written. */

static void put_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, text, out);
    fputc('"', out);
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp((*(struct node *const *)a)->key, (*(struct node *const *)b)->key);
}

static bool put_node(const struct node *node, FILE *out, struct error *why)
{
    bool map = node->kind == NODE_MAP, good = true;
    if (node->kind == NODE_SCALAR) {
        put_quoted(node->text, out);
        return true;
    }
    if (node->kind == NODE_NULL) {
        return fputs("null", out) >= 0;
    }
    struct node **sorted = array_zeroed(node->count, sizeof(struct node *), why);
    if (sorted == NULL) {
        return false;
    }
    if (node->count > 0) {
        memcpy(sorted, node->children, node->count * sizeof(struct node *));
    }
    if (map && node->count > 0) {
        qsort(sorted, node->count, sizeof(struct node *), compare_keys);
    }
    fputc(map ? '{' : '[', out);
    for (size_t i = 0; good && i < node->count; i++) {
        fputs(i > 0 ? ", " : "", out);
        if (map) {
            put_quoted(sorted[i]->key, out);
            fputs(": ", out);
        }
        good = put_node(sorted[i], out, why);
    }
    fputc(map ? '}' : ']', out);
    free(sorted);
    return good;
}

char *node_canonical(const struct node *node, struct error *why)
{
    struct text_file text;
    return text_close(&text, text_open(&text, why) && put_node(node, text.out, why), why);
}

/* Typed values from a tree, and complaints about its nodes. */

static bool error_at(const struct node *node, struct error *why, const char *format, va_list list)
{
    char text[sizeof why->found];
    vsnprintf(text, sizeof text, format, list);
    error_input(why, node != NULL ? node->file : NULL, node != NULL ? node->line : 0, "%s", text);
    return error_key(why, node != NULL ? node->key : NULL);
}

bool node_error(const struct node *node, struct error *why, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    error_at(node, why, format, list);
    va_end(list);
    return false;
}

bool node_key_error(const struct node *map, const char *key, struct error *why, const char *format,
                    ...)
{
    const struct node *node = node_get(map, key);
    va_list list;
    va_start(list, format);
    error_at(node != NULL ? node : map, why, format, list);
    va_end(list);
    return error_key(why, key);
}

/* The scalar `key`; NULL if it is absent or empty, or if it is no scalar, and then `*good` is false. */
static const struct node *find_scalar(const struct node *map, const char *key, bool *good,
                                      struct error *why)
{
    const struct node *node = node_stated(map, key);
    *good = node == NULL || node->kind == NODE_SCALAR;
    if (!*good) {
        node_error(node, why, "'%s' is a %s", key, node->kind == NODE_LIST ? "list" : "map");
        error_expect(why, "a single value");
    }
    return *good ? node : NULL;
}

bool node_text(const struct node *map, const char *key, const char **out, struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    *out = node != NULL ? node->text : *out;
    return good;
}

bool node_word(const struct node *map, const char *key, const char *const *words, int *out,
               struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    if (node == NULL) {
        return good;
    }
    int word = name_match(node->text, words);
    if (word >= 0) {
        *out = word;
        return true;
    }
    node_error(node, why, "unknown value '%.100s' of '%s'", node->text, key);
    return name_expect(node->text, NAMES(words), why);
}

bool node_quantity(const struct node *map, const char *key, enum unit unit, double *out,
                   struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    return node != NULL ? units_parse(node->text, unit, node->file, node->line, key, out, why)
                        : good;
}

bool node_whole(const struct node *map, const char *key, enum unit unit, uint64_t most,
                uint64_t *out, struct error *why)
{
    bool good;
    const struct node *node = find_scalar(map, key, &good, why);
    return node != NULL
               ? units_parse_whole(node->text, unit, most, node->file, node->line, key, out, why)
               : good;
}

bool node_bool(const struct node *map, const char *key, bool *out, struct error *why)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", NULL};
    int word = *out;
    bool good = node_word(map, key, words, &word, why);
    *out = word % 2 == 1;
    return good;
}

bool node_check_keys(const struct node *map, struct names keys, const char *where,
                     struct error *why)
{
    if (map == NULL || map->kind == NODE_NULL) {
        return true;
    }
    if (map->kind != NODE_MAP) {
        node_error(map, why, "'%s' is %s", where,
                   map->kind == NODE_LIST ? "a list" : "a single value");
        return error_expect(why, "keys of it, such as '%s.%s'", where, name_at(keys, 0));
    }
    for (size_t i = 0; i < map->count; i++) {
        const struct node *child = map->children[i];
        if (name_index(child->key, keys) < 0) {
            node_error(child, why, "unknown key '%s' in '%s'", child->key, where);
            return name_expect(child->key, keys, why);
        }
    }
    return true;
}

/* Rows of a list, or of a map. */
static bool node_fields_rows(const struct node *rows, const struct node_field *field, char *out,
                             struct error *why)
{
    bool named = field->type == NODE_FIELD_ROWS, good = true;
    uint32_t *count = (uint32_t *)(out + field->count);
    char *at = out + field->offset;
    *count = 0;
    if (rows == NULL) {
        return true;
    }
    if (rows->kind != (named ? NODE_MAP : NODE_LIST) || (!named && rows->count > field->most)) {
        node_error(rows, why, "'%s' is no %s", field->key, named ? "map" : "list that is read");
        return error_expect(why, "%s {%s: ..., ...}", named ? "NAME:" : "-", field->inside->key);
    }
    if (named) {
        char **made = (char **)at;
        *made = *made != NULL ? *made : array_zeroed(rows->count, field->size, why);
        at = *made;
        good = at != NULL;
    }
    for (; good && *count < rows->count; ++*count, at += field->size) {
        const struct node *row = rows->children[*count];
        if (named) {
            memcpy(at, &row->key, sizeof row->key);
        }
        good = node_fields_read(row, field->inside, named ? row->key : field->key, at, why);
    }
    return good;
}

bool node_check_texts(const struct node *list, struct error *why)
{
    bool good = list == NULL || list->kind == NODE_LIST;
    for (size_t i = 0; good && list != NULL && i < list->count; i++) {
        good = list->children[i]->kind == NODE_SCALAR;
    }
    return good || node_error(list, why, "'%s' is no list of texts", list->key);
}

static bool node_fields_read_one(const struct node *map, const struct node_field *field, void *out,
                                 struct error *why)
{
    void *at = (char *)out + field->offset;
    enum unit unit = field->unit != UNIT_TEXT ? field->unit : UNIT_COUNT;
    uint64_t small = 0;
    switch (field->type) {
    case NODE_FIELD_TEXT:
        return node_text(map, field->key, at, why);
    case NODE_FIELD_YES:
        return node_bool(map, field->key, at, why);
    case NODE_FIELD_REAL:
        return node_quantity(map, field->key, unit, at, why);
    case NODE_FIELD_WHOLE:
        return node_whole(map, field->key, unit, field->most > 0 ? field->most : INT64_MAX, at,
                          why);
    case NODE_FIELD_SMALL:
        if (!node_whole(map, field->key, unit, field->most > 0 ? field->most : UINT32_MAX, &small,
                        why)) {
            return false;
        }
        *(uint32_t *)at = node_stated(map, field->key) != NULL ? (uint32_t)small : *(uint32_t *)at;
        return true;
    case NODE_FIELD_WORD:
        return node_word(map, field->key, field->words, at, why);
    case NODE_FIELD_MAP:
        return node_fields_read(node_get(map, field->key), field->inside, field->key, at, why);
    case NODE_FIELD_LIST:
    case NODE_FIELD_ROWS:
        return node_fields_rows(node_stated(map, field->key), field, out, why);
    case NODE_FIELD_TEXTS:
        if (!node_check_texts(node_stated(map, field->key), why)) {
            return false;
        }
        /* fall through */
    case NODE_FIELD_NODE:
        memcpy(at, &(const struct node *){node_stated(map, field->key)}, sizeof(struct node *));
        break;
    }
    return true;
}

bool node_fields_read(const struct node *map, const struct node_field *fields, const char *where,
                      void *out, struct error *why)
{
    bool good = node_check_keys(map, NAMES(fields), where, why);
    for (const struct node_field *field = fields; good && field->key != NULL; field++) {
        good = node_fields_read_one(map, field, out, why);
        if (good && field->needed && node_stated(map, field->key) == NULL) {
            good = node_error(map, why, "'%.60s' has no '%s'", where, field->key);
        }
    }
    return good;
}
