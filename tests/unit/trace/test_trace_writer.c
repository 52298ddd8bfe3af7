/* The writer of traces: it refuses what a reader would, and leaves a whole file or none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/trace_files.h"

#include <math.h>
#include <signal.h>
#include <sys/resource.h>

/* A random frame with one fault, and what the writer says of it. */
struct faulty_frame {
    void (*spoil)(struct trace_frame *frame);
    const char *found;
};

static void repeat_a_unit(struct trace_frame *frame)
{
    frame->rows.units[1] = frame->rows.units[0];
}

static void swap_units(struct trace_frame *frame)
{
    frame->rows.units[2] = 19;
}

static void leave_the_trace(struct trace_frame *frame)
{
    frame->rows.units[frame->rows.start[1] - 1] = 20;
}

static void lose_a_sink(struct trace_frame *frame)
{
    frame->rows.units[1]++; /* units 0 and 1 are sinks; unit 2 is not in the row */
    frame->rows.units[2] += frame->rows.units[2] == 2;
}

static void make_a_row_too_long(struct trace_frame *frame)
{
    for (uint32_t unit = 0; unit < 20; unit++) {
        frame->rows.units[unit] = unit;
    }
    for (uint32_t r = 1; r <= 8; r++) {
        frame->rows.start[r] = 20 * r;
    }
}

static void turn_a_row_round(struct trace_frame *frame)
{
    frame->rows.start[1] = frame->rows.start[2] + 1;
}

static void spoil_born(struct trace_frame *frame)
{
    frame->born[7] = NAN;
}

static void spoil_tail(struct trace_frame *frame)
{
    frame->tail[0] = 1.01f;
}

static void spoil_scale(struct trace_frame *frame)
{
    frame->scale[15] = INFINITY;
}

static void spoil_steps(struct trace_frame *frame)
{
    frame->steps = 3;
}

static void spoil_order(struct trace_frame *frame)
{
    frame->layer = 1;
}

static void the_writer_refuses_what_a_reader_would(void **state)
{
    (void)state;
    const struct faulty_frame cases[] = {
        {repeat_a_unit, "row of head 0, step 0: units do not ascend"},
        {swap_units, "row of head 0, step 0: units do not ascend"},
        {leave_the_trace, "row of head 0, step 0: a unit out of range"},
        {lose_a_sink, "row of head 0, step 0: a unit of the sinks is missing"},
        {make_a_row_too_long, "row of head 0, step 0: more units than window and keep allow"},
        {turn_a_row_round, "more units than window and keep allow"},
        {spoil_born, "born of head 1, step 3 is nan, not a mass"},
        {spoil_tail, "tail of head 0, step 0 is 1.01, not a mass"},
        {spoil_scale, "scale of query head 3, step 3 is inf"},
        {spoil_steps, "3 steps from step 0 do not match the tile"},
        {spoil_order, "tile 0, layer 1, sequence 0: the frame is out of order"},
    };
    char path[64];
    make_path(folder, "x.swt", path);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        struct trace_frame frame = {0};
        struct trace_header header = make_header();
        gsl_rng *random = random_stream(6, "test.trace", i, &why);
        struct trace_writer *writer = trace_writer_open(path, &header, &why);
        make_check(writer != NULL && random != NULL, &why);
        make_frame(&header, &frame, random);
        cases[i].spoil(&frame);
        assert_false(trace_writer_put(writer, &frame, &why));
        if (strstr(why.found, cases[i].found) == NULL) {
            fail_msg("case %zu: '%s' is not '%s'", i, why.found, cases[i].found);
        }
        trace_writer_discard(writer);
        trace_frame_release(&frame);
        gsl_rng_free(random);
        assert_int_equal(access(path, F_OK), -1);
    }
}

