#include "calibrate/mini/mini_drive.h"

#include "core/array.h"
#include "decode/cost/cost.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mini_drive {
    struct scratch scratch;
    struct disk_ring *ring;
    size_t row_bytes, block_bytes;
    uint32_t blocks;               /* of a layer */
    char *memory;                  /* the blocks that were read, in the order of `requests` */
    char *streamed[2];             /* a layer each */
    struct disk_request *requests; /* [blocks] */
    uint32_t *slot;                /* [blocks] request of a block, from 1; 0: it is not asked for */
    uint32_t asked;
};

size_t mini_drive_block(const struct mini *mini)
{
    size_t bytes = 2 * MINIATURE_DISK_BLOCK * mini->row_bytes;
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

size_t mini_drive_values(const struct mini_drive *drive)
{
    return MINIATURE_DISK_BLOCK * drive->row_bytes;
}

const struct scratch *mini_drive_scratch(const struct mini_drive *drive)
{
    return &drive->scratch;
}

/* A layer's blocks, gathered from its keys and its values; `memory` has room for all. */
static bool mini_drive_write(const struct mini_drive *drive, const struct mini *mini,
                             uint32_t layer, struct error *why)
{
    const char *keys = mini->layers[layer].kv.bytes;
    size_t half = mini_drive_values(drive), all = drive->block_bytes * drive->blocks;
    const char *values = keys + (size_t)mini->row_count * mini->row_bytes;
    for (uint32_t block = 0; block < drive->blocks; block++) {
        char *to = drive->memory + block * drive->block_bytes;
        memcpy(to, keys + block * half, half);
        memcpy(to + half, values + block * half, half);
    }
    for (size_t at = 0; at < all;) {
        ssize_t written =
            pwrite(drive->scratch.cached, drive->memory + at, all - at, (off_t)(layer * all + at));
        if (written <= 0) {
            return error_set(why, NULL, 0, "the scratch file cannot be written: %s",
                             strerror(errno));
        }
        at += (size_t)written;
    }
    return true;
}

static bool mini_drive_fill(struct mini_drive *drive, const struct mini *mini, const char *folder,
                            struct error *why)
{
    size_t layer = drive->block_bytes * drive->blocks, needed = layer * mini->shape.layers;
    size_t wanted = (needed + SCRATCH_LEAST - 1) / SCRATCH_LEAST * SCRATCH_LEAST;
    if (!scratch_open(&drive->scratch, folder, wanted, why)) {
        drive->scratch.cached = drive->scratch.direct = -1;
        return false;
    }
    if (drive->scratch.bytes < needed) {
        error_set(why, NULL, 0,
                  "the miniature's KV takes %zu MiB, more than a quarter of the room "
                  "of '%s'",
                  needed >> 20, folder);
        return error_expect(why, "a folder with more room, or a smaller --context");
    }
    bool good = true;
    for (uint32_t l = 0; good && l < mini->shape.layers; l++) {
        good = mini_drive_write(drive, mini, l, why);
    }
    if (good && fdatasync(drive->scratch.cached) != 0) {
        good = error_set(why, NULL, 0, "the scratch file cannot be written: %s", strerror(errno));
    }
    scratch_forget(&drive->scratch);
    return good;
}

struct mini_drive *mini_drive_create(const struct mini *mini, const char *folder, struct error *why)
{
    struct mini_drive *drive = array_zeroed(1, sizeof *drive, why);
    if (drive == NULL) {
        return NULL;
    }
    drive->scratch.cached = drive->scratch.direct = -1;
    drive->row_bytes = mini->row_bytes;
    drive->block_bytes = mini_drive_block(mini);
    drive->blocks = mini->row_count / MINIATURE_DISK_BLOCK;
    bool good =
        (mini->shape.context % MINIATURE_DISK_BLOCK == 0 ||
         error_set(why, NULL, 0, "a context of %llu tokens is not whole blocks of %d",
                   (unsigned long long)mini->shape.context, MINIATURE_DISK_BLOCK)) &&
        (drive->ring = disk_ring_create(why)) != NULL &&
        (drive->memory = scratch_memory(drive->block_bytes * drive->blocks, why)) != NULL &&
        (drive->streamed[0] = scratch_memory(drive->block_bytes * drive->blocks, why)) != NULL &&
        (drive->streamed[1] = scratch_memory(drive->block_bytes * drive->blocks, why)) != NULL &&
        (drive->requests = array_zeroed(drive->blocks, sizeof *drive->requests, why)) != NULL &&
        (drive->slot = array_zeroed(drive->blocks, sizeof *drive->slot, why)) != NULL &&
        mini_drive_fill(drive, mini, folder, why);
    if (!good) {
        mini_drive_destroy(drive);
        return NULL;
    }
    return drive;
}

void mini_drive_destroy(struct mini_drive *drive)
{
    if (drive != NULL) {
        disk_ring_destroy(drive->ring);
        scratch_close(&drive->scratch);
        free(drive->memory);
        free(drive->streamed[0]);
        free(drive->streamed[1]);
        free(drive->requests);
        free(drive->slot);
        free(drive);
    }
}

bool mini_drive_read(struct mini_drive *drive, uint32_t layer, const uint32_t *rows, uint32_t count,
                     struct error *why)
{
    double ignored;
    for (uint32_t i = 0; i < drive->asked; i++) { /* of the read before */
        drive->slot[drive->requests[i].offset / drive->block_bytes % drive->blocks] = 0;
    }
    drive->asked = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t block = rows[i] / MINIATURE_DISK_BLOCK;
        if (drive->slot[block] == 0) {
            drive->requests[drive->asked] = (struct disk_request){
                .offset = ((uint64_t)layer * drive->blocks + block) * drive->block_bytes,
                .memory = drive->memory + drive->asked * drive->block_bytes,
            };
            drive->slot[block] = ++drive->asked;
        }
    }
    return disk_ring_run(drive->ring, drive->scratch.direct, drive->block_bytes, drive->requests,
                         drive->asked, READS_DEPTH, &ignored, why);
}

