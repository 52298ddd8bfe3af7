/* A kept frame is handed over whole, without a copy: reader and slot exchange their memory. */

#include "trace/format/ahead.h"

#include <assert.h>
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
    atomic_fetch_add(&ahead->left->bytes, ahead->taken);
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

/* Take `size` bytes of what is left, if there are as many. */
static bool room_take(struct trace_room *left, size_t size)
{
    size_t bytes = atomic_load(&left->bytes);
    while (size <= bytes) {
        if (atomic_compare_exchange_weak(&left->bytes, &bytes, bytes - size)) {
            return true;
        }
    }
    return false;
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
    if (trace->generator == NULL || trace->chosen != NULL) {
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
