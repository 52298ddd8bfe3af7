/* Decode traces: what is written is read, and nothing else is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/trace_files.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <sys/stat.h>

static void assert_rows_equal(const struct trace_rows *a, const struct trace_rows *b,
                              uint32_t count)
{
    assert_memory_equal(a->start, b->start, (count + 1) * sizeof *a->start);
    assert_memory_equal(a->units, b->units, a->start[count] * sizeof *a->units);
    assert_memory_equal(a->mass, b->mass, a->start[count]);
}

static void assert_frames_equal(const struct trace_header *header, const struct trace_frame *a,
                                const struct trace_frame *b)
{
    uint32_t rows = header->kv_heads * a->steps, queries = header->query_heads * a->steps;
    assert_int_equal(a->first_step, b->first_step);
    assert_int_equal(a->steps, b->steps);
    assert_rows_equal(&a->rows, &b->rows, rows);
    assert_memory_equal(a->born, b->born, rows * sizeof *a->born);
    assert_memory_equal(a->tail, b->tail, rows * sizeof *a->tail);
    if (header->has_queries) {
        assert_memory_equal(a->scale, b->scale, queries * sizeof *a->scale);
        assert_memory_equal(a->query, b->query, (size_t)queries * header->head_dim);
    }
    if (header->has_approximate) {
        assert_rows_equal(&a->approximate, &b->approximate, rows);
    }
}

static void check_round_trip(const struct trace_header *header, uint64_t seed)
{
    char path[64];
    struct error why;
    struct trace_frame drawn, read;
    make_trace(header, make_path(folder, "x.swt", path), seed);
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    assert_string_equal(trace_header(trace)->source, header->source);
    assert_string_equal(trace_path(trace), path);
    gsl_rng *random = random_stream(seed, "test.trace", 0, &why);
    drawn = (struct trace_frame){0};
    read = (struct trace_frame){0};
    for (uint32_t sequence = 0; sequence < header->sequences; sequence++) {
        for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
            for (uint32_t layer = 0; layer < header->layers; layer++) {
                drawn.sequence = sequence;
                drawn.tile = tile;
                drawn.layer = layer;
                make_frame(header, &drawn, random);
                make_check(trace_read(trace, sequence, tile, layer, &read, &why), &why);
                assert_frames_equal(header, &drawn, &read);
            }
        }
    }
    gsl_rng_free(random);
    trace_frame_release(&drawn);
    trace_frame_release(&read);
    trace_close(trace);
    unlink(path);
}

static void every_kind_of_trace_round_trips(void **state)
{
    (void)state;
    struct trace_header headers[11];
    size_t count = 0;
    headers[count++] = make_header();
    headers[count] = make_header(); /* approximate rows */
    headers[count++].has_approximate = true;
    headers[count] = make_header(); /* no queries */
    headers[count++].has_queries = false;
    headers[count] = make_header(); /* units of three tokens, the last one of two */
    headers[count].unit_tokens = 3;
    headers[count++].units = 7;
    headers[count] = make_header(); /* clusters: rows without a window */
    headers[count].unit_kind = TRACE_CLUSTERS;
    headers[count].unit_tokens = 4;
    headers[count++].units = 5;
    headers[count] = make_header(); /* the window is all of the prefix */
    headers[count].sinks = 15;
    headers[count++].recent = 15;
    headers[count] = make_header(); /* rows may be empty */
    headers[count].sinks = headers[count].recent = 0;
    headers[count++].keep = 1;
    headers[count] = make_header(); /* rows are empty */
    headers[count].sinks = headers[count].recent = headers[count].keep = 0;
    headers[count++].has_approximate = true;
    headers[count] = make_header(); /* one step a tile */
    headers[count++].steps_per_tile = 1;
    headers[count] = make_header(); /* gaps of several bytes */
    headers[count].units = headers[count].context = 70000;
    headers[count].sequences = 1;
    headers[count++].keep = 4;
    headers[count] = make_header(); /* sizes that compression does not shrink and that it does */
    headers[count].head_dim = 64;
    headers[count].query_heads = 16;
    headers[count++].source = (char *)"{}";
    assert_int_equal(count, 11);
    for (size_t i = 0; i < count; i++) {
        check_round_trip(&headers[i], 100 + i);
    }
}

