/* Systems: preset files, overrides laid over them, what is refused and why. */
#include "unit/fixture/tiny.h"

#include "core/named.h"
#include "decode/mechanism_values.h"

/* Load a preset of this text, FOLDER/x.yaml, with these overrides (YAML, or NULL). Messages then
 * name it as x.yaml. */
static bool load_system(const char *text, const char *overrides, struct mechanisms *out,
                        struct system_info *info, struct node **merged, struct error *why)
{
    struct node *at = node_parse("x.yaml", 6, "scenario.yaml", why);
    struct node *over =
        overrides ? node_parse(overrides, strlen(overrides), "over.yaml", why) : NULL;
    write_text("x.yaml", text);
    struct mechanisms *loaded = system_load(NULL, at->text, at, over, info, merged, why);
    if (loaded != NULL) {
        *out = *loaded;
    }
    free(loaded);
    node_destroy(at);
    node_destroy(over);
    return loaded != NULL;
}

static struct mechanisms load_well(const char *text, const char *overrides)
{
    struct mechanisms mechanisms;
    struct system_info info;
    struct error why;
    if (!load_system(text, overrides, &mechanisms, &info, NULL, &why)) {
        fail_msg("%s\n%s", text, message_of(&why));
    }
    return mechanisms;
}

static int enter(void **state)
{
    return enter_folder(state) != 0 || chdir(folder) != 0;
}

static int leave(void **state)
{
    return chdir("/") != 0 || leave_folder(state) != 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

static void empty_preset_is_all_defaults(void **state)
{
    (void)state;
    const struct mechanisms m = load_well("summary: nothing said\n", NULL);
    assert_string_equal(m.policy->name, "none");
    assert_int_equal(m.budget.unit, UNIT_TIMES);
    assert_near(m.budget.value, 0, 0);
    assert_int_equal(m.granularity, 1);
    assert_int_equal(m.sinks, 4);
    assert_near(m.recent.value, 64, 0);
    assert_int_equal(m.resident_heads, RESIDENT_NONE);
    assert_near(m.resident_epsilon, .1, 0);
    assert_near(m.selection.value, 1, 0);
    assert_int_equal(m.selection.unit, UNIT_SHARE);
    assert_int_equal(m.retrieval, RETRIEVAL_NONE);
    assert_int_equal(m.manager, MANAGER_GPU);
    assert_int_equal(m.update, UPDATE_OVERLAPPED);
    assert_int_equal(m.transfer, TRANSFER_COPY_ENGINE);
    assert_int_equal(m.merge, 0);
    assert_int_equal(m.prefetch, PREFETCH_NONE);
    assert_int_equal(m.attention, ATTEND_GPU);
    assert_int_equal(m.sync, SYNC_GPU);
    assert_int_equal(m.launch, LAUNCH_EAGER);
    assert_int_equal(m.operators, 40);
    assert_int_equal(m.retrieval_id_bytes, 8);
    assert_int_equal(m.transfer_cta_threads, 256);
    assert_int_equal(m.transfer_lane_bytes, 8);
    assert_int_equal(m.cluster_segment, 8192);
    assert_int_equal(m.cluster_passes, 2);
    assert_int_equal(m.cluster_iterations_most, 300);
    assert_int_equal(m.step_overhead, 0);
    assert_true(mechanisms_offload(&m));
}

/* What a value of some mechanism needs beside it: nothing, all KV in HBM, prefixes, a cache, one that the
 * launch thread waits for, one of query labels, one that keeps entries for the CPU, attention on the
 * CPU, or micro-batches. */
static const char *const companions[] = {"",
                                         "resident_heads: all\n",
                                         "resident_heads: all\nprefix: two-tier\n",
                                         "policy: lru\nbudget: 1x\n",
                                         "policy: lru\nbudget: 1x\nsync: cpu\n",
                                         "policy: qsac\nbudget: 1x\n",
                                         "policy: window-maw\nbudget: 1x\n",
                                         "prefetch: whole-layer\n",
                                         "prefetch: whole-layer\nattention: cpu\n",
                                         "attention: cpu\nretrieval: lsh\nselection: 2%\n",
                                         "prefetch: whole-layer\nmicro_batch_sequences: 4\n",
                                         "prefetch: whole-layer\nmicro_batch_tokens: 4tok\n",
                                         "weights: 50%\n"};

static void every_value_of_a_choice_is_its_number(void **state)
{
    (void)state;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        for (int i = 0; key->type == MECHANISM_CHOICE && key->values[i] != NULL; i++) {
            bool loaded = false;
            for (size_t c = 0; c < COUNT(companions) && !loaded; c++) {
                struct mechanisms m;
                struct system_info info;
                struct error why;
                char text[128];
                snprintf(text, sizeof text, "%s%s: %s\n", companions[c], key->name, key->values[i]);
                loaded = load_system(text, NULL, &m, &info, NULL, &why);
                if (loaded) {
                    assert_int_equal(*(const int *)((const char *)&m + key->offset), i);
                }
            }
            assert_true(loaded);
        }
    }
}

