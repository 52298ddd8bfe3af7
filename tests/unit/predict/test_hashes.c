/* The hashes of a run's inputs: a changed input changes its own hash and no other input's. */
#include "unit/fixture/tiny.h"

#include "predict/scenario/point.h"

enum { SCENARIO = 1, MODEL = 2, MACHINE = 4, TRACE = 8, REQUESTS = 16 };

static struct run_hashes hashes_of(const char *const *overrides)
{
    struct point point = make_point(overrides);
    struct run_hashes hashes;
    struct error why;
    if (!run_hashes(&point, &hashes, &why)) {
        fail_msg("%s", message_of(&why));
    }
    point_release(&point);
    return hashes;
}

static int differences(const struct run_hashes *a, const struct run_hashes *b)
{
    int found = (strcmp(a->scenario, b->scenario) != 0 ? SCENARIO : 0) |
                (strcmp(a->model, b->model) != 0 ? MODEL : 0) |
                (strcmp(a->profile, b->profile) != 0 ? MACHINE : 0) |
                (strcmp(a->trace, b->trace) != 0 ? TRACE : 0) |
                (strcmp(a->requests, b->requests) != 0 ? REQUESTS : 0);
    assert_int_equal(strcmp(a->run, b->run) != 0, found != 0);
    return found;
}

static const struct {
    const char *override;
    int changes;
} keys[] = {
    {"model=llama-3-8b", 0},
    {"model=llama-3.1-70b", SCENARIO | MODEL},
    {"hardware=h200", SCENARIO | MACHINE},
    {"hardware.link.h2d=20GB/s", SCENARIO | MACHINE},
    {"trace=smollm2-135m", SCENARIO | TRACE},
    {"trace=assumed:hit=92%", SCENARIO},
    {"context=65536", SCENARIO},
    {"batch=2", SCENARIO},
    {"batch=1", 0},
    {"seed=2", SCENARIO},
    {"system=clo", SCENARIO},
    {"mechanisms.recent=64K", SCENARIO},
    {"dtype.kv=fp8", SCENARIO | MODEL},
    {"dtype.kv=bf16", 0},
};

static void a_key_changes_the_hash_of_its_input(void **state)
{
    (void)state;
    struct run_hashes base = hashes_of(OVERRIDES(NULL));
    for (size_t i = 0; i < COUNT(keys); i++) {
        struct run_hashes other = hashes_of(OVERRIDES(keys[i].override));
        if (differences(&base, &other) != keys[i].changes) {
            fail_msg("%s: %d, not %d", keys[i].override, differences(&base, &other),
                     keys[i].changes);
        }
    }
}

/* Write another text to a file, check what that changes, and that the first text restores all. */
static void check_file(const char *const *overrides, const char *path, const char *text,
                       const char *other, int changes)
{
    struct run_hashes base = hashes_of(overrides);
    write_text(path, other);
    struct run_hashes changed = hashes_of(overrides);
    assert_int_equal(differences(&base, &changed), changes);
    write_text(path, text);
    struct run_hashes again = hashes_of(overrides);
    assert_int_equal(differences(&base, &again), 0);
}

static void a_file_is_known_by_its_content(void **state)
{
    (void)state;
    char model[128], heads[64], machine[64], hardware[80], trace[128], another[128];
    tiny_model(2, model);
    make_path(folder, "tiny.heads.tsv", heads);
    make_path(folder, "machine.yaml", machine);
    snprintf(hardware, sizeof hardware, "hardware=%s", machine);
    tiny_trace("other", trace);
    const char *const overrides[] = {model, hardware, "system=vllm", trace, "context=1000", NULL};

    const char *yaml = "gpu: a40\nlink: pcie4-x16\nhost: epyc-9654\n";
    write_text(machine, yaml);
    check_file(overrides, machine, yaml, "gpu: a40\nlink: pcie5-x16\nhost: epyc-9654\n", MACHINE);
    check_file(overrides, machine, yaml,
               "# only a comment\ngpu: a40\nlink: pcie4-x16\nhost: epyc-9654\n", 0);
    const char *table = "0.1\t0.2\t0.3\t0.4\n0.5\t0.6\t0.7\t0.8\n";
    write_text(heads, table);
    check_file(overrides, heads, table, "0.1\t0.2\t0.3\t0.4\n0.5\t0.6\t0.7\t0.9\n", MODEL);

    struct run_hashes base = hashes_of(overrides);
    tiny_trace("another", another); /* the same rows, of another model */
    assert_int_equal(rename(another + strlen("trace="), trace + strlen("trace=")), 0);
    struct run_hashes changed = hashes_of(overrides);
    assert_int_equal(differences(&base, &changed), TRACE);
    unlink(heads);
}

static void requests_are_known_by_their_content(void **state)
{
    (void)state;
    char path[64], workload[80];
    make_path(folder, "requests.csv", path);
    snprintf(workload, sizeof workload, "workload=%s", path);
    const char *text = "arrived_at,num_prefill_tokens,num_decode_tokens\n0,100,10\n5,200,20\n";
    write_text(path, text);
    const char *const overrides[] = {"context=", "trace=", "system=vllm", workload, NULL};
    check_file(overrides, path, text,
               "arrived_at,num_prefill_tokens,num_decode_tokens\n0,100,10\n5,200,21\n", REQUESTS);
    assert_int_equal(strlen(hashes_of(overrides).requests), 16);
    assert_string_equal(hashes_of(OVERRIDES(NULL)).requests, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_changes_the_hash_of_its_input),
        cmocka_unit_test(a_file_is_known_by_its_content),
        cmocka_unit_test(requests_are_known_by_their_content),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
