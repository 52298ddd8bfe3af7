/* Texts in UTF-8: cut without half of a character, escaped to ASCII, or taken as a list.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Drop the last character of a text that was cut to `length` bytes, if the cut went through it. */
void text_drop_partial(char *text, size_t length);

/* Copy what fits into `size` bytes, in whole characters. */
void text_copy(char *out, size_t size, const char *text);

enum { TEXT_ESCAPED = 11 }; /* bytes of \U0001F600 and the end */

/* Write the character at `*at` as it stands between double quotes in YAML, in ASCII, and step over
 * it. (JSON agrees but for characters past 16 bits.) The text is valid UTF-8 and has a character
 * left. */
void text_escape(const char **at, char out[TEXT_ESCAPED]);

/* The next item of a list with commas between, without the blanks around it: where it begins, and
 * how many bytes it has. `*rest` is the list at first, and is moved on; false behind the last. */
bool text_item(const char **rest, const char **item, size_t *length);

#endif