static void keys_are_read_in_their_units(void **state)
{
    (void)state;
    const struct mechanisms m = load_well("policy: {name: qsac, power: 2}\nbudget: 1.5GiB\n"
                                          "retrieval_keys: 0.25x\nretrieval_in_place: yes\n"
                                          "granularity: 16tok\nsinks: 0tok\nrecent: 9tok\n"
                                          "resident_epsilon: 0.05\nselection: 12.5%\n"
                                          "retrieval: hata\nretrieval_bytes: 1KiB\n"
                                          "retrieval_query: 0.5\nretrieval_per_query_head: yes\n"
                                          "transfer: cpu-store\n"
                                          "estimation: 3%\nbarrier: layer\nmerge: off\n"
                                          "transfer_threads: 4\nstep_overhead: 1.5ms\n",
                                          NULL);
    assert_string_equal(m.policy->name, "qsac");
    assert_near(m.policy_values[0], .8, 0); /* its default */
    assert_near(m.policy_values[1], 2, 0);
    assert_int_equal(m.budget.unit, UNIT_BYTES);
    assert_near(m.budget.value, 3 * (1 << 29), 0);
    assert_int_equal(m.granularity, 16);
    assert_int_equal(m.sinks, 0);
    assert_near(m.recent.value, 9, 0);
    assert_near(m.resident_epsilon, .05, 0);
    assert_near(m.selection.value, .125, 0);
    assert_int_equal(m.retrieval_bytes, 1024);
    assert_near(m.retrieval_query, .5, 0);
    assert_int_equal(m.retrieval_per_query_head, 1);
    assert_near(m.estimation, .03, 0);
    assert_int_equal(m.barrier, BARRIER_LAYER);
    assert_int_equal(m.merge, 0);
    assert_int_equal(m.transfer_threads, 4);
    assert_int_equal(m.step_overhead, 1500000);
}

static const struct {
    const char *text;
    enum unit unit;
    double value;
} budget_texts[] = {
    {"8GiB", UNIT_BYTES, 8.0 * (1 << 30)},
    {"30%", UNIT_SHARE, .3},
    {"0.3", UNIT_SHARE, .3},
    {"100%", UNIT_SHARE, 1},
    {"3x", UNIT_TIMES, 3},
    {"0x", UNIT_TIMES, 0},
    {"2.5x", UNIT_TIMES, 2.5},
    {"4096tok", UNIT_TOKENS, 4096},
    {"0B", UNIT_BYTES, 0},
};

static void budget_takes_every_unit(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(budget_texts); i++) {
        char text[64];
        snprintf(text, sizeof text, "policy: lru\nbudget: %s\n", budget_texts[i].text);
        const struct mechanisms m = load_well(text, NULL);
        assert_int_equal(m.budget.unit, budget_texts[i].unit);
        assert_near(m.budget.value, budget_texts[i].value, 0);
    }
}

static const struct {
    const char *text;
    enum unit unit;
    double value;
} extent_texts[] = {
    {"selection: 12.5%", UNIT_SHARE, .125}, {"selection: 0.5", UNIT_SHARE, .5},
    {"selection: 1", UNIT_SHARE, 1},        {"selection: 2048tok", UNIT_TOKENS, 2048},
    {"recent: 5%", UNIT_SHARE, .05},        {"recent: 64", UNIT_TOKENS, 64},
    {"recent: 0tok", UNIT_TOKENS, 0},       {"recent: 1", UNIT_TOKENS, 1},
};

static void extents_are_shares_or_tokens(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(extent_texts); i++) {
        char text[128];
        snprintf(text, sizeof text, "retrieval: hata\nresident_heads: all\n%s\n",
                 extent_texts[i].text);
        const struct mechanisms m = load_well(text, NULL);
        const struct amount *read = strstr(text, "selection") != NULL ? &m.selection : &m.recent;
        assert_int_equal(read->unit, extent_texts[i].unit);
        assert_near(read->value, extent_texts[i].value, 0);
    }
}

static void overrides_win_over_the_preset(void **state)
{
    (void)state;
    struct mechanisms m;
    struct system_info info;
    struct node *merged;
    struct error why;
    assert_true(load_system("summary: s\npaper: p\navailable: sglang\n"
                            "policy: {name: qsac, eta: 0.7}\nsinks: 5tok\nrecent: 6tok\n",
                            "{sinks: 7tok, policy: {eta: 0.6}, launch: graph}", &m, &info, &merged,
                            &why));
    assert_int_equal(m.sinks, 7);
    assert_near(m.recent.value, 6, 0);
    assert_int_equal(m.launch, LAUNCH_GRAPH);
    assert_string_equal(m.policy->name, "qsac");
    assert_near(m.policy_values[0], .6, 0);
    assert_string_equal(info.name, "x.yaml");
    assert_string_equal(info.summary, "s");
    assert_string_equal(info.paper, "p");
    assert_string_equal(info.available, "sglang");
    assert_string_equal(node_get(merged, "sinks")->text, "7tok");
    assert_string_equal(node_get(merged, "recent")->text, "6tok");
    node_destroy(merged);
}

