/* From YAML to nodes: a function reads what libyaml's events of one node say, and all within it, with every
 * refusal that node.h promises. The limits keep the cost linear in the file, although an alias is a copy; the
 * limit on depth bounds every recursion, of libyaml, too. */
#include "core/array.h"
#include "core/node_build.h"
#include "core/text.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { NODE_LIMIT = 1 << 20, ANCHOR_LIMIT = 256 };

struct reader {
    yaml_parser_t parser;
    const char *text, *file;
    size_t depth; /* of open lists and maps */
    size_t nodes; /* made so far, each with one more for every 64 bytes of its text */
    struct {
        char *name;        /* owned */
        struct node *node; /* a copy, as merging may remove what is marked; owned */
    } anchors[ANCHOR_LIMIT];
    size_t anchor_count;
};

/* Errors of the character decoder state only an offset. */
static bool syntax_error(const struct reader *reader, struct error *why)
{
    const yaml_parser_t *parser = &reader->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    int line = 1;
    if (parser->error == YAML_MEMORY_ERROR) {
        return error_set(why, reader->file, 0, "out of memory");
    }
    if (parser->error != YAML_READER_ERROR) {
        return error_input(why, reader->file, (int)parser->problem_mark.line + 1, "not YAML: %s",
                           problem);
    }
    for (size_t i = 0; i < parser->problem_offset; i++) {
        line += reader->text[i] == '\n';
    }
    error_input(why, reader->file, line, "not text: %s (byte %zu)", problem,
                parser->problem_offset);
    return error_expect(why, "YAML in UTF-8");
}

/* The caller deletes the event. */
static bool next_event(struct reader *reader, yaml_event_t *event, struct error *why)
{
    return yaml_parser_parse(&reader->parser, event) || syntax_error(reader, why);
}

static bool refuse(const struct reader *reader, const yaml_event_t *at, struct error *why,
                   const char *what)
{
    return error_input(why, reader->file, (int)at->start_mark.line + 1, "%s", what);
}

/* Hand `child`, which may be NULL, over to `parent`. */
static bool take_child(struct node *parent, struct node *child, struct error *why)
{
    bool good = child != NULL && node_append(parent, child, why);
    if (!good) {
        node_destroy(child);
    }
    return good;
}

static int order_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void keep_key(void *key)
{
    (void)key;
}

/* The same with a key that the map lacks. `keys`: those that it has, as tsearch() keeps them. */
static bool take_keyed(struct node *map, struct node *child, void **keys, struct error *why)
{
    if (child->key == NULL || tsearch(child->key, keys, order_texts) == NULL) {
        node_destroy(child);
        return error_set(why, map->file, 0, "out of memory");
    }
    return take_child(map, child, why);
}

/* Move the keys that the map lacks into it, from the value of "<<" (yaml.org/type/merge). */
static bool merge_keys(struct node *map, struct node *from, void **keys, struct error *why)
{
    bool good = from == NULL || from->kind == NODE_MAP || from->kind == NODE_LIST ||
                error_input(why, from->file, from->line, "'<<' is no map, nor a list of maps");
    for (size_t i = 0; good && from != NULL && i < from->count; i++) {
        struct node *child = from->children[i];
        if (from->kind == NODE_LIST) {
            good = child->kind == NODE_LIST
                       ? error_input(why, child->file, child->line, "'<<' lists a list")
                       : merge_keys(map, child, keys, why);
        } else if (tfind(child->key, keys, order_texts) == NULL) {
            from->children[i] = NULL;
            good = take_keyed(map, child, keys, why);
        }
    }
    return good;
}

static bool check_key(struct reader *reader, const struct node *map, void *const *keys,
                      const yaml_event_t *key, struct error *why)
{
    const char *text = (const char *)key->data.scalar.value;
    if (key->type != YAML_SCALAR_EVENT || key->data.scalar.anchor != NULL ||
        key->data.scalar.tag != NULL) {
        return refuse(reader, key, why,
                      "a key that is a list, a map or an alias, or has an anchor or a tag");
    }
    size_t length = key->data.scalar.length;
    if (length == 0 || length > NODE_LONGEST_KEY || strlen(text) != length) {
        refuse(reader, key, why, "the key is empty, too long or not text");
        return error_expect(why, "1 to %d bytes of text", NODE_LONGEST_KEY);
    }
    return tfind(text, keys, order_texts) == NULL ||
           error_input(why, reader->file, (int)key->start_mark.line + 1,
                       "duplicate key '%s', first in line %d", text, node_get(map, text)->line);
}

