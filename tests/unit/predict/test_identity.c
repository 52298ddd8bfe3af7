/* The identity of a run: different where something that decides the result is, equal where nothing
 * is; and the resolved scenario, which reproduces its run. */
#include "unit/fixture/tiny.h"

#include "core/named.h"
#include "core/name.h"
#include "decode/time/pipeline.h"
#include "predict/scenario/point.h"
#include "predict/scenario/scenario_keys.h"

#include <sys/stat.h>

static const char *identity_of(const char *const *overrides)
{
    static char runs[4][17];
    static size_t next;
    struct point point = make_point(overrides);
    struct error why;
    char *run = runs[next++ % 4];
    if (!run_identity(&point, run, &why)) {
        fail_msg("%s", message_of(&why));
    }
    point_release(&point);
    return run;
}

/* ---- what changes it ------------------------------------------------------------------------- */

static const char *const changes[] = {
    "model=llama-3.1-8b",
    "hardware=h200",
    "hardware.link=pcie5-x16",
    "system=clo",
    "system=fullattn-graph",
    "trace=assumed:hit=93%,spread=4%",
    "trace=assumed:hit=92%,spread=5%",
    "trace=smollm2-135m",
    "context=131073",
    "prompt=131072",
    "batch=2",
    "batch=max",
    "steps=3",
    "warmup=3",
    "seed=2",
    "order=sequential",
    "tensor_parallel=2",
    "data_parallel=2",
    "pipeline_parallel=2",
    "dtype.weights=fp8",
    "dtype.kv=fp8",
    "hbm_usable=89%",
    "hbm_reserve=1GiB",
    "kv_pool_tokens=400000",
    "host_memory=64GiB",
    "mechanisms.launch=graph",
};

/* One of them against all: changing one key must not undo another. */
static void every_key_changes_the_identity(void **state)
{
    (void)state;
    char runs[COUNT(changes) + 1][17];
    strcpy(runs[COUNT(changes)], identity_of(OVERRIDES(NULL)));
    for (size_t i = 0; i < COUNT(changes); i++) {
        strcpy(runs[i], identity_of(OVERRIDES(changes[i])));
        for (size_t other = 0; other <= COUNT(changes); other++) {
            if ((other < i || other == COUNT(changes)) && strcmp(runs[i], runs[other]) == 0) {
                fail_msg("'%s' is '%s'", changes[i],
                         other < COUNT(changes) ? changes[other] : "nothing");
            }
        }
    }
}

/* The same of a model with experts that two ranks share. */
static void every_way_to_share_experts_is_another_run(void **state)
{
    static const char *const ways[] = {"batch=1",           "data_parallel=4",
                                       "expert_parallel=2", "expert_exchange=all-to-all",
                                       "expert_skew=0.5",   "pipeline_parallel=2"};
    char runs[COUNT(ways)][17];
    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        bool sent = strstr(ways[i], "all-to-all") != NULL;
        strcpy(runs[i], identity_of(OVERRIDES("model=qwen3-30b-a3b", "hardware=h200",
                                              "system=fullattn", "data_parallel=2",
                                              sent ? "expert_parallel=2" : "batch=1", ways[i])));
        for (size_t other = 0; other < i; other++) {
            if (strcmp(runs[i], runs[other]) == 0) {
                fail_msg("'%s' is '%s'", ways[i], ways[other]);
            }
        }
    }
}

/* Another value of a key, by its type: one that is no default. */
static void other_value(const struct mechanism_key *key, size_t choice, char text[128])
{
    static const char *const by_unit[] = {
        [UNIT_COUNT] = "7",  [UNIT_SHARE] = "17%", [UNIT_TOKENS] = "7tok",
        [UNIT_BYTES] = "7B", [UNIT_NS] = "777us",  [UNIT_TIMES] = "7x",
    };
    const char *value = key->type == MECHANISM_CHOICE   ? key->values[choice]
                        : key->type == MECHANISM_SWITCH ? (choice ? "yes" : "no")
                        : key->type == MECHANISM_POLICY ? policies[choice]->name
                        : key->type == MECHANISM_BUDGET ? "1.5x"
                        : key->type == MECHANISM_EXTENT ? "17%"
                                                        : by_unit[key->unit];
    snprintf(text, 128, "mechanisms.%s=%s", key->name, value);
}

