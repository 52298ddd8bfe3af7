/* The YAML tree: what is read, what is refused and where, overrides, merging. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/node.h"
#include "unit/fixture/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static struct node *parse(const char *text)
{
    struct error why;
    struct node *root = node_parse(text, strlen(text), "a.yaml", &why);
    if (root == NULL) {
        fail_msg("line %d: %s", why.line, why.found);
    }
    return root;
}

static void assert_tree(const struct node *root, const char *canonical)
{
    struct error why;
    char *text = node_canonical(root, &why);
    assert_non_null(text);
    assert_string_equal(text, canonical);
    free(text);
}

static void assert_fault(const struct error *why, const char *fault)
{
    char text[FAULT_SIZE];
    assert_string_equal(fault_of(why, text), fault);
}

static void equal_trees_have_one_canonical_text(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *canonical;
    } cases[] = {
        {"", "null"},
        {"# nothing\n", "null"},
        {"---\n...\n", "null"},
        {"word", "\"word\""},
        {"''", "\"\""},
        {"[]", "[]"},
        {"{}", "{}"},
        {"b: 1\na: 2\n", "{\"a\": \"2\", \"b\": \"1\"}"},
        {"{a: 2, b: 1}", "{\"a\": \"2\", \"b\": \"1\"}"},
        {"a:\n- 1\n- [2, x y]\n", "{\"a\": [\"1\", [\"2\", \"x y\"]]}"},
        {"a:\nb: ~\nc: null\nd: 'null'\n",
         "{\"a\": null, \"b\": null, \"c\": null, \"d\": \"null\"}"},
        {"a: |\n  x\n  y\n", "{\"a\": \"x\\u000ay\\u000a\"}"},
        {"a: \"\\\\ \\\" é \\U0001F600\"", "{\"a\": \"\\\\ \\\" \\u00e9 \\U0001f600\"}"},
        {"\xef\xbb\xbf"
         "a: 1",
         "{\"a\": \"1\"}"},
        {"a: &x 1\nb: *x\nc: &x [2]\nd: *x\n",
         "{\"a\": \"1\", \"b\": \"1\", \"c\": [\"2\"], \"d\": [\"2\"]}"},
        {"<<: {a: 1}\nb: 2\n", "{\"a\": \"1\", \"b\": \"2\"}"},
        {"a: {<<: &x {k: 1}}\nb: *x\n", "{\"a\": {\"k\": \"1\"}, \"b\": {\"k\": \"1\"}}"},
        {"a: &x {k: 1, l: 2}\nb: {l: 3, <<: *x}\nc: {<<: [*x, {m: 4, k: 5}]}\n",
         "{\"a\": {\"k\": \"1\", \"l\": \"2\"}, \"b\": {\"k\": \"1\", \"l\": \"3\"}, "
         "\"c\": {\"k\": \"1\", \"l\": \"2\", \"m\": \"4\"}}"},
        {"trace: assumed:hit=93%,spread=5%", "{\"trace\": \"assumed:hit=93%,spread=5%\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct node *root = parse(cases[i].yaml);
        assert_tree(root, cases[i].canonical);
        struct node *again = parse(cases[i].canonical);
        assert_tree(again, cases[i].canonical);
        node_destroy(again);
        node_destroy(root);
    }
}

/* Nine aliases each of nine: a small file may not become a huge tree. */
static void aliases_do_not_multiply_without_bound(void **state)
{
    (void)state;
    char text[1024] = "a0: &a0 x\n";
    for (int i = 1; i < 9; i++) {
        char line[64];
        snprintf(line, sizeof line, "a%d: &a%d [", i, i);
        strcat(text, line);
        for (int j = 0; j < 9; j++) {
            snprintf(line, sizeof line, "*a%d%s", i - 1, j < 8 ? "," : "]\n");
            strcat(text, line);
        }
    }
    struct error why;
    assert_null(node_parse(text, strlen(text), "a.yaml", &why));
    assert_int_equal(why.line, 7);
}

