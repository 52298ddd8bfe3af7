/* Texts in UTF-8, character by character: cut without half of one, and escaped to ASCII.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

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

#endif
