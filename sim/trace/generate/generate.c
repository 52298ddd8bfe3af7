/* A generated trace: its header, and its frames one by one, head by head. */

#include "trace/generate/generate.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/array.h"
#include "core/parallel.h"
#include "core/stop_flag.h"
#include "core/text.h"
#include "trace/format/format.h"
#include "trace/generate/scores.h"
#include "trace/hash.h"

struct trace_generator {
    struct trace_profile profile; /* a copy */
    uint64_t seed, hash;
    uint32_t first_unit, end_unit; /* the units outside the window */
};

/* ---- directions, and the queries that show them ---- */

/* The purpose of a hash: no two purposes share a number. */
enum purpose { PHASE, SIGN, NORMAL, NOVELTY, STILL, MOVING, ALIKE };

#define SHARED UINT32_MAX /* in place of a query head */
#define DIM_MOST 1024

static uint64_t stream_of(uint64_t key, enum purpose purpose, uint32_t query_head)
{
    return hash_at(key, (uint64_t)purpose << 32 | query_head);
}

static uint64_t stream(const struct latent *latent, enum purpose purpose, uint32_t query_head)
{
    return stream_of(latent->keys.head, purpose, query_head);
}

static void set_amplitudes(double out[PROFILE_PARTS], const double shares[PROFILE_PARTS],
                           uint32_t parts)
{
    double sum = 0;
    for (uint32_t k = 0; k < parts; k++) {
        sum += shares[k];
    }
    for (uint32_t k = 0; k < parts; k++) {
        out[k] = sum > 0 ? sqrt(shares[k] / sum) : 0;
    }
}

/* Part k of direction i: a sign that lasts, starting from its own phase. */
static void latent_draw_lasting(const struct latent *latent, uint32_t k, uint32_t i,
                                uint64_t phases, uint64_t signs, struct latent_parts *out)
{
    uint32_t lasts = profile_lasts[k];
    uint64_t place = (uint64_t)k << 32 | i, key = hash_at(signs, place);
    uint64_t from = latent->first_step + hash_at(phases, place) % lasts, period = from / lasts;
    uint32_t left = lasts - (uint32_t)(from % lasts);
    double sign = hash_at(key, period) >> 63 ? -1 : 1;
    for (uint32_t s = 0; s < latent->steps; s++, left--) {
        if (left == 0) {
            sign = hash_at(key, ++period) >> 63 ? -1 : 1;
            left = lasts;
        }
        out->value[s][k][i] = sign;
    }
}

/* The key of a direction is the head's, or the layer's. What query heads do not share is the head's. */
static void draw_parts(const struct latent *latent, uint32_t query_head, struct latent_parts *out)
{
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        uint64_t chance = hash_at(stream(latent, ALIKE, SHARED), i) >> 32;
        bool is_alike = query_head == SHARED && (double)chance < latent->keys.alike * 0x1p32;
        uint64_t key = is_alike ? latent->keys.layer : latent->keys.head;
        uint64_t phases = stream_of(key, PHASE, query_head);
        uint64_t signs = stream_of(key, SIGN, query_head);
        uint64_t normals = stream_of(key, NORMAL, query_head);
        for (uint32_t s = 0; s < latent->steps; s++) {
            uint64_t place = (uint64_t)(latent->first_step + s) * PROFILE_LATENTS + i;
            out->value[s][0][i] = latent->novelty[s] * hash_normal(hash_at(normals, place));
        }
        for (uint32_t k = 1; k < LATENT_PARTS; k++) {
            latent_draw_lasting(latent, k, i, phases, signs, out);
        }
    }
}

