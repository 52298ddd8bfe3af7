#include "predict/result/note.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <string.h>

#include "core/text.h"
#include "core/units.h"

const struct note_kind note_kinds[NOTE_COUNT] = {
#define VALUE(name, type)                                                                          \
    {                                                                                              \
#name, NOTE_IS_##type                                                                      \
    }
#define TEXT(name) VALUE(name, TEXT)
#define INTEGER(name) VALUE(name, INTEGER)
#define BYTES(name) VALUE(name, BYTES)
#define REAL(name) VALUE(name, REAL)
#define FLAG(name) VALUE(name, FLAG)
#define NONE                                                                                       \
    {                                                                                              \
        NULL, NOTE_IS_TEXT                                                                         \
    }
#define NOTE(id, when, words, ...) [NOTE_##id] = {#id, words, NOTE_IS_##when, {__VA_ARGS__}},
#include "predict/result/notes.def"
#undef NOTE
};

struct note note_of(enum note_id id, const struct note_given *given, size_t count)
{
    struct note note = {.id = id};
    for (size_t i = 0; i < count; i++) {
        assert(note_kinds[id].values[i].name != NULL &&
               note_kinds[id].values[i].type == given[i].type);
        note.values[i] = given[i].value;
    }
    assert(note_kinds[id].values[count].name == NULL);
    return note;
}

static bool note_is_whole(enum note_type type)
{
    return type == NOTE_IS_INTEGER || type == NOTE_IS_BYTES;
}

/* ---- words ---- */

static void note_write_whole(enum note_type type, uint64_t value, char *text, size_t size)
{
    char bytes[32];
    if (type == NOTE_IS_BYTES) {
        text_append(text, size, "%s", units_format((double)value, UNIT_BYTES, bytes, sizeof bytes));
    } else {
        text_append(text, size, "%" PRIu64, value);
    }
}

/* `digits`: ":.3g" or ":.1f", of a REAL. */
static void note_write_value(enum note_type type, const union note_value *value, const char *digits,
                             char *text, size_t size)
{
    if (type == NOTE_IS_TEXT) {
        text_append(text, size, "%s", value->text);
    } else if (type == NOTE_IS_REAL) {
        text_append(text, size, digits[3] == 'g' ? "%.*g" : "%.*f", digits[2] - '0', value->real);
    } else {
        note_write_whole(type, value->least, text, size);
        if (value->least < value->most) {
            text_append(text, size, "–");
            note_write_whole(type, value->most, text, size);
        }
    }
}

/* Write a place of the words, whose name begins at `place`. Returns what follows it. */
static const char *write_place(const struct note *note, const char *place, char *text, size_t size)
{
    const struct note_kind *kind = &note_kinds[note->id];
    size_t length = strcspn(place, ":?}"), i = 0;
    while (strlen(kind->values[i].name) != length ||
           strncmp(kind->values[i].name, place, length) != 0) {
        i++;
    }
    const union note_value *value = &note->values[i];
    if (place[length] == '?') {
        const char *choice = place + length + 1;
        choice += value->most == 1 ? 0 : strcspn(choice, "|") + 1;
        text_append(text, size, "%.*s", (int)strcspn(choice, "|}"), choice);
    } else {
        note_write_value(kind->values[i].type, value, place + length, text, size);
    }
    return strchr(place, '}') + 1;
}

const char *note_write(const struct note *note, char *text, size_t size)
{
    const char *words = note_kinds[note->id].words;
    text[0] = '\0';
    while (*words != '\0') {
        size_t plain = strcspn(words, "{");
        text_append(text, size, "%.*s", (int)plain, words);
        words += plain;
        if (*words == '{') {
            words = write_place(note, words + 1, text, size);
        }
    }
    return text;
}

/* ---- kept ---- */

/* In `items`, `least` of a text is where it begins in `texts`. */
void notes_add(struct notes *notes, const struct note *note)
{
    if (notes->count == NOTES_MOST) {
        return;
    }
    struct note *kept = &notes->items[notes->count++];
    *kept = *note;
    for (size_t i = 0; note_kinds[note->id].values[i].name != NULL; i++) {
        if (note_kinds[note->id].values[i].type == NOTE_IS_TEXT) {
            char *end = notes->texts + notes->used;
            kept->values[i].least = notes->used;
            text_copy(end, sizeof notes->texts - notes->used, note->values[i].text);
            notes->used += (uint32_t)strlen(end);
            notes->used += notes->used + 1 < sizeof notes->texts;
        }
    }
}

struct note notes_at(const struct notes *notes, uint32_t index)
{
    struct note note = notes->items[index];
    for (size_t i = 0; note_kinds[note.id].values[i].name != NULL; i++) {
        if (note_kinds[note.id].values[i].type == NOTE_IS_TEXT) {
            note.values[i].text = notes->texts + note.values[i].least;
        }
    }
    return note;
}

