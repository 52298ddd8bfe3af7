/* A frame is kept as one block of memory: its columns, one after the other. */
#include "trace/format/memo.h"

#include "core/array.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