static bool has_choice(const struct mechanism_key *key, size_t choice)
{
    return key->type == MECHANISM_CHOICE   ? key->values[choice] != NULL
           : key->type == MECHANISM_SWITCH ? choice < 2
           : key->type == MECHANISM_POLICY ? policies[choice] != NULL
                                           : choice < 1;
}

static const void *field(const struct setup *setup, const struct mechanism_key *key)
{
    return (const char *)setup->mechanisms + key->offset;
}

/* What one base cannot have beside the rest of it, the other can: RetroInfer without what allows no
 * prefetch, and no graph; blocks of a layer; prefixes in blocks that a unit fits; KV on the GPU
 * alone; whole layers, and weights that are streamed; activations; an index that the host trains;
 * scores that were recorded; KV that stays in HBM; a drive. */
static const char *const mechanism_bases[][2] = {
    {"system=retroinfer", "mechanisms={merge: no, sync: gpu}"},
    {"system=retroinfer", "mechanisms={merge: no, block_span: layer}"},
    {"system=retroinfer", "mechanisms={prefix_block: 7tok}"},
    {"system=vllm", "batch=1"},
    {"system=flexgen", "mechanisms={weights: 50%}"},
    {"system=capture", "mechanisms={weights: 50%}"},
    {"system=capture-static", "mechanisms={weights: 50%}"},
    {"system=pqcache", "mechanisms={weights: 50%}"},
    {"system=infinigen", "trace=smollm2-135m"},
    {"system=hisparse", "batch=1"},
    {"system=shadowkv", "batch=1"},
    {"system=magicpig", "batch=1"},
    {"system=powerinfer", "batch=1"},
    {"system=flexgen", "hardware.disk={capacity: 4TB, write: 3GB/s, latency: 80us, read: {value: "
                       "6GB/s, basis: measured, source: x}}"},
};

/* Does a value of `key` give another setup than the base has? Where it does, and only there, the
 * identity is another one. */
static bool other_value_is_told(const char *const base_overrides[2],
                                const struct mechanism_key *key)
{
    struct setup base = SETUP(base_overrides[0], base_overrides[1]);
    char run[17];
    bool changed = false;
    size_t size = key->type == MECHANISM_BUDGET || key->type == MECHANISM_EXTENT
                      ? sizeof(struct amount)
                  : key->type == MECHANISM_POLICY ? sizeof(const struct policy_kind *)
                  : key->values != NULL || key->type == MECHANISM_SWITCH ? sizeof(int)
                                                                         : sizeof(uint64_t);
    strcpy(run, identity_of(OVERRIDES(base_overrides[0], base_overrides[1])));
    for (size_t choice = 0; has_choice(key, choice); choice++) {
        char value[128];
        struct setup setup;
        struct error why;
        other_value(key, choice, value);
        const char *const *overrides = OVERRIDES(base_overrides[0], base_overrides[1], value);
        if (!try_setup(overrides, &setup, &why)) {
            continue;
        }
        bool same = memcmp(field(&setup, key), field(&base, key), size) == 0;
        bool equal = strcmp(run, identity_of(overrides)) == 0;
        if (same != equal) {
            fail_msg("%s: %s", value, equal ? "no change" : "a change");
        }
        changed = changed || !same;
        setup_release(&setup);
    }
    setup_release(&base);
    return changed;
}

/* Hybrid attention comes with a policy that names entries for it, a zig-zag block with its number
 * of sequences: neither changes alone. */
