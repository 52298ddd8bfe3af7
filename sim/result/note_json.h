/* Notes as JSON, the one form in which they leave the program and are read back:
 *
 *   [{"note":"trained_context","model":"x","tokens":4096,"text":"x was trained on ..."},...]
 *
 * "text" is for readers; it is not read back. */
#ifndef RESULT_NOTE_JSON_H
#define RESULT_NOTE_JSON_H

#include "result/note.h"

#include <jansson.h>

/* Write the notes of a run as far as whole notes have room in `size` bytes. A note with a name that
 * is not UTF-8 is left out. */
void notes_write_json(const struct notes *notes, char *text, size_t size);

/* Read notes that notes_write_json() wrote. False for anything else, with some of them in `notes`. */
bool notes_read_json(const json_t *array, struct notes *notes);

#endif