/* A name replaces a policy with its parameters. */
static void policy_can_be_replaced_by_name(void **state)
{
    (void)state;
    const struct mechanisms m = load_well("policy: {name: qsac, eta: 0.7}\n", "{policy: lru}");
    assert_string_equal(m.policy->name, "lru");
}

static void what_a_preset_leaves_out_is_assumed(void **state)
{
    (void)state;
    struct mechanisms m;
    struct system_info info;
    struct error why;
    assert_true(load_system("recent: 6tok\n", NULL, &m, &info, NULL, &why));
    assert_string_equal(info.available, "paper");
    assert_string_equal(info.lossless, "exact");
    assert_string_equal(info.summary, "");
}

/* ---- refusals -------------------------------------------------------------------------------- */

/* A preset and an override of it; the whole message. "..." stands for names of tables that grow. */
static const struct {
    const char *preset, *override, *message;
} refused[] = {
    {"granularty: 8tok\n", NULL,
     "x.yaml:1: unknown key 'granularty' in 'system'\n"
     "  nearest: 'granularity'   expected: one of 'spillway list mechanisms'"},
    {"", "{sunc: gpu}",
     "over.yaml:1: unknown key 'sunc' in 'mechanisms'\n"
     "  nearest: 'sync'   expected: one of 'spillway list mechanisms'"},
    {"", "{summary: mine}",
     "over.yaml:1: unknown key 'summary' in 'mechanisms'\n  expected: one of 'spillway list mechanisms'"},
    {"\nsync: gqu\n", NULL,
     "x.yaml:2: unknown value 'gqu' of 'sync'\n  nearest: 'gpu'   expected: cpu, gpu"},
    {"", "{transfer: gather}",
     "over.yaml:1: unknown value 'gather' of 'transfer'\n"
     "  nearest: 'gather+copy'   expected: copy-engine, gather+copy, ..."},
    {"", "{resident_heads: first}",
     "over.yaml:1: unknown value 'first' of 'resident_heads'\n"
     "  nearest: 'first-layer'   expected: none, first-layer, difficulty, all"},
    {"", "{retrieval: hatta}",
     "over.yaml:1: unknown value 'hatta' of 'retrieval'\n"
     "  nearest: 'hata'   expected: none, ..."},
    {"sync: [cpu]\n", NULL, "x.yaml:1: 'sync' is a list\n  expected: a single value"},
    {"sync:\n", NULL, "x.yaml:1: 'sync' is empty\n  expected: cpu, gpu"},
    {"policy: lur\n", NULL,
     "x.yaml:1: unknown policy 'lur'\n  nearest: 'lru'   expected: none, lru, ..."},
    {"policy: {eta: 0.8}\n", NULL, "x.yaml:1: 'policy' must be a name or a map with 'name'"},
    {"policy: [lru]\n", NULL, "x.yaml:1: 'policy' must be a name or a map with 'name'"},
    {"policy:\n", NULL, "x.yaml:1: 'policy' must be a name or a map with 'name'"},
    {"policy: {name: [lru]}\n", NULL, "x.yaml:1: 'name' is a list\n  expected: a single value"},
    {"policy: {name: qsac, etta: 0.8}\n", NULL,
     "x.yaml:1: unknown key 'etta' in 'policy'\n"
     "  nearest: 'eta'   expected: name, eta, power, adaptive, aggregate"},
    {"policy: {name: lru, eta: 0.8}\n", NULL,
     "x.yaml:1: unknown key 'eta' in 'policy'\n  expected: name"},
    {"policy: {name: qsac, eta: 1.5}\n", NULL,
     "x.yaml:1: 'eta' is out of range\n  expected: 0 to 1"},
    {"budget: 30\n", NULL,
     "x.yaml:1: '30' is not a budget\n"
     "  expected: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest"},
    {"budget: 3us\n", NULL,
     "x.yaml:1: '3us' is not a budget\n"
     "  expected: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest"},
    {"budget: -1GiB\n", NULL,
     "x.yaml:1: '-1GiB' is not a budget\n"
     "  expected: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest"},
    {"budget: {share: 30%}\n", NULL,
     "x.yaml:1: 'budget' is a map; a system has one budget\n"
     "  expected: 8GiB, 30% of the KV, 3x the selection, 4096tok a layer, or the rest; to try "
     "several, use sweep.mechanisms.budget=[10%, 20%]"},
    {"budget: 101%\n", NULL,
     "x.yaml:1: budget '101%' is more than the whole KV\n  expected: at most 100%"},
    {"merge: maybe\n", NULL,
     "x.yaml:1: unknown value 'maybe' of 'merge'\n"
     "  expected: false, true, no, yes, off, on"},
    {"available: shop\n", NULL,
     "x.yaml:1: unknown value 'shop' of 'available'\n"
     "  expected: vllm, sglang, tensorrt-llm, code, paper"},
    {"summary: [a, b]\n", NULL, "x.yaml:1: 'summary' is a list\n  expected: a single value"},
    {"[merge]\n", NULL, NULL}, /* no map */
    {"word\n", NULL, NULL},
    {"selection: 101%\n", NULL,
     "x.yaml:1: 'selection' is not a part of a context: 101%\n"
     "  expected: a share of at most 100%, or whole tokens: 10% or 2048tok"},
    {"selection: 1.5tok\n", NULL,
     "x.yaml:1: 'selection' is not a part of a context: 1.5tok\n"
     "  expected: a share of at most 100%, or whole tokens: 10% or 2048tok"},
    {"recent: [5%]\n", NULL,
     "x.yaml:1: 'recent' is not a part of a context: a list or a map\n"
     "  expected: a share of at most 100%, or whole tokens: 10% or 2048tok"},
    {"recent: 4294967296tok\n", NULL, NULL},
    {"recent: 3x\n", NULL, NULL},
    {"selection: -1tok\n", NULL, NULL},
    {"sinks: 4294967296tok\n", NULL, NULL},
    {"sinks: 4KiB\n", NULL, NULL},
    {"sinks: 1.5tok\n", NULL, NULL},
    {"operators: -1\n", NULL, NULL},
    {"step_overhead: 5\n", NULL, NULL},
    {"selection: 30\n", NULL, NULL},
    {"", "[sync]", NULL},
    {"", "sync", NULL},
};