static bool is_tied(const struct mechanism_key *key)
{
    return strcmp(key->name, "attention") == 0 || strcmp(key->name, "micro_batch") == 0;
}

/* Every value of every mechanism that the rest of a system allows, over the first system that it
 * changes: the same value, the same identity; another one, another. */
static void every_mechanism_changes_the_identity(void **state)
{
    (void)state;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        bool changed = false;
        for (size_t i = 0; i < COUNT(mechanism_bases) && !changed; i++) {
            changed = other_value_is_told(mechanism_bases[i], key) || changed;
        }
        if (!changed && !is_tied(key)) {
            fail_msg("no other value of '%s' was tried", key->name);
        }
    }
}

/* Twice (or half) of a figure of the machine, as the value of an override. */
static void other_figure(const struct profile *profile, enum curve_id id, char text[160])
{
    static const char *const units[] = {
        [UNIT_COUNT] = "", [UNIT_SHARE] = "",          [UNIT_BYTES] = "B",
        [UNIT_NS] = "ns",  [UNIT_BYTES_PER_S] = "B/s", [UNIT_FLOP_PER_S] = "FLOP/s",
    };
    double times = curve_kinds[id].unit == UNIT_SHARE ? .5 : 2;
    snprintf(text, 160, "hardware.%s=%.17g%s", curve_kinds[id].name,
             times * profile->curves[id].value[0], units[curve_kinds[id].unit]);
}

static void every_figure_of_the_machine_changes_the_identity(void **state)
{
    (void)state;
    struct setup setup = SETUP("system=clo");
    char run[17];
    size_t changed = 0;
    strcpy(run, identity_of(OVERRIDES("system=clo")));
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        char override[160];
        if (setup.profile.curves[id].count == 0) {
            continue;
        }
        other_figure(&setup.profile, id, override);
        if (strcmp(run, identity_of(OVERRIDES("system=clo", override))) == 0) {
            fail_msg("%s: no change", override);
        }
        changed++;
    }
    assert_true(changed > CURVE_COUNT / 2);
    setup_release(&setup);
}

/* What a file holds decides, not what it is called. */
static void files_are_known_by_their_content(void **state)
{
    (void)state;
    char model[128], system[128], trace[128], hardware[128], table[64], run[17];
    tiny_model(2, model);
    snprintf(hardware, sizeof hardware, "hardware=%s/machine.yaml", folder);
    write_text(hardware + strlen("hardware="), "gpu: a40\nlink: pcie4-x16\nhost: epyc-9654\n");
    bare_system(system);
    tiny_trace("other", trace);
    make_path(folder, "tiny.heads.tsv", table);
    write_text(table, "0.1\t0.2\t0.3\t0.4\n0.5\t0.6\t0.7\t0.8\n");
    const char *const overrides[] = {model, hardware, system, trace, "context=1000", NULL};
    strcpy(run, identity_of(overrides));

    write_text(table, "0.1\t0.2\t0.3\t0.4\n0.5\t0.6\t0.7\t0.9\n");
    assert_string_not_equal(run, identity_of(overrides));
    unlink(table);
    assert_string_not_equal(run, identity_of(overrides));
    write_text(table, "0.1\t0.2\t0.3\t0.4\n0.5\t0.6\t0.7\t0.8\n");
    assert_string_equal(run, identity_of(overrides));

    write_text(hardware + strlen("hardware="), "gpu: a40\nlink: pcie5-x16\nhost: epyc-9654\n");
    assert_string_not_equal(run, identity_of(overrides));
    write_text(hardware + strlen("hardware="),
               "gpu: a40\nlink: pcie4-x16\nhost: epyc-9654\nprice_per_hour: 2\n");
    assert_string_not_equal(run, identity_of(overrides));
    write_text(hardware + strlen("hardware="), "gpu: a40\nlink: pcie4-x16\nhost: epyc-9654\n");
    assert_string_equal(run, identity_of(overrides));

    write_text(system + strlen("system="), "operators: 41\n");
    assert_string_not_equal(run, identity_of(overrides));
    write_text(system + strlen("system="), "available: code\n"); /* a column of the result */
    assert_string_not_equal(run, identity_of(overrides));
    bare_system(system);
    assert_string_equal(run, identity_of(overrides));

    char another[128];
    tiny_trace("another", another); /* the same rows, of another model */
    assert_int_equal(rename(another + strlen("trace="), trace + strlen("trace=")), 0);
    assert_string_not_equal(run, identity_of(overrides));
    unlink(table);
}

