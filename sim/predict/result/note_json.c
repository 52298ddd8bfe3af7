#include "predict/result/note.h"

#include <jansson.h>
#include <string.h>

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
