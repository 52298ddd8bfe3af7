/* A row of a trace becomes a demand by one counting sort over the 256 codes: heaviest first, ties
 * by ascending position, linear in the row. Rows are sorted by position, so the units of the window
 * are at its two ends. The codes of an approximate row give the order in which a retrieval asks;
 * the masses of its units come from the true row. */

#include "trace/demand.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/text.h"
#include "trace/format/format.h"

void demand_buffer_release(struct demand_buffer *buffer)
{
    free(buffer->units);
    free(buffer->mass);
    *buffer = (struct demand_buffer){0};
}

struct demand_shape demand_shape(const struct trace_header *header, uint32_t wanted, uint32_t sinks,
                                 uint32_t recent)
{
    struct demand_shape shape = {.wanted = wanted};
    trace_window(header, sinks, recent, &shape.first_unit, &shape.end_unit);
    return shape;
}

uint32_t demand_codes(double margin)
{
    return margin > 0 ? (uint32_t)fmin(floor(margin * 10 / M_LN2), 255) + 1 : 0;
}

/* The units of a row outside the window: [from, to) of `rows`. */
struct demand_span {
    const struct trace_rows *rows;
    uint32_t from, to;
};

static struct demand_span find_span(const struct trace_rows *rows, uint32_t row,
                                    const struct demand_shape *shape)
{
    const uint32_t *units = rows->units;
    struct demand_span span = {rows, rows->start[row], rows->start[row + 1]};
    while (span.from < span.to && units[span.from] < shape->first_unit) {
        span.from++;
    }
    while (span.from < span.to && units[span.to - 1] >= shape->end_unit) {
        span.to--;
    }
    return span;
}

/* Of `count` units, the number that the shape asks for: perhaps only those near the heaviest of `known`, a span with
 * known masses. Code 255 also stands for smaller masses, so its units are near only units of code 255. */
static uint32_t count_wanted(const struct demand_span *known, const struct demand_shape *shape,
                             uint32_t count)
{
    const uint8_t *code = known->rows->mass;
    uint32_t heaviest = UINT8_MAX, near = 0;
    for (uint32_t i = known->from; shape->codes > 0 && i < known->to; i++) {
        heaviest = code[i] < heaviest ? code[i] : heaviest;
    }
    uint32_t end = heaviest + shape->codes < UINT8_MAX ? heaviest + shape->codes : UINT8_MAX;
    for (uint32_t i = known->from; shape->codes > 0 && i < known->to; i++) {
        near += code[i] < end || code[i] == heaviest;
    }
    uint32_t most = shape->codes > 0 && near < count ? near : count;
    return most < shape->wanted ? most : shape->wanted;
}

/* The mass of the best units of a span, and of all. */
struct sorted {
    float wanted, all;
};

/* Sort into the buffer, after its first `at` units. */
static struct sorted sort_by_code(const struct demand_span *span, uint32_t wanted, uint32_t at,
                                  struct demand_buffer *buffer)
{
    uint32_t place[256] = {0};
    struct sorted mass = {0, 0};
    const uint8_t *code = span->rows->mass;
    for (uint32_t i = span->from; i < span->to; i++) {
        place[code[i]]++;
    }
    for (uint32_t c = 0, before = 0; c < 256; c++) {
        uint32_t here = place[c], left = before < wanted ? wanted - before : 0;
        mass.wanted += trace_mass[c] * (float)(here < left ? here : left);
        mass.all += trace_mass[c] * (float)here;
        place[c] = at + before;
        before += here;
    }
    for (uint32_t i = span->from; i < span->to; i++) {
        uint32_t to = place[code[i]]++;
        buffer->units[to] = span->rows->units[i];
        buffer->mass[to] = code[i];
    }
    return mass;
}

/* What the row (`known`) leaves to the window, and says about units that it does not record. */
static void account(const struct trace_header *header, const struct trace_frame *frame,
                    uint32_t row, const struct demand_shape *shape, const struct demand_span *known,
                    struct demand *out)
{
    uint32_t count = known->to - known->from, outside = shape->end_unit - shape->first_unit;
    uint32_t all = known->rows->start[row + 1] - known->rows->start[row];
    out->born_mass = frame->born[row];
    out->tail = frame->tail[row];
    /* The most mass that an unrecorded unit can have: that of the lightest unit which the row chose, at the upper
     * end of its code. Units of the recording's own window are at both ends of the row, however light. */
    static const double half_code = 1.0352649238413776; /* 2^(1/20) */
    uint32_t first, end;
    trace_window(header, header->sinks, header->recent, &first, &end);
    uint32_t from = known->rows->start[row] + first,
             to = known->rows->start[row + 1] - (header->units - end);
    uint8_t lightest = 0;
    for (uint32_t i = from; i < to; i++) {
        lightest = known->rows->mass[i] > lightest ? known->rows->mass[i] : lightest;
    }
    out->tail_each = from < to ? (float)(half_code * (double)trace_mass[lightest]) : 1;
    out->tail_units = outside - count;
    out->tail_window = header->units - outside - (all - count);
    out->window_mass = fmaxf(0, 1 - out->tail - out->recorded_mass);
}