/* ---- what does not --------------------------------------------------------------------------- */

static const char *const same[][2] = {
    {"hardware={extends: a40}", NULL},
    {"hbm_usable=90%", "hbm_usable=0.9"},
    {"hbm_reserve=0B", "host_memory=none"},
    {"kv_pool_tokens=none", "seed=1"},
    {"order=batch", "tensor_parallel=1"},
    {"data_parallel=1", "pipeline_parallel=1"},
    {"expert_exchange=all-gather", "expert_skew=0"},
    {"steps=all", "warmup=auto"},
    {"steps=", "warmup="},
    {"batch=1", "batch="},
    {"dtype.kv=bf16", "dtype.weights=bf16"},
    {"dtype={}", "mechanisms={}"},
    {"sweep=", NULL},
    {"sweep.seed=[1]", NULL},
    {"mechanisms.sinks=4tok", "mechanisms.policy=none"},
    {"mechanisms.launch=eager", "mechanisms.sync=gpu"},
    {"batch=2", "batch=1"},
    {"mechanisms.operators=15.0", "mechanisms.resident_epsilon=0.10"},
    {"mechanisms.weights=1", "mechanisms.weights=100.0%"},
    {"mechanisms.step_overhead=0ms", "mechanisms.prefill_chunk=8K"},
    {"context=128K", "context=131072tok"},
};

static void what_says_the_same_has_the_same_identity(void **state)
{
    (void)state;
    char run[17];
    strcpy(run, identity_of(OVERRIDES(NULL)));
    for (size_t i = 0; i < COUNT(same); i++) {
        const char *first = same[i][0], *second = same[i][1];
        if (strcmp(run, identity_of(OVERRIDES(first, second))) != 0) {
            fail_msg("'%s', '%s'", first, second != NULL ? second : "");
        }
    }
}

/* Of what differs from the preset, too. */
static void one_value_has_one_identity_however_it_is_spelt(void **state)
{
    static const char *const spelt[][2] = {
        {"mechanisms.budget=30%", "mechanisms.budget=30.0%"},
        {"mechanisms.budget=8GiB", "mechanisms.budget=8192MiB"},
        {"mechanisms.selection=12%", "mechanisms.selection=0.12"},
        {"mechanisms.selection=35%", "mechanisms.selection=0.350"},
        {"mechanisms.recent=32K", "mechanisms.recent=32768"},
        {"mechanisms.step_overhead=1ms", "mechanisms.step_overhead=1000us"},
        {"mechanisms.merge=no", "mechanisms.merge=off"},
        {"mechanisms.estimation=23.2%", "mechanisms.estimation=0.232"},
        {"hardware.link.h2d=26GB/s", "hardware.link.h2d=26000MB/s"},
        {"hardware.price_per_hour=2.5", "hardware.price_per_hour=2.50"},
        {"mechanisms.policy.eta=0.7", "mechanisms.policy.eta=0.70"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(spelt); i++) {
        const char *system = i + 1 < COUNT(spelt) ? "system=retroinfer" : "system=clo";
        char run[17];
        strcpy(run, identity_of(OVERRIDES(system, spelt[i][0])));
        if (strcmp(run, identity_of(OVERRIDES(system, spelt[i][1]))) != 0) {
            fail_msg("'%s', '%s'", spelt[i][0], spelt[i][1]);
        }
    }
}

/* A point of a sweep is the run that its values alone are, so that a sweep resumes another. */
static void point_of_a_sweep_is_a_run_of_its_own(void **state)
{
    static const char *const overrides[] = {"model=llama-3-8b", "hardware=h200", "context=131072",
                                            "trace=assumed:hit=93%,spread=5%",
                                            "sweep={system: [vllm, clo], batch: [1, 2],"
                                            " mechanisms.operators: [40, 50]}"};
    (void)state;
    struct scenario scenario;
    struct point point;
    struct error why;
    char run[17];
    assert_true(scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why));
    assert_true(scenario_point(&scenario, 7, &point, &why));
    assert_true(run_identity(&point, run, &why));
    assert_string_equal(run, identity_of(OVERRIDES("hardware=h200", "system=clo", "batch=2",
                                                   "mechanisms.operators=50")));
    point_release(&point);
    scenario_release(&scenario);
}