void latent_init(struct latent *latent, const struct trace_profile_head *head,
                 const struct latent_keys *keys, uint32_t first_step, uint32_t steps)
{
    latent->keys = *keys;
    latent->first_step = first_step;
    latent->steps = steps;
    latent->shared = sqrt(1 - head->own);
    latent->own = sqrt(head->own);
    set_amplitudes(latent->score, head->score, LATENT_PARTS);
    set_amplitudes(latent->query, head->query, PROFILE_PARTS);
    double squares = 0, weight = 1;
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++, weight *= head->decay) {
        latent->weight[i] = weight;
        squares += weight * weight;
    }
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        latent->weight[i] /= sqrt(squares);
    }
    /* A log-normal amplitude; the mean of its square is 1. */
    uint64_t key = stream(latent, NOVELTY, SHARED);
    for (uint32_t s = 0; s < latent->steps; s++) {
        double normal = hash_normal(hash_at(key, latent->first_step + s));
        latent->novelty[s] = exp(head->novelty * normal - head->novelty * head->novelty);
    }
    draw_parts(latent, SHARED, &latent->parts);
}

/* Add the parts at step `s`, each times its amplitude times `by`. */
static void latent_add_parts(const struct latent_parts *parts, uint32_t s, const double *amplitudes,
                             double by, double out[PROFILE_LATENTS])
{
    for (uint32_t k = 0; k < LATENT_PARTS; k++) {
        for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
            out[i] += by * amplitudes[k] * parts->value[s][k][i];
        }
    }
}

void latent_directions(const struct latent *latent, uint32_t s, double out[PROFILE_LATENTS])
{
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        out[i] = 0;
    }
    latent_add_parts(&latent->parts, s, latent->score, 1, out);
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        out[i] *= latent->weight[i];
    }
}

/* The numbers of a query: four for each direction, one per combination of the signs of its two parts. */
enum { SHADES = 4 * PROFILE_LATENTS };

/* The queries of query head `number` of the group: at each step a scale and `head_dim` values.
 * Dimension d shows direction d mod PROFILE_LATENTS, turned by a sign of its own, and the part that
 * never moves. So the mean cosine of two queries is the correlation of their parts. A shade that no
 * dimension has stays 0, so that the largest value belongs to the query. */
static void latent_queries(const struct latent *latent, uint32_t number, uint32_t head_dim,
                           float *scale, int8_t *query)
{
    struct latent_parts own;
    double still[SHADES] = {0}, sign[SHADES] = {0}, values[SHADES];
    uint8_t shade[DIM_MOST];
    int8_t code[SHADES];
    uint64_t stills = stream(latent, STILL, number), moves = stream(latent, MOVING, number);
    for (uint32_t d = 0; d < head_dim; d++) {
        uint32_t i = d % PROFILE_LATENTS, still_up = hash_at(stills, d / 64) >> d % 64 & 1;
        uint32_t moves_up = hash_at(moves, d / 64) >> d % 64 & 1;
        shade[d] = (uint8_t)(4 * i + 2 * still_up + moves_up);
        still[shade[d]] = latent->query[PROFILE_PARTS - 1] * (still_up ? 1 : -1);
        sign[shade[d]] = latent->weight[i] * sqrt(PROFILE_LATENTS) * (moves_up ? 1 : -1);
    }
    if (latent->own > 0) {
        draw_parts(latent, number, &own);
    }
    for (uint32_t s = 0; s < latent->steps; s++, query += head_dim) {
        double moving[PROFILE_LATENTS] = {0};
        latent_add_parts(&latent->parts, s, latent->query, latent->shared, moving);
        if (latent->own > 0) {
            latent_add_parts(&own, s, latent->query, latent->own, moving);
        }
        for (uint32_t i = 0; i < SHADES; i++) {
            values[i] = still[i] + sign[i] * moving[i / 4];
        }
        double most = 0; /* is 127 */
        for (uint32_t i = 0; i < SHADES; i++) {
            most = fmax(most, fabs(values[i]));
        }
        double by = most > 0 ? 127 / most : 0;
        for (uint32_t i = 0; i < SHADES; i++) {
            code[i] = (int8_t)(values[i] * by + (values[i] < 0 ? -0.5 : 0.5));
        }
        scale[s] = (float)(most / 127);
        for (uint32_t d = 0; d < head_dim; d++) {
            query[d] = code[shade[d]];
        }
    }
}