static void steps_are_cut_into_tiles(void **state)
{
    (void)state;
    const struct {
        uint32_t steps, steps_per_tile, tiles, last;
    } cases[] = {{1, 16, 1, 1},   {16, 16, 1, 16}, {17, 16, 2, 1},
                 {64, 16, 4, 16}, {7, 4, 2, 3},    {UINT32_MAX, 256, 16777216, 255}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_header header = {.steps = cases[i].steps,
                                      .steps_per_tile = cases[i].steps_per_tile};
        assert_int_equal(trace_tiles(&header), cases[i].tiles);
        assert_int_equal(trace_tile_steps(&header, cases[i].tiles - 1), cases[i].last);
    }
}

static void mass_codes_are_tenths_of_an_octave(void **state)
{
    (void)state;
    for (int code = 0; code < 256; code++) {
        float exact = (float)exp2(-code / 10.0);
        assert_true(trace_mass[code] == exact);
        assert_int_equal(trace_mass_code((double)trace_mass[code]), code);
    }
    const struct {
        double mass;
        uint8_t code;
    } cases[] = {
        {1.0, 0},  {1.5, 0},    {INFINITY, 0}, {0.5, 10}, {0.25, 20}, {0.97, 0},  {0.96, 1},
        {0.1, 33}, {1e-3, 100}, {1e-9, 255},   {0, 255},  {-1, 255},  {NAN, 255},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(trace_mass_code(cases[i].mass), cases[i].code);
    }
}

static void equal_rows_have_equal_hashes(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    uint64_t hashes[4];
    struct trace_header header = make_header(), other = make_header();
    other.source = (char *)"{}";
    const struct {
        struct trace_header *header;
        uint64_t seed;
    } traces[4] = {{&header, 1}, {&header, 1}, {&header, 2}, {&other, 1}};
    make_path(folder, "x.swt", path);
    for (int i = 0; i < 4; i++) {
        make_trace(traces[i].header, path, traces[i].seed);
        struct trace *trace = trace_open(path, &why);
        make_check(trace != NULL && trace_hash(trace, &hashes[i], &why), &why);
        trace_close(trace);
    }
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_not_equal(hashes[0], hashes[2]);
    assert_int_not_equal(hashes[0], hashes[3]);
    unlink(path);
}

static void verify_counts_the_same_on_any_threads(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_header header = make_header();
    header.layers = 5;
    header.sinks = 3, header.recent = 4, header.keep = 0; /* each row is 7 units of window */
    header.has_approximate = true;
    make_trace(&header, make_path(folder, "x.swt", path), 3);
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct trace_summary summary;
        struct stat status;
        make_check(trace_verify(trace, threads, &summary, &why), &why);
        assert_int_equal(stat(path, &status), 0);
        assert_int_equal(summary.bytes, status.st_size);
        assert_int_equal(summary.frames, 2 * 2 * 5);   /* sequences, tiles, layers */
        assert_int_equal(summary.rows, 2 * 7 * 5 * 2); /* sequences, steps, layers, heads */
        assert_int_equal(summary.units, 7 * 2 * 7 * 5 * 2);
    }
    trace_close(trace);
    unlink(path);
}

/* Bytes in use after reading all of a trace of `steps` steps. */
static size_t memory_to_read(uint32_t steps)
{
    char path[64];
    struct error why;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.steps = steps;
    header.layers = header.sequences = 1;
    make_trace(&header, make_path(folder, "x.swt", path), 4);
    struct mallinfo2 before = mallinfo2();
    struct trace *trace = trace_open(path, &why);
    for (uint32_t tile = 0; tile < trace_tiles(&header); tile++) {
        make_check(trace_read(trace, 0, tile, 0, &frame, &why), &why);
    }
    struct mallinfo2 after = mallinfo2();
    trace_frame_release(&frame);
    trace_close(trace);
    unlink(path);
    return after.uordblks + after.hblkhd - before.uordblks - before.hblkhd;
}

