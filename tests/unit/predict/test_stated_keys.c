/* A scenario may be short, because its system's file states keys too. Whatever either states, with a
 * workload or without, the answer is a point or a complaint, and a complaint about a value of the
 * system's file names the system. */
#include "predict/scenario/scenario_keys.h"
#include "unit/fixture/fault.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/tiny.h"

static int enter(void **state)
{
    return enter_folder(state) != 0 || chdir(folder) != 0;
}

static int leave(void **state)
{
    return chdir("/") != 0 || leave_folder(state) != 0;
}

static const char *const workload = "workload=synthetic:prompt=100,output=4,requests=2";
static const char *const batch = "context=1000";

/* Resolve a scenario of overrides. Returns whether it is a point; if not, `why` says something. */
static bool resolves(const char *system, const char *kind, const char *stated, struct error *why)
{
    const char *overrides[] = {
        "model=llama-3-8b", "hardware=a40", "trace=assumed:hit=93%", system, kind, stated};
    struct scenario scenario;
    struct point point;
    *why = (struct error){.found = ""};
    if (!scenario_load(NULL, 0, overrides, stated != NULL ? 6 : 5, &scenario, why)) {
        assert_string_not_equal(why->found, "");
        return false;
    }
    bool good = scenario_point(&scenario, 0, &point, why);
    if (good) {
        point_release(&point);
    } else {
        assert_string_not_equal(why->found, "");
    }
    scenario_release(&scenario);
    return good;
}

/* Ask for a key of a system's file, below the rest of it. Returns the number of points that this gives. */
static int ask_below(const char *rest, const char *key, const char *value)
{
    char text[256];
    struct error why;
    snprintf(text, sizeof text, "%s%s: %s\n", rest, key, value);
    write_text("x.yaml", text);
    return resolves("system=./x.yaml", workload, NULL, &why) +
           resolves("system=./x.yaml", batch, NULL, &why);
}

static int ask_system(const char *key, const char *value)
{
    return ask_below("", key, value);
}

static const char *const odd_values[] = {"", "x", "0", "3", "[1]", "{a: 1}"};
enum { ODD_VALUES = sizeof odd_values / sizeof *odd_values, ODD_STEP = ROUNDS(2, 5) };

static void each_key_of_a_system_may_stand_beside_a_workload(void **state)
{
    static const char *const facts[][2] = {
        {"summary", "words"},         {"paper", "words"},
        {"available", "vllm"},        {"baseline", "vllm"},
        {"command", "serve {model}"}, {"engine", "vllm-0.19"},
        {"engine", "sglang-0.5"},     {"where", "0.1"},
        {"reference", "yes"},         {"also", "[another]"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        assert_true(ask_system(facts[i][0], facts[i][1]) > 0);
        for (int odd = 0; odd < ODD_VALUES; odd += ODD_STEP) {
            ask_system(facts[i][0], odd_values[odd]);
        }
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        assert_true(ask_system(key->name, key->standard) +
                        ask_below("resident_heads: all\n", key->name, key->standard) >
                    0);
        for (int value = 0; key->values != NULL && key->values[value] != NULL; value++) {
            ask_system(key->name, key->values[value]);
        }
        for (int odd = 0; odd < ODD_VALUES; odd += ODD_STEP) {
            ask_system(key->name, odd_values[odd]);
        }
    }
}

static void each_key_of_a_scenario_may_stand_beside_a_workload(void **state)
{
    char text[256];
    struct error why;
    (void)state;
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        for (int value = -1; value < ODD_VALUES; value += ODD_STEP) {
            snprintf(text, sizeof text, "%s=%s", key->name,
                     value < 0 ? key->example : odd_values[value]);
            for (int system = 0; system < 2; system++) {
                const char *named = system == 0 ? "system=vllm" : "system=retroinfer";
                resolves(named, workload, text, &why);
                resolves(named, batch, text, &why);
            }
        }
    }
}

/* The scenario does not hold the key, so the complaint is at the key that named the system. */
static void an_engine_of_a_systems_file_is_refused_at_the_system(void **state)
{
    static const char *const files[] = {"s.yaml"};
    char text[FAULT_SIZE];
    struct scenario scenario;
    struct point point;
    struct error why;
    (void)state;
    write_text("x.yaml", "engine: vllm-0.19\n");
    assert_false(resolves("system=./x.yaml", workload, NULL, &why));
    assert_string_equal(fault_of(&why, text), "--set 'engine' './x.yaml'");
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_true(resolves("system=./x.yaml", workload, "engine=none", &why));
    assert_false(resolves("system=./x.yaml", workload, "engine=vllm-0.18", &why));
    assert_string_equal(fault_of(&why, text), "--set 'engine' './x.yaml'");

    write_text("s.yaml", "model: llama-3-8b\nhardware: a40\n\nsystem: ./x.yaml\n"
                         "workload: synthetic:prompt=100,output=4,requests=2\n");
    assert_true(scenario_load(files, 1, NULL, 0, &scenario, &why));
    assert_false(scenario_point(&scenario, 0, &point, &why));
    assert_string_equal(fault_of(&why, text), "s.yaml:4 'engine' './x.yaml'");
    scenario_release(&scenario);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_engine_of_a_systems_file_is_refused_at_the_system),
        cmocka_unit_test(each_key_of_a_system_may_stand_beside_a_workload),
        cmocka_unit_test(each_key_of_a_scenario_may_stand_beside_a_workload),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