/* Nor may one long text become many, nor each alias look through as many anchors as a file has lines. */
static void aliases_of_long_texts_and_anchors_are_bounded(void **state)
{
    (void)state;
    enum { LONG = 1 << 20, SIZE = 2 << 20 };
    char *text = malloc(SIZE);
    struct error why;
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "a: &a ");
    memset(text + used, 'x', LONG);
    used += LONG;
    used += (size_t)sprintf(text + used, "\nb:\n");
    for (int i = 0; i < 100; i++) {
        used += (size_t)sprintf(text + used, "- *a\n");
    }
    assert_null(node_parse(text, used, "a.yaml", &why));
    assert_true(why.line > 3 && why.line < 80); /* a million values of 64 bytes */
    used = 0;
    for (int i = 0; i < 257; i++) {
        used += (size_t)sprintf(text + used, "- &a%d x\n", i);
    }
    assert_null(node_parse(text, used, "a.yaml", &why));
    assert_int_equal(why.line, 257);
    free(text);
}

static void nodes_remember_file_and_line(void **state)
{
    (void)state;
    struct node *root = parse("# comment\n"
                              "model: x\n"
                              "\n"
                              "mechanisms:\n"
                              "  sync: gpu\n"
                              "contexts:\n"
                              "  - 1\n"
                              "  - 2\n");
    assert_int_equal(node_get(root, "model")->line, 2);
    const struct node *mechanisms = node_get(root, "mechanisms");
    assert_int_equal(node_get(mechanisms, "sync")->line, 5);
    assert_string_equal(node_get(mechanisms, "sync")->file, "a.yaml");
    assert_int_equal(node_get(root, "contexts")->children[1]->line, 8);
    assert_null(node_get(root, "absent"));
    assert_null(node_get(NULL, "absent"));
    assert_null(node_get(node_get(root, "model"), "absent"));
    node_destroy(root);
}

static void bad_yaml_is_refused_with_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *fault;
    } cases[] = {
        {"a: 1\nb: 2\na: 3\n", "a.yaml:3 'a'"},
        {"a: {x: 1,\n x: 2}\n", "a.yaml:2 'x'"},
        {"a: *anchor\n", "a.yaml:1"},
        {"!!str a: 1\n", "a.yaml:1"},
        {"a: &x\n  b: *x\n", "a.yaml:2"},
        {"a: &x b\n*x : 1\n", "a.yaml:2"},
        {"&x a: 1\n", "a.yaml:1"},
        {"a: &x 1\n<<: *x\n", "a.yaml:1 '<<'"},
        {"a: !!int 1\n", "a.yaml:1"},
        {"a: !x {}\n", "a.yaml:1"},
        {"a: 1\n---\nb: 1\n", "a.yaml:2"},
        {"[a]: 1\n", "a.yaml:1"},
        {"? {a: 1}\n: 2\n", "a.yaml:1"},
        {"a: \"x\\0y\"\n", "a.yaml:1"},
        {"'': 1\n", "a.yaml:1"},
        {"a: 1\nb: [1, 2\n", "a.yaml:3 ',' ']'"},
        {"a: 'open\n", "a.yaml:2"},
        {"a: 1\n\tb: 2\n", "a.yaml:2"},
        {"a: 1\nb: \x01\n", "a.yaml:2"},
        {"a: \xff\xfe\n", "a.yaml:1"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        assert_null(node_parse(cases[i].yaml, strlen(cases[i].yaml), "a.yaml", &why));
        assert_fault(&why, cases[i].fault);
        assert_int_equal(why.kind, ERROR_FAILURE);
    }
}

/* `count` times `part`, with `head` before and `tail` after. */
static char *repeated(const char *head, const char *part, size_t count, const char *tail)
{
    size_t length = strlen(part);
    char *text = calloc(strlen(head) + count * length + strlen(tail) + 1, 1);
    assert_non_null(text);
    char *end = stpcpy(text, head);
    for (size_t i = 0; i < count; i++) {
        end = stpcpy(end, part);
    }
    strcpy(end, tail);
    return text;
}

