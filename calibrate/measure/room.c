#include "calibrate/measure/room.h"

#include "core/text.h"

#include <stdio.h>
#include <string.h>

static char *format_bytes(size_t bytes, char *text, size_t size)
{
    return units_format((double)bytes, UNIT_BYTES, text, size);
}

bool room_find(size_t wanted, size_t least, size_t parts, const struct room_memory *memories,
               uint32_t count, struct room *out, struct error *why)
{
    char needed[32], found[32];
    *out = (struct room){wanted, wanted, memories[0]};
    for (uint32_t i = 1; i < count; i++) {
        if (memories[i].free < out->tight.free) {
            out->tight = memories[i];
        }
    }
    while (out->bytes > out->tight.free / parts && out->bytes > 0 && out->bytes / 2 >= least) {
        out->bytes /= 2;
    }
    if (out->bytes > 0 && out->bytes <= out->tight.free / 2) {
        return true;
    }
    error_set(why, NULL, 0, "too little room: %s has %s free", out->tight.name,
              format_bytes(out->tight.free, found, sizeof found));
    size_t smallest = out->bytes > 0 ? out->bytes : 1;
    return error_expect(why, "%s or more free", format_bytes(2 * smallest, needed, sizeof needed));
}

/* The addition is kept whole: an overlong note loses its own end. */
static void add_to_note(char *note, size_t size, const char *addition)
{
    size_t most = size - 1 - strlen(addition), length = strlen(note);
    if (length > most) {
        length = most;
        note[length] = '\0';
        error_drop_partial(note, length);
        length = strlen(note);
    }
    text_copy(note + length, size - length, addition);
}

void room_note(const struct room *room, struct findings *findings, uint32_t first)
{
    char taken[32], wanted[32], free[32], addition[160];
    if (room->bytes == room->wanted) {
        return;
    }
    snprintf(addition, sizeof addition, "; buffer of %s, not %s: %s has %s free",
             format_bytes(room->bytes, taken, sizeof taken),
             format_bytes(room->wanted, wanted, sizeof wanted), room->tight.name,
             format_bytes(room->tight.free, free, sizeof free));
    for (uint32_t i = first; i < findings->count; i++) {
        add_to_note(findings->all[i].note, sizeof findings->all[i].note, addition);
    }
}