/* ---- the resolved scenario ------------------------------------------------------------------- */

/* Run `text`, a resolved scenario, as a file. */
static struct point resolve_again(const char *text)
{
    char path[64];
    const char *files[] = {make_path(folder, "resolved.yaml", path)};
    struct scenario scenario;
    struct point point;
    struct error why;
    write_text(path, text);
    if (!scenario_load(files, 1, NULL, 0, &scenario, &why) ||
        !scenario_point(&scenario, 0, &point, &why)) {
        fail_msg("%s\n%s", text, message_of(&why));
    }
    scenario_release(&scenario);
    return point;
}

static void check_round_trip(const char *const *overrides)
{
    struct point point = make_point(overrides);
    struct point again = resolve_again(point.scenario);
    struct run_hashes first, second;
    struct error why;
    assert_string_equal(point.scenario, again.scenario);
    assert_true(run_hashes(&point, &first, &why) && run_hashes(&again, &second, &why));
    assert_string_equal(first.run, second.run);
    assert_string_equal(first.scenario, second.scenario);
    assert_string_equal(first.profile, second.profile);
    assert_string_equal(first.trace, second.trace);
    point_release(&point);
    point_release(&again);
}

/* A machine beside the scenario that says it, whose profile extends one beside it in turn: wherever
 * the program runs, and when the resolved scenario is run. */
