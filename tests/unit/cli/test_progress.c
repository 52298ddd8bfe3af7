/* The line that says how far a command is: on a terminal, and with --json for a program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/frame/message.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void tell(void)
{
    progress_study(0, 2, "runs", NULL);
    progress_show(7, 0, "%s on %s: %u runs", "clo", "å40", 7u);
    progress_study(2, 2, "runs", NULL);
    progress_clear();
}

/* What is told with `fd` in place of standard error comes out of `from`, to the last of it: a terminal passes
   on what was written a moment later, so its end, not its pause, says that there is no more. Closes `fd`. */
static void read_told(int fd, int from, char text[256])
{
    int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDERR_FILENO) >= 0);
    tell();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(fd);
    size_t size = 0;
    ssize_t some;
    while ((some = read(from, text + size, 255 - size)) > 0) {
        size += (size_t)some;
    }
    text[size] = '\0';
}

/* A terminal, and what is told there. */
static void read_terminal(char text[256])
{
    int from = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(from >= 0 && grantpt(from) == 0 && unlockpt(from) == 0);
    int terminal = open(ptsname(from), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0);
    read_told(terminal, from, text);
    close(from);
}

static void a_terminal_is_told_and_left_empty(void **state)
{
    (void)state;
    char text[256];
    read_terminal(text);
    assert_string_equal(text, "\r\033[?7l0 of 2 runs\033[K\033[?7h" /* it does not wrap */
                              "\r\033[?7lclo on å40: 7 runs\033[K\033[?7h"
                              "\r\033[K"
                              "\r\033[K");
}

static void read_pipe(char text[256])
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    read_told(ends[1], ends[0], text);
    close(ends[0]);
}

static void a_pipe_is_told_nothing_without_json(void **state)
{
    (void)state;
    char text[256];
    read_pipe(text);
    assert_string_equal(text, "");
}

static void full_pipe(int ends[2])
{
    static const char zeros[4096];
    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], zeros, sizeof zeros) > 0) {
    }
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
}

/* Of what follows within a tenth of a second, only the first is sent; a pipe that nobody reads does not
 * block. Afterwards messages stay JSON. */
static void with_json_a_pipe_is_sent_an_object(void **state)
{
    (void)state;
    char text[256];
    int ends[2];
    message_use_json();
    full_pipe(ends);
    int saved = dup(STDERR_FILENO);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    tell();
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    close(saved);
    close(ends[0]);
    close(ends[1]);
    read_pipe(text);
    assert_string_equal(text, "{\"progress\":\"0 of 2 runs\",\"done\":0,\"total\":2}\n");
    read_terminal(text);
    assert_memory_equal(text, "\r\033[?7l0 of 2 runs", 17);
}

static void the_time_left_is_that_of_the_rest(void **state)
{
    static const struct {
        double seconds, share;
        const char *text;
    } cases[] = {
        {1.9, .5, ""},
        {1.9, 0, ""},
        {10.5, 0, ", 10 s so far"},
        {100, 0, ", 2 min so far"},
        {10, 1, ""},
        {10, .5, ", 10 s left"},
        {10, .8, ", 3 s left"},
        {30, .25, ", 90 s left"},
        {31, .25, ", 2 min left"},
        {60, 1. / 91, ", 90 min left"},
        {3600, .2, ", 4 h left"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[PROGRESS_LEFT];
        assert_string_equal(progress_left_after(cases[i].seconds, cases[i].share, text),
                            cases[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_terminal_is_told_and_left_empty),
        cmocka_unit_test(a_pipe_is_told_nothing_without_json),
        cmocka_unit_test(the_time_left_is_that_of_the_rest),
        cmocka_unit_test(with_json_a_pipe_is_sent_an_object),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