static void assert_refused(char *text, const char *found)
{
    struct error why;
    assert_null(node_parse(text, strlen(text), "a.yaml", &why));
    assert_string_equal(why.found, found);
    free(text);
}

static void nesting_is_32_deep_at_most(void **state)
{
    (void)state;
    char open[40] = "", close[40] = "";
    memset(open, '[', 32);
    memset(close, ']', 32);
    char text[80];
    snprintf(text, sizeof text, "%s%s", open, close);
    node_destroy(parse(text));
    assert_refused(repeated("", "[", 33, ""), "nested deeper than 32");
    assert_refused(repeated("", "[", 1000000, ""), "nested deeper than 32");
    assert_refused(repeated("", "- ", 100000, ""), "nested deeper than 32");
    assert_refused(repeated("", "{a: ", 100000, ""), "nested deeper than 32");
}

static void sizes_are_limited(void **state)
{
    (void)state;
    assert_refused(repeated("# ", "x", 16 << 20, "\n"), "larger than 16 MiB");
    assert_refused(repeated("[", "1,", (1 << 20) + 1, "]"), "more than a million values");
    assert_refused(repeated("", "k", 1001, ": 1\n"), "the key is empty, too long or not text");
}

/* Types of each expert of a checkpoint. */
static void a_map_may_have_many_keys(void **state)
{
    (void)state;
    enum { KEYS = 100000 };
    char *keys = calloc(KEYS + 2, 16);
    struct error why;
    assert_non_null(keys);
    char *end = keys;
    for (int i = 0; i < KEYS; i++) {
        end += sprintf(end, "k%d: 1\n", i);
    }
    struct node *root = node_parse(keys, strlen(keys), "x.yaml", &why);
    assert_non_null(root);
    assert_int_equal(root->count, KEYS);
    node_destroy(root);
    strcpy(end, "k7: 1\n");
    assert_refused(keys, "duplicate key 'k7', first in line 8");
}

static void files_are_read_or_refused(void **state)
{
    (void)state;
    struct error why;
    char path[] = "/tmp/test_node.XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    struct node *root = node_load(path, &why); /* empty */
    assert_non_null(root);
    assert_int_equal(root->kind, NODE_NULL);
    assert_string_equal(root->file, path);
    node_destroy(root);
    assert_int_equal(write(handle, "a: 1\n", 5), 5);
    root = node_load(path, &why);
    assert_tree(root, "{\"a\": \"1\"}");
    node_destroy(root);
    assert_int_equal(ftruncate(handle, 17 << 20), 0);
    assert_null(node_load(path, &why));
    assert_string_equal(why.found, "larger than 16 MiB");
    close(handle);
    unlink(path);

    assert_null(node_load("/nowhere/a.yaml", &why));
    assert_fault(&why, "/nowhere/a.yaml");
    assert_null(node_load("/tmp", &why));
    assert_fault(&why, "/tmp");
    assert_null(node_load("/dev/zero", &why));
    assert_string_equal(why.found, "larger than 16 MiB");
}

static void overrides_reach_inside(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *path, *value, *canonical;
    } cases[] = {
        {"", "model", "x", "{\"model\": \"x\"}"},
        {"", "a.b.c", "1", "{\"a\": {\"b\": {\"c\": \"1\"}}}"},
        {"a: {b: 1, c: 2}", "a.b", "3", "{\"a\": {\"b\": \"3\", \"c\": \"2\"}}"},
        {"a: {b: 1}", "a", "[1, {x: y}]", "{\"a\": [\"1\", {\"x\": \"y\"}]}"},
        {"a: {b: 1}", "a", "", "{\"a\": null}"},
        {"a:", "a.b", "1", "{\"a\": {\"b\": \"1\"}}"},
        {"a: 1", "trace", "assumed:hit=93%,spread=5%",
         "{\"a\": \"1\", \"trace\": \"assumed:hit=93%,spread=5%\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct node *root = parse(cases[i].yaml);
        assert_true(node_set(root, cases[i].path, cases[i].value, &why));
        assert_tree(root, cases[i].canonical);
        node_destroy(root);
    }
}

