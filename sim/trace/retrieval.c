/* Scores are levels: halves of a mass code, the least for the highest score. Draws are whole numbers, so a
 * level is, too. A draw that lasts is the sum of eight bytes of a hash (trace/hash.h), nearly normal; a draw
 * of the step is uniform, which bounds it closely. One counting sort finds the wanted items.
 *
 * Most units are in no row. A first count of the recorded ones bounds the level that is good enough. The
 * other units are tried by the draw that lasts, best first, until no draw of the step can make up for it. A
 * draw of the step is made only for units that it can make good enough; these are few. Loops over units have
 * no branch that depends on a draw. */
#include "trace/retrieval.h"

#include "core/array.h"
#include "trace/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = 2, UNRECORDED = 256, ASKED = 512, LASTING_MOST = 2040 };
enum { LASTING_PURPOSE = 1, TAIL_PURPOSE, STEP_PURPOSE };

/* No spread of codes, times the noise, is wider. */
#define MOST_DEVIATION 1000.0

/* The deviation of a number that is uniform below 2^16. */
#define UNIFORM_DEVIATION 18918.613

bool retrieval_errs(const struct retrieval_error *error)
{
    return error->page > 1 || error->noise > 0;
}

void retrieval_buffer_release(struct retrieval_buffer *buffer)
{
    demand_buffer_release(&buffer->truth);
    demand_buffer_release(&buffer->asked);
    free(buffer->code);
    free(buffer->lasting);
    free(buffer->order);
    free(buffer->level);
    free(buffer->item);
    free(buffer->place);
    *buffer = (struct retrieval_buffer){0};
}

struct demand_shape retrieval_shape(const struct demand_shape *shape, uint32_t page)
{
    struct demand_shape pages = *shape;
    if (page > 1) {
        uint32_t count = (shape->wanted + page / 2) / page;
        pages.wanted = page * (count > 0 ? count : 1);
    }
    return pages;
}

/* ---- draws ---- */

/* One demand and how it errs. */
struct asking {
    const struct trace_header *header;
    const struct demand_shape *shape;
    struct retrieval_buffer *buffer;
    const struct demand *truth;
    const uint16_t *lasting;            /* [units] of the head */
    const struct retrieval_unit *order; /* [units] by it, least first */
    uint64_t step_key;
    uint32_t page;
    uint64_t keeps, draws;          /* levels for 2^16 of a draw that lasts, and of the step's */
    double unit_tail;               /* mean mass of an unrecorded unit */
    uint32_t tail_from, tail_width; /* codes between which such a unit's mass lies */
    uint32_t levels;
};

static uint64_t trace_retrieval_key_of(const struct trace_frame *frame, uint32_t head,
                                       uint64_t purpose)
{
    return hash_at(hash_at(hash_at(frame->sequence, frame->layer), head), purpose);
}

/* Draw what lasts for a head's units, and sort them by it. `tail_key` is of their masses if in no row. */
static void draw_head(uint64_t key, uint64_t tail_key, uint32_t units, uint16_t *draws,
                      struct retrieval_unit *order)
{
    uint32_t place[LASTING_MOST + 2] = {0};
    for (uint32_t unit = 0; unit < units; unit++) {
        draws[unit] = (uint16_t)hash_byte_sum(hash_at(key, unit));
        place[draws[unit] + 1]++;
    }
    for (uint32_t draw = 0; draw < LASTING_MOST; draw++) {
        place[draw + 1] += place[draw];
    }
    for (uint32_t unit = 0; unit < units; unit++) {
        order[place[draws[unit]]++] =
            (struct retrieval_unit){unit, (uint32_t)(hash_at(tail_key, unit) >> 32)};
    }
}

