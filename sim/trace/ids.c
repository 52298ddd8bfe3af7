/* Two passes over the file: one finds out whether all ids are small, the other numbers them. */

#include "trace/ids.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/array.h"
#include "core/regular.h"
#include "core/text.h"
#include "trace/format/format.h"

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <xxhash.h>

enum { SMALL_IDS = 1 << 20, PIECE = 1 << 14 };

/* Linear probing from the slot that XXH64 gives. Slots hold numbers, and ids lie by number, so that an
 * id takes some 20 bytes. */

enum { PLACES_FIRST = 1024 };

void dense_ids_release(struct dense_ids *dense)
{
    dense_ids_close(dense);
    *dense = (struct dense_ids){.places = 0};
}

void dense_ids_close(struct dense_ids *dense)
{
    free(dense->ids);
    free(dense->numbers);
    *dense = (struct dense_ids){.count = dense->count};
}

/* The slot of `id`, or where it would be. */
static uint64_t dense_ids_find_place(const struct dense_ids *dense, uint64_t id)
{
    uint64_t place = XXH64(&id, sizeof id, 0) & (dense->places - 1);
    while (dense->numbers[place] != 0 && dense->ids[dense->numbers[place] - 1] != id) {
        place = (place + 1) & (dense->places - 1);
    }
    return place;
}

static bool grow(struct dense_ids *dense, struct error *why)
{
    uint64_t places = dense->places > 0 ? 2 * dense->places : PLACES_FIRST;
    uint32_t *numbers = array_zeroed(places, sizeof *numbers, why);
    if (numbers == NULL) {
        return false;
    }
    free(dense->numbers);
    dense->numbers = numbers;
    dense->places = places;
    for (uint32_t i = 0; i < dense->count; i++) {
        numbers[dense_ids_find_place(dense, dense->ids[i])] = i + 1;
    }
    return true;
}

bool dense_ids_find(struct dense_ids *dense, uint64_t id, uint32_t *number, struct error *why)
{
    if (2ull * dense->count >= dense->places && !grow(dense, why)) {
        return false;
    }
    uint64_t place = dense_ids_find_place(dense, id);
    if (dense->numbers[place] == 0) {
        if (dense->count == UINT32_MAX - 1) {
            return error_set(why, NULL, 0, "more than %u ids", dense->count);
        }
        if (!array_reserve(&dense->ids, &dense->capacity, (size_t)dense->count + 1,
                           sizeof *dense->ids, why)) {
            return false;
        }
        dense->ids[dense->count] = id;
        dense->numbers[place] = ++dense->count;
    }
    *number = dense->numbers[place] - 1;
    return true;
}

/* The number of an id that has one. Safe from several threads while no id is added. */
static bool dense_ids_get(const struct dense_ids *dense, uint64_t id, uint32_t *number)
{
    uint64_t place = dense->count > 0 ? dense_ids_find_place(dense, id) : 0;
    if (dense->count == 0 || dense->numbers[place] == 0) {
        return false;
    }
    *number = dense->numbers[place] - 1;
    return true;
}

static void ids_init(struct ids *ids)
{
    *ids = (struct ids){0};
}

void ids_release(struct ids *ids)
{
    free(ids->block);
    free(ids->small);
    free(ids->path);
    dense_ids_release(&ids->dense);
    if (ids->file != NULL) {
        fclose(ids->file);
    }
    ids_init(ids);
}

/* ---- the file ---- */

static bool import_ids_open_file(const char *path, struct ids *ids, struct error *why)
{
    struct stat status;
    ids->path = text_duplicate(path, why);
    ids->file = ids->path != NULL ? regular_open(path, why) : NULL;
    if (ids->file == NULL) {
        return false;
    }
    if (fstat(fileno(ids->file), &status) != 0) {
        return error_set(why, path, 0, "%s", strerror(errno));
    }
    uint64_t bytes = (uint64_t)status.st_size;
    if (bytes == 0 || bytes % 4 != 0 || bytes / 4 > UINT32_MAX) {
        error_set(why, path, 0, "the file has %llu bytes", (unsigned long long)bytes);
        return error_expect(why, "32-bit ids, at least one and fewer than 2^32");
    }
    ids->count = (uint32_t)(bytes / 4);
    return true;
}

