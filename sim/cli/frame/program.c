#include "cli/frame/program.h"

#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/frame/question.h"

#include <assert.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_WORDS = 40 };

/* The valid words are those of all commands, or of a group; `given` is "" if nothing more was typed. */
static bool unknown_command(const struct command *const *commands, const char *group,
                            const char *given, struct error *why)
{
    const char *valid[MOST_WORDS];
    size_t count = 0;
    for (; *commands != NULL; commands++) {
        if (group == NULL || command_in_group(*commands, group)) {
            valid[count++] = (*commands)->name;
        }
    }
    for (const struct program_switch *row = program_switches; group == NULL && row->name != NULL;
         row++) {
        valid[count++] = row->name;
    }
    assert(count < MOST_WORDS);
    valid[count] = NULL;
    error_usage(why, NULL, 0,
                given[0] != '\0' ? "unknown command '%s'"
                : group != NULL  ? "no command after '%s'"
                                 : "no command",
                given[0] != '\0' ? given : group);
    name_expect(given, NAMES(valid), why);
    return given[0] != '\0' ? error_rest(why, "spillway --help") : false;
}

/* Refuse an output that would overwrite an input. */
static bool check_output(const struct arguments *arguments, struct error *why)
{
    struct stat out, in;
    uint32_t count;
    const char *path = arguments_shared(arguments, "--output");
    if (path == NULL || stat(path, &out) != 0 || !S_ISREG(out.st_mode)) {
        return true;
    }
    const char *const *operands = arguments_operands(arguments, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (stat(operands[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
            error_usage(why, NULL, 0, "--output: '%s' is also an input and would be overwritten",
                        path);
            return error_expect(why, "another file");
        }
    }
    return true;
}

static bool run_command(const struct program *program, const struct command *command, int count,
                        char *const *argv, struct error *why)
{
    struct arguments arguments;
    if (!arguments_parse(command, count, argv, &arguments, why)) {
        return false;
    }
    bool ok = true;
    arguments.commands = program->commands;
    if (arguments.help) {
        help_command(command, stdout);
    } else {
        ok = check_output(&arguments, why) && command->run(&arguments, why);
        if (!ok) {
            arguments_blame(&arguments, why);
        }
    }
    arguments_release(&arguments);
    return ok;
}

static bool run_words(const struct program *program, int argc, char *const *argv, struct error *why)
{
    const struct command *const *commands = program->commands;
    const char *second = argc > 2 ? argv[2] : "";
    char both[64] = ""; /* "trace info" */
    bool group = false;
    if (argc < 2) {
        return unknown_command(commands, NULL, "", why);
    }
    snprintf(both, sizeof both, "%s %s", argv[1], second);
    for (size_t i = 0; commands[i] != NULL; i++) {
        if (strcmp(commands[i]->name, argv[1]) == 0) {
            return run_command(program, commands[i], argc - 2, argv + 2, why);
        }
        if (strcmp(commands[i]->name, both) == 0) {
            return run_command(program, commands[i], argc - 3, argv + 3, why);
        }
        group = group || command_in_group(commands[i], argv[1]);
    }
    for (const struct program_switch *row = program_switches; row->name != NULL; row++) {
        if (strcmp(row->name, argv[1]) == 0) {
            row->print(program, stdout);
            return true;
        }
    }
    if (arguments_ask_help(argv[1]) || strcmp(argv[1], "help") == 0 ||
        (group && arguments_ask_help(second))) {
        help_program(program, stdout);
        return true;
    }
    return group ? unknown_command(commands, argv[1], argc > 2 ? both : "", why)
                 : unknown_command(commands, NULL, argv[1], why);
}

/* Has the reader of standard output closed its pipe, as `| head` does? */
static bool reader_is_gone(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return ferror(stdout) && poll(&out, 1, 0) == 1 && (out.revents & POLLERR) != 0;
}

int program_run(const struct program *program, int argc, char **argv)
{
    struct error why, unwritten;
    signal(SIGPIPE, SIG_IGN); /* a closed pipe makes the write fail, see reader_is_gone() */
    signal(SIGXFSZ, SIG_IGN); /* and so does a file at its size limit */
    /* A closed standard stream would give its number to the next file that is opened, such as the database, and
     * what is printed would go there. What stands in its place refuses every use. */
    for (int number = STDIN_FILENO; number <= STDERR_FILENO; number++) {
        if (fcntl(number, F_GETFD) < 0) {
            open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
    visible_streams();
    /* A schedule takes megabytes, and a study makes thousands: memory that goes back to the kernel each time
     * is cleared page by page, which took two fifths of all processor time. */
    mallopt(M_MMAP_THRESHOLD, 32 << 20); /* the largest value that is allowed */
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strcmp(argv[i], "--json") == 0) { /* a wrong command line is said in JSON, too */
            message_use_json();
        }
    }
    if (argc > 1 && strcmp(argv[1], "help") == 0) { /* `help WORD...` is `WORD... --help` */
        memmove(argv + 1, argv + 2, (size_t)(argc - 2) * sizeof *argv);
        argv[argc - 1] = (char *)command_help.name;
    }
    bool ok = run_words(program, argc, argv, &why);
    if (!output_flush(stdout, "standard output", &unwritten) && ok) {
        why = unwritten;
        ok = false;
    }
    if (ok) {
        return 0;
    }
    if (reader_is_gone()) {
        return 128 + SIGPIPE; /* silently, as if the signal had ended it */
    }
    /* An interrupted command ends with the status that a shell gives a program killed by a signal:
     * it may be started again, and a command that failed may not. */
    int status = question_signal() != 0 ? 128 + question_signal() : why.kind == ERROR_USAGE ? 2 : 1;
    message_error(&why, status);
    return status;
}