static struct node *read_node(struct reader *reader, const yaml_event_t *event, struct error *why);

static struct node *read_next(struct reader *reader, struct error *why)
{
    yaml_event_t event;
    if (!next_event(reader, &event, why)) {
        return NULL;
    }
    struct node *node = read_node(reader, &event, why);
    yaml_event_delete(&event);
    return node;
}

/* What a list or a map holds, up to its end. */
static bool read_inside(struct reader *reader, struct node *parent, struct error *why)
{
    bool map = parent->kind == NODE_MAP, good = true;
    void *keys = NULL;
    for (bool ends = false; good && !ends;) {
        yaml_event_t event;
        if (!next_event(reader, &event, why)) {
            good = false;
            break;
        }
        ends = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        if (!ends) {
            good = !map || check_key(reader, parent, &keys, &event, why);
            struct node *child = !good  ? NULL
                                 : !map ? read_node(reader, &event, why)
                                        : read_next(reader, why);
            if (map && child != NULL) {
                free(child->key);
                child->key = text_duplicate((const char *)event.data.scalar.value, why);
            }
            good = child != NULL &&
                   (map ? take_keyed(parent, child, &keys, why) : take_child(parent, child, why));
        }
        yaml_event_delete(&event);
    }
    if (good && map) {
        good = merge_keys(parent, (struct node *)node_get(parent, "<<"), &keys, why);
        node_remove(parent, "<<");
    }
    tdestroy(keys, keep_key);
    return good;
}

static bool read_scalar(struct reader *reader, const yaml_event_t *event, struct node *scalar,
                        struct error *why)
{
    const char *text = (const char *)event->data.scalar.value;
    bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    if (strlen(text) != event->data.scalar.length) {
        return refuse(reader, event, why, "a zero byte in a text");
    }
    if (plain && (text[0] == '\0' || strcmp(text, "~") == 0 || strcmp(text, "null") == 0)) {
        scalar->kind = NODE_NULL;
        return true;
    }
    return (scalar->text = text_duplicate(text, why)) != NULL;
}

size_t node_measure(const struct node *node, size_t *depth)
{
    size_t count = 1 + (node->text != NULL ? strlen(node->text) / 64 : 0), deepest = 0;
    for (size_t i = 0; i < node->count; i++) {
        size_t below;
        count += node_measure(node->children[i], &below);
        deepest = below > deepest ? below : deepest;
    }
    *depth = deepest + (node->kind == NODE_MAP || node->kind == NODE_LIST);
    return count;
}

/* A copy of what its anchor marks, which ends before it; the latest of that name. */
static struct node *read_alias(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    const struct node *of = NULL;
    size_t depth;
    for (size_t i = 0; i < reader->anchor_count; i++) {
        bool same = strcmp(reader->anchors[i].name, (const char *)event->data.alias.anchor) == 0;
        of = same ? reader->anchors[i].node : of;
    }
    if (of == NULL) {
        refuse(reader, event, why, "an alias of no anchor before it");
        return NULL;
    }
    reader->nodes += node_measure(of, &depth);
    if (reader->nodes > NODE_LIMIT || reader->depth + depth > NODE_DEEPEST) {
        refuse(reader, event, why, "aliases make too many values, too much text, or nest too deep");
        return NULL;
    }
    return node_copy(of, why);
}

static bool mark_node(struct reader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
                      const struct node *node, struct error *why)
{
    if (reader->anchor_count == ANCHOR_LIMIT) {
        return refuse(reader, event, why, "more than 256 anchors");
    }
    size_t depth;
    reader->nodes += node_measure(node, &depth);
    if (reader->nodes > NODE_LIMIT) {
        return refuse(reader, event, why, "anchors mark too many values, or too much text");
    }
    size_t at = reader->anchor_count++;
    reader->anchors[at].name = text_duplicate((const char *)anchor, why);
    reader->anchors[at].node = node_copy(node, why);
    return reader->anchors[at].name != NULL && reader->anchors[at].node != NULL;
}