static bool demand_reserve(struct demand_buffer *buffer, uint32_t units, struct error *why)
{
    return array_reserve(&buffer->units, &buffer->units_capacity, units, sizeof *buffer->units,
                         why) &&
           array_reserve(&buffer->mass, &buffer->mass_capacity, units, sizeof *buffer->mass, why);
}

/* All of a demand except the number and mass of its units. */
static struct demand demand_describe(const struct trace_header *header,
                                     const struct trace_frame *frame, uint32_t head, uint32_t step,
                                     const struct demand_buffer *buffer)
{
    uint32_t group = header->query_heads / header->kv_heads;
    size_t query = (size_t)head * group * frame->steps + step;
    return (struct demand){
        .units = buffer->units,
        .mass = buffer->mass,
        .scale = header->has_queries ? frame->scale + query : NULL,
        .query = header->has_queries ? frame->query + query * header->head_dim : NULL,
        .query_heads = group,
        .head_dim = header->head_dim,
        .query_stride = frame->steps,
    };
}

bool demand_from_frame(const struct trace_header *header, const struct trace_frame *frame,
                       uint32_t head, uint32_t step, const struct demand_shape *shape,
                       struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    uint32_t row = head * frame->steps + step;
    struct demand_span span = find_span(&frame->rows, row, shape);
    uint32_t recorded = span.to - span.from;
    if (!demand_reserve(buffer, recorded, why)) {
        return false;
    }
    *out = demand_describe(header, frame, head, step, buffer);
    out->wanted = count_wanted(&span, shape, recorded);
    out->recorded = recorded;
    struct sorted mass = sort_by_code(&span, out->wanted, 0, buffer);
    out->wanted_mass = mass.wanted;
    out->recorded_mass = mass.all;
    account(header, frame, row, shape, &span, out);
    return true;
}

/* ---- the demand of an approximate query ---- */

enum { UNKNOWN = 256 };

/* The code of `unit` in a span, which is ascending; UNKNOWN if it is not there. */
static uint32_t find_code(const struct demand_span *span, uint32_t unit)
{
    uint32_t from = span->from, to = span->to;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        if (span->rows->units[middle] < unit) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from < span->to && span->rows->units[from] == unit ? span->rows->mass[from] : UNKNOWN;
}

bool demand_from_approximate(const struct trace_header *header, const struct trace_frame *frame,
                             uint32_t head, uint32_t step, const struct demand_shape *shape,
                             struct demand_buffer *buffer, struct demand *out, struct error *why)
{
    uint32_t row = head * frame->steps + step;
    struct demand_span asked = find_span(&frame->approximate, row, shape);
    struct demand_span known = find_span(&frame->rows, row, shape);
    uint32_t count = asked.to - asked.from, known_count = known.to - known.from;
    if (!demand_reserve(buffer, count + known_count, why)) {
        return false;
    }
    *out = demand_describe(header, frame, head, step, buffer);
    out->wanted = count_wanted(&known, shape, count);
    sort_by_code(&asked, 0, 0, buffer);
    out->recorded_mass = sort_by_code(&known, 0, count, buffer).all;
    uint32_t last = out->wanted > 0 ? buffer->units[out->wanted - 1] : 0;
    uint32_t code = out->wanted > 0 ? buffer->mass[out->wanted - 1] : 0;
    /* Units that the row asks for at least as much as for the last wanted one are dropped; the others move behind. */
    out->recorded = out->wanted;
    for (uint32_t i = count; i < count + known_count; i++) {
        uint32_t unit = buffer->units[i], own = find_code(&asked, unit);
        if (out->wanted == 0 || own > code || (own == code && unit > last)) {
            buffer->units[out->recorded] = unit;
            buffer->mass[out->recorded++] = buffer->mass[i];
        }
    }
    for (uint32_t i = 0; i < out->wanted; i++) {
        uint32_t worth = find_code(&known, buffer->units[i]);
        buffer->mass[i] = worth == UNKNOWN ? 255 : (uint8_t)worth;
        out->wanted_mass += worth == UNKNOWN ? 0 : trace_mass[worth];
        out->wanted_tail += worth == UNKNOWN;
    }
    account(header, frame, row, shape, &known, out);
    return true;
}

/* ---- mass ---- */

struct unit_set demand_wanted(const struct demand *demand)
{
    return (struct unit_set){.mass = demand->wanted_mass,
                             .recorded = demand->wanted - demand->wanted_tail,
                             .unrecorded = demand->wanted_tail};
}