static void an_unfinished_trace_leaves_nothing(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_header header = make_header();
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "x.swt", path), &header, &why);
    make_check(writer != NULL, &why);
    assert_false(trace_writer_close(writer, &why));
    assert_string_equal(why.found, "only 0 of 8 frames are written");
    assert_int_equal(access(path, F_OK),
                     -1); /* and the folder is removed at the end: it is empty */
}

static void one_frame_too_many_is_refused(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_frame frame = {0};
    struct trace_header header = make_header();
    header.sequences = header.layers = 1;
    header.steps = 4;
    gsl_rng *random = random_stream(7, "test.trace", 0, &why);
    struct trace_writer *writer =
        trace_writer_open(make_path(folder, "x.swt", path), &header, &why);
    make_check(writer != NULL && random != NULL, &why);
    make_frame(&header, &frame, random);
    make_check(trace_writer_put(writer, &frame, &why), &why);
    assert_false(trace_writer_put(writer, &frame, &why));
    assert_string_equal(why.found, "all 1 frames are written");
    make_check(trace_writer_close(writer, &why), &why);
    trace_frame_release(&frame);
    gsl_rng_free(random);
    unlink(path);
}

/* The limit on file sizes stands for a disk that is full after `room` bytes. */
static void a_full_disk_keeps_the_old_trace(void **state)
{
    (void)state;
    static struct bytes before, after;
    char path[64];
    struct error why;
    struct rlimit all, some;
    struct trace_header header = make_header();
    make_trace(&header, make_path(folder, "x.swt", path), 8);
    load(path, &before);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &all);
    for (rlim_t room = 0; room < before.size; room += 50) {
        bool ok = true;
        struct trace_frame frame = {0};
        gsl_rng *random = random_stream(8, "test.trace", 0, &why);
        some = (struct rlimit){room, all.rlim_max};
        setrlimit(RLIMIT_FSIZE, &some);
        struct trace_writer *writer = trace_writer_open(path, &header, &why);
        for (uint32_t number = 0; writer != NULL && ok && number < 8; number++) {
            frame.sequence = number / 4;
            frame.tile = number / 2 % 2;
            frame.layer = number % 2;
            make_frame(&header, &frame, random);
            ok = trace_writer_put(writer, &frame, &why);
        }
        if (!ok) {
            trace_writer_discard(writer);
        } else if (writer != NULL) {
            assert_false(trace_writer_close(writer, &why));
        }
        setrlimit(RLIMIT_FSIZE, &all);
        assert_string_equal(why.found, "cannot be written: File too large");
        assert_string_equal(why.file, path);
        load(path, &after);
        assert_int_equal(after.size, before.size);
        assert_memory_equal(after.at, before.at, before.size);
        trace_frame_release(&frame);
        gsl_rng_free(random);
    }
    signal(SIGXFSZ, SIG_DFL);
    unlink(path);
}

static void headers_that_cannot_be_are_not_written(void **state)
{
    (void)state;
    char path[64];
    struct error why;
    struct trace_header header = make_header();
    header.units = 21;
    assert_null(trace_writer_open(make_path(folder, "x.swt", path), &header, &why));
    assert_string_equal(why.found, "header: units is 21, but context / unit_tokens is 20");
    header = make_header();
    header.source = (char *)"none";
    assert_null(trace_writer_open(path, &header, &why));
    header = make_header();
    assert_null(trace_writer_open("/nonexistent/x.swt", &header, &why));
    assert_string_equal(why.found, "cannot be written: No such file or directory");
    assert_null(trace_writer_open("/dev/null", &header, &why));
    assert_string_equal(why.found, "exists and is not a regular file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_writer_refuses_what_a_reader_would),
        cmocka_unit_test(an_unfinished_trace_leaves_nothing),
        cmocka_unit_test(one_frame_too_many_is_refused),
        cmocka_unit_test(a_full_disk_keeps_the_old_trace),
        cmocka_unit_test(headers_that_cannot_be_are_not_written),
    };
    return cmocka_run_group_tests(tests, make_test_folder, remove_test_folder);
}
