/* Random traces for tests: every rule of traces/FORMAT.md holds, everything else is drawn. */
#ifndef MAKE_TRACE_H
#define MAKE_TRACE_H

#include "base/random.h"
#include "trace/format/trace.h"

#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A small trace: two sequences, tiles of 4 and 3 steps, queries. */
static inline struct trace_header make_header(void)
{
    return (struct trace_header){
        .layers = 2,
        .kv_heads = 2,
        .query_heads = 4,
        .head_dim = 3,
        .context = 20,
        .unit_kind = TRACE_POSITIONS,
        .unit_tokens = 1,
        .units = 20,
        .sinks = 2,
        .recent = 3,
        .keep = 6,
        .sequences = 2,
        .steps = 7,
        .steps_per_tile = 4,
        .has_queries = true,
        .source = (char *)"{\"model\":\"none\",\"text\":\"\\u00e9, \\\"quoted\\\"\"}",
    };
}

static inline void make_check(bool ok, const struct error *why)
{
    if (!ok) {
        char text[1024];
        error_format(why, text, sizeof text);
        fprintf(stderr, "%s\n", text);
        abort();
    }
}

static inline bool make_is_window(const struct trace_header *header, uint32_t unit)
{
    uint64_t first = (uint64_t)unit * header->unit_tokens, end = first + header->unit_tokens;
    end = end < header->context ? end : header->context;
    return header->unit_kind == TRACE_POSITIONS &&
           (first < header->sinks || end > header->context - header->recent);
}

static inline void make_rows(const struct trace_header *header, uint32_t count,
                             struct trace_rows *rows, gsl_rng *random)
{
    struct error why;
    make_check(trace_rows_reserve(rows, (size_t)count * header->units, &why), &why);
    uint32_t total = 0;
    for (uint32_t r = 0; r < count; r++) {
        uint32_t left = header->keep;
        rows->start[r] = total;
        for (uint32_t unit = 0; unit < header->units; unit++) {
            bool in_window = make_is_window(header, unit);
            if (!in_window && (left == 0 || gsl_rng_uniform_int(random, 3) != 0)) {
                continue;
            }
            left -= in_window ? 0 : 1;
            rows->units[total] = unit;
            rows->mass[total++] = (uint8_t)gsl_rng_uniform_int(random, 256);
        }
    }
    rows->start[count] = total;
}

/* Fill the frame whose sequence, tile and layer are set. */
static inline void make_frame(const struct trace_header *header, struct trace_frame *frame,
                              gsl_rng *random)
{
    struct error why;
    frame->first_step = frame->tile * header->steps_per_tile;
    frame->steps = trace_tile_steps(header, frame->tile);
    make_check(trace_frame_reserve(header, frame, &why), &why);
    uint32_t rows = header->kv_heads * frame->steps;
    make_rows(header, rows, &frame->rows, random);
    for (uint32_t r = 0; r < rows; r++) {
        frame->born[r] = (float)gsl_rng_uniform(random);
        frame->tail[r] = (float)gsl_rng_uniform(random);
    }
    uint32_t queries = header->has_queries ? header->query_heads * frame->steps : 0;
    for (uint32_t q = 0; q < queries; q++) {
        frame->scale[q] = (float)gsl_rng_uniform(random);
    }
    for (uint32_t i = 0; i < queries * header->head_dim; i++) {
        frame->query[i] = (int8_t)((int)gsl_rng_uniform_int(random, 256) - 128);
    }
    if (header->has_approximate) {
        make_rows(header, rows, &frame->approximate, random);
    }
}

/* Write a trace of random frames to `path`. */
static inline void make_trace(const struct trace_header *header, const char *path, uint64_t seed)
{
    struct error why;
    struct trace_frame frame;
    gsl_rng *random = random_stream(seed, "test.trace", 0, &why);
    struct trace_writer *writer = trace_writer_open(path, header, &why);
    make_check(random != NULL && writer != NULL, &why);
    trace_frame_init(&frame);
    for (frame.sequence = 0; frame.sequence < header->sequences; frame.sequence++) {
        for (frame.tile = 0; frame.tile < trace_tiles(header); frame.tile++) {
            for (frame.layer = 0; frame.layer < header->layers; frame.layer++) {
                make_frame(header, &frame, random);
                make_check(trace_writer_put(writer, &frame, &why), &why);
            }
        }
    }
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    gsl_rng_free(random);
}

/* A fresh folder for the files of a test, and a path in it. */
static inline char *make_folder(char folder[32])
{
    strcpy(folder, "/tmp/spillway-trace-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        abort();
    }
    return folder;
}

static inline const char *make_path(const char *folder, const char *name, char path[64])
{
    snprintf(path, 64, "%s/%s", folder, name);
    return path;
}

#endif
