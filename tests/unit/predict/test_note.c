/* Notes: the table's words, what a reader sees of one run and of several, and their JSON. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "predict/result/note.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- the table ---- */

/* The value that a place's name means; NULL if there is none. */
static const enum note_type *type_of(const struct note_kind *kind, const char *name, size_t length,
                                     bool told[NOTE_MOST_VALUES])
{
    for (size_t i = 0; kind->values[i].name != NULL; i++) {
        if (strlen(kind->values[i].name) == length &&
            strncmp(kind->values[i].name, name, length) == 0) {
            told[i] = true;
            return &kind->values[i].type;
        }
    }
    return NULL;
}

/* Is what follows the name, "}", ":.3g}" or "?one|other}", one that its type can have? */
static bool place_is_good(const enum note_type *type, const char *rest)
{
    int end = 0;
    if (type == NULL || *type == NOTE_IS_REAL) {
        char digit[2], letter[2];
        return type != NULL && sscanf(rest, ":.%1[0-9]%1[gf]}%n", digit, letter, &end) == 2 &&
               end == 5;
    }
    if (rest[0] == '?') {
        bool counts = *type == NOTE_IS_FLAG || *type == NOTE_IS_INTEGER;
        return counts && rest[strcspn(rest + 1, "|{}") + 1] == '|' && strchr(rest, '}') != NULL;
    }
    return rest[0] == '}' && *type != NOTE_IS_FLAG;
}

/* Each place of the words has a value, of a type that fits, and each value a place. */
static void words_tell_all_values(void **state)
{
    (void)state;
    for (int id = 0; id < NOTE_COUNT; id++) {
        const struct note_kind *kind = &note_kinds[id];
        bool told[NOTE_MOST_VALUES + 1] = {false};
        for (const char *at = kind->words; (at = strchr(at, '{')) != NULL; at++) {
            size_t length = strcspn(at + 1, ":?}");
            const enum note_type *type = type_of(kind, at + 1, length, told);
            if (!place_is_good(type, at + 1 + length)) {
                fail_msg("%s: '%s'", kind->name, at);
            }
        }
        for (size_t i = 0; kind->values[i].name != NULL; i++) {
            if (!told[i]) {
                fail_msg("%s: its words lack {%s}", kind->name, kind->values[i].name);
            }
            assert_string_not_equal(kind->values[i].name, "note");
            assert_string_not_equal(kind->values[i].name, "text");
        }
        assert_true(strlen(kind->words) < NOTE_WORDS / 3 && strlen(kind->name) < NOTE_NAME);
    }
}

/* ---- words ---- */

static void assert_reads(json_t *note, const char *words)
{
    assert_string_equal(note_words(note), words);
    json_decref(note);
}

static void a_note_reads_as_its_words_say(void **state)
{
    (void)state;
    assert_reads(note_plain(NOTE_queue_grows),
                 "more requests arrive than are answered: the queue grows without bound");
    assert_reads(
        note_make(NOTE_trained_context, note_text("x"), note_whole(4096)),
        "x was trained on contexts of 4096 tokens: an engine refuses longer ones without an override");
    assert_reads(note_make(NOTE_sessions_too_few, note_real(90), note_real(0.4849)),
                 "90 requests/s were asked for, 0.485 came, as sessions last too long for so few: "
                 "make `requests` larger");
    assert_reads(note_make(NOTE_short_of_hbm, note_bytes(3ULL << 30), note_bytes(1ULL << 30),
                           note_flag(true)),
                 "HBM: needs 3.00 GiB, has 1.00 GiB, in prefill");
    assert_reads(note_make(NOTE_short_of_hbm, note_bytes(3ULL << 30), note_bytes(1ULL << 30),
                           note_flag(false)),
                 "HBM: needs 3.00 GiB, has 1.00 GiB");
}

/* ---- several runs ---- */

