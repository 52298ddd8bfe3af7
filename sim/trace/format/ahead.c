/* A kept frame is handed over whole, without a copy: reader and slot exchange their memory. */

#include "trace/format/ahead.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/stop_flag.h"
#include "trace/format/format.h"

static_assert((int)AHEAD_MOST <= (int)GENERATOR_MOST_FRAMES, "all readers' frames in one call");

struct ahead_slot {
    struct trace_frame frame;
    bool made;
};

struct trace_ahead {
    const struct trace *traces[AHEAD_MOST];
    uint32_t count, layer;
    uint64_t places;          /* frames of the layer in a trace */
    struct ahead_slot *slots; /* [count * places] */
    struct trace_room *left;
    size_t taken; /* bytes */
};

struct trace_ahead *trace_ahead_create(const struct trace *const *traces, uint32_t count,
                                       uint32_t layer, struct trace_room *left, struct error *why)
{
    struct trace_ahead *ahead = array_zeroed(1, sizeof *ahead, why);
    if (ahead == NULL) {
        return NULL;
    }
    const struct trace_header *header = trace_header(traces[0]);
    *ahead = (struct trace_ahead){
        .count = count,
        .layer = layer,
        .places = (uint64_t)header->sequences * trace_tiles(header),
        .left = left,
    };
    for (uint32_t i = 0; i < count; i++) {
        ahead->traces[i] = traces[i];
    }
    ahead->slots = array_zeroed(count * ahead->places, sizeof *ahead->slots, why);
    if (ahead->slots == NULL) {
        free(ahead);
        return NULL;
    }
    return ahead;
}

void trace_ahead_destroy(struct trace_ahead *ahead)
{
    if (ahead == NULL) {
        return;
    }
    for (uint64_t i = 0; i < ahead->count * ahead->places; i++) {
        trace_frame_release(&ahead->slots[i].frame);
    }
    room_give(ahead->left, ahead->taken);
    free(ahead->slots);
    free(ahead);
}

/* The bytes of a frame, or a little more. */
static size_t ahead_frame_bytes(const struct trace_header *header, uint32_t steps)
{
    size_t rows = (size_t)header->kv_heads * steps, queries = (size_t)header->query_heads * steps;
    return rows * (trace_row_most(header) * (sizeof(uint32_t) + 1) + 3 * sizeof(float)) +
           queries * (header->head_dim + sizeof(float));
}

/* Add the frames that later readers will want at `place`, as far as there is room. Returns how many
 * there are with the first one. */
static uint32_t ahead_list(struct trace_ahead *ahead, uint32_t reader, uint64_t place,
                           struct generator_frame frames[AHEAD_MOST])
{
    uint32_t count = 1;
    for (uint32_t i = reader + 1; i < ahead->count; i++) {
        const struct trace_header *header = &ahead->traces[i]->header;
        struct ahead_slot *slot = &ahead->slots[i * ahead->places + place];
        size_t bytes = ahead_frame_bytes(header, frames->frame->steps);
        if (slot->made || !room_take(ahead->left, bytes)) {
            continue;
        }
        ahead->taken += bytes;
        slot->frame.sequence = frames->frame->sequence;
        slot->frame.tile = frames->frame->tile;
        slot->frame.layer = frames->frame->layer;
        slot->frame.first_step = frames->frame->first_step;
        slot->frame.steps = frames->frame->steps;
        frames[count++] = (struct generator_frame){header, &slot->frame};
        slot->made = true;
    }
    return count;
}

bool trace_ahead_read(struct trace_ahead *ahead, uint32_t reader, uint32_t sequence, uint32_t tile,
                      struct trace_frame *frame, struct error *why)
{
    const struct trace *trace = ahead->traces[reader];
    const struct trace_header *header = &trace->header;
    uint64_t place = (uint64_t)sequence * trace_tiles(header) + tile;
    struct ahead_slot *slot = &ahead->slots[reader * ahead->places + place];
    if (trace->generator == NULL || trace->chosen != NULL || trace->memo != NULL) {
        return trace_read(trace, sequence, tile, ahead->layer, frame, why);
    }
    if (slot->made) {
        struct trace_frame kept = slot->frame;
        slot->frame = *frame;
        *frame = kept;
        slot->made = false;
        return stop_flag_check(trace->stop, why);
    }
    struct generator_frame frames[AHEAD_MOST] = {{header, frame}};
    frame_place(header, place * header->layers + ahead->layer, frame);
    uint32_t count = ahead_list(ahead, reader, place, frames);
    return generator_read(trace->generator, frames, count, true, trace->stop, why);
}