static void overrides_are_marked_as_typed(void **state)
{
    (void)state;
    struct error why;
    struct node *root = parse("budget: 8GiB\nbatch: 1\n");
    assert_true(node_set(root, "budget", "8us", &why));
    double budget = 0;
    assert_false(node_quantity(root, "budget", UNIT_BYTES, &budget, &why));
    assert_fault(&why, "--set 'budget' '8us'");
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_int_equal(node_get(root, "batch")->line, 2);
    node_destroy(root);
}

static void impossible_overrides_change_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *path, *value, *fault;
    } cases[] = {
        {"a.b.c", "1", "--set 'a.b.c' 'a.b'"},
        {"l.b", "1", "--set 'l.b' 'l'"},
        {"", "1", "--set ''"},
        {"a..b", "1", "--set 'a..b'"},
        {"a.", "1", "--set 'a.'"},
        {"x", "[1", "--set ',' ']'"},
        {"x", "*y", "--set"},
    };
    struct node *root = parse("a: {b: 1}\nl: [1]\n");
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        assert_false(node_set(root, cases[i].path, cases[i].value, &why));
        assert_fault(&why, cases[i].fault);
        assert_int_equal(why.kind, ERROR_USAGE);
        assert_tree(root, "{\"a\": {\"b\": \"1\"}, \"l\": [\"1\"]}");
    }
    node_destroy(root);
    struct error why;
    root = parse("word");
    assert_false(node_set(root, "a", "1", &why));
    assert_fault(&why, "--set 'a' ''");
    node_destroy(root);
}

static void override_paths_are_32_deep_at_most(void **state)
{
    (void)state;
    struct error why;
    struct node *root = parse("");
    char *path = repeated("", "a.", 31, "a");
    assert_true(node_set(root, path, "1", &why));
    assert_false(node_set(root, path, "[1]", &why));
    free(path);
    path = repeated("", "a.", 1000000, "a");
    assert_false(node_set(root, path, "1", &why));
    assert_int_equal(why.kind, ERROR_USAGE);
    free(path);
    node_destroy(root);
}

