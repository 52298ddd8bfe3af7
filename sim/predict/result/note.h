/* Notes: what a reader of a run should know, as an id and typed values. notes.def has every note with its
 * words.
 *
 *   result_note(result, note_make(NOTE_trained_context, note_text(model->name),
 *                                 note_whole(model->trained_context)));
 *
 * The words of a run and of several are written here alone; nothing reads numbers back from them. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { NOTE_MOST_VALUES = 4, NOTE_NAME = 32, NOTE_WORDS = 1024, NOTES_MOST = 16 };

enum note_type { NOTE_IS_TEXT, NOTE_IS_INTEGER, NOTE_IS_BYTES, NOTE_IS_REAL, NOTE_IS_FLAG };

/* When a note is printed: below every table, or only for those who ask what figures rest on. */
enum note_when { NOTE_IS_TOLD, NOTE_IS_DETAIL };

enum note_id {
#define NOTE(id, when, words, ...) NOTE_##id,
#include "predict/result/notes.def"
    NOTE_COUNT
};

struct note_kind {
    const char *name, *words;
    enum note_when when;
    struct {
        const char *name; /* NULL after the last */
        enum note_type type;
    } values[NOTE_MOST_VALUES + 1];
};
extern const struct note_kind note_kinds[NOTE_COUNT + 1]; /* ends with NULL */

/* A value that is given to a note, of the kind that its row has in this place. Texts are copied. */
struct note_given {
    enum note_type type;
    union {
        const char *text;
        double real;
        uint64_t whole; /* a FLAG is 0 or 1 */
    };
};
#define note_text(string) ((struct note_given){NOTE_IS_TEXT, {.text = (string)}})
#define note_real(number) ((struct note_given){NOTE_IS_REAL, {.real = (number)}})
#define note_number(kind, number) ((struct note_given){kind, {.whole = (number)}})
#define note_whole(number) note_number(NOTE_IS_INTEGER, number)
#define note_bytes(number) note_number(NOTE_IS_BYTES, number)
#define note_flag(flag) note_number(NOTE_IS_FLAG, flag)

/* The note with as many values as its row has: note_make(NOTE_ID, note_text(...), ...), or
 * note_plain(NOTE_ID). It is the JSON in which notes leave the program and are read back, and the caller
 * owns it: {"note":"trained_context","model":"x","tokens":4096,"text":"x was trained on ..."} */
json_t *note_of(enum note_id id, const struct note_given *given, size_t count);
#define note_make(id, ...)                                                                         \
    note_of(id, (const struct note_given[]){__VA_ARGS__},                                          \
            sizeof((const struct note_given[]){__VA_ARGS__}) / sizeof(struct note_given))
#define note_plain(id) note_of(id, NULL, 0)

/* Its row; NULL: it is of another version of the program. And its words. */
const struct note_kind *note_kind_of(const json_t *note);
const char *note_words(const json_t *note);

/* The first such note of the list (NULL: an empty one); NULL: it has none. */
const json_t *notes_find(const json_t *notes, enum note_id id);

/* ---- several runs ---- */

/* Let `least` and `most`, which begin as two copies of a note, stand for this one, too, with the ranges of
 * whole numbers. False, if it differs from them in anything else that a reader sees. */
bool note_join(json_t *least, json_t *most, const json_t *note);

/* Write the words of both in `size` bytes: NOTE_WORDS have room for any. Returns `text`. */
const char *note_write(const json_t *least, const json_t *most, char *text, size_t size);

/* ---- as text ---- */

/* Write the list as far as whole notes have room in `size` bytes. */
void notes_write_json(const json_t *notes, char *text, size_t size);

/* Read a list of notes_write_json() into `notes`, the caller's; unknown notes are left out. */
bool notes_read_json(json_t *array, json_t **notes);