static void a_machine_is_looked_for_beside_the_file_that_says_it(void **state)
{
    (void)state;
    char path[160];
    struct run_hashes first, second;
    struct scenario scenario;
    struct point point;
    struct error why;
    snprintf(path, sizeof path, "%s/beside", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(path, sizeof path, "%s/beside/base.yaml", folder);
    write_text(path, "gpu: a40\nlink: pcie4-x16\nhost: epyc-9654\n");
    snprintf(path, sizeof path, "%s/beside/machine.yaml", folder);
    write_text(path, "extends: ./base.yaml\nlink: {h2d: 20GB/s}\n");
    snprintf(path, sizeof path, "%s/beside/scenario.yaml", folder);
    write_text(path, "model: llama-3-8b\nsystem: retroinfer\ncontext: 131072\n"
                     "trace: assumed:hit=93%\nhardware: {extends: machine.yaml}\n");
    const char *const files[] = {path};
    if (!scenario_load(files, 1, NULL, 0, &scenario, &why) ||
        !scenario_point(&scenario, 0, &point, &why)) {
        fail_msg("%s", message_of(&why));
    }
    assert_near(point.setup.profile.curves[CURVE_LINK_IN].value[0], 20e9, 0);
    struct point again = resolve_again(point.scenario);
    assert_true(run_hashes(&point, &first, &why) && run_hashes(&again, &second, &why));
    assert_string_equal(first.run, second.run);
    point_release(&again);
    point_release(&point);
    scenario_release(&scenario);
}

static void resolved_scenario_reproduces_its_run(void **state)
{
    (void)state;
    char **systems;
    size_t count;
    struct error why;
    for (size_t i = 0; i < COUNT(changes); i++) {
        check_round_trip(OVERRIDES(changes[i]));
    }
    check_round_trip(OVERRIDES("context=", "contexts=[128K, 4K, 128K]"));
    check_round_trip(OVERRIDES("context=", "contexts={4K: 6, 128K: 2}", "batch=max"));
    check_round_trip(OVERRIDES("context=", "contexts={4K: 70%, 128K: 30%}", "batch=10",
                               "prompt=context", "output=100"));
    assert_true(find_names("scenarios/systems", "yaml", &systems, &count, &why));
    for (size_t i = 0; i < count; i++) {
        char system[64];
        snprintf(system, sizeof system, "system=%s", systems[i]);
        check_round_trip(OVERRIDES(system));
        check_round_trip(OVERRIDES(system, "mechanisms={operators: 3, recent: 9tok}",
                                   "hardware.link.h2d=1GB/s", "hbm_usable=33.3%"));
        free(systems[i]);
    }
    free(systems);
}

/* Names of files that mean something else in YAML, and as they are written there. */
static const char *const odd_names[][2] = {
    {"a b", "a b"},   {"#x", "#x"},       {"- y", "- y"},   {"[z]", "[z]"},   {"{q}", "{q}"},
    {"k: v", "k: v"}, {"'w\"", "'w\\\""}, {"100%", "100%"}, {"null", "null"}, {"a #b", "a #b"},
};

static void resolved_scenario_keeps_odd_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(odd_names); i++) {
        char override[256], path[128], trace[128];
        tiny_trace("other", trace);
        snprintf(path, sizeof path, "%s/%s.swt", folder, odd_names[i][0]);
        assert_int_equal(rename(trace + strlen("trace="), path), 0);
        snprintf(override, sizeof override, "trace=\"%s/%s.swt\"", folder, odd_names[i][1]);
        check_round_trip(OVERRIDES(override, "context=1000"));
    }
}

/* Keys of what not every run has: a mixture of contexts, or a server. */
static bool is_said_at_need(const struct scenario_key *key)
{
    static const char *const keys[] = {"contexts", "drafts", "config", NULL};
    return key->open || key->serving || name_match(key->name, keys) >= 0;
}

static void resolved_scenario_says_every_key(void **state)
{
    (void)state;
    struct point point = POINT("system=clo");
    struct error why;
    struct node *root = node_parse(point.scenario, strlen(point.scenario), "resolved", &why);
    assert_non_null(root);
    for (const struct scenario_key *key = scenario_keys; key->name != NULL; key++) {
        const struct node *node = node_get(root, key->name);
        if (node == NULL && is_said_at_need(key)) {
            continue;
        }
        if (node == NULL || (node->kind == NODE_NULL) != (strcmp(key->name, "sweep") == 0)) {
            fail_msg("'%s'", key->name);
        }
    }
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        const struct node *node = node_get(node_get(root, "mechanisms"), key->name);
        assert_true(node != NULL && node->kind != NODE_NULL);
    }
    node_destroy(root);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_changes_the_identity),
        cmocka_unit_test(every_way_to_share_experts_is_another_run),
        cmocka_unit_test(every_mechanism_changes_the_identity),
        cmocka_unit_test(every_figure_of_the_machine_changes_the_identity),
        cmocka_unit_test(files_are_known_by_their_content),
        cmocka_unit_test(a_machine_is_looked_for_beside_the_file_that_says_it),
        cmocka_unit_test(what_says_the_same_has_the_same_identity),
        cmocka_unit_test(one_value_has_one_identity_however_it_is_spelt),
        cmocka_unit_test(point_of_a_sweep_is_a_run_of_its_own),
        cmocka_unit_test(resolved_scenario_reproduces_its_run),
        cmocka_unit_test(resolved_scenario_keeps_odd_paths),
        cmocka_unit_test(resolved_scenario_says_every_key),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
