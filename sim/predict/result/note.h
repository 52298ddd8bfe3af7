/* Notes: what a reader of a run should know, as an id and typed values. notes.def has every note with its words.
 *
 *   result_note(result, note_make(NOTE_trained_context, note_text(model->name), note_whole(model->trained_context)));
 *
 * The words of a run and of several are written here alone; nothing reads numbers back from them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NOTE_MOST_VALUES = 4, NOTE_NAME = 32, NOTE_WORDS = 1024 };

enum note_type { NOTE_IS_TEXT, NOTE_IS_INTEGER, NOTE_IS_BYTES, NOTE_IS_REAL, NOTE_IS_FLAG };

/* When a note is printed: below every table, or only for those who ask what figures rest on. */
enum note_when { NOTE_IS_TOLD, NOTE_IS_DETAIL };

enum note_id {
#define NOTE(id, when, words, ...) NOTE_##id,
#include "predict/result/notes.def"
#undef NOTE
    NOTE_COUNT
};

/* A value; its type is in note_kinds. Of one run `least` equals `most`; a FLAG is 0 or 1. */
union note_value {
    const char *text; /* borrowed */
    double real;
    struct {
        uint64_t least, most;
    };
};

struct note {
    enum note_id id;
    union note_value values[NOTE_MOST_VALUES];
};

struct note_kind {
    const char *name, *words;
    enum note_when when;
    struct {
        const char *name; /* NULL after the last */
        enum note_type type;
    } values[NOTE_MOST_VALUES + 1];
};
extern const struct note_kind note_kinds[NOTE_COUNT];

/* A value that is given to a note, of the kind that its row has in this place. Texts are borrowed. */
struct note_given {
    enum note_type type;
    union note_value value;
};
#define note_text(string) ((struct note_given){NOTE_IS_TEXT, {.text = (string)}})
#define note_real(number) ((struct note_given){NOTE_IS_REAL, {.real = (number)}})
#define note_number(kind, number) ((struct note_given){kind, {.least = (number), .most = (number)}})
#define note_whole(number) note_number(NOTE_IS_INTEGER, number)
#define note_bytes(number) note_number(NOTE_IS_BYTES, number)
#define note_flag(flag) note_number(NOTE_IS_FLAG, flag)

/* The note with as many values as its row has: note_make(NOTE_ID, note_text(...), ...), or
 * note_plain(NOTE_ID). */
struct note note_of(enum note_id id, const struct note_given *given, size_t count);
#define note_make(id, ...)                                                                         \
    note_of(id, (const struct note_given[]){__VA_ARGS__},                                          \
            sizeof((const struct note_given[]){__VA_ARGS__}) / sizeof(struct note_given))
#define note_plain(id) note_of(id, NULL, 0)

/* Write the note in words, of one run or merged, as far as `size` bytes have room: NOTE_WORDS have
 * for any. Returns `text`. */
const char *note_write(const struct note *note, char *text, size_t size);

/* Notes that keep their texts. Zeroed memory has none; it may be copied as it is. */
enum { NOTES_MOST = 16, NOTES_TEXT = 1024 };
struct notes {
    uint32_t count, used; /* used: bytes of `texts` */
    struct note items[NOTES_MOST];
    char texts[NOTES_TEXT];
};

/* Add a copy of the note, with as much of its texts as there is room. Past NOTES_MOST it is left
 * out. */
void notes_add(struct notes *notes, const struct note *note);

bool notes_have(const struct notes *notes, enum note_id id);

/* Let the first of `notes` that differs from this one in whole numbers only stand for both, with
 * their ranges. Returns its index; the count if there is none. */
uint32_t notes_merge(struct notes *notes, const struct note *note);

/* The note at an index below `count`; its texts are those of `notes`. */
struct note notes_at(const struct notes *notes, uint32_t index);

/* ---- as JSON: the one form in which notes leave the program and are read back ---- */

/* Write [{"note":"trained_context","model":"x","tokens":4096,"text":"x was trained on ..."},...] as
 * far as whole notes have room in `size` bytes. A note with a name that is not UTF-8 is left
 * out. */
void notes_write_json(const struct notes *notes, char *text, size_t size);

/* Read notes that notes_write_json() wrote, without "text", which is for readers. False for
 * anything else, with some of them in `notes`. */
struct json_t; /* jansson's */
bool notes_read_json(const struct json_t *array, struct notes *notes);