/* Do that for all heads of the frame's layer, unless it is done. */
static bool trace_retrieval_draw_lasting(const struct trace_header *header,
                                         const struct trace_frame *frame,
                                         struct retrieval_buffer *buffer, struct error *why)
{
    size_t all = (size_t)header->kv_heads * header->units;
    if (buffer->drawn && buffer->sequence == frame->sequence && buffer->layer == frame->layer) {
        return true;
    }
    buffer->drawn = false;
    if (!array_reserve(&buffer->lasting, &buffer->lasting_capacity, all, sizeof *buffer->lasting,
                       why) ||
        !array_reserve(&buffer->order, &buffer->order_capacity, all, sizeof *buffer->order, why) ||
        !array_reserve(&buffer->code, &buffer->code_capacity, header->units, sizeof *buffer->code,
                       why)) {
        return false;
    }
    for (uint32_t head = 0; head < header->kv_heads; head++) {
        size_t first = (size_t)head * header->units;
        draw_head(trace_retrieval_key_of(frame, head, LASTING_PURPOSE),
                  trace_retrieval_key_of(frame, head, TAIL_PURPOSE), header->units,
                  buffer->lasting + first, buffer->order + first);
    }
    for (uint32_t unit = 0; unit < header->units; unit++) {
        buffer->code[unit] = UNRECORDED;
    }
    buffer->sequence = frame->sequence;
    buffer->layer = frame->layer;
    return buffer->drawn = true;
}

static void trace_retrieval_describe(struct asking *asking, const struct retrieval_error *error)
{
    const struct demand *truth = asking->truth;
    const struct demand_shape *shape = asking->shape;
    uint32_t tail = truth->tail_units + truth->tail_window;
    /* The head's spread at this step, in codes. Its best units stand first. */
    uint32_t units = shape->end_unit - shape->first_unit;
    uint32_t last = truth->recorded - 1, near = units / 80, far = units / 10;
    near = near < last ? near : last;
    far = far < last ? far : last;
    double spread = truth->mass[far] - truth->mass[near];
    double deviation = fmin(error->noise * spread, MOST_DEVIATION);
    double levels = PARTS * 65536 * deviation;
    asking->keeps = (uint64_t)(levels * sqrt(error->lasting) / HASH_BYTES_DEVIATION + 0.5);
    asking->draws = (uint64_t)(levels * sqrt(1 - error->lasting) / UNIFORM_DEVIATION + 0.5);
    asking->unit_tail = tail > 0 ? (double)truth->tail / tail : 0;
    /* The codes [from, from + width] in which the logarithm of an unrecorded unit's mass is uniform.
     * Their mean mass is (1 - 2^(-width/10)) / (width ln 2 / 10) of that at `from`. */
    uint32_t from = truth->mass[truth->recorded - 1], least = 0, most = 255;
    double share = asking->unit_tail / (double)trace_mass[from];
    while (least < most) {
        uint32_t width = (least + most + 1) / 2;
        double mean = (1 - (double)trace_mass[width]) / (width * (M_LN2 / 10));
        if (mean < share) {
            most = width - 1;
        } else {
            least = width;
        }
    }
    asking->tail_from = from;
    asking->tail_width = least;
    asking->levels = (uint32_t)PARTS * 512 +
                     (uint32_t)((asking->keeps * LASTING_MOST + (asking->draws << 16)) >> 16);
}

/* The level of an item whose mass alone has level `own` and whose first unit is `unit`. */
static inline uint32_t draw_level(const struct asking *asking, uint32_t unit, uint32_t own)
{
    uint64_t drawn = hash_at(asking->step_key, unit) >> 48;
    return own + (uint32_t)((asking->lasting[unit] * asking->keeps + drawn * asking->draws) >> 16);
}

/* ---- single units ---- */

static void count_levels(const struct asking *asking, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        asking->buffer->place[asking->buffer->level[i]]++;
    }
}

/* The level up to which the counted items are enough. */
static uint32_t enough(const struct asking *asking, uint32_t wanted)
{
    uint32_t level = 0, before = 0;
    while (level < asking->levels && (before += asking->buffer->place[level]) < wanted) {
        level++;
    }
    return level;
}

/* Put the places in the order behind the first `count` items at which a unit in no row may have less
 * than `worst`, in 2^-16 levels; its mass may take `width` levels. Returns the end of the items. */
static uint32_t put_likely(const struct asking *asking, uint32_t count, uint64_t worst,
                           uint64_t width)
{
    const struct retrieval_unit *order = asking->order;
    const uint64_t keeps = asking->keeps;
    const uint32_t units = asking->header->units;
    for (uint32_t i = 0; i < units; i++) {
        uint64_t lasts = asking->lasting[order[i].unit] * keeps;
        if (lasts >= worst) {
            break;
        }
        asking->buffer->item[count] = i;
        count += lasts + (order[i].tail * width >> 32 << 16) < worst;
    }
    return count;
}