/* Read the ids as they are in the file. */
static bool read_ids(const struct ids *ids, uint32_t first, uint32_t count, uint32_t *out,
                     struct error *why)
{
    size_t size = 4 * (size_t)count, got = 0;
    while (got < size) {
        ssize_t more = pread(fileno(ids->file), (char *)out + got, size - got,
                             (off_t)(4 * (uint64_t)first + got));
        if (more < 0) {
            return error_set(why, ids->path, 0, "cannot be read: %s", strerror(errno));
        }
        if (more == 0) {
            return error_set(why, ids->path, 0, "ends before its %u ids", ids->count);
        }
        got += (size_t)more;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i] = load_u32((const uint8_t *)&out[i]);
    }
    return true;
}

/* Accesses of the piece that begins with `first`. */
static uint32_t piece_count(const struct ids *ids, uint32_t first)
{
    return ids->count - first < PIECE ? ids->count - first : PIECE;
}

/* ---- numbers ---- */

/* Ids below SMALL_IDS use a table, which is several times faster. */
static bool choose_table(struct ids *ids, struct error *why)
{
    uint32_t piece[PIECE], most = 0;
    for (uint32_t first = 0; ids->count - first > 0; first += piece_count(ids, first)) {
        if (!read_ids(ids, first, piece_count(ids, first), piece, why)) {
            return false;
        }
        for (uint32_t i = 0; i < piece_count(ids, first); i++) {
            most = piece[i] > most ? piece[i] : most;
        }
    }
    return most >= SMALL_IDS || (ids->small = array_zeroed(SMALL_IDS, sizeof *ids->small, why));
}

static bool has_changed(const struct ids *ids, struct error *why)
{
    return error_set(why, ids->path, 0, "has changed since it was first read");
}

/* Replace ids by their numbers; a new one gets the next. */
static bool add_numbers(struct ids *ids, uint32_t *piece, uint32_t count, struct error *why)
{
    for (uint32_t i = 0; ids->small == NULL && i < count; i++) {
        if (!dense_ids_find(&ids->dense, piece[i], &piece[i], why)) {
            return false;
        }
        ids->blocks = ids->dense.count;
    }
    for (uint32_t i = 0; ids->small != NULL && i < count; i++) {
        if (piece[i] >= SMALL_IDS) {
            return has_changed(ids, why);
        }
        uint32_t *number = &ids->small[piece[i]];
        *number = *number == 0 ? ++ids->blocks : *number;
        piece[i] = *number - 1;
    }
    return true;
}

static bool number_all(struct ids *ids, struct error *why)
{
    uint32_t piece[PIECE];
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    for (uint32_t first = 0; ids->count - first > 0; first += piece_count(ids, first)) {
        uint32_t count = piece_count(ids, first);
        uint32_t *into = ids->block != NULL ? ids->block + first : piece;
        if (!read_ids(ids, first, count, into, why) || !add_numbers(ids, into, count, why)) {
            return false;
        }
        XXH64_update(&hash, into, count * sizeof *into);
    }
    ids->hash = XXH64_digest(&hash);
    return true;
}

/* A stream in memory is numbered: it needs neither its file nor the table. */
static void drop_source(struct ids *ids)
{
    struct ids kept = {
        .block = ids->block, .count = ids->count, .blocks = ids->blocks, .hash = ids->hash};
    ids->block = NULL;
    ids_release(ids);
    *ids = kept;
}

bool ids_read(const char *path, uint32_t kept, struct ids *ids, struct error *why)
{
    ids_init(ids);
    if (!import_ids_open_file(path, ids, why) || !choose_table(ids, why) ||
        (ids->count <= kept && !(ids->block = array_zeroed(ids->count, sizeof *ids->block, why))) ||
        !number_all(ids, why)) {
        ids_release(ids);
        return false;
    }
    if (ids->block != NULL) {
        drop_source(ids);
    }
    return true;
}

/* ---- a pass ---- */

/* Replace ids by their numbers. An id without one was not there when the stream was numbered. */
static bool find_numbers(const struct ids *ids, uint32_t *piece, uint32_t count, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; ids->small == NULL && i < count; i++) {
        good = dense_ids_get(&ids->dense, piece[i], &piece[i]) && good;
    }
    for (uint32_t i = 0; ids->small != NULL && i < count; i++) {
        uint32_t number = piece[i] < SMALL_IDS ? ids->small[piece[i]] : 0;
        good = number > 0 && good;
        piece[i] = number - 1;
    }
    return good || has_changed(ids, why);
}

bool ids_blocks(const struct ids *ids, uint32_t first, uint32_t count, uint32_t *out,
                struct error *why)
{
    if (ids->block != NULL) {
        memcpy(out, ids->block + first, count * sizeof *out);
        return true;
    }
    return read_ids(ids, first, count, out, why) && find_numbers(ids, out, count, why);
}
