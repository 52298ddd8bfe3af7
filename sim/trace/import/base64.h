/* Base64 (RFC 4648, section 4) that comes in pieces of any size. Internal to this folder. */
#ifndef TRACE_IMPORT_BASE64_H
#define TRACE_IMPORT_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed at the start of a text. */
struct base64 {
    uint32_t bits;  /* of the characters that have not made three bytes yet */
    uint32_t count; /* how many these are, padding included */
    uint32_t padding;
};

/* Decode `size` characters at `text` into at most size / 4 * 3 + 3 bytes at `into`; `*got` says how
 * many. False: a character has no place there. */
bool base64_decode(struct base64 *state, const char *text, size_t size, uint8_t *into, size_t *got);

/* The text may end here: it is whole. */
bool base64_ends(const struct base64 *state);

/* Characters that encode so many bytes. */
uint64_t base64_size(uint64_t bytes);

#endif