/* But for the index: 9900 steps are 2475 tiles of 4. */
static void memory_does_not_grow_with_steps(void **state)
{
    (void)state;
    size_t few = memory_to_read(100), many = memory_to_read(10000);
    if (many > few + 2475 * sizeof(uint64_t)) {
        fail_msg("100 steps take %zu bytes, 10000 steps %zu", few, many);
    }
}

/* The smallest trace that has everything: flips and cuts are tried at each of its bytes. */
static void make_small(struct bytes *bytes, char path[64])
{
    struct trace_header header = make_header();
    header.has_approximate = true;
    make_trace(&header, make_path(folder, "x.swt", path), 5);
    load(path, bytes);
}

static void assert_place(const struct error *why, const char *path, size_t byte)
{
    assert_string_equal(why->file, path);
    bool has_part = strstr(why->found, "tile ") != NULL || strstr(why->found, "header") != NULL ||
                    strstr(why->found, "index") != NULL || strstr(why->found, "footer") != NULL;
    if (!has_part || strstr(why->found, "byte ") == NULL) {
        fail_msg("byte %zu: '%s' names no place", byte, why->found);
    }
}

static void every_flipped_byte_is_refused(void **state)
{
    (void)state;
    static struct bytes bytes;
    char path[64];
    struct error why;
    const uint8_t flips[] = {0x01, 0x80, 0xff};
    make_small(&bytes, path);
    int file = open(path, O_WRONLY);
    assert_true(file >= 0);
    for (size_t i = 0; i < bytes.size; i++) {
        for (size_t flip = 0; flip < sizeof flips; flip++) {
            uint8_t flipped = bytes.at[i] ^ flips[flip];
            assert_int_equal(pwrite(file, &flipped, 1, (off_t)i), 1);
            if (!is_refused(path, &why)) {
                fail_msg("byte %zu of %zu flipped by %02x is read", i, bytes.size, flips[flip]);
            }
            assert_place(&why, path, i);
        }
        assert_int_equal(pwrite(file, &bytes.at[i], 1, (off_t)i), 1);
    }
    assert_false(is_refused(path, &why));
    close(file);
    unlink(path);
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    static struct bytes bytes;
    char path[64];
    struct error why;
    make_small(&bytes, path);
    assert_int_equal(truncate(path, (off_t)(bytes.size + 1)), 0);
    assert_true(is_refused(path, &why)); /* a byte too many */
    for (size_t size = bytes.size; size-- > 0;) {
        assert_int_equal(truncate(path, (off_t)size), 0);
        if (!is_refused(path, &why)) {
            fail_msg("cut at byte %zu of %zu is read", size, bytes.size);
        }
        assert_place(&why, path, size);
    }
    unlink(path);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    assert_null(trace_open(make_path(folder, "absent.swt", path), &why));
    assert_string_equal(why.found, "cannot be opened: No such file or directory");
    assert_null(trace_open(folder, &why));
    assert_string_equal(why.found, "not a regular file");
    assert_int_equal(mkfifo(make_path(folder, "pipe", path), 0600), 0);
    assert_null(trace_open(path, &why));
    assert_string_equal(why.found, "not a regular file");
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_kind_of_trace_round_trips),
        cmocka_unit_test(steps_are_cut_into_tiles),
        cmocka_unit_test(mass_codes_are_tenths_of_an_octave),
        cmocka_unit_test(equal_rows_have_equal_hashes),
        cmocka_unit_test(verify_counts_the_same_on_any_threads),
        cmocka_unit_test(memory_does_not_grow_with_steps),
        cmocka_unit_test(every_flipped_byte_is_refused),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(what_is_no_file_is_refused),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
