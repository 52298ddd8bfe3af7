/* The command line: what was typed, by option, or one message that says what was expected. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/frame/arguments.h"

#include <string.h>

static const char *const levels[] = {"low", "high", NULL};

static const char *const kinds[] = {"sum", "mean", NULL};

enum { SET, DB, OUTPUT, LEVEL, JSON, SYSTEM };
static const struct command_option options[] = {
    [SET] = {.name = "--set", .argument = "KEY=VALUE", .repeats = true},
    [DB] = {.name = "--db", .argument = "FILE"},
    [OUTPUT] = {.name = "--output", .letter = 'o', .argument = "FILE"},
    [LEVEL] = {.name = "--level", .argument = "LEVEL", .values = levels},
    [JSON] = {.name = "--json"},
    [SYSTEM] = {.name = "--system", .argument = "NAME,...", .list = true},
    {.name = NULL},
};
static const struct command command = {
    .name = "test",
    .operands = "[FILE]",
    .kinds = {kinds, sizeof *kinds},
    .options = options,
};

/* Split `line` at blanks ("''" is an empty word) and parse it. `words` holds the texts. */
static bool parse(const char *line, char *words, struct arguments *out, struct error *why)
{
    char *argv[32];
    int count = 0;
    strcpy(words, line);
    for (char *word = strtok(words, " "); word != NULL; word = strtok(NULL, " ")) {
        argv[count++] = strcmp(word, "''") == 0 ? word + 2 : word;
    }
    return arguments_parse(&command, count, argv, out, why);
}

static void join(const char *const *texts, uint32_t count, char *out)
{
    out[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        strcat(out, i > 0 ? "|" : "");
        strcat(out, texts[i]);
    }
}

static void words_find_their_option(void **state)
{
    (void)state;
    static const struct {
        const char *line, *set, *db, *output, *operands;
        bool json;
    } cases[] = {
        {"sum", "", "", "", "sum", false},
        {"sum a.yaml --json", "", "", "", "sum|a.yaml", true},
        {"--set a=1 sum --set b=2 --set c=3", "a=1|b=2|c=3", "", "", "sum", false},
        {"--set=a=1 sum", "a=1", "", "", "sum", false},
        {"mean --db x.db -o y", "", "x.db", "y", "mean", false},
        {"mean --output=y --db=--json", "", "--json", "y", "mean", false},
        {"mean -oy -- --json", "", "", "y", "mean|--json", false},
        {"mean - --db -x", "", "-x", "", "mean|-", false},
        {"mean --db= ''", "", "", "", "mean|", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128], texts[128];
        uint32_t count;
        struct arguments arguments;
        struct error why = {0};
        if (!parse(cases[i].line, words, &arguments, &why)) {
            fail_msg("%s: %s", cases[i].line, why.found);
        }
        const char *const *values = arguments_all(&arguments, SET, &count);
        join(values, count, texts);
        assert_string_equal(texts, cases[i].set);
        values = arguments_all(&arguments, DB, &count);
        join(values, count, texts);
        assert_string_equal(texts, cases[i].db);
        values = arguments_all(&arguments, OUTPUT, &count);
        join(values, count, texts);
        assert_string_equal(texts, cases[i].output);
        values = arguments_operands(&arguments, &count);
        join(values, count, texts);
        assert_string_equal(texts, cases[i].operands);
        assert_int_equal(arguments_given(&arguments, JSON), cases[i].json);
        arguments_release(&arguments);
    }
}

static void a_list_takes_commas_and_repeats(void **state)
{
    (void)state;
    static const struct {
        const char *line, *items, *list; /* NULL: not given */
    } cases[] = {
        {"sum", "", NULL},
        {"sum --system a", "a", "a"},
        {"sum --system a,b", "a|b", "a,b"},
        {"sum --system a --json --system=b,c", "a|b|c", "a,b,c"},
        {"sum --system {name:q,eta:[0.9,1]},b", "{name:q,eta:[0.9,1]}|b", "{name:q,eta:[0.9,1]},b"},
        {"sum --system a,,b", "a||b", "a,,b"},
        {"sum --set a,b", "", NULL}, /* another option is no list */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128], texts[128];
        uint32_t count;
        struct arguments arguments;
        struct error why = {0};
        assert_true(parse(cases[i].line, words, &arguments, &why));
        const char *const *items = arguments_all(&arguments, SYSTEM, &count);
        join(items, count, texts);
        assert_string_equal(texts, cases[i].items);
        const char *list = arguments_text(&arguments, SYSTEM);
        assert_string_equal(list != NULL ? list : "-", cases[i].list != NULL ? cases[i].list : "-");
        arguments_release(&arguments);
    }
}

static void what_cannot_be_meant_is_said_so(void **state)
{
    (void)state;
    static const struct {
        const char *line, *blamed, *nearest;
    } cases[] = {
        {"sum --jsn", "'--jsn'", "--json"},
        {"sum --jsn=3", "'--jsn'", "--json"},
        {"sum -x", "'-x'", ""},
        {"sum --db", "'--db'", ""},
        {"sum --db --json", "'--db'", ""},
        {"sum --json=1", "'--json'", ""},
        {"sum --db a --db b", "'--db'", ""},
        {"sum --level hihg", "'hihg' of '--level'", "high"},
        {"summ", "'summ'", "sum"},
        {"--json", "'test'", ""},
        {"sum a b", "'b'", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char words[128];
        struct arguments arguments;
        struct error why = {0};
        if (parse(cases[i].line, words, &arguments, &why)) {
            fail_msg("accepted: %s", cases[i].line);
        }
        assert_non_null(strstr(why.found, cases[i].blamed));
        assert_string_equal(why.nearest, cases[i].nearest);
        assert_int_equal(why.kind, ERROR_USAGE);
    }
}

static void a_required_option_is_missed(void **state)
{
    (void)state;
    static const struct command_option required[] = {
        {.name = "--output", .argument = "FILE", .required = true}, {.name = NULL}};
    static const struct command needy = {.name = "needy", .options = required};
    struct arguments arguments;
    struct error why = {0};
    assert_false(arguments_parse(&needy, 0, NULL, &arguments, &why));
    assert_non_null(strstr(why.found, "--output"));
    assert_string_equal(why.expected, "--output FILE");
}

static void what_is_expected_names_the_kinds(void **state)
{
    (void)state;
    char words[128];
    struct arguments arguments;
    struct error why = {0};
    assert_false(parse("--json", words, &arguments, &why));
    assert_string_equal(why.expected, "spillway test sum|mean [FILE]");
}

static void help_wins_over_what_is_missing(void **state)
{
    (void)state;
    char words[128];
    struct arguments arguments;
    struct error why;
    assert_true(parse("--help", words, &arguments, &why));
    assert_true(arguments.help);
    arguments_release(&arguments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_find_their_option),
        cmocka_unit_test(a_list_takes_commas_and_repeats),
        cmocka_unit_test(what_cannot_be_meant_is_said_so),
        cmocka_unit_test(a_required_option_is_missed),
        cmocka_unit_test(what_is_expected_names_the_kinds),
        cmocka_unit_test(help_wins_over_what_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