static void merging_goes_key_by_key(void **state)
{
    (void)state;
    static const struct {
        const char *base, *over, *merged;
    } cases[] = {
        {"a: 1\nb: 2\n", "b: 3\nc: 4\n", "{\"a\": \"1\", \"b\": \"3\", \"c\": \"4\"}"},
        {"m: {a: 1, b: {c: 2}}", "m: {b: {d: 3}}",
         "{\"m\": {\"a\": \"1\", \"b\": {\"c\": \"2\", \"d\": \"3\"}}}"},
        {"a: [1, 2, 3]", "a: [4]", "{\"a\": [\"4\"]}"},
        {"a: {b: 1}", "a: x", "{\"a\": \"x\"}"},
        {"a: x", "a: {b: 1}", "{\"a\": {\"b\": \"1\"}}"},
        {"a: 1", "a:", "{\"a\": null}"},
        {"a: {b: 1}", "a:", "{\"a\": {\"b\": \"1\"}}"},
        {"a: 1", "", "{\"a\": \"1\"}"},
        {"", "a: 1", "{\"a\": \"1\"}"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct node *base = parse(cases[i].base);
        struct node *over = node_parse(cases[i].over, strlen(cases[i].over), "over.yaml", &why);
        assert_non_null(over);
        char *before = node_canonical(over, &why);
        assert_true(node_merge(base, over, &why));
        assert_tree(base, cases[i].merged);
        assert_tree(over, before);
        free(before);
        node_destroy(over); /* base holds copies */
        assert_tree(base, cases[i].merged);
        node_destroy(base);
    }
}

static void merged_values_keep_their_marks(void **state)
{
    (void)state;
    struct error why;
    struct node *base = parse("a: 1\nb: 2\n");
    struct node *over = node_parse("\n\nb: 3\n", 7, "over.yaml", &why);
    assert_true(node_merge(base, over, &why));
    node_destroy(over);
    assert_string_equal(node_get(base, "a")->file, "a.yaml");
    assert_string_equal(node_get(base, "b")->file, "over.yaml");
    assert_int_equal(node_get(base, "b")->line, 3);
    node_destroy(base);
}

static void copies_are_equal_and_apart(void **state)
{
    (void)state;
    struct error why;
    struct node *root = parse("a: [1, {b: c}]\nd:\n");
    struct node *copy = node_copy(root, &why);
    assert_non_null(copy);
    assert_true(node_set(root, "a", "2", &why));
    node_destroy(root);
    assert_tree(copy, "{\"a\": [\"1\", {\"b\": \"c\"}], \"d\": null}");
    assert_int_equal(node_get(copy, "d")->line, 2);
    node_destroy(copy);
}

static void typed_values_are_read(void **state)
{
    (void)state;
    struct error why;
    struct node *root = parse("size: 8GiB\nseed: 18446744073709551615\non: true\noff: no\n"
                              "name: x\nempty:\n");
    double size = 0;
    uint64_t seed = 0, absent = 5;
    bool on = false, off = true;
    const char *name = NULL;
    assert_true(node_quantity(root, "size", UNIT_BYTES, &size, &why));
    assert_true(size == 8589934592.0);
    assert_true(node_whole(root, "seed", UNIT_COUNT, UINT64_MAX, &seed, &why));
    assert_true(seed == UINT64_MAX);
    assert_true(node_bool(root, "on", &on, &why) && on);
    assert_true(node_bool(root, "off", &off, &why) && !off);
    assert_true(node_text(root, "name", &name, &why));
    assert_string_equal(name, "x");
    assert_true(node_whole(root, "absent", UNIT_COUNT, 9, &absent, &why));
    assert_true(node_whole(root, "empty", UNIT_COUNT, 9, &absent, &why));
    assert_true(node_whole(NULL, "absent", UNIT_COUNT, 9, &absent, &why));
    assert_int_equal(absent, 5);
    node_destroy(root);
}

static void wrong_values_are_refused_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *yaml, *fault;
    } cases[] = {
        {"\nkey: -8GiB", "a.yaml:2 'key' '-8GiB'"},
        {"key: 12us", "a.yaml:1 'key' '12us'"},
        {"key: 99999999999999999999GiB", "a.yaml:1 'key' '99999999999999999999GiB'"},
        {"key: [1]", "a.yaml:1 'key'"},
        {"key:\n  a: 1", "a.yaml:2 'key'"},
        {"key: ''", "a.yaml:1 'key' ''"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct node *root = parse(cases[i].yaml);
        uint64_t value = 7;
        assert_false(node_whole(root, "key", UNIT_BYTES, UINT64_MAX, &value, &why));
        assert_fault(&why, cases[i].fault);
        assert_int_equal(value, 7);
        node_destroy(root);
    }
    struct error why;
    struct node *root = parse("key: ture");
    bool value = false;
    assert_false(node_bool(root, "key", &value, &why));
    assert_fault(&why, "a.yaml:1 'ture' 'key' nearest 'true'");
    node_destroy(root);
}

