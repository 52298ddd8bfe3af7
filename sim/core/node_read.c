/* From YAML to nodes: libyaml's events, an explicit stack of the open containers, and every refusal
 * that node.h promises.
 *
 * The limits keep the cost linear in the file, although a map compares its keys with each other;
 * the limit on depth bounds every later recursion.
 */
#include "core/array.h"
#include "core/node.h"
#include "core/node_build.h"
#include "core/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { FILE_LIMIT = 16 << 20, NODE_LIMIT = 1 << 20, ANCHOR_LIMIT = 1000 };

struct reader {
    yaml_parser_t parser;
    const char *text;
    size_t size;
    const char *file;
    struct node *root;
    struct node *open[NODE_DEEPEST]; /* containers, outermost first; all hang below root */
    size_t depth;
    char *key; /* read, but its value not yet; owned */
    size_t nodes;
    struct node_anchors anchors;
    bool done;
};

static int line_of(const yaml_mark_t *mark)
{
    return (int)mark->line + 1;
}

/* Errors of the character decoder state only an offset. */
static int node_read_line_at(const struct reader *reader, size_t offset)
{
    int line = 1;
    for (size_t i = 0; i < offset && i < reader->size; i++) {
        line += reader->text[i] == '\n';
    }
    return line;
}

static bool syntax_error(const struct reader *reader, struct error *why)
{
    const yaml_parser_t *parser = &reader->parser;
    if (parser->error == YAML_MEMORY_ERROR) {
        return error_set(why, reader->file, 0, "out of memory");
    }
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be read";
    if (parser->error == YAML_READER_ERROR) {
        error_input(why, reader->file, node_read_line_at(reader, parser->problem_offset),
                    "not text: %s (byte %zu)", problem, parser->problem_offset);
        return error_expect(why, "YAML in UTF-8");
    }
    return error_input(why, reader->file, line_of(&parser->problem_mark), "not YAML: %s", problem);
}

static bool node_read_refuse(const struct reader *reader, const yaml_event_t *event,
                             struct error *why, const char *what)
{
    return error_input(why, reader->file, line_of(&event->start_mark), "%s", what);
}

/* A scalar in a map that waits for its next key. */
static bool node_read_key(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    const char *key = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (length == 0 || length > NODE_LONGEST_KEY || strlen(key) != length) {
        node_read_refuse(reader, event, why, "the key is empty, too long or not text");
        return error_expect(why, "1 to %d bytes of text", NODE_LONGEST_KEY);
    }
    const struct node *map = reader->open[reader->depth - 1];
    const struct node *twin = node_get(map, key);
    if (twin != NULL) {
        return error_input(why, reader->file, line_of(&event->start_mark),
                           "duplicate key '%s', first in line %d", key, twin->line);
    }
    if (map->count == NODE_MOST_KEYS) {
        return error_input(why, reader->file, line_of(&event->start_mark),
                           "a map of more than %d keys", NODE_MOST_KEYS);
    }
    reader->key = strdup(key);
    return reader->key != NULL || error_set(why, reader->file, 0, "out of memory");
}

static bool wants_key(const struct reader *reader)
{
    return reader->depth > 0 && reader->key == NULL &&
           reader->open[reader->depth - 1]->kind == NODE_MAP;
}

/* Attach a new node at the current place of the document. */
static struct node *place_node(struct reader *reader, enum node_kind kind,
                               const yaml_event_t *event, struct error *why)
{
    if (++reader->nodes > NODE_LIMIT) {
        node_read_refuse(reader, event, why, "more than a million values");
        return NULL;
    }
    struct node *node = node_create(kind, reader->file, line_of(&event->start_mark), why);
    if (node == NULL) {
        return NULL;
    }
    node->key = reader->key;
    reader->key = NULL;
    if (reader->depth == 0) {
        reader->root = node;
    } else if (!node_append(reader->open[reader->depth - 1], node, why)) {
        node_destroy(node);
        return NULL;
    }
    return node;
}

static bool is_null(const yaml_event_t *event)
{
    static const char *const words[] = {"", "~", "null"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp((const char *)event->data.scalar.value, words[i]) == 0) {
            return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        }
    }
    return false;
}

/* Note what an anchor marks. Few may, because each alias looks through them. */
static bool mark_node(struct reader *reader, const yaml_event_t *event, const yaml_char_t *anchor,
                      const struct node *node, struct error *why)
{
    if (node == NULL || anchor == NULL) {
        return node != NULL;
    }
    if (reader->anchors.count == ANCHOR_LIMIT) {
        return node_read_refuse(reader, event, why, "more than a thousand anchors");
    }
    return node_anchors_add(&reader->anchors, (const char *)anchor, node, why);
}

static bool read_scalar(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    const yaml_char_t *anchor = event->data.scalar.anchor;
    if (event->data.scalar.tag != NULL) {
        return node_read_refuse(reader, event, why, "tags are not supported");
    }
    if (wants_key(reader)) {
        return anchor == NULL ? node_read_key(reader, event, why)
                              : node_read_refuse(reader, event, why, "an anchor at a key");
    }
    const char *text = (const char *)event->data.scalar.value;
    if (strlen(text) != event->data.scalar.length) {
        return node_read_refuse(reader, event, why, "a zero byte in a text");
    }
    bool null = is_null(event);
    struct node *node = place_node(reader, null ? NODE_NULL : NODE_SCALAR, event, why);
    if (!mark_node(reader, event, anchor, node, why)) {
        return false;
    }
    if (null) {
        return true;
    }
    node->text = strdup(text);
    return node->text != NULL || error_set(why, reader->file, 0, "out of memory");
}