static void widen(union note_value *a, union note_value *b)
{
    a->least = b->least = a->least < b->least ? a->least : b->least;
    a->most = b->most = a->most > b->most ? a->most : b->most;
}

/* Give both the ranges of their whole numbers. Do they read the same then? */
static bool note_join(struct note *a, struct note *b)
{
    char one[NOTE_WORDS], two[NOTE_WORDS];
    for (size_t i = 0; a->id == b->id && note_kinds[a->id].values[i].name != NULL; i++) {
        if (note_is_whole(note_kinds[a->id].values[i].type)) {
            widen(&a->values[i], &b->values[i]);
        }
    }
    return a->id == b->id &&
           strcmp(note_write(a, one, sizeof one), note_write(b, two, sizeof two)) == 0;
}

bool notes_have(const struct notes *notes, enum note_id id)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        if (notes->items[i].id == id) {
            return true;
        }
    }
    return false;
}

uint32_t notes_merge(struct notes *notes, const struct note *note)
{
    for (uint32_t i = 0; i < notes->count; i++) {
        struct note kept = notes_at(notes, i), other = *note;
        if (note_join(&kept, &other)) {
            for (size_t v = 0; note_kinds[note->id].values[v].name != NULL; v++) {
                bool whole = note_is_whole(note_kinds[note->id].values[v].type);
                notes->items[i].values[v] = whole ? kept.values[v] : notes->items[i].values[v];
            }
            return i;
        }
    }
    return notes->count;
}

/* Digits that a double always keeps: what was read back is written as it was. */
#define REAL_DIGITS 15

/* ---- writing ---- */

static json_t *value_json(enum note_type type, const union note_value *value)
{
    switch (type) {
    case NOTE_IS_TEXT:
        return json_string(value->text);
    case NOTE_IS_REAL:
        return json_real(value->real);
    case NOTE_IS_FLAG:
        return json_boolean(value->least);
    default:
        return json_integer((json_int_t)value->least);
    }
}

/* NULL if a text is not UTF-8. */
static json_t *note_json(const struct note *note)
{
    const struct note_kind *kind = &note_kinds[note->id];
    char words[NOTE_WORDS];
    json_t *object = json_pack("{ss}", "note", kind->name);
    bool good = object != NULL;
    for (size_t i = 0; good && kind->values[i].name != NULL; i++) {
        json_t *value = value_json(kind->values[i].type, &note->values[i]);
        good = json_object_set_new(object, kind->values[i].name, value) == 0;
    }
    json_t *text = json_string(note_write(note, words, sizeof words));
    if (!good || json_object_set_new(object, "text", text) != 0) {
        json_decref(object);
        return NULL;
    }
    return object;
}

void notes_write_json(const struct notes *notes, char *text, size_t size)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS);
    json_t *array = json_array();
    for (uint32_t i = 0; i < notes->count; i++) {
        struct note note = notes_at(notes, i);
        json_array_append_new(array, note_json(&note)); /* nothing if it is NULL */
    }
    size_t length = json_dumpb(array, text, size - 1, flags);
    while (length >= size) {
        json_array_remove(array, json_array_size(array) - 1);
        length = json_dumpb(array, text, size - 1, flags);
    }
    text[length] = '\0';
    json_decref(array);
}

/* ---- reading ---- */

static bool note_json_read_value(const json_t *json, enum note_type type, union note_value *out)
{
    switch (type) {
    case NOTE_IS_TEXT:
        out->text = json_string_value(json);
        return json_is_string(json);
    case NOTE_IS_REAL:
        out->real = json_real_value(json);
        return json_is_real(json);
    case NOTE_IS_FLAG:
        out->least = out->most = json_is_true(json);
        return json_is_boolean(json);
    default:
        out->least = out->most = (uint64_t)json_integer_value(json);
        return json_is_integer(json) && json_integer_value(json) >= 0;
    }
}

static bool read_note(const json_t *object, struct note *note)
{
    const char *name = json_string_value(json_object_get(object, "note"));
    int id = 0;
    while (name != NULL && id < NOTE_COUNT && strcmp(note_kinds[id].name, name) != 0) {
        id++;
    }
    if (name == NULL || id == NOTE_COUNT) {
        return false;
    }
    bool good = true;
    note->id = (enum note_id)id;
    for (size_t i = 0; good && note_kinds[id].values[i].name != NULL; i++) {
        const json_t *value = json_object_get(object, note_kinds[id].values[i].name);
        good = note_json_read_value(value, note_kinds[id].values[i].type, &note->values[i]);
    }
    return good;
}

bool notes_read_json(const json_t *array, struct notes *notes)
{
    bool good = json_is_array(array) && json_array_size(array) <= NOTES_MOST;
    for (size_t i = 0; good && i < json_array_size(array); i++) {
        struct note note;
        const json_t *item = json_array_get(array, i);
        good = json_is_string(json_object_get(item, "note"));
        if (good && read_note(item, &note)) { /* else of another version */
            notes_add(notes, &note);
        }
    }
    return good;
}
