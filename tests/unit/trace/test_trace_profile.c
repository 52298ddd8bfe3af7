/* Trace profiles as YAML: read back as written, refused where impossible, dealt to target heads. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "unit/fixture/make_profile.h"
#include "unit/fixture/profile_text.h"

#include <string.h>

#define HEAD                                                                                       \
    "level: [0, -1.5], spread: [1, 2], slope: -2, score: [0.5, 0, 0, 0, 0, 0, 0.5], "              \
    "query: [1, 0, 0, 0, 0, 0, 0], decay: 0.9, own: 0.25, novelty: 0.3, anchor_share: 0.01, "      \
    "anchor_level: 3, anchor_spread: 1, anchor_drift: 0.5, sinks: 0.2, recent: 0.1, born: 0.3"
#define LONG "a name of thirty-two characters "
#define FACTS                                                                                      \
    "trace_profile: 1\nsource: \"a \\\"test\\\" \\\\\"\nbasis: \"measured\"\nmodel: \"m\"\n"       \
    "layers: 1\nkv_heads: 1\nquery_heads: 2\nhead_dim: 64\ncontext: 2048\nsinks: 4\nrecent: 64\nfirst_octave: 6\n"

static void what_is_read_is_written_the_same(void **state)
{
    (void)state;
    static const char text[] = FACTS "locality: {near: [0.5, 0.25, 1, 0], alike: 0.75}\n"
                                     "heads:\n  - {" HEAD "}\n";
    struct trace_profile profile;
    struct error why;
    make_check(parse_profile(text, strlen(text), &profile, &why), &why);
    assert_int_equal(profile.heads[0].knots, 2);
    assert_true(profile.heads[0].level[1] == -1.5 && profile.heads[0].slope == -2);
    assert_true(profile.heads[0].score[6] == 0.5 && profile.heads[0].born == 0.3);
    assert_true(profile.locality.near[1] == 0.25 && profile.locality.alike == 0.75);
    assert_string_equal(profile.source, "a \"test\" \\");
    char *written = profile_text(&profile);
    assert_string_equal(written, text);
    free(written);
    trace_profile_release(&profile);
}

/* Also what YAML takes for the end of a line: CR, NEL, LS. */
static void text_of_any_characters_comes_back(void **state)
{
    (void)state;
    static const char name[] = "\x01\r\x7f \xc2\x85\xc3\xa9\xe2\x80\xa8\xf0\x9f\x98\x80 ";
    struct trace_profile_head head = make_plain_head();
    struct trace_profile profile = make_profile(&head, 1, 1), again;
    struct error why;
    memcpy(profile.model, name, sizeof name);
    char *text = profile_text(&profile);
    assert_non_null(strstr(text, "\"\\u0001\\u000d\\u007f \\u0085\\u00e9\\u2028\\U0001f600 \"\n"));
    make_check(parse_profile(text, strlen(text), &again, &why), &why);
    assert_string_equal(again.model, name);
    trace_profile_release(&again);
    free(text);
}

/* Each is HEAD or FACTS with something replaced. */
static void the_impossible_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *found;
        int line;
    } cases[] = {
        {"trace_profile: 1", "trace_profile: 2", "'trace_profile'", 1},
        {"trace_profile: 1\n", "", "not a trace profile", 1},
        {"basis: \"measured\"", "basis: guessed", "unknown value 'guessed' of 'basis'", 3},
        {"basis: \"measured\"\n", "", "has no 'basis'", 1},
        {"first_octave: 6", "octave: 6", "unknown key 'octave'", 12},
        {"model: \"m", "model: \"" LONG LONG LONG LONG, "'model' has 128 bytes", 4},
        {"layers: 1", "layers: 2", "'heads'", 14},
        {"kv_heads: 1", "kv_heads: 0", "a count of the trace profile is 0", 1},
        {"level: [0, -1.5]", "level: []", "'level'", 14},
        {"level: [0, -1.5]", "level: [0, nan]", "'level'", 14},
        {"spread: [1, 2]", "spread: [1]", "'spread'", 14},
        {"spread: [1, 2]", "spread: [1, -2]", "'spread'", 14},
        {"slope: -2", "slope: 2", "'slope'", 14},
        {"slope: -2", "slope: [-2]", "a list or map", 14},
        {"slope: -2, ", "", "'slope'", 14},
        {"own: 0.25", "own: 1.25", "'own'", 14},
        {"query: [1, ", "query: [0.5, ", "add up to 0.5", 14},
        {"born: 0.3", "born: 0.7", "nothing is left", 14},
        {"born: 0.3", "born: 0.3x", "'born'", 14},
        {"first_octave: 6", "first_octave: 6\nlocality: {near: [1, 1, 1, 0]}", "'alike'", 13},
        {"first_octave: 6", "first_octave: 6\nlocality: {near: [1, 1], alike: 0}",
         "'near' of the locality", 13},
        {"first_octave: 6", "first_octave: 6\nlocality: {near: [1, 1, 1, 2], alike: 0}", "'near'",
         13},
        {"first_octave: 6", "first_octave: 6\nlocality: {near: [1, 1, 1, 0], alike: x}", "'alike'",
         13},
        {"first_octave: 6", "first_octave: 6\nlocality: 1", "'locality'", 13},
    };
    static const char text[] = FACTS "heads:\n  - {" HEAD "}\n";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *at = strstr(text, cases[i].from);
        char changed[2048];
        assert_non_null(at);
        int size = snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text,
                            cases[i].to, at + strlen(cases[i].from));
        struct trace_profile profile;
        struct error why;
        bool ok = parse_profile(changed, (size_t)size, &profile, &why);
        if (ok || strstr(why.found, cases[i].found) == NULL || why.line != cases[i].line) {
            fail_msg("'%s' for '%s': line %d, %s", cases[i].to, cases[i].from, ok ? 0 : why.line,
                     ok ? "accepted" : why.found);
        }
    }
}

/* Four target layers of two heads on two source layers of three: numbered over the layers that
 * share a source, 0 1 2 3, modulo 3. */
static void target_heads_take_source_heads_in_turn(void **state)
{
    (void)state;
    static const uint32_t expected[4][2] = {{0, 1}, {2, 0}, {3, 4}, {5, 3}};
    struct trace_profile_head heads[6] = {0};
    struct trace_profile profile = make_profile(heads, 2, 3);
    for (uint32_t layer = 0; layer < 4; layer++) {
        for (uint32_t head = 0; head < 2; head++) {
            const struct trace_profile_head *got = trace_profile_head(&profile, 4, 2, layer, head);
            assert_int_equal(got - heads, expected[layer][head]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written_the_same),
        cmocka_unit_test(text_of_any_characters_comes_back),
        cmocka_unit_test(the_impossible_is_refused),
        cmocka_unit_test(target_heads_take_source_heads_in_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
