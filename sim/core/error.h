/* One error: where it was found, what was found, what was expected, and the nearest valid name.
 *
 * Everything that can fail takes a `struct error *why` as its last argument and returns bool or a pointer; on
 * false or NULL `why` is filled, on success it is untouched. The library never prints and never exits: the
 * command line prints the error, and its exit status follows from `kind`.
 *
 * `why` is never NULL. Texts longer than their field are cut, never overrun; control
 * characters in them become '?'. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The exit status of a failure is 1, of an invalid request 2. */
enum error_kind {
    ERROR_FAILURE = 1, /* a file, a device or a computation failed */
    ERROR_USAGE = 2,   /* the user's request is invalid */
    ERROR_UNMET,       /* a failure with an answer: nothing fits, or meets what was asked for */
    ERROR_INTERRUPTED, /* a failure: a stop flag was raised (core/stop_flag.h) */
};

struct error {
    enum error_kind kind;
    char file[256]; /* "" when no file is to blame; "--set" for an override */
    int line;       /* 1-based; 0 when unknown */
    char found[256];
    char expected[320]; /* "" when there is nothing to add */
    char nearest[64];   /* "" when no name is near */
    char key[64];       /* the key or option to blame; "" when none is known */
};

/* For an error that nobody reads. */
#define ERROR_UNSEEN (&(struct error){.line = 0})

/* Room for every message that error_format() writes. */
enum { ERROR_TEXT = sizeof(struct error) + 64 };

/* Fill `why`, found at file:line (NULL, 0: nowhere); `expected` and `nearest` start empty. Returns false, so
 * that `return error_set(...)` reads well. */
bool error_make(struct error *why, enum error_kind kind, const char *file, int line,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
#define error_set(why, file, line, ...) error_make(why, ERROR_FAILURE, file, line, __VA_ARGS__)
#define error_usage(why, file, line, ...) error_make(why, ERROR_USAGE, file, line, __VA_ARGS__)
#define error_unmet(why, ...) error_make(why, ERROR_UNMET, NULL, 0, __VA_ARGS__)

/* For an invalid value read at file:line: a usage error when typed (no file, or "--set"), else a failure. */
bool error_input(struct error *why, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Add what was expected, the nearest valid name, or the key to blame (NULL: nothing). Return false. */
bool error_expect(struct error *why, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool error_nearest(struct error *why, const char *name);
bool error_key(struct error *why, const char *key);

/* Where a list of expected names was cut or left out, name the command that prints all. Returns false. */
bool error_rest(struct error *why, const char *command);

/* Write the message a person reads into `text` (at most `size` bytes with the
 * terminator), one or two lines, without a final newline:
 *
 *   a.yaml:12: unknown key 'granularty' in 'system'
 *     nearest: 'granularity'   expected: policy, granularity, budget
 */
void error_format(const struct error *why, char *text, size_t size);

/* Drop the last character of a text that was cut to `length` bytes, if the cut went through it. */
void error_drop_partial(char *text, size_t length);
