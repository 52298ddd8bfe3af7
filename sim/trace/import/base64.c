/* Four characters make three bytes; `=` fills up the last four. */
#include "trace/import/base64.h"

enum { GROUP = 4, GROUP_BYTES = 3, PADDING_MOST = 2 };

/* The value of a character plus 1; 0: it has none. */
static const uint8_t values[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

/* Decode whole groups without padding, up to the first that is not; returns the characters read. */
static size_t decode_groups(const char *text, size_t size, uint8_t *into, size_t *got)
{
    size_t at = 0;
    for (; at + GROUP <= size; at += GROUP) {
        uint32_t a = values[(uint8_t)text[at]], b = values[(uint8_t)text[at + 1]];
        uint32_t c = values[(uint8_t)text[at + 2]], d = values[(uint8_t)text[at + 3]];
        if (a == 0 || b == 0 || c == 0 || d == 0) {
            break;
        }
        uint32_t bits = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
        into[*got] = (uint8_t)(bits >> 16);
        into[*got + 1] = (uint8_t)(bits >> 8);
        into[*got + 2] = (uint8_t)bits;
        *got += GROUP_BYTES;
    }
    return at;
}

bool base64_decode(struct base64 *state, const char *text, size_t size, uint8_t *into, size_t *got)
{
    *got = 0;
    for (size_t i = 0; i < size; i++) {
        if (state->count == 0 && state->padding == 0 &&
            (i += decode_groups(text + i, size - i, into, got)) == size) {
            break;
        }
        bool is_padding = text[i] == '=' && state->count >= GROUP - PADDING_MOST;
        uint32_t value = is_padding ? 1 : values[(uint8_t)text[i]];
        if (value == 0 || (state->padding > 0 && !is_padding)) {
            return false;
        }
        state->padding += is_padding;
        state->bits = state->bits << 6 | (value - 1);
        if (++state->count < GROUP) {
            continue;
        }
        for (uint32_t byte = 0; byte < GROUP_BYTES - state->padding; byte++) {
            into[(*got)++] = (uint8_t)(state->bits >> (16 - 8 * byte));
        }
        /* After padding no further character fits. */
        *state = (struct base64){.padding = state->padding};
    }
    return true;
}

bool base64_ends(const struct base64 *state)
{
    return state->count == 0;
}

uint64_t base64_size(uint64_t bytes)
{
    return (bytes + 2) / 3 * 4;
}