static bool read_start(struct reader *reader, const yaml_event_t *event, enum node_kind kind,
                       const yaml_char_t *anchor, const yaml_char_t *tag, struct error *why)
{
    if (tag != NULL) {
        return node_read_refuse(reader, event, why, "tags are not supported");
    }
    if (wants_key(reader)) {
        return node_read_refuse(reader, event, why, "a list or map as a key");
    }
    if (reader->depth == NODE_DEEPEST) {
        return error_input(why, reader->file, line_of(&event->start_mark), "nested deeper than %d",
                           NODE_DEEPEST);
    }
    struct node *node = place_node(reader, kind, event, why);
    if (!mark_node(reader, event, anchor, node, why)) {
        return false;
    }
    reader->open[reader->depth++] = node;
    return true;
}

/* A copy of what its anchor marks, which lies before it. */
static bool read_alias(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct node *of = node_anchors_find(&reader->anchors, name);
    bool within = false;
    size_t depth = 0;
    for (size_t i = 0; i < reader->depth; i++) {
        within = within || reader->open[i] == of;
    }
    if (of == NULL || within || wants_key(reader)) {
        return node_read_refuse(reader, event, why,
                                of == NULL ? "an alias of no anchor before it"
                                : within   ? "an alias within what its anchor marks"
                                           : "an alias as a key");
    }
    reader->nodes += node_measure(of, &depth);
    if (reader->nodes > NODE_LIMIT || reader->depth + depth > NODE_DEEPEST) {
        return node_read_refuse(reader, event, why,
                                "aliases make more than a million values, too "
                                "much text, or nest them too deep");
    }
    struct node *copy = node_copy(of, why);
    if (copy == NULL) {
        return false;
    }
    free(copy->key);
    copy->key = reader->key;
    reader->key = NULL;
    if (reader->depth > 0 && !node_append(reader->open[reader->depth - 1], copy, why)) {
        node_destroy(copy);
        return false;
    }
    return true;
}

static bool read_document(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    if (reader->root != NULL) {
        return node_read_refuse(reader, event, why, "a second document in one file");
    }
    return true;
}

static bool read_event(struct reader *reader, const yaml_event_t *event, struct error *why)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        return read_document(reader, event, why);
    case YAML_SCALAR_EVENT:
        return read_scalar(reader, event, why);
    case YAML_SEQUENCE_START_EVENT:
        return read_start(reader, event, NODE_LIST, event->data.sequence_start.anchor,
                          event->data.sequence_start.tag, why);
    case YAML_MAPPING_START_EVENT:
        return read_start(reader, event, NODE_MAP, event->data.mapping_start.anchor,
                          event->data.mapping_start.tag, why);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        reader->depth--;
        return true;
    case YAML_ALIAS_EVENT:
        return read_alias(reader, event, why);
    case YAML_STREAM_END_EVENT:
        reader->done = true;
        return true;
    default:
        return true;
    }
}

static bool read_events(struct reader *reader, struct error *why)
{
    while (!reader->done) {
        yaml_event_t event;
        if (!yaml_parser_parse(&reader->parser, &event)) {
            return syntax_error(reader, why);
        }
        bool read = read_event(reader, &event, why);
        yaml_event_delete(&event);
        if (!read) {
            return false;
        }
    }
    if (reader->root == NULL) { /* an empty document */
        reader->root = node_create(NODE_NULL, reader->file, 1, why);
    }
    return reader->root != NULL;
}

struct node *node_parse(const char *text, size_t size, const char *name, struct error *why)
{
    struct reader reader = {.text = text, .size = size, .file = node_intern(name, why)};
    if (reader.file == NULL) {
        return NULL;
    }
    if (size > FILE_LIMIT) {
        error_input(why, name, 0, "larger than 16 MiB");
        return NULL;
    }
    if (!yaml_parser_initialize(&reader.parser)) {
        error_set(why, name, 0, "out of memory");
        return NULL;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)text, size);
    bool read = read_events(&reader, why);
    read = read && node_merge_keys(reader.root, why);
    node_anchors_release(&reader.anchors);
    yaml_parser_delete(&reader.parser);
    free(reader.key);
    if (!read) {
        node_destroy(reader.root);
        return NULL;
    }
    return reader.root;
}

/* A pipe may be silent for as long as it likes; Ctrl-C then ends the waiting. */
static bool unread(const char *path, const char *what, struct error *why)
{
    return errno == EINTR ? error_set(why, path, 0, "interrupted")
                          : error_set(why, path, 0, "%s: %s", what, strerror(errno));
}

/* All bytes of a file. */
static char *read_file(FILE *file, const char *path, size_t *size, struct error *why)
{
    char *text = NULL;
    size_t capacity = 0;
    size_t got = 1;
    for (*size = 0; got > 0 && *size <= FILE_LIMIT; *size += got) {
        if (!array_reserve(&text, &capacity, *size + 65536 + 1, 1, why)) {
            free(text);
            return NULL;
        }
        got = fread(text + *size, 1, 65536, file);
    }
    if (ferror(file)) {
        unread(path, "cannot be read", why);
    } else if (*size > FILE_LIMIT) {
        error_input(why, path, 0, "larger than 16 MiB");
    } else {
        return text;
    }
    free(text);
    return NULL;
}

char *node_file(const char *path, size_t *size, struct error *why)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        unread(path, "cannot be opened", why);
        return NULL;
    }
    char *text = read_file(file, path, size, why);
    fclose(file);
    size_t mark = text != NULL ? text_mark(text, *size) : 0;
    if (mark > 0) {
        *size -= mark;
        memmove(text, text + mark, *size);
    }
    if (text != NULL) {
        text[*size] = '\0';
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