static void words_are_indices(void **state)
{
    (void)state;
    static const char *const words[] = {"batch", "sequential", NULL};
    static const struct {
        const char *yaml;
        int index;         /* 7: it stays as it was */
        const char *fault; /* NULL: fine */
    } cases[] = {
        {"key: batch", 0, NULL},
        {"key: sequential", 1, NULL},
        {"key:", 7, NULL},
        {"other: batch", 7, NULL},
        {"\nkey: sequental", 7, "a.yaml:2 'sequental' 'key' nearest 'sequential'"},
        {"key: [batch]", 7, "a.yaml:1 'key'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct node *root = parse(cases[i].yaml);
        int index = 7;
        assert_int_equal(node_word(root, "key", words, &index, &why), cases[i].fault == NULL);
        if (cases[i].fault != NULL) {
            assert_fault(&why, cases[i].fault);
        }
        assert_int_equal(index, cases[i].index);
        node_destroy(root);
    }
}

static void unknown_keys_are_named_with_the_nearest(void **state)
{
    (void)state;
    static const char *const keys[] = {"policy", "granularity", "budget", NULL};
    static const struct {
        const char *yaml, *fault; /* NULL: fine */
    } cases[] = {
        {"policy: lru\nbudget: 3x\n", NULL},
        {"", NULL},
        {"policy: lru\n\ngranularty: 16\n", "a.yaml:3 'granularty' 'system' nearest 'granularity'"},
        {"xyzzy: 1", "a.yaml:1 'xyzzy' 'system'"},
        {"lru", "a.yaml:1 'system'"},
        {"[policy]", "a.yaml:1 'system'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct node *root = parse(cases[i].yaml);
        assert_int_equal(node_check_keys(root, NAMES(keys), "system", &why),
                         cases[i].fault == NULL);
        if (cases[i].fault != NULL) {
            assert_fault(&why, cases[i].fault);
        }
        node_destroy(root);
    }
    struct error why;
    assert_true(node_check_keys(NULL, NAMES(keys), "system", &why));
}

/* A value may come from a default or another file; the complaint about it has the map's place. */
static void complaints_need_no_node(void **state)
{
    struct error why;
    (void)state;
    struct node *root = node_parse("a: 1\nb:\n  c: 2\n", 15, "f.yaml", &why);
    assert_non_null(root);
    assert_false(node_key_error(root, "b", &why, "'%s' is odd", "b"));
    assert_fault(&why, "f.yaml:3 'b'");
    assert_false(node_key_error(node_get(root, "b"), "d", &why, "'d' is odd"));
    assert_fault(&why, "f.yaml:3 'd'");
    assert_false(node_key_error(node_get(root, "x"), "d", &why, "'d' is odd"));
    assert_fault(&why, " 'd'");
    assert_false(node_error(node_get(root, "x"), &why, "'x' is odd"));
    assert_fault(&why, " 'x'");
    assert_int_equal(why.kind, ERROR_USAGE);
    node_destroy(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_trees_have_one_canonical_text),
        cmocka_unit_test(aliases_do_not_multiply_without_bound),
        cmocka_unit_test(aliases_of_long_texts_and_anchors_are_bounded),
        cmocka_unit_test(nodes_remember_file_and_line),
        cmocka_unit_test(bad_yaml_is_refused_with_its_place),
        cmocka_unit_test(nesting_is_32_deep_at_most),
        cmocka_unit_test(sizes_are_limited),
        cmocka_unit_test(a_map_may_have_many_keys),
        cmocka_unit_test(files_are_read_or_refused),
        cmocka_unit_test(overrides_reach_inside),
        cmocka_unit_test(overrides_are_marked_as_typed),
        cmocka_unit_test(impossible_overrides_change_nothing),
        cmocka_unit_test(override_paths_are_32_deep_at_most),
        cmocka_unit_test(merging_goes_key_by_key),
        cmocka_unit_test(merged_values_keep_their_marks),
        cmocka_unit_test(copies_are_equal_and_apart),
        cmocka_unit_test(typed_values_are_read),
        cmocka_unit_test(wrong_values_are_refused_with_their_place),
        cmocka_unit_test(words_are_indices),
        cmocka_unit_test(unknown_keys_are_named_with_the_nearest),
        cmocka_unit_test(complaints_need_no_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