/* Among the units of an approximate demand, code 255 marks those that the row does not record. A
 * recorded unit of that code has no mass to speak of. Which units are in the set is hard to
 * predict, so no branch depends on it: a unit outside adds 0. */
struct unit_set demand_set(const struct demand *demand, const bool *is_in, uint32_t size)
{
    struct unit_set set = {0};
    uint32_t marked = demand->wanted_tail > 0 ? demand->wanted : 0;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        bool tail = i < marked && demand->mass[i] == 255;
        uint32_t counts = is_in[demand->units[i]] & !tail;
        set.mass += trace_mass[demand->mass[i]] * (float)counts;
        set.recorded += counts;
    }
    uint32_t others = size > set.recorded ? size - set.recorded : 0;
    set.unrecorded = others < demand->tail_units ? others : demand->tail_units;
    return set;
}

struct mass_bounds demand_attended(const struct demand *demand, const struct unit_set *set)
{
    if (demand->member_count > 0) {
        return demand_members_attended(demand, NULL, 0);
    }
    bool all = set->recorded == demand->recorded - demand->wanted_tail;
    uint32_t some = set->unrecorded < demand->tail_units ? set->unrecorded : demand->tail_units;
    uint32_t out = demand->tail_units - some, in = demand->tail_window + some;
    double left = all ? 0 : fmax(0, (double)demand->recorded_mass - (double)set->mass);
    if (out == 0) {
        return (struct mass_bounds){fmax(0, 1 - left), fmax(0, 1 - left)};
    }
    double tail = (double)demand->tail, each = (double)demand->tail_each;
    double known = fmax(0, 1 - left - tail);
    return (struct mass_bounds){.least = known + fmax(0, tail - out * each),
                                .most = known + fmin(tail, in * each)};
}

struct mass_bounds demand_members_attended(const struct demand *demand, const bool *is_in,
                                           uint32_t size)
{
    struct mass_bounds mean = {0, 0};
    for (uint32_t i = 0; i < demand->staying; i++) {
        const struct demand *member = &demand->members[i];
        struct unit_set set =
            is_in != NULL ? demand_set(member, is_in, size) : demand_wanted(member);
        struct mass_bounds own = demand_attended(member, &set);
        mean.least += own.least / demand->staying;
        mean.most += own.most / demand->staying;
    }
    return mean;
}

bool trace_layer_slides(const struct trace *trace, uint32_t layer, bool *slides, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame frame = {0};
    *slides = header->unit_kind == TRACE_POSITIONS && header->unit_tokens == 1;
    if (!*slides) {
        return true;
    }
    bool ok = trace_read(trace, 0, 0, layer, &frame, why);
    uint32_t forced = header->sinks + header->recent;
    for (uint32_t row = 0; ok && *slides && row < header->kv_heads * frame.steps; row++) {
        const uint32_t *start = frame.rows.start + row, count = start[1] - start[0];
        /* Is the row the sinks, and a run of units up to the end of the prefix? */
        *slides =
            count > forced && count < forced + header->keep && count < header->units &&
            frame.rows.units[start[0] + header->sinks] == header->units - (count - header->sinks);
    }
    trace_frame_release(&frame);
    return ok;
}

/* The source is a JSON object: the reader and the writer of traces check that. */

static void source_read_text(const json_t *source, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(source, key));
    text_copy(out, size, text != NULL ? text : "");
}

void trace_source_read(const struct trace_header *header, struct trace_source *out)
{
    json_t *source = json_loads(header->source, 0, NULL);
    char mass[16];
    const json_t *fitted = json_object_get(source, "fitted_context");
    source_read_text(source, "model", out->model, sizeof out->model);
    source_read_text(source, "text", out->text, sizeof out->text);
    source_read_text(source, "mass", mass, sizeof mass);
    /* The word after `--unit ` of a recording's command line, up to its size. */
    char command[1024];
    source_read_text(source, "command", command, sizeof command);
    const char *unit = strstr(command, "--unit ");
    text_copy(out->retrieval, sizeof out->retrieval, unit != NULL ? unit + strlen("--unit ") : "");
    out->retrieval[strcspn(out->retrieval, ": ")] = '\0';
    out->twin = fitted != NULL;
    out->fitted_context = (uint64_t)json_integer_value(fitted);
    const json_t *layers = json_object_get(source, "model_layers");
    out->model_layers = layers != NULL ? (uint32_t)json_integer_value(layers) : header->layers;
    /* A source without a basis is a recording; an unknown word gets the worst basis. */
    const char *name = json_string_value(json_object_get(source, "basis"));
    enum basis basis = BASIS_MEASURED;
    out->basis =
        name == NULL || basis_find(name, NULL, 0, &basis, ERROR_UNSEEN) ? basis : BASIS_ASSUMED;
    out->masses = strncmp(mass, "assumed", strlen("assumed")) != 0;
    json_decref(source);
}