/* "..." in `expected` stands for anything. */
static void assert_message(const struct error *why, const char *expected)
{
    const char *message = message_of(why), *dots = strstr(expected, "...");
    size_t front = dots != NULL ? (size_t)(dots - expected) : strlen(expected);
    size_t back = dots != NULL ? strlen(dots + 3) : 0, length = strlen(message);
    if (strncmp(message, expected, front) != 0 || length < front + back ||
        strcmp(message + length - back, expected + strlen(expected) - back) != 0 ||
        (dots == NULL && length != front)) {
        fail_msg("not '%s' but '%s'", expected, message);
    }
}

static void what_cannot_be_read_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct mechanisms mechanisms;
        struct system_info info;
        struct node *merged = NULL;
        struct error why;
        if (load_system(refused[i].preset, refused[i].override, &mechanisms, &info, &merged,
                        &why)) {
            fail_msg("accepted: %s %s", refused[i].preset,
                     refused[i].override ? refused[i].override : "");
        }
        assert_null(merged);
        assert_int_equal(why.kind, ERROR_FAILURE);
        if (refused[i].message != NULL) {
            assert_message(&why, refused[i].message);
        } else {
            const char *file = refused[i].override != NULL ? "over.yaml" : "x.yaml";
            assert_string_equal(why.file, file);
            assert_int_equal(why.line, 1);
        }
    }
}