/* What the notes read as when the second is merged into the first; NULL: they stay apart. */
static const char *both(json_t *one, json_t *other)
{
    static char text[NOTE_WORDS];
    json_t *most = json_copy(one);
    bool joins = note_join(one, most, other);
    note_write(one, most, text, sizeof text);
    json_decref(one);
    json_decref(most);
    json_decref(other);
    return joins ? text : NULL;
}

static void whole_numbers_become_a_range(void **state)
{
    (void)state;
    static const char range[] = "4–9 requests exceed the server's KV memory and were left out";
    assert_string_equal(
        both(note_make(NOTE_too_long, note_whole(4)), note_make(NOTE_too_long, note_whole(9))),
        range);
    assert_string_equal(
        both(note_make(NOTE_too_long, note_whole(9)), note_make(NOTE_too_long, note_whole(4))),
        range);
    assert_string_equal(
        both(note_make(NOTE_too_long, note_whole(9)), note_make(NOTE_too_long, note_whole(9))) + 1,
        range + strlen("4–9"));
    assert_string_equal(
        both(note_make(NOTE_trained_context, note_text("x"), note_whole(5)),
             note_make(NOTE_trained_context, note_text("x"), note_whole(7))),
        "x was trained on contexts of 5–7 tokens: an engine refuses longer ones without an override");
    assert_string_equal(both(note_make(NOTE_short_of_host, note_bytes(1 << 30), note_bytes(7)),
                             note_make(NOTE_short_of_host, note_bytes(1 << 20), note_bytes(7))),
                        "host memory: needs 1.00 MiB–1.00 GiB, has 7 B");
    assert_string_equal(
        both(note_make(NOTE_short_of_host, note_bytes(1 << 30), note_bytes(7)),
             note_make(NOTE_short_of_host, note_bytes((1 << 30) + 1), note_bytes(7))),
        "host memory: needs 1.00 GiB, has 7 B"); /* as they are written */
}

static void a_range_grows(void **state)
{
    (void)state;
    char text[NOTE_WORDS];
    json_t *least = note_make(NOTE_too_long, note_whole(164)), *most = json_copy(least);
    for (uint64_t more = 100; more <= 900; more += 400) {
        json_t *other = note_make(NOTE_too_long, note_whole(more));
        assert_true(note_join(least, most, other));
        json_decref(other);
    }
    assert_string_equal(note_write(least, most, text, sizeof text),
                        "100–900 requests exceed the server's KV memory and were left out");
    json_decref(least);
    json_decref(most);
}

static void other_differences_keep_notes_apart(void **state)
{
    (void)state;
    assert_null(both(note_plain(NOTE_queue_grows), note_plain(NOTE_arrivals_short)));
    assert_null(both(note_make(NOTE_trained_context, note_text("x"), note_whole(5)),
                     note_make(NOTE_trained_context, note_text("y"), note_whole(5))));
    assert_null(both(note_make(NOTE_indexer_unused, note_text("gemma-2")),
                     note_make(NOTE_indexer_unused, note_text("gemma-3"))));
    assert_null(both(note_make(NOTE_rejected_unrecorded, note_flag(true)),
                     note_make(NOTE_rejected_unrecorded, note_flag(false))));
    assert_null(both(note_make(NOTE_sessions_too_few, note_real(50), note_real(0.25)),
                     note_make(NOTE_sessions_too_few, note_real(50), note_real(0.75))));
}

static void reals_that_read_alike_are_one(void **state)
{
    (void)state;
    assert_non_null(both(note_make(NOTE_cache_cold, note_real(0.1)),
                         note_make(NOTE_cache_cold, note_real(0.1000001))));
    assert_null(both(note_make(NOTE_cache_cold, note_real(0.1)),
                     note_make(NOTE_cache_cold, note_real(0.2))));
}

/* ---- JSON ---- */

/* The number of notes that a text has; -1: it is no list of notes. */
static int parse(const char *text, json_t **notes)
{
    json_error_t ignored;
    json_t *json = json_loads(text, 0, &ignored);
    bool good = notes_read_json(json, notes);
    json_decref(json);
    return good ? (int)json_array_size(*notes) : -1;
}