/* ---- frames ---- */

/* The rows of one head: the kept units, and the window around them. The first sink gets the mass of all sinks;
 * that of the recent units is spread over them, in codes whose running sum stays nearest to it. */
static void fill_rows(const struct trace_generator *generator, const struct candidates *asked,
                      const struct trace_header *header, uint32_t number, struct trace_frame *frame)
{
    const struct trace_profile_head *head = asked->head;
    uint32_t row = number * frame->steps, end = row + frame->steps;
    uint32_t sinks = generator->first_unit, recent = header->units - generator->end_unit;
    size_t length = trace_row_most(header), first = row * length;
    const struct candidates_rows rows = {header->keep, length, frame->rows.units + first + sinks,
                                         frame->rows.mass + first + sinks, frame->tail + row};
    candidates_select(asked, frame->raw, &rows);
    for (; row < end; row++, first += length) {
        uint32_t *units = frame->rows.units + first;
        uint8_t *codes = frame->rows.mass + first;
        double given = 0;
        frame->rows.start[row] = (uint32_t)first;
        frame->born[row] = (float)head->born;
        for (uint32_t i = 0; i < sinks; i++) {
            units[i] = i;
            codes[i] = i == 0 ? trace_mass_code(head->sinks) : 255;
        }
        units += sinks + header->keep;
        codes += sinks + header->keep;
        for (uint32_t i = 0; i < recent; i++) {
            units[i] = generator->end_unit + i;
            codes[i] = trace_mass_code((head->recent - given) / (recent - i));
            given += (double)trace_mass[codes[i]];
        }
    }
    frame->rows.start[row] = (uint32_t)first;
}

/* KV heads of a layer have the numbers below this one, which stands for the layer itself. */
#define WHOLE_LAYER UINT32_MAX

static uint64_t head_key(uint64_t seed, uint32_t sequence, uint32_t layer, uint32_t number)
{
    return hash_at(hash_at(hash_at(hash_at(seed, 0), sequence), layer), number);
}

static void make_head(const struct trace_generator *generator, const struct trace_header *header,
                      uint32_t number, bool with_rows, struct trace_frame *frame)
{
    const struct trace_profile_head *head = trace_profile_head(
        &generator->profile, header->layers, header->kv_heads, frame->layer, number);
    uint64_t layer_key = head_key(generator->seed, frame->sequence, frame->layer, WHOLE_LAYER);
    uint64_t key = head_key(generator->seed, frame->sequence, frame->layer, number);
    const struct latent_keys keys = {hash_at(key, 0), hash_at(layer_key, 0),
                                     generator->profile.locality.alike};
    struct latent latent;
    latent_init(&latent, head, &keys, frame->first_step, frame->steps);
    struct candidates asked = {
        .head = head,
        .latent = &latent,
        .locality = &generator->profile.locality,
        .first_octave = generator->profile.first_octave,
        .key = key,
        .layer_key = layer_key,
        .context = header->context,
        .first_unit = generator->first_unit,
        .end_unit = generator->end_unit,
        .first_step = frame->first_step,
        .steps = frame->steps,
        /* If the trace has no window, other units get the window's mass, too. */
        .mass = 1 - head->born - (generator->first_unit > 0 ? head->sinks : 0) -
                (generator->end_unit < header->units ? head->recent : 0),
    };
    if (with_rows) {
        fill_rows(generator, &asked, header, number, frame);
    }
    uint32_t group = header->query_heads / header->kv_heads;
    for (uint32_t q = 0; q < group; q++) {
        size_t place = (size_t)(number * group + q) * frame->steps;
        latent_queries(&latent, q, header->head_dim, &frame->scale[place],
                       frame->query + place * header->head_dim);
    }
}

