/* How a system's retrieval errs: what is known for which recording, and how figures combine. */
#include "unit/fixture/tiny.h"

#include "decode/plan/mass.h"

#include <math.h>

static enum retrieval_known errors_of(struct setup setup, struct replay_plan *replay)
{
    *replay = (struct replay_plan){.selection = .1, .context = 131072};
    enum retrieval_known known = retrieval_error_set(&setup, replay);
    setup_release(&setup);
    return known;
}

#define ERRORS(replay, ...) errors_of(SETUP(__VA_ARGS__), replay)

static void what_is_known_follows_from_system_and_recording(void **state)
{
    (void)state;
    struct replay_plan replay;
    const char *const smollm2 = "trace=smollm2-135m";
    assert_int_equal(ERRORS(&replay, "system=quest", smollm2), RETRIEVAL_MEASURED);
    assert_int_equal(replay.errors[ASKS_OWN].page, 16);
    assert_int_equal(ERRORS(&replay, "system=fullattn", smollm2), RETRIEVAL_EXACT);
    assert_int_equal(ERRORS(&replay, "system=hisparse", smollm2), RETRIEVAL_EXACT);
    assert_int_equal(ERRORS(&replay, "system=h2o", smollm2), RETRIEVAL_EXACT);
    assert_int_equal(ERRORS(&replay, "system=quest"), RETRIEVAL_EXACT); /* no trace */
    const char *const clusters = "trace=smollm2-135m-clusters";
    assert_int_equal(ERRORS(&replay, "system=retroinfer-10pct", clusters), RETRIEVAL_RECORDED);
    assert_true(replay.asks_recorded && !retrieval_errs(&replay.errors[ASKS_OWN]));
    assert_int_equal(ERRORS(&replay, "system=loki", clusters), RETRIEVAL_PERFECT);
    assert_false(replay.asks_recorded);
    /* A guess is no index: the tokens that it asked for are not those of another's. */
    const char *const guessed = "trace=smollm2-135m-speculated";
    assert_int_equal(ERRORS(&replay, "system=loki", guessed), RETRIEVAL_MEASURED);
    assert_false(replay.asks_recorded);
    assert_int_equal(ERRORS(&replay, "system=quest", "trace=llama-3-8b-like", "context=8192"),
                     RETRIEVAL_PERFECT);
    assert_false(retrieval_errs(&replay.errors[ASKS_OWN]));
}

/* The deviation that a guess adds to the index's. */
static double guess_of(const struct replay_plan *replay, enum replay_asks asks)
{
    double own = replay->errors[ASKS_OWN].noise, ahead = replay->errors[asks].noise;
    assert_true(ahead > own && own > 0);
    return sqrt(ahead * ahead - own * own);
}

/* Whatever the index, the guess is as wrong: most in the first layers, and of each family. */
static void a_guess_adds_its_variance(void **state)
{
    (void)state;
    static const char *const traces[] = {"trace=smollm2-135m", "trace=qwen2.5-coder-0.5b",
                                         "trace=gemma-3-270m"};
    for (size_t i = 0; i < COUNT(traces); i++) {
        struct replay_plan clo, infinigen;
        assert_int_equal(ERRORS(&clo, "system=clo", traces[i]), RETRIEVAL_MEASURED);
        assert_int_equal(ERRORS(&infinigen, "system=infinigen", traces[i]), RETRIEVAL_MEASURED);
        double guess = guess_of(&clo, ASKS_AHEAD);
        assert_near(guess_of(&infinigen, ASKS_AHEAD), guess, 1e-9);
        assert_true(guess_of(&clo, ASKS_AHEAD_EARLY) > guess);
    }
}

/* A code without bits knows nothing: it errs like the shortest that was measured. */
static void no_index_is_assumed_perfect(void **state)
{
    (void)state;
    static const char *const systems[] = {
        "system=quest", "system=loki",    "system=retroinfer-10pct",
        "system=clo",   "system=pqcache", "system=infinigen"};
    for (size_t i = 0; i < COUNT(systems); i++) {
        struct replay_plan replay;
        assert_int_equal(ERRORS(&replay, systems[i], "trace=ensemble"), RETRIEVAL_MEASURED);
        assert_true(retrieval_errs(&replay.errors[ASKS_OWN]));
    }
    struct replay_plan none, least;
    ERRORS(&none, "system=clo", "trace=smollm2-135m", "mechanisms.retrieval_bytes=0B");
    ERRORS(&least, "system=clo", "trace=smollm2-135m", "mechanisms.retrieval_bytes=8B");
    assert_near(none.errors[ASKS_OWN].noise, least.errors[ASKS_OWN].noise, 0);
}

/* A figure between two measured sizes lies between theirs, and beyond them is theirs. Larger pages
 * than a selection has are as large as the selection, of 384 tokens. */
static void figures_are_interpolated(void **state)
{
    (void)state;
    static const struct {
        const char *system, *size, *below, *above;
    } cases[] = {
        {"system=loki", "mechanisms.retrieval_keys=0.35x", "mechanisms.retrieval_keys=0.5x",
         "mechanisms.retrieval_keys=0.25x"},
        {"system=retroinfer-10pct", "mechanisms.retrieval_tokens=32tok",
         "mechanisms.retrieval_tokens=16tok", "mechanisms.retrieval_tokens=64tok"},
        {"system=clo", "mechanisms.retrieval_bytes=24B", "mechanisms.retrieval_bytes=32B",
         "mechanisms.retrieval_bytes=16B"},
        {"system=quest", "mechanisms.retrieval_tokens=4tok", "mechanisms.retrieval_tokens=1tok",
         "mechanisms.retrieval_tokens=16tok"},
    };
    static const char *const traces[] = {"trace=smollm2-135m", "trace=qwen2.5-coder-0.5b",
                                         "trace=gemma-3-270m"};
    struct replay_plan size, below, above;
    for (size_t i = 0; i < COUNT(cases) * COUNT(traces); i++) {
        const char *system = cases[i / 3].system, *trace = traces[i % 3];
        ERRORS(&size, system, trace, cases[i / 3].size);
        ERRORS(&below, system, trace, cases[i / 3].below);
        ERRORS(&above, system, trace, cases[i / 3].above);
        assert_true(below.errors[ASKS_OWN].noise < size.errors[ASKS_OWN].noise);
        assert_true(size.errors[ASKS_OWN].noise < above.errors[ASKS_OWN].noise);
    }
    ERRORS(&above, "system=quest", traces[0], "mechanisms.retrieval_tokens=128tok");
    ERRORS(&size, "system=quest", traces[0], "mechanisms.retrieval_tokens=1024tok");
    assert_near(size.errors[ASKS_OWN].noise, above.errors[ASKS_OWN].noise, 0);
    assert_int_equal(size.errors[ASKS_OWN].page, 384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_known_follows_from_system_and_recording),
        cmocka_unit_test(a_guess_adds_its_variance),
        cmocka_unit_test(no_index_is_assumed_perfect),
        cmocka_unit_test(figures_are_interpolated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