static struct node *read_node(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    bool list = event->type == YAML_SEQUENCE_START_EVENT;
    bool scalar = event->type == YAML_SCALAR_EVENT;
    if (event->type == YAML_ALIAS_EVENT) {
        return read_alias(reader, event, why);
    }
    const yaml_char_t *tag = scalar ? event->data.scalar.tag
                             : list ? event->data.sequence_start.tag
                                    : event->data.mapping_start.tag;
    const yaml_char_t *anchor = scalar ? event->data.scalar.anchor
                                : list ? event->data.sequence_start.anchor
                                       : event->data.mapping_start.anchor;
    const char *fault = tag != NULL                                ? "tags are not supported"
                        : !scalar && reader->depth == NODE_DEEPEST ? "nested deeper than 32"
                        : ++reader->nodes > NODE_LIMIT             ? "more than a million values"
                                                                   : NULL;
    if (fault != NULL) {
        refuse(reader, event, why, fault);
        return NULL;
    }
    struct node *node = node_create(scalar ? NODE_SCALAR
                                    : list ? NODE_LIST
                                           : NODE_MAP,
                                    reader->file, (int)event->start_mark.line + 1, why);
    reader->depth += !scalar;
    bool good = node != NULL &&
                (scalar ? read_scalar(reader, event, node, why) : read_inside(reader, node, why));
    reader->depth -= !scalar;
    if (!good || (anchor != NULL && !mark_node(reader, event, anchor, node, why))) {
        node_destroy(node);
        return NULL;
    }
    return node;
}

/* Read to the end of the text, which has one document at most. */
static bool read_documents(struct reader *reader, struct node **root, struct error *why)
{
    bool good = true;
    for (bool ends = false; good && !ends;) {
        yaml_event_t event;
        if (!next_event(reader, &event, why)) {
            return false;
        }
        ends = event.type == YAML_STREAM_END_EVENT;
        if (event.type == YAML_DOCUMENT_START_EVENT) {
            good = *root == NULL ? (*root = read_next(reader, why)) != NULL
                                 : refuse(reader, &event, why, "a second document in one file");
        }
        yaml_event_delete(&event);
    }
    if (good && *root == NULL) { /* an empty text */
        *root = node_create(NODE_NULL, reader->file, 1, why);
    }
    return good && *root != NULL;
}

struct node *node_parse(const char *text, size_t size, const char *name, struct error *why)
{
    struct reader reader = {.text = text, .file = node_intern(name, why)};
    struct node *root = NULL;
    if (reader.file == NULL) {
        return NULL;
    }
    if (size > NODE_FILE_MOST) {
        error_input(why, name, 0, "larger than 16 MiB");
        return NULL;
    }
    if (!yaml_parser_initialize(&reader.parser)) {
        error_set(why, name, 0, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    bool good = read_documents(&reader, &root, why);
    for (size_t i = 0; i < reader.anchor_count; i++) {
        free(reader.anchors[i].name);
        node_destroy(reader.anchors[i].node);
    }
    yaml_parser_delete(&reader.parser);
    if (!good) {
        node_destroy(root);
        return NULL;
    }
    return root;
}

/* A pipe may be silent for as long as it likes; Ctrl-C then ends the waiting. */
static bool unread(const char *path, const char *what, struct error *why)
{
    return errno == EINTR ? error_make(why, ERROR_INTERRUPTED, path, 0, "interrupted")
                          : error_set(why, path, 0, "%s: %s", what, strerror(errno));
}

char *node_stream(FILE *in, const char *name, size_t most, size_t *size, struct error *why)
{
    enum { BLOCK = 1 << 16 };
    char *text = NULL;
    size_t capacity = 0, got = 1;
    for (*size = 0; got > 0 && *size <= most; *size += got) {
        if (!array_reserve(&text, &capacity, *size + BLOCK + 1, 1, why)) {
            free(text);
            return NULL;
        }
        got = fread(text + *size, 1, BLOCK, in);
    }
    bool whole = !ferror(in) || unread(name, "cannot be read", why);
    if (!whole || *size > most) {
        free(text);
        if (whole) {
            error_input(why, name, 0, "larger than %zu MiB", most >> 20);
        }
        return NULL;
    }
    size_t mark = text_mark(text, *size);
    *size -= mark;
    memmove(text, text + mark, *size);
    text[*size] = '\0';
    return text;
}

char *node_file(const char *path, size_t *size, struct error *why)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (file == NULL) {
        unread(path, "cannot be opened", why);
    } else {
        text = node_stream(file, path, NODE_FILE_MOST, size, why);
        fclose(file);
    }
    return text;
}

struct node *node_load(const char *path, struct error *why)
{
    size_t size;
    char *text = node_file(path, &size, why);
    if (text == NULL) {
        return NULL;
    }
    struct node *root = node_parse(text, size, path, why);
    free(text);
    return root;
}