/* Combinations of mechanisms that contradict each other, and the key to blame. */
static const struct {
    const char *overrides, *key;
} contradictions[] = {
    {"{selection: 0%}", "selection"},
    {"{selection: 0tok}", "selection"},
    {"{selection: 2048tok}", "selection"},
    {"{prefix: gpu}", "prefix"},
    {"{prefix: two-tier, policy: heavy-hitter, budget: 1x}", "prefix"},
    {"{retrieval_stream: yes}", "retrieval_stream"},
    {"{retrieval_stream: yes, retrieval: loki, retrieval_in_place: yes}", "retrieval_stream"},
    {"{transfer: in-place, resident_heads: all}", "transfer"},
    {"{retrieval_stream: yes, retrieval: pq, resident_heads: all}", "retrieval_stream"},
    {"{retrieval_stream: yes, retrieval: pq, resident_heads: first-layer}", "retrieval_stream"},
    {"{transfer_stream: main, transfer: cpu-store}", "transfer_stream"},
    {"{transfer_stream: main, prefetch: whole-layer}", "transfer_stream"},
    {"{retrieval_query: 101%}", "retrieval_query"},
    {"{estimation: 101%}", "estimation"},
    {"{granularity: 0tok}", "granularity"},
    {"{retrieval_tokens: 0tok}", "retrieval_tokens"},
    {"{transfer_ctas: 0}", "transfer_ctas"},
    {"{merge: yes, transfer: cpu-store, hit_ctas: 0}", "hit_ctas"},
    {"{merge: yes, transfer: sm-zero-copy, transfer_ctas: 1, hit_ctas: 0}", "hit_ctas"},
    {"{admit_ctas: 0}", "admit_ctas"},
    {"{operators: 0}", "operators"},
    {"{transfer_cta_threads: 0}", "transfer_cta_threads"},
    {"{transfer_cta_threads: 1025}", "transfer_cta_threads"},
    {"{transfer_lane_bytes: 0B}", "transfer_lane_bytes"},
    {"{transfer_lane_bytes: 17B}", "transfer_lane_bytes"},
    {"{cluster_segment: 0tok}", "cluster_segment"},
    {"{retrieval: pq, retrieval_stream: yes, cluster_centroids: 64, cluster_iterations: 301}",
     "cluster_iterations_most"},
    {"{selection: 10%}", "selection"},
    {"{launch: graph, sync: cpu}", "launch"},
    {"{selection: 60%, estimation: 50%, retrieval: clusters}", "estimation"},
    {"{resident_heads: all, policy: lru, budget: 1x}", "policy"},
    {"{budget: 1x}", "budget"},
    {"{policy: lru, budget: 1x, manager: split}", "manager"},
    {"{manager: split, sync: cpu}", "manager"},
    {"{sync_copies: 0}", "sync_copies"},
    {"{sync: cpu, syncs: 2, sync_copies: 3}", "sync_copies"},
    {"{block_span: layer}", "block_span"},
    {"{policy: opt, budget: 1x, block_span: head}", "block_span"},
    {"{policy: lru, budget: 1x, block_candidates: 4}", "block_candidates"},
    {"{policy: lru, budget: 1x, selection: 10%, retrieval: hata, transfer: cpu-store, block_span: "
     "layer, prefetch: next-layer}",
     "block_span"},
    {"{policy: heavy-hitter, budget: 1x, retrieval: hata}", "retrieval"},
    {"{selection_margin: 4}", "selection_margin"},
    {"{selection_margin: 4, retrieval: native}", "selection_margin"},
    {"{selection_margin: 4, retrieval: clusters, selection: 10%}", "selection_margin"},
    {"{selection_margin: 4, retrieval: hata, selection: 10%, estimation: 20%}", "selection_margin"},
    {"{selection_margin: 4, retrieval: hata, resident_heads: first-layer}", "selection_margin"},
    {"{selection_margin: 4, retrieval: hata, policy: qsac, budget: 1x}", "selection_margin"},
    {"{selection_margin: 4, retrieval: hata, prefetch: whole-layer, transfer: sm-zero-copy}",
     "prefetch"},
    {"{selection_margin: 4, retrieval: hata, policy: heavy-hitter, budget: 1x,"
     " transfer: cpu-store}",
     "retrieval"},
    {"{manager: cpu}", "manager"},
    {"{merge: yes}", "merge"},
    {"{resident_heads: difficulty}", "resident_heads"},
    {"{selection: 2048tok, retrieval: hata, transfer: copy-engine}", "transfer"},
    {"{selection: 10%, retrieval: hata, transfer: copy-engine}", "transfer"},
    {"{launch: graph, transfer: gather+copy}", "launch"},
    {"{launch: graph, barrier: layer}", "launch"},
    {"{manager: cpu, policy: qsac}", "manager"},
    {"{prefetch: next-layer, merge: yes, policy: lru, budget: 1x}", "merge"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, resident_heads: all}", "policy"},
    {"{attention: hybrid, resident_heads: all}", "attention"},
    {"{attention: hybrid, policy: lru, budget: 1x}", "attention"},
    {"{policy: window-maw, budget: 1x}", "policy"},
    {"{attention: hybrid, policy: window-maw}", "budget"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, retrieval: hata}", "retrieval"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, manager: cpu}", "manager"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, merge: yes}", "merge"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, prefetch: next-layer}", "prefetch"},
    {"{attention: hybrid, policy: window-maw, budget: 1x, launch: graph, sync: cpu}", "launch"},
    {"{attention: cpu}", "attention"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, resident_heads: all}", "attention"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, estimation: 10%}", "estimation"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, prefetch: next-layer}", "prefetch"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, disk_kv: 50%}", "disk_kv"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, transfer: in-place}", "transfer"},
    {"{attention: cpu, selection: 10%, retrieval: lsh, policy: lru, budget: 1x}", "attention"},
    {"{retrieval_on: cpu}", "retrieval_on"},
    {"{retrieval_on: cpu, attention: cpu, prefetch: whole-layer}", "retrieval_on"},
    {"{retrieval_on: cpu, attention: cpu, selection: 10%, retrieval: native}", "retrieval_on"},
    {"{retrieval_on: cpu, attention: cpu, selection: 10%, retrieval: pq, retrieval_stream: yes}",
     "retrieval_stream"},
    {"{retrieval_on: cpu, attention: cpu, selection: 10%, retrieval: lsh, resident_heads: first-layer}",
     "resident_heads"},
    {"{retrieval_read: 101%}", "retrieval_read"},
    {"{keys: hbm, resident_heads: all}", "keys"},
    {"{keys_rank: 160}", "keys_rank"},
    {"{keys_bits: 4}", "keys_bits"},
    {"{keys: hbm, keys_bits: 17}", "keys_bits"},
    {"{keys: hbm, prefetch: whole-layer, attention: cpu}", "keys"},
    {"{keys: hbm, prefetch: whole-layer, representation: act}", "keys"},
    {"{keys: hbm, policy: heavy-hitter, budget: 1x}", "keys"},
    {"{keys: hbm, residency: pressure}", "keys"},
    {"{keys: hbm, policy: lru, budget: 1x, block_span: head}", "keys"},
    {"{keys: hbm, prefetch: whole-layer, disk_kv: 50%}", "keys"},
    {"{keys: hbm, prefetch: whole-head}", "keys"},
    {"{keys: hbm, prefix: two-tier}", "keys"},
};

