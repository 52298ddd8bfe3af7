#include "predict/result/note.h"

#include "core/json_writer.h"
#include "core/name.h"
#include "core/text.h"
#include "core/units.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

const struct note_kind note_kinds[NOTE_COUNT + 1] = {
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
};

const struct note_kind *note_kind_of(const json_t *note)
{
    const char *name = json_string_value(json_object_get(note, "note"));
    int id = name != NULL ? name_index(name, NAMES(note_kinds)) : -1;
    return id >= 0 ? &note_kinds[id] : NULL;
}

const char *note_words(const json_t *note)
{
    return json_string_value(json_object_get(note, "text"));
}

static json_t *given_json(const struct note_given *given)
{
    bool bad;
    switch (given->type) {
    case NOTE_IS_TEXT:
        return json_utf8(given->text, &bad);
    case NOTE_IS_REAL:
        return json_real(given->real);
    case NOTE_IS_FLAG:
        return json_boolean(given->whole != 0);
    default:
        return json_integer((json_int_t)given->whole);
    }
}

json_t *note_of(enum note_id id, const struct note_given *given, size_t count)
{
    const struct note_kind *kind = &note_kinds[id];
    char words[NOTE_WORDS];
    json_t *note = json_pack("{ss}", "note", kind->name);
    for (size_t i = 0; i < count; i++) {
        assert(kind->values[i].name != NULL && kind->values[i].type == given[i].type);
        json_object_set_new(note, kind->values[i].name, given_json(&given[i]));
    }
    assert(kind->values[count].name == NULL);
    json_object_set_new(note, "text", json_string(note_write(note, note, words, sizeof words)));
    return note;
}

static uint64_t note_number_of(const json_t *value)
{
    return json_is_boolean(value) ? json_is_true(value) : (uint64_t)json_integer_value(value);
}

static void note_write_whole(enum note_type type, uint64_t value, char *text, size_t size)
{
    char bytes[32];
    if (type == NOTE_IS_BYTES) {
        text_append(text, size, "%s", units_format((double)value, UNIT_BYTES, bytes, sizeof bytes));
    } else {
        text_append(text, size, "%" PRIu64, value);
    }
}

/* Write a place of the words, whose name begins at `place`, and may have digits (":.3g", ":.1f") or a choice
 * ("?one|other") behind it. Returns what follows it. */
static const char *write_place(const json_t *least, const json_t *most, const char *place,
                               char *text, size_t size)
{
    char name[NOTE_NAME];
    size_t length = strcspn(place, ":?}"), i = 0;
    snprintf(name, sizeof name, "%.*s", (int)length, place);
    const json_t *low = json_object_get(least, name), *high = json_object_get(most, name);
    const struct note_kind *kind = note_kind_of(least);
    while (strcmp(kind->values[i].name, name) != 0) {
        i++;
    }
    enum note_type type = kind->values[i].type;
    if (place[length] == '?') {
        const char *choice = place + length + 1;
        choice += note_number_of(high) == 1 ? 0 : strcspn(choice, "|") + 1;
        text_append(text, size, "%.*s", (int)strcspn(choice, "|}"), choice);
    } else if (type == NOTE_IS_TEXT) {
        text_append(text, size, "%s", json_is_string(low) ? json_string_value(low) : "");
    } else if (type == NOTE_IS_REAL) {
        text_append(text, size, place[length + 3] == 'g' ? "%.*g" : "%.*f", place[length + 2] - '0',
                    json_number_value(low));
    } else {
        char ends[2][64] = {"", ""};
        note_write_whole(type, note_number_of(low), ends[0], sizeof ends[0]);
        note_write_whole(type, note_number_of(high), ends[1], sizeof ends[1]);
        bool same = strcmp(ends[0], ends[1]) == 0; /* as they are written */
        text_append(text, size, "%s%s%s", ends[0], same ? "" : "–", same ? "" : ends[1]);
    }
    return strchr(place, '}') + 1;
}

const char *note_write(const json_t *least, const json_t *most, char *text, size_t size)
{
    const char *words = note_kind_of(least)->words;
    text[0] = '\0';
    while (*words != '\0') {
        size_t plain = strcspn(words, "{");
        text_append(text, size, "%.*s", (int)plain, words);
        words += plain;
        if (*words == '{') {
            words = write_place(least, most, words + 1, text, size);
        }
    }
    return text;
}

const json_t *notes_find(const json_t *notes, enum note_id id)
{
    size_t i = 0;
    while (i < json_array_size(notes) &&
           note_kind_of(json_array_get(notes, i)) != &note_kinds[id]) {
        i++;
    }
    return json_array_get(notes, i);
}

/* Give both of the value the end of them all. */
static void widen(json_t *a, json_t *b, const char *name, bool most)
{
    json_t *one = json_object_get(a, name), *other = json_object_get(b, name);
    json_t *end = (note_number_of(one) < note_number_of(other)) == most ? other : one;
    json_object_set(a, name, end);
    json_object_set(b, name, end);
}

bool note_join(json_t *least, json_t *most, const json_t *note)
{
    const struct note_kind *kind = note_kind_of(least);
    char one[NOTE_WORDS], two[NOTE_WORDS];
    json_t *all[] = {json_copy(least), json_copy(most), json_copy((json_t *)note),
                     json_copy((json_t *)note)};
    bool joins = kind == note_kind_of(note);
    for (size_t i = 0; joins && kind->values[i].name != NULL; i++) {
        if (kind->values[i].type == NOTE_IS_INTEGER || kind->values[i].type == NOTE_IS_BYTES) {
            widen(all[0], all[2], kind->values[i].name, false);
            widen(all[1], all[3], kind->values[i].name, true);
        }
    }
    joins = joins && strcmp(note_write(all[0], all[1], one, sizeof one),
                            note_write(all[2], all[3], two, sizeof two)) == 0;
    if (joins) {
        json_object_update(least, all[0]);
        json_object_update(most, all[1]);
    }
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        json_decref(all[i]);
    }
    return joins;
}

/* Digits that a double always keeps: what was read back is written as it was. */
#define REAL_DIGITS 15

void notes_write_json(const json_t *notes, char *text, size_t size)
{
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(REAL_DIGITS);
    json_t *array = notes != NULL ? json_copy((json_t *)notes) : json_array();
    size_t length = json_dumpb(array, text, size - 1, flags);
    while (length >= size) {
        json_array_remove(array, json_array_size(array) - 1);
        length = json_dumpb(array, text, size - 1, flags);
    }
    text[length] = '\0';
    json_decref(array);
}

bool notes_read_json(json_t *array, json_t **notes)
{
    bool good = json_is_array(array) && json_array_size(array) <= NOTES_MOST;
    *notes = json_array();
    for (size_t i = 0; good && i < json_array_size(array); i++) {
        json_t *note = json_array_get(array, i);
        good = json_is_string(json_object_get(note, "note"));
        if (good && note_kind_of(note) != NULL && note_words(note) != NULL) {
            json_array_append(*notes, note);
        }
    }
    return good;
}