bool generator_read(const struct trace_generator *generator, const struct trace_header *header,
                    bool with_rows, const struct stop_flag *stop, struct trace_frame *frame,
                    struct error *why)
{
    size_t units = (size_t)header->kv_heads * frame->steps * trace_row_most(header);
    size_t scratch = candidates_scratch(generator->end_unit - generator->first_unit);
    bool good = array_reserve(&frame->raw, &frame->raw_capacity, scratch, 1, why) &&
                trace_frame_reserve(header, frame, why) &&
                trace_rows_reserve(&frame->rows, units + CANDIDATES_SLACK, why);
    for (uint32_t number = 0; good && number < header->kv_heads; number++) {
        good = stop_flag_check(stop, why);
        if (good) {
            make_head(generator, header, number, with_rows, frame);
        }
    }
    return good;
}

uint64_t generator_hash(const struct trace_generator *generator)
{
    return generator->hash;
}

void generator_destroy(struct trace_generator *generator)
{
    if (generator != NULL) {
        trace_profile_release(&generator->profile);
        free(generator);
    }
}

/* ---- opening ---- */

static char *make_source(const struct trace_profile *profile, const char *name,
                         const struct trace_geometry *geometry, struct error *why)
{
    json_t *source = json_pack("{s:s, s:s, s:s, s:s, s:s, s:I, s:I}", "model",
                               geometry->model != NULL ? geometry->model : profile->model, "method",
                               "generated", "profile", name, "basis", basis_names[profile->basis],
                               "fitted_to", profile->source, "fitted_context",
                               (json_int_t)profile->context, "seed", (json_int_t)geometry->seed);
    char *text = source != NULL ? json_dumps(source, JSON_COMPACT) : NULL;
    json_decref(source);
    if (text == NULL) {
        error_set(why, name, 0, "the profile's texts are not UTF-8, or memory ran out");
    }
    return text;
}

static bool make_header(const struct trace_profile *profile, const char *name,
                        const struct trace_geometry *geometry, struct trace_header *header,
                        struct error *why)
{
    uint32_t window = profile->sinks + profile->recent, fields[HEADER_FIELDS];
    if (geometry->context <= window) {
        error_set(why, name, 0, "the context has %u tokens", geometry->context);
        return error_expect(why, "more than the window of %u", window);
    }
    if (!(geometry->keep > 0 && geometry->keep <= 1)) {
        error_set(why, name, 0, "rows keep %g of the context", geometry->keep);
        return error_expect(why, "a share above 0 and at most 1");
    }
    double keep =
        fmin(fmax(round(geometry->keep * geometry->context), 1), geometry->context - window);
    struct trace_header made = {
        .layers = geometry->layers,
        .kv_heads = geometry->kv_heads,
        .query_heads = geometry->query_heads,
        .head_dim = geometry->head_dim,
        .context = geometry->context,
        .unit_kind = TRACE_POSITIONS,
        .unit_tokens = 1,
        .units = geometry->context,
        .sinks = profile->sinks,
        .recent = profile->recent,
        .keep = (uint32_t)keep,
        .sequences = geometry->sequences,
        .steps = geometry->steps,
        .steps_per_tile = CANDIDATES_MOST_STEPS,
        .has_queries = true,
    };
    header_pack(&made, fields);
    if (!header_unpack(fields, name, header, why)) {
        return false;
    }
    /* A frame that fits into a file also fits the integers of a frame in memory. */
    uint64_t rows = (uint64_t)header->kv_heads * trace_tile_steps(header, 0);
    if (2 * rows * trace_row_most(header) > PAYLOAD_MOST) {
        error_set(why, name, 0, "a frame has %" PRIu64 " rows of %u units", rows,
                  trace_row_most(header));
        return error_expect(why, "at most %d units: fewer heads or a lower share kept",
                            PAYLOAD_MOST / 2);
    }
    return true;
}