static void contradictions_are_refused_at_their_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(contradictions); i++) {
        struct mechanisms mechanisms;
        struct system_info info;
        struct error why;
        char found[256];
        if (load_system("summary: s\n", contradictions[i].overrides, &mechanisms, &info, NULL,
                        &why)) {
            fail_msg("accepted: %s", contradictions[i].overrides);
        }
        snprintf(found, sizeof found, " '%s'", contradictions[i].key);
        assert_non_null(strstr(why.found, found));
        assert_non_null(strstr(why.found, ": ")); /* the reason follows */
        assert_string_equal(why.file, "over.yaml");
        assert_int_equal(why.line, 1);
        assert_string_not_equal(why.expected, "");
    }
}

/* A number just outside of the bounds that its row states is refused with the row's rule. */
static void bounds_are_refused_at_their_row(void **state)
{
    (void)state;
    for (const struct mechanism_key *row = mechanism_keys; row->name != NULL; row++) {
        for (int high = 0; row->rule != NULL && high < 2; high++) {
            struct mechanisms m = load_well("summary: s\n", NULL);
            void *at = (char *)&m + row->offset;
            const char *key = NULL;
            double value = high ? row->most + 1 : row->least - 1;
            if (value < 0 || (high && row->most == 0)) {
                continue;
            }
            if (row->type == MECHANISM_REAL) {
                *(double *)at = value;
            } else {
                *(uint64_t *)at = (uint64_t)value;
            }
            assert_ptr_equal(mechanisms_contradiction(&m, &key), row->rule);
            assert_string_equal(key, row->name);
        }
    }
}

/* Give the key's member its value number `index`. Returns false behind the last. */
static bool set_value(const struct mechanism_key *key, size_t index, struct mechanisms *m)
{
    static const double numbers[] = {0, 1, 2, .5, 4};
    static const char *const policies[] = {"none", "lru",          "opt",       "prefix",
                                           "qsac", "heavy-hitter", "window-maw"};
    void *at = (char *)m + key->offset;
    struct error why;
    if (key->type == MECHANISM_CHOICE) {
        *(int *)at = (int)index;
        return key->values[index] != NULL;
    }
    if (key->type == MECHANISM_POLICY) {
        m->policy = index < COUNT(policies) ? policy_find(policies[index], NULL, 0, &why) : NULL;
        return m->policy != NULL;
    }
    if (index >= COUNT(numbers)) {
        return false;
    }
    switch (key->type) {
    case MECHANISM_SWITCH:
        *(int *)at = index > 0;
        break;
    case MECHANISM_WHOLE:
        *(uint64_t *)at = (uint64_t)numbers[index];
        break;
    case MECHANISM_REAL:
        *(double *)at = numbers[index];
        break;
    default:
        *(struct amount *)at =
            (struct amount){.unit = UNIT_SHARE, .value = numbers[index], .rest = index == 4};
    }
    return true;
}

static bool is_bounded(const struct mechanisms *m)
{
    bool bounded = true;
    for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
        bounded = bounded && mechanism_bounded(key, m);
    }
    return bounded;
}

/* Note the rule that alone is broken. */
static void note_alone(const struct mechanisms *m, bool alone[MECHANISM_RULES])
{
    struct mechanism_rule rules[MECHANISM_RULES];
    size_t count = is_bounded(m) ? mechanisms_rules(m, rules) : 0, broken = 0, last = 0;
    for (size_t i = 0; i < count; i++) {
        broken += rules[i].broken;
        last = rules[i].broken ? i : last;
    }
    alone[last] = alone[last] || broken == 1;
}