/* Put unrecorded units behind the first `count`, up to a level of `most`. Returns how many. */
static uint32_t put_unrecorded(const struct asking *asking, uint32_t count, uint32_t most)
{
    struct retrieval_buffer *buffer = asking->buffer;
    uint32_t from = PARTS * asking->tail_from, first = asking->shape->first_unit;
    uint32_t outside = asking->shape->end_unit - first;
    uint64_t width = PARTS * asking->tail_width;
    uint64_t worst = most >= from ? ((uint64_t)(most - from) + 1) << 16 : 0;
    uint32_t end = put_likely(asking, count, worst, width);
    for (uint32_t i = count; i < end; i++) {
        struct retrieval_unit at = asking->order[buffer->item[i]];
        uint64_t below = at.tail * width >> 32;
        uint32_t level = draw_level(asking, at.unit, from + (uint32_t)below);
        buffer->item[count] = at.unit;
        buffer->level[count] = (uint16_t)level;
        count += (unsigned)(level <= most) & (unsigned)(buffer->code[at.unit] == UNRECORDED) &
                 (unsigned)(at.unit - first < outside);
    }
    return count;
}

/* Put all recorded units, and of the others those that may be asked for. Returns their number. */
static uint32_t put_units(const struct asking *asking, uint32_t wanted)
{
    struct retrieval_buffer *buffer = asking->buffer;
    const struct demand *truth = asking->truth;
    uint32_t recorded = truth->recorded;
    for (uint32_t i = 0; i < recorded; i++) {
        uint32_t own = (uint32_t)PARTS * truth->mass[i];
        buffer->item[i] = truth->units[i];
        buffer->level[i] = (uint16_t)draw_level(asking, truth->units[i], own);
    }
    count_levels(asking, 0, recorded);
    uint32_t count = put_unrecorded(asking, recorded, enough(asking, wanted));
    count_levels(asking, recorded, count);
    return count;
}

/* ---- pages ---- */

/* The level of a mass in 2^-40. The logarithm of the mantissa 1 + f is within .008 of this. */
static uint32_t level_of(uint64_t mass)
{
    int octave = 63 - __builtin_clzll(mass | 1);
    double f = (double)mass / (double)(UINT64_C(1) << octave) - 1;
    double logarithm = octave - 40 + f + .3431 * f * (1 - f);
    return (uint32_t)fmin(fmax(-10 * PARTS * logarithm, 0), PARTS * 400);
}

/* The end of the page of `unit`, or of what the window leaves of it. */
static uint32_t page_end(const struct asking *asking, uint32_t unit)
{
    uint64_t end = (uint64_t)(unit / asking->page + 1) * asking->page;
    return end < asking->shape->end_unit ? (uint32_t)end : asking->shape->end_unit;
}

static uint32_t trace_retrieval_put_pages(const struct asking *asking)
{
    struct retrieval_buffer *buffer = asking->buffer;
    uint32_t count = 0, unit = asking->shape->first_unit, end;
    uint64_t mass[UNRECORDED + 1]; /* of a code, in 2^-40 */
    for (uint32_t code = 0; code < UNRECORDED; code++) {
        mass[code] = (uint64_t)(0x1p40f * trace_mass[code]);
    }
    mass[UNRECORDED] = (uint64_t)(0x1p40 * asking->unit_tail);
    for (; unit < asking->shape->end_unit; unit = end, count++) {
        uint64_t sum = 0;
        end = page_end(asking, unit);
        for (uint32_t i = unit; i < end; i++) {
            sum += mass[buffer->code[i]];
        }
        buffer->item[count] = unit;
        buffer->level[count] = (uint16_t)draw_level(asking, unit, level_of(sum));
    }
    count_levels(asking, 0, count);
    return count;
}

/* ---- the demand ---- */

/* Sort the best `wanted` of `count` items into `best`, which has room for one more than all. */
static void sort_best(const struct asking *asking, uint32_t count, uint32_t wanted, uint32_t *best)
{
    struct retrieval_buffer *buffer = asking->buffer;
    uint32_t before = 0, end = 0;
    for (; end < asking->levels && before < wanted; end++) {
        uint32_t here = buffer->place[end];
        buffer->place[end] = before;
        before += here;
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_in = buffer->level[i] < end;
        best[is_in ? buffer->place[buffer->level[i]] : count] = buffer->item[i];
        buffer->place[buffer->level[i]] += is_in;
    }
}