/* Hash the profile as text, so that equal numbers hash alike whatever the file looks like. */
static bool hash_rows(struct trace_generator *generator, const struct trace_profile *profile,
                      const struct trace_header *header, struct error *why)
{
    struct text_file file;
    uint32_t fields[HEADER_FIELDS];
    bool good = text_open(&file, why);
    if (good) {
        trace_profile_write(profile, true, file.out);
    }
    char *text = text_close(&file, good, why);
    if (text == NULL) {
        return false;
    }
    header_pack(header, fields);
    generator->hash = XXH64(text, file.size, XXH64(fields, sizeof fields, generator->seed));
    free(text);
    return true;
}

static struct trace_generator *generator_create(const struct trace_profile *profile,
                                                const struct trace_header *header, uint64_t seed,
                                                struct error *why)
{
    size_t heads = (size_t)profile->layers * profile->kv_heads;
    struct trace_generator *generator = array_zeroed(1, sizeof *generator, why);
    if (generator == NULL) {
        return NULL;
    }
    generator->seed = seed;
    generator->profile = *profile;
    generator->profile.heads = array_zeroed(heads, sizeof *profile->heads, why);
    if (generator->profile.heads == NULL || !hash_rows(generator, profile, header, why)) {
        generator_destroy(generator);
        return NULL;
    }
    memcpy(generator->profile.heads, profile->heads, heads * sizeof *profile->heads);
    trace_window(header, header->sinks, header->recent, &generator->first_unit,
                 &generator->end_unit);
    return generator;
}

struct trace_geometry trace_geometry_of(const struct trace_header *header)
{
    return (struct trace_geometry){
        .layers = header->layers,
        .kv_heads = header->kv_heads,
        .query_heads = header->query_heads,
        .head_dim = header->head_dim,
        .context = header->context,
        .keep = (double)header->keep / header->context,
        .sequences = 1,
        .steps = header->steps,
    };
}

struct trace *trace_open_generated(const struct trace_profile *profile, const char *name,
                                   const struct trace_geometry *geometry, struct error *why)
{
    struct trace *trace = trace_begin(name, why);
    if (trace == NULL) {
        return NULL;
    }
    if (!make_header(profile, name, geometry, &trace->header, why) ||
        !(trace->header.source = make_source(profile, name, geometry, why)) ||
        !(trace->generator = generator_create(profile, &trace->header, geometry->seed, why)) ||
        !trace_layers_init(trace, why)) {
        trace_close(trace);
        return NULL;
    }
    trace->frames = trace_frames(&trace->header);
    return trace;
}

/* ---- writing to a file ---- */

struct generate_copy {
    const struct trace *trace;
    struct trace_frame *frames; /* one per item */
    uint64_t first;             /* number of the first one */
};

static bool generate_read_item(uint32_t item, uint32_t thread, void *context, struct error *why)
{
    const struct generate_copy *copy = context;
    struct trace_frame at;
    (void)thread;
    frame_place(&copy->trace->header, copy->first + item, &at);
    return trace_read(copy->trace, at.sequence, at.tile, at.layer, &copy->frames[item], why);
}

bool trace_copy(const struct trace *trace, const char *path, uint32_t threads, struct error *why)
{
    threads = parallel_threads(threads);
    struct generate_copy copy = {.trace = trace};
    struct trace_writer *writer = trace_writer_open(path, &trace->header, why);
    if (writer == NULL) {
        return false;
    }
    copy.frames = array_zeroed(threads, sizeof *copy.frames, why);
    bool ok = copy.frames != NULL;
    for (; ok && copy.first < trace->frames; copy.first += threads) { /* a frame a thread */
        uint64_t left = trace->frames - copy.first;
        uint32_t count = left < threads ? (uint32_t)left : threads;
        ok = parallel_for(count, threads, generate_read_item, &copy, why);
        for (uint32_t i = 0; ok && i < count; i++) {
            ok = trace_writer_put(writer, &copy.frames[i], why);
        }
    }
    for (uint32_t i = 0; copy.frames != NULL && i < threads; i++) {
        trace_frame_release(&copy.frames[i]);
    }
    free(copy.frames);
    if (ok) {
        return trace_writer_close(writer, why);
    }
    trace_writer_discard(writer);
    return false;
}