/* Lay every pair of values over the system. */
static void try_pairs(const struct mechanisms *base, bool alone[MECHANISM_RULES])
{
    for (const struct mechanism_key *x = mechanism_keys; x->name != NULL; x++) {
        struct mechanisms one = *base, two;
        for (size_t i = 0; set_value(x, i, &one); i++) {
            note_alone(&one, alone);
            for (const struct mechanism_key *y = x + 1; y->name != NULL; y++) {
                two = one;
                for (size_t j = 0; set_value(y, j, &two); j++) {
                    note_alone(&two, alone);
                }
            }
        }
    }
}

/* Each stands for a family of systems. */
static const char *const bases[] = {
    "summary: s\n",
    "resident_heads: all\n",
    "resident_heads: all\nprefix: gpu\n",
    "resident_heads: all\nprefix: two-tier\n",
    "prefix: two-tier\n",
    "policy: lru\nbudget: 1x\n",
    "policy: lru\nbudget: 1x\nsync: cpu\n",
    "policy: lru\nbudget: 1x\nretrieval: hata\nselection: 10%\ntransfer: sm-zero-copy\n",
    "policy: lru\nbudget: 1x\ntransfer: in-place\n",
    "policy: lru\nbudget: 1x\ntransfer: sm-zero-copy\nmerge: yes\n",
    "policy: qsac\nbudget: 1x\n",
    "policy: heavy-hitter\nbudget: 1x\n",
    "policy: window-maw\nbudget: 1x\nattention: hybrid\n",
    "residency: pressure\npolicy: lru\nbudget: 1x\n",
    "retrieval: hata\nselection: 10%\ntransfer: cpu-store\n",
    "retrieval: pq\nretrieval_stream: yes\nselection: 10%\ntransfer: cpu-store\n",
    "retrieval: pq\nretrieval_stream: yes\ncluster_centroids: 64\ncluster_iterations: 2\n",
    "launch: graph\n",
    "weights: 50%\nweights_at: cpu\n",
    "prefetch: whole-layer\n",
    "prefetch: whole-layer\nattention: cpu\n",
    "prefetch: whole-layer\nattention: cpu\nmicro_batch: alternating\n",
    "attention: cpu\nretrieval: lsh\nselection: 2%\nretrieval_on: cpu\n",
    "prefetch: whole-layer\nrepresentation: hybrid\n",
    "prefetch: whole-head\n",
    "prefetch: whole-layer\nrepresentation: both\nmerge: yes\n",
    "prefetch: whole-layer\nmicro_batch: zig-zag\nmicro_batch_sequences: 4\n",
};

static void each_rule_is_broken_alone(void **state)
{
    bool alone[MECHANISM_RULES] = {false};
    struct mechanism_rule rules[MECHANISM_RULES];
    struct mechanisms m = load_well("summary: s\n", NULL);
    (void)state;
    for (size_t i = 0; i < COUNT(bases); i++) {
        m = load_well(bases[i], NULL);
        try_pairs(&m, alone);
    }
    size_t count = mechanisms_rules(&m, rules), dead = 0;
    for (size_t i = 0; i < count; i++) {
        if (!alone[i]) {
            print_message("never alone: %s: %s\n", rules[i].key, rules[i].reason);
            dead++;
        }
    }
    assert_int_equal(dead, 0);
}

static const char *const allowed[] = {
    "{selection: 100%}",
    "{retrieval: native}",
    "{selection: 2048tok, retrieval: native, transfer: sm-zero-copy, transfer_stream: main}",
    "{selection: 2048tok, estimation: 70%, retrieval: clusters, transfer: sm-zero-copy}",
    "{transfer_stream: main, transfer: cpu-store, resident_heads: all}",
    "{selection: 0.1%, retrieval: hata, transfer: cpu-store}",
    "{selection_margin: 4, retrieval: hata, transfer: cpu-store}",
    "{selection: 0.1%, retrieval: hata, resident_heads: all}",
    "{launch: graph, sync: cpu, resident_heads: all}",
    "{launch: graph, sync: gpu, syncs: 1}",
    "{launch: graph, transfer: gather+copy, resident_heads: all}",
    "{manager: gpu, policy: qsac}",
    "{attention: hybrid, policy: window-maw, budget: 1x, launch: graph, sync: gpu}",
    "{attention: hybrid, policy: window-maw, budget: 64tok, resident_heads: first-layer}",
    "{policy: lru, budget: 0x}",
    "{prefetch: next-layer, merge: yes, resident_heads: all}",
    "{selection: 30%, estimation: 70%, retrieval: clusters, transfer: sm-zero-copy}",
};

static void what_only_looks_like_one_is_allowed(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(allowed); i++) {
        load_well("summary: s\n", allowed[i]);
    }
}

/* ---- what ships ------------------------------------------------------------------------------ */