static int count_of(const char *text)
{
    json_t *notes;
    int count = parse(text, &notes);
    json_decref(notes);
    return count;
}

static void notes_come_back(void **state)
{
    (void)state;
    json_t *notes = json_array(), *back;
    json_t *all[] = {
        note_make(NOTE_short_of_hbm, note_bytes(3ULL << 30), note_bytes(0), note_flag(true)),
        note_plain(NOTE_queue_grows),
        note_make(NOTE_plugin, note_text("a\"b"), note_text("c"), note_text("→")),
        note_make(NOTE_sessions_too_few, note_real(50), note_real(0.1))};
    char text[4096], again[4096];
    for (size_t i = 0; i < COUNT(all); i++) {
        json_array_append_new(notes, all[i]);
    }
    notes_write_json(notes, text, sizeof text);
    assert_string_equal(
        text,
        "[{\"note\":\"short_of_hbm\",\"needs\":3221225472,\"has\":0,\"prefill\":true,"
        "\"text\":\"HBM: needs 3.00 GiB, has 0 B, in prefill\"},"
        "{\"note\":\"queue_grows\",\"text\":\"more requests arrive than are answered: the queue grows without bound\"},"
        "{\"note\":\"plugin\",\"policy\":\"a\\\"b\",\"name\":\"c\",\"summary\":\"→\","
        "\"text\":\"policy a\\\"b is c: →\"},"
        "{\"note\":\"sessions_too_few\",\"asked\":50.0,\"came\":0.1,"
        "\"text\":\"50 requests/s were asked for, 0.1 came, as sessions last too long for so few: make `requests` larger\"}]");
    assert_int_equal(parse(text, &back), COUNT(all));
    notes_write_json(back, again, sizeof again);
    assert_string_equal(text, again);
    assert_non_null(notes_find(back, NOTE_plugin));
    assert_null(notes_find(back, NOTE_room));
    json_decref(notes);
    json_decref(back);
}

static void whole_notes_have_room_or_none(void **state)
{
    (void)state;
    json_t *notes = json_array();
    char whole[256], text[256];
    json_array_append_new(notes, note_plain(NOTE_queue_grows));
    json_array_append_new(notes, note_plain(NOTE_queue_grows));
    notes_write_json(notes, whole, sizeof whole);
    for (size_t size = sizeof "[]"; size <= strlen(whole) + 1; size++) {
        notes_write_json(notes, text, size);
        assert_true(strlen(text) < size);
        assert_int_equal(count_of(text), size == strlen(whole) + 1       ? 2
                                         : size >= strlen(whole) / 2 + 2 ? 1
                                                                         : 0);
    }
    json_decref(notes);
    notes_write_json(NULL, text, sizeof text);
    assert_string_equal(text, "[]");
}

static void what_is_no_note_is_refused(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "null", "{}", "[1]", "[{}]", "[{\"note\":1}]",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# %s\n", cases[i]);
        assert_int_equal(count_of(cases[i]), -1);
    }
    assert_int_equal(count_of("[{\"note\":\"unheard\",\"text\":\"of another version\"}]"), 0);
    assert_int_equal(count_of("[{\"note\":\"too_long\",\"requests\":1}]"), 0);
    assert_int_equal(count_of("[{\"note\":\"too_long\",\"requests\":1,\"text\":\"x\"}]"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_tell_all_values),
        cmocka_unit_test(a_note_reads_as_its_words_say),
        cmocka_unit_test(whole_numbers_become_a_range),
        cmocka_unit_test(a_range_grows),
        cmocka_unit_test(other_differences_keep_notes_apart),
        cmocka_unit_test(reals_that_read_alike_are_one),
        cmocka_unit_test(notes_come_back),
        cmocka_unit_test(whole_notes_have_room_or_none),
        cmocka_unit_test(what_is_no_note_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