uint32_t mini_drive_asked(const struct mini_drive *drive)
{
    return drive->asked;
}

/* The last piece is as large as the others: it begins earlier. A layer that is smaller than a piece
 * is one. */
bool mini_drive_stream(struct mini_drive *drive, uint32_t layer, uint32_t buffer, struct error *why)
{
    enum { IN_FLIGHT = 8 }; /* pieces, as disk.read is measured */
    size_t all = drive->block_bytes * drive->blocks, piece = all < DISK_PIECE ? all : DISK_PIECE;
    uint32_t count = (uint32_t)((all + piece - 1) / piece);
    struct disk_request *requests = array_zeroed(count, sizeof *requests, why);
    double ignored;
    for (uint32_t i = 0; requests != NULL && i < count; i++) {
        size_t at = i + 1 < count ? i * piece : all - piece;
        requests[i] = (struct disk_request){.offset = layer * all + at,
                                            .memory = drive->streamed[buffer] + at};
    }
    bool good = requests != NULL && disk_ring_run(drive->ring, drive->scratch.direct, piece,
                                                  requests, count, IN_FLIGHT, &ignored, why);
    free(requests);
    return good;
}

const char *mini_drive_streamed(const struct mini_drive *drive, uint32_t buffer)
{
    return drive->streamed[buffer];
}

uint32_t mini_drive_place(const struct mini_drive *drive, uint32_t row)
{
    uint32_t rows = (uint32_t)(drive->block_bytes / drive->row_bytes); /* of a block */
    return row / MINIATURE_DISK_BLOCK * rows + row % MINIATURE_DISK_BLOCK;
}

const char *mini_drive_key(const struct mini_drive *drive, uint32_t row)
{
    uint32_t slot = drive->slot[row / MINIATURE_DISK_BLOCK] - 1;
    return drive->memory + slot * drive->block_bytes +
           row % MINIATURE_DISK_BLOCK * drive->row_bytes;
}