static const char *const shipped[] = {
    "vllm",      "fullattn", "fullattn-graph", "retroinfer-10pct", "retroinfer-fifo",
    "infinigen", "clo",      "litecache"};

static bool ships(const char *name, char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* Each says what it is and where it is from; exactly those that keep all KV in HBM are exact. */
static void shipped_systems_are_sensible(void **state)
{
    (void)state;
    char **names;
    size_t count;
    struct error why;
    assert_true(find_names("scenarios/systems", "yaml", &names, &count, &why));
    for (size_t i = 0; i < COUNT(shipped); i++) {
        assert_true(ships(shipped[i], names, count));
    }
    for (size_t i = 0; i < count; i++) {
        struct node *at = node_parse(names[i], strlen(names[i]), "test", &why);
        struct system_info info;
        struct mechanisms *loaded = system_load(NULL, names[i], at, NULL, &info, NULL, &why);
        if (loaded == NULL) {
            fail_msg("%s", message_of(&why));
        }
        const struct mechanisms m = *loaded;
        free(loaded);
        assert_string_equal(info.name, names[i]);
        assert_true(info.summary[0] != '\0' && strlen(info.summary) < sizeof info.summary - 1);
        assert_true(info.paper[0] != '\0' && strlen(info.paper) < sizeof info.paper - 1);
        assert_int_equal(strcmp(info.lossless, "exact") == 0,
                         !mechanisms_select(&m) && !m.policy->chooses_own && m.ffn_active >= 1);
        if (!mechanisms_offload(&m)) {
            assert_near(m.budget.value, 0, 0);
        } else if (mechanisms_select(&m)) {
            assert_true((m.retrieval_bytes > 0 || m.retrieval_keys > 0) && m.retrieval_kernels > 0);
        }
        assert_int_equal(m.budget.value > 0, strcmp(m.policy->name, "none") != 0);
        node_destroy(at);
        free(names[i]);
    }
    free(names);
}

/* One overridden key is another system: LiteCache is CLO as a graph, RetroInfer with FIFO. */
static void systems_differ_as_they_say(void **state)
{
    static const char *const pairs[][3] = {{"clo", "launch", "litecache"},
                                           {"fullattn", "launch", "fullattn-graph"},
                                           {"retroinfer-10pct", "policy", "retroinfer-fifo"}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        char a[64], b[64];
        snprintf(a, sizeof a, "system=%s", pairs[i][0]);
        snprintf(b, sizeof b, "system=%s", pairs[i][2]);
        struct setup first = SETUP(a), second = SETUP(b);
        for (const struct mechanism_key *key = mechanism_keys; key->name != NULL; key++) {
            size_t size = key->type == MECHANISM_BUDGET || key->type == MECHANISM_EXTENT
                              ? sizeof(struct amount)
                          : key->type == MECHANISM_CHOICE || key->type == MECHANISM_SWITCH
                              ? sizeof(int)
                              : sizeof(uint64_t);
            bool same = memcmp((const char *)first.mechanisms + key->offset,
                               (const char *)second.mechanisms + key->offset, size) == 0;
            assert_int_equal(same, strcmp(key->name, pairs[i][1]) != 0);
        }
        setup_release(&first);
        setup_release(&second);
    }
}

/* A row of policies.def says what the policy itself does. */
static void prefixes_are_evicted_by_every_policy_that_can(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i] != NULL; i++) {
        const struct policy_kind *kind = policies[i];
        bool can = kind->holds != NULL && !kind->by_position && !kind->draws_lots &&
                   !kind->needs_queries && !kind->needs_next_use,
             named = false;
        for (size_t value = 1; prefix_evictions[value] != NULL; value++) {
            named = named || strcmp(prefix_evictions[value], kind->name) == 0;
        }
        if (can != named) {
            fail_msg("%s: POLICY and EVICTION mixed up", kind->name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes_are_evicted_by_every_policy_that_can),
        cmocka_unit_test(empty_preset_is_all_defaults),
        cmocka_unit_test(every_value_of_a_choice_is_its_number),
        cmocka_unit_test(keys_are_read_in_their_units),
        cmocka_unit_test(budget_takes_every_unit),
        cmocka_unit_test(extents_are_shares_or_tokens),
        cmocka_unit_test(overrides_win_over_the_preset),
        cmocka_unit_test(policy_can_be_replaced_by_name),
        cmocka_unit_test(what_a_preset_leaves_out_is_assumed),
        cmocka_unit_test(what_cannot_be_read_is_refused),
        cmocka_unit_test(contradictions_are_refused_at_their_key),
        cmocka_unit_test(bounds_are_refused_at_their_row),
        cmocka_unit_test(each_rule_is_broken_alone),
        cmocka_unit_test(what_only_looks_like_one_is_allowed),
        cmocka_unit_test(shipped_systems_are_sensible),
        cmocka_unit_test(systems_differ_as_they_say),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