/* Write the demand: the units of the `count` best items, then the other recorded units. */
static void trace_retrieval_answer(const struct asking *asking, const uint32_t *best,
                                   uint32_t count, struct demand *out)
{
    struct retrieval_buffer *buffer = asking->buffer;
    const struct demand *truth = asking->truth;
    *out = *truth;
    out->units = buffer->asked.units;
    out->mass = buffer->asked.mass;
    out->wanted = 0;
    out->wanted_mass = 0;
    out->wanted_tail = 0;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t unit = best[i], end = page_end(asking, unit); unit < end; unit++) {
            /* Ask for a unit: the next in the demand. */
            struct demand_buffer *asked = &asking->buffer->asked;
            uint16_t *code = &asking->buffer->code[unit];
            bool known = *code < UNRECORDED;
            asked->units[out->wanted] = unit;
            asked->mass[out->wanted++] = known ? (uint8_t)*code : 255;
            out->wanted_mass += known ? trace_mass[*code] : 0;
            out->wanted_tail += !known;
            *code |= ASKED;
        }
    }
    out->recorded = out->wanted;
    for (uint32_t i = 0; i < truth->recorded; i++) {
        if (buffer->code[truth->units[i]] < UNRECORDED) {
            buffer->asked.units[out->recorded] = truth->units[i];
            buffer->asked.mass[out->recorded++] = truth->mass[i];
        }
        buffer->code[truth->units[i]] = UNRECORDED;
    }
    for (uint32_t i = 0; i < out->wanted; i++) {
        buffer->code[out->units[i]] = UNRECORDED;
    }
}

/* Ask for the best items, as many as the shape wants. */
static void ask_best(const struct asking *asking, struct demand *out)
{
    struct retrieval_buffer *buffer = asking->buffer;
    const struct demand *truth = asking->truth;
    uint32_t *best = buffer->item + asking->header->units + 1;
    uint32_t units = asking->shape->codes > 0 ? truth->wanted : asking->shape->wanted;
    uint32_t wanted = (units + asking->page / 2) / asking->page;
    wanted = wanted > 0 ? wanted : 1;
    memset(buffer->place, 0, asking->levels * sizeof *buffer->place);
    for (uint32_t i = 0; i < truth->recorded; i++) {
        buffer->code[truth->units[i]] = truth->mass[i];
    }
    uint32_t count =
        asking->page > 1 ? trace_retrieval_put_pages(asking) : put_units(asking, wanted);
    wanted = wanted < count ? wanted : count;
    sort_best(asking, count, wanted, best);
    trace_retrieval_answer(asking, best, wanted, out);
}

bool demand_from_retrieval(const struct trace_header *header, const struct trace_frame *frame,
                           uint32_t head, uint32_t step, const struct demand_shape *shape,
                           const struct retrieval_error *error, struct retrieval_buffer *buffer,
                           struct demand *out, struct error *why)
{
    struct demand truth;
    if (!demand_from_frame(header, frame, head, step, shape, &buffer->truth, &truth, why) ||
        !trace_retrieval_draw_lasting(header, frame, buffer, why)) {
        return false;
    }
    *out = truth;
    if (truth.wanted == 0) {
        return true;
    }
    struct asking asking = {
        .header = header,
        .shape = shape,
        .buffer = buffer,
        .truth = &truth,
        .lasting = buffer->lasting + (size_t)head * header->units,
        .order = buffer->order + (size_t)head * header->units,
        .step_key =
            trace_retrieval_key_of(frame, head, STEP_PURPOSE + (uint64_t)frame->first_step + step),
        .page = error->page > 1 ? error->page : 1,
    };
    trace_retrieval_describe(&asking, error);
    size_t units = (size_t)header->units + 1;
    struct demand_buffer *asked = &buffer->asked;
    if (!array_reserve(&asked->units, &asked->units_capacity, units, sizeof(uint32_t), why) ||
        !array_reserve(&asked->mass, &asked->mass_capacity, units, 1, why) ||
        !array_reserve(&buffer->level, &buffer->level_capacity, units, sizeof(uint16_t), why) ||
        !array_reserve(&buffer->item, &buffer->item_capacity, 2 * units, sizeof(uint32_t), why) ||
        !array_reserve(&buffer->place, &buffer->place_capacity, asking.levels, sizeof(uint32_t),
                       why)) {
        return false;
    }
    ask_best(&asking, out);
    return true;
}