/* A frame is kept as one block of memory: its columns, one after the other. */

struct memo {
    char **frames; /* [count] owned; NULL: not kept */
    uint64_t count;
    struct trace_room *left;
    pthread_mutex_t lock; /* of all of the above; what a kept frame holds never changes */
};

struct memo *memo_create(uint64_t frames, struct trace_room *left, struct error *why)
{
    struct memo *memo = array_zeroed(1, sizeof *memo, why);
    if (memo == NULL || (memo->frames = array_zeroed(frames, sizeof *memo->frames, why)) == NULL) {
        free(memo);
        return NULL;
    }
    memo->count = frames;
    memo->left = left;
    pthread_mutex_init(&memo->lock, NULL);
    return memo;
}

void memo_destroy(struct memo *memo)
{
    if (memo == NULL) {
        return;
    }
    for (uint64_t i = 0; i < memo->count; i++) {
        free(memo->frames[i]);
    }
    free(memo->frames);
    pthread_mutex_destroy(&memo->lock);
    free(memo);
}

/* A column of a frame: `size` bytes in all. */
struct memo_column {
    void *at;
    size_t size;
};
enum { COLUMNS = 7 };

static void memo_list_columns(const struct trace_header *header, const struct trace_frame *frame,
                              uint32_t units, struct memo_column columns[COLUMNS])
{
    size_t rows = (size_t)header->kv_heads * frame->steps;
    size_t queries = header->has_queries ? (size_t)header->query_heads * frame->steps : 0;
    const struct memo_column all[COLUMNS] = {
        {frame->rows.start, (rows + 1) * sizeof *frame->rows.start},
        {frame->rows.units, units * sizeof *frame->rows.units},
        {frame->rows.mass, units * sizeof *frame->rows.mass},
        {frame->born, rows * sizeof *frame->born},
        {frame->tail, rows * sizeof *frame->tail},
        {frame->scale, queries * sizeof *frame->scale},
        {frame->query, queries * header->head_dim},
    };
    memcpy(columns, all, sizeof all);
}

static const char *memo_find(struct memo *memo, uint64_t number)
{
    pthread_mutex_lock(&memo->lock);
    const char *kept = memo->frames[number];
    pthread_mutex_unlock(&memo->lock);
    return kept;
}

bool memo_get(struct memo *memo, const struct trace_header *header, uint64_t number,
              struct trace_frame *frame, bool *found, struct error *why)
{
    struct memo_column columns[COLUMNS];
    uint32_t units;
    const char *kept = memo_find(memo, number);
    *found = kept != NULL;
    if (kept == NULL) {
        return true;
    }
    memcpy(&units, kept, sizeof units);
    kept += sizeof units;
    if (!trace_frame_reserve(header, frame, why) || !trace_rows_reserve(&frame->rows, units, why)) {
        return false;
    }
    memo_list_columns(header, frame, units, columns);
    for (int i = 0; i < COLUMNS; i++) {
        memcpy(columns[i].at, kept, columns[i].size);
        kept += columns[i].size;
    }
    return true;
}

/* Of two threads that made the same frame the first one keeps it; both copies are equal. */
static void memo_keep(struct memo *memo, uint64_t number, char *copy, size_t size)
{
    pthread_mutex_lock(&memo->lock);
    bool first = copy != NULL && memo->frames[number] == NULL;
    if (first) {
        memo->frames[number] = copy;
    } else {
        room_give(memo->left, size);
    }
    pthread_mutex_unlock(&memo->lock);
    if (!first) {
        free(copy);
    }
}

void memo_put(struct memo *memo, const struct trace_header *header, uint64_t number,
              const struct trace_frame *frame)
{
    struct memo_column columns[COLUMNS];
    uint32_t units = frame->rows.start[(size_t)header->kv_heads * frame->steps];
    size_t size = sizeof units;
    memo_list_columns(header, frame, units, columns);
    for (int i = 0; i < COLUMNS; i++) {
        size += columns[i].size;
    }
    if (memo_find(memo, number) != NULL || !room_take(memo->left, size)) {
        return;
    }
    char *copy = malloc(size), *at = copy;
    if (copy != NULL) {
        memcpy(at, &units, sizeof units);
        at += sizeof units;
        for (int i = 0; i < COLUMNS; i++) {
            memcpy(at, columns[i].at, columns[i].size);
            at += columns[i].size;
        }
    }
    memo_keep(memo, number, copy, size);
}
