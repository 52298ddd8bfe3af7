/* How systems differ: what moves together, and among which others, worked out by hand from the
 * rules of the table of mechanisms. */
#include "unit/fixture/make_setup.h"

#include "decode/mechanism_values.h"
#include "study/ablate/difference.h"

static struct mechanisms *load(const char *name)
{
    const struct node at = {.kind = NODE_SCALAR, .file = "test"};
    struct system_info info;
    struct error why;
    struct mechanisms *mechanisms = system_load(NULL, name, &at, NULL, &info, NULL, &why);
    if (mechanisms == NULL) {
        fail_msg("%s", message_of(&why));
    }
    return mechanisms;
}

static struct difference compare(const char *base, const char *system)
{
    struct difference difference = {.base = load(base), .system = load(system)};
    struct error why;
    if (!difference_find(&difference, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return difference;
}

static void release(struct difference *difference)
{
    free(difference->base);
    free(difference->system);
}

/* The mechanisms that it stands on nearest to the base, and those left out with it. */
struct expected_mechanism {
    const char *name, *on_top_of, *also_without;
};

static void assert_difference(const char *base, const char *system,
                              const struct expected_mechanism *expected, uint32_t count)
{
    struct difference difference = compare(base, system);
    char text[256];
    assert_int_equal(difference.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct difference_mechanism *mechanism = &difference.mechanisms[i];
        uint32_t out = difference_all(&difference) & ~mechanism->most & ~(1u << i);
        assert_string_equal(mechanism->name, expected[i].name);
        assert_string_equal(
            difference_names(&difference, mechanism->least, false, text, sizeof text),
            expected[i].on_top_of);
        assert_string_equal(difference_names(&difference, out, false, text, sizeof text),
                            expected[i].also_without);
    }
    release(&difference);
}

/* The CPU cannot manage query labels, difficulty is a matter of these, an execution buffer cannot
 * be prefetched into, RetroInfer's kernel that copies hits loads misses, too, and a graph
 * synchronises with no CPU. */
static void litecache_needs_what_retroinfer_lacks(void **state)
{
    static const struct expected_mechanism expected[] = {
        {"policy", "manager", "resident_heads"},
        {"resident_heads", "policy, manager", ""},
        {"retrieval", "", ""},
        {"prefetch", "merge", ""},
        {"manager", "", "policy, resident_heads"},
        {"transfer", "merge", ""},
        {"pinned_rounding", "", ""},
        {"merge", "", "prefetch, transfer"},
        {"sync", "", "launch"},
        {"prefill_chunk", "", ""},
        {"launch", "sync", ""},
        {"operators", "", ""},
    };
    (void)state;
    assert_difference("retroinfer-10pct", "litecache", expected, COUNT(expected));
}

static void presets_that_differ_in_one_differ_in_one(void **state)
{
    static const struct expected_mechanism launch[] = {{"launch", "", ""}},
                                           policy[] = {{"policy", "", ""}};
    (void)state;
    assert_difference("clo", "litecache", launch, 1);
    assert_difference("retroinfer-10pct", "retroinfer-fifo", policy, 1);
    assert_difference("retroinfer-10pct", "retroinfer-10pct", NULL, 0);
}

/* HGCA's CPU attends to what window-maw keeps for it, and nothing else does; that needs KV on the
 * host, which fullattn has none of. */
static void what_cannot_do_without_each_other_is_one(void **state)
{
    static const struct expected_mechanism expected[] = {
        {"policy, attention", "resident_heads", ""},
        {"recent", "", ""},
        {"resident_heads", "", "policy, attention"},
        {"sync", "", ""},
        {"operators", "", ""},
    };
    (void)state;
    assert_difference("fullattn", "hgca", expected, COUNT(expected));
    struct difference difference = compare("fullattn", "hgca");
    assert_string_equal(difference.mechanisms[0].label, "policy=window-maw, attention=hybrid");
    assert_non_null(difference_refusal(&difference, 1));
    assert_null(difference_refusal(&difference, 1 | 4));
    release(&difference);
}

static void a_mechanism_moves_with_its_parameters(void **state)
{
    (void)state;
    struct difference difference = compare("retroinfer-10pct", "hisparse");
    assert_string_equal(difference.mechanisms[0].label, "budget=2x"); /* both are LRU */
    assert_string_equal(difference.mechanisms[0].changes,
                        "budget 3x → 2x, granularity 16tok → 1tok, cache_page 8tok → 0tok");
    struct mechanisms with = difference_with(&difference, 1);
    assert_int_equal(with.granularity, 1);
    assert_near(with.budget.value, 2, 0);
    assert_int_equal(with.manager, MANAGER_CPU);
    release(&difference);
}

/* All of the base's mechanisms are the base, all of the system's the system: whichever two. */
static void the_ends_are_the_systems(void **state)
{
    static const char *const names[] = {"fullattn", "retroinfer-10pct", "pqcache",  "clo",  "hgca",
                                        "flexgen",  "capture",          "hisparse", "vllm", "h2o"};
    (void)state;
    for (size_t a = 0; a < COUNT(names); a++) {
        for (size_t b = 0; b < COUNT(names); b++) {
            struct difference difference = compare(names[a], names[b]);
            struct mechanisms ends[] = {difference_with(&difference, 0),
                                        difference_with(&difference, difference_all(&difference))};
            for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
                assert_true(mechanism_same(key, &ends[0], difference.base));
                assert_true(mechanism_same(key, &ends[1], difference.system));
            }
            for (uint32_t i = 0; i < difference.count; i++) {
                const struct difference_mechanism *mechanism = &difference.mechanisms[i];
                assert_null(difference_refusal(&difference, mechanism->least));
                assert_null(difference_refusal(&difference, mechanism->least | 1u << i));
                assert_null(difference_refusal(&difference, mechanism->most));
                assert_null(difference_refusal(&difference, mechanism->most | 1u << i));
            }
            release(&difference);
        }
    }
}

/* The table has room for the two systems that differ in everything. */
static void all_groups_have_their_bit(void **state)
{
    (void)state;
    size_t groups = 0, keys = 0;
    for (; mechanism_keys[keys].name != NULL; keys++) {
        size_t head = 0;
        while (mechanism_keys[head].name != NULL &&
               strcmp(mechanism_keys[head].name, mechanism_keys[keys].group) != 0) {
            head++;
        }
        if (mechanism_keys[head].name == NULL) {
            fail_msg("'%s' is of no mechanism", mechanism_keys[keys].name);
        }
        assert_string_equal(mechanism_keys[head].group, mechanism_keys[head].name);
        groups += head == keys;
    }
    assert_true(groups <= DIFFERENCE_MOST);
}

/* What a value is written as is read as that value, for every key of every preset. */
static void written_values_are_read_as_the_same(void **state)
{
    static const char *const names[] = {
        "fullattn", "retroinfer-10pct", "pqcache",  "clo",      "hgca",
        "flexgen",  "capture",          "hisparse", "two-tier", "h2o"};
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct mechanisms *said = load(names[i]);
        struct node *overrides;
        struct system_info info;
        struct error why;
        overrides = node_parse("{}", 2, "test", &why);
        for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
            char *text = mechanism_text(key, said, &why);
            assert_true(node_set(overrides, key->name, text, &why));
            free(text);
        }
        struct mechanisms *read =
            system_load(NULL, "vllm", overrides, overrides, &info, NULL, &why);
        if (read == NULL) {
            fail_msg("%s: %s", names[i], message_of(&why));
        }
        for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
            if (!mechanism_same(key, said, read)) {
                fail_msg("%s: %s", names[i], key->name);
            }
        }
        node_destroy(overrides);
        free(said);
        free(read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(litecache_needs_what_retroinfer_lacks),
        cmocka_unit_test(presets_that_differ_in_one_differ_in_one),
        cmocka_unit_test(what_cannot_do_without_each_other_is_one),
        cmocka_unit_test(a_mechanism_moves_with_its_parameters),
        cmocka_unit_test(the_ends_are_the_systems),
        cmocka_unit_test(all_groups_have_their_bit),
        cmocka_unit_test(written_values_are_read_as_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
