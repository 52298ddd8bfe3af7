/* Machines put together from files: what replaces what, files that are no profiles, what ships. */
#include "core/named.h"
#include "machine/measured.h"
#include "unit/fixture/load_profile.h"

#include <unistd.h>

/* ---- composition ----------------------------------------------------------------------------- */

static void name_and_extends_say_the_same(void **state)
{
    (void)state;
    struct error why;
    struct profile named = load_well("a40");
    struct profile extended = load_well("{extends: a40}");
    struct profile parts = load_well("{gpu: a40, link: pcie4-x16, host: epyc-9654}");
    char *a = node_canonical(named.node, &why);
    char *b = node_canonical(extended.node, &why);
    char *c = node_canonical(parts.node, &why);
    assert_string_equal(a, b);
    assert_string_equal(a, c);
    free(a);
    free(b);
    free(c);
    profile_release(&named);
    profile_release(&extended);
    profile_release(&parts);
}

static void parts_come_from_where_they_are_named(void **state)
{
    (void)state;
    struct profile a40 = load_well("a40");
    struct profile mixed = load_well("{extends: a40, gpu: h200, link: pcie5-x16}");
    assert_float_equal(value_of(&mixed, CURVE_GPU_HBM_BANDWIDTH), 4.8e12, 0);
    assert_float_equal(value_of(&mixed, CURVE_LINK_IN), 50e9, 0);
    assert_float_equal(value_of(&mixed, CURVE_HOST_CORES), 96, 0);
    assert_float_equal(value_of(&a40, CURVE_GPU_HBM_BANDWIDTH), 696e9, 0);
    assert_float_equal(value_of(&a40, CURVE_LINK_IN), 26e9, 0);
    profile_release(&a40);
    profile_release(&mixed);
}

/* There is no host file called rtx-4090: the machine's host is meant. */
static void part_is_taken_from_a_whole_machine(void **state)
{
    (void)state;
    struct profile profile = load_well("{host: rtx-4090}");
    assert_float_equal(value_of(&profile, CURVE_HOST_CORES), 32, 0);
    assert_int_equal(profile.curves[CURVE_GPU_SMS].count, 0);
    assert_int_equal(profile.curves[CURVE_LINK_IN].count, 0);
    profile_release(&profile);
}

static void override_replaces_a_figure_whole(void **state)
{
    (void)state;
    struct error why;
    struct node *node = node_parse("{extends: a40}", 14, "x.yaml", &why);
    assert_true(node_set(node, "link.h2d", "50GB/s", &why));
    assert_true(node_set(node, "host.cores", "{value: 12, basis: measured, source: lscpu}", &why));
    struct profile profile;
    assert_true(profile_load(NULL, node, &profile, &why));
    node_destroy(node);
    const struct curve *h2d = &profile.curves[CURVE_LINK_IN];
    assert_float_equal(h2d->value[0], 50e9, 0);
    assert_int_equal(h2d->basis, BASIS_ASSUMED);
    assert_string_equal(h2d->source, "stated as a bare value");
    assert_float_equal(h2d->most, 1, 0);
    assert_float_equal(value_of(&profile, CURVE_LINK_OUT), 26e9, 0);
    assert_float_equal(value_of(&profile, CURVE_HOST_CORES), 12, 0);
    assert_int_equal(profile.curves[CURVE_HOST_CORES].basis, BASIS_MEASURED);
    profile_release(&profile);
}

static void part_with_extends_starts_from_that_part(void **state)
{
    (void)state;
    struct profile profile = load_well("{extends: a40, link: {extends: pcie5-x16, d2h: 1GB/s}}");
    assert_float_equal(value_of(&profile, CURVE_LINK_IN), 50e9, 0);
    assert_float_equal(value_of(&profile, CURVE_LINK_OUT), 1e9, 0);
    profile_release(&profile);
}

static void profile_is_named_after_what_it_is_made_of(void **state)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        {"a40", "a40"},
        {"{extends: a40}", "a40"},
        {"{extends: a40, gpu: {}}", "a40"},
        {"{extends: a40, link: pcie5-x16}", "a40+pcie5-x16"},
        {"{gpu: a40, link: pcie5-x16, host: epyc-9654}", "a40+pcie5-x16+epyc-9654"},
        {"{extends: a40, link: {h2d: 1GB/s}}", "a40*"},
        {"{extends: a40, price_per_hour: 2}", "a40"},
        {"{extends: a40, gpus: 2}", "a40"},
        {"{extends: a40, gpus: 2, fabric: pcie4-host}", "a40+pcie4-host"},
        {"{extends: a40, link: {extends: pcie5-x16}}", "a40+pcie5-x16"},
        {"{gpu: {extends: a40, sms: 4}, host: epyc-9654}", "a40+epyc-9654*"},
        {"{link: {h2d: 1GB/s}}", "custom"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct profile profile = load_well(cases[i].text);
        assert_string_equal(profile.name, cases[i].name);
        profile_release(&profile);
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static char folder[] = "/tmp/spillway-profile-XXXXXX";

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

static void write_file(const char *name, const char *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* Load FOLDER/name, which fails with `found`. */
static void expect_found(const char *name, const char *found)
{
    char path[128];
    struct profile profile;
    struct error why;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (load(path, &profile, &why)) {
        profile_release(&profile);
        fail_msg("accepted: %s", name);
    }
    if (strstr(why.found, found) == NULL) {
        fail_msg("%s: '%s' does not say '%s'", name, why.found, found);
    }
}

static void file_that_is_no_profile_is_refused(void **state)
{
    static const struct {
        const char *name, *bytes;
        size_t size;
        const char *found;
    } cases[] = {
        {"empty.yaml", "", 0, "the profile is empty"},
        {"comment.yaml", "# nothing\n", 10, "the profile is empty"},
        {"binary.yaml",
         "\x7f"
         "ELF\x02\x01\x00\x00",
         8, ""},
        {"list.yaml", "- a40\n", 6, "this is not a hardware profile"},
        {"text.yaml", "a40\n", 4, "this is not a hardware profile"},
        {"cut.yaml", "link: {h2d: {value: 1GB/s, bas", 30, ""},
        {"self.yaml", "{}", 2, NULL},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_file(cases[i].name, cases[i].bytes, cases[i].size);
        if (cases[i].found != NULL) {
            expect_found(cases[i].name, cases[i].found);
        }
    }
    expect_found("missing.yaml", "");
    expect_found("", "");
}

static void every_cut_of_a_profile_loads_less_or_is_refused(void **state)
{
    static const char whole[] = "link: {extends: pcie4-x16, h2d: {value: 12.5GB/s, basis: assumed,"
                                " range: [50%, 200%], source: \"half\"}}\n";
    (void)state;
    for (size_t size = 0; size < sizeof whole - 2; size++) {
        write_file("cut.yaml", whole, size);
        expect_found("cut.yaml", "");
    }
}

static void files_that_lead_back_to_themselves_are_refused(void **state)
{
    char text[256];
    (void)state;
    snprintf(text, sizeof text, "extends: %s/ring-b.yaml\n", folder);
    write_file("ring-a.yaml", text, strlen(text));
    snprintf(text, sizeof text, "{extends: a40, gpu: %s/ring-a.yaml}\n", folder);
    write_file("ring-b.yaml", text, strlen(text));
    expect_found("ring-a.yaml", "extends itself");
    expect_found("ring-b.yaml", "extends itself");
    snprintf(text, sizeof text, "host: {extends: %s/loop.yaml}\n", folder);
    write_file("loop.yaml", text, strlen(text));
    expect_found("loop.yaml", "extends itself");
}

static void files_are_followed_eight_deep(void **state)
{
    (void)state;
    write_file("deep1.yaml", "link: {h2d: 1GB/s}\n", 19);
    for (int i = 2; i <= 9; i++) {
        char name[32], text[256];
        snprintf(name, sizeof name, "deep%d.yaml", i);
        snprintf(text, sizeof text, "extends: %s/deep%d.yaml\n", folder, i - 1);
        write_file(name, text, strlen(text));
    }
    char path[128];
    snprintf(path, sizeof path, "%s/deep8.yaml", folder);
    struct profile profile = load_well(path);
    assert_float_equal(value_of(&profile, CURVE_LINK_IN), 1e9, 0);
    assert_string_equal(profile.name, "deep8");
    profile_release(&profile);
    expect_found("deep9.yaml", "more than 8 deep");
}

/* A part of a file comes with the file's own figures, and without what else the file states. */
static void part_of_a_file_brings_its_overrides(void **state)
{
    char path[128], text[256];
    (void)state;
    write_file("own.yaml", "{extends: a40, gpu: {sms: 4}, link: no-such-link}", 49);
    snprintf(path, sizeof path, "%s/own.yaml", folder);
    snprintf(text, sizeof text, "gpu: %s", path);
    struct profile profile = load_well(text);
    assert_float_equal(value_of(&profile, CURVE_GPU_SMS), 4, 0);
    assert_float_equal(value_of(&profile, CURVE_GPU_HBM_BANDWIDTH), 696e9, 0);
    assert_int_equal(profile.curves[CURVE_HOST_CORES].count, 0);
    profile_release(&profile);
    expect_found("own.yaml", "unknown link 'no-such-link'");
}

/* What was measured on an L40S says less about a GPU with another peak. */
static void figures_taken_over_by_another_gpu_are_assumed(void **state)
{
    static const struct {
        const char *figure;
        enum basis basis; /* of a share that the file takes over */
    } cases[] = {
        {"hbm_bandwidth: {value: 900GB/s, basis: datasheet, source: a datasheet}", BASIS_ASSUMED},
        {"sms: 100", BASIS_ASSUMED},
        {"hbm_bandwidth: {value: 864GB/s, basis: datasheet, source: a datasheet}", BASIS_PUBLISHED},
        {"hbm_bandwidth: {value: 800GB/s, basis: measured, source: our own}", BASIS_PUBLISHED},
        {"kernel_floor: 2us", BASIS_PUBLISHED},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, "gpu: {extends: l40s, compute_capability: 8.9, %s}",
                 cases[i].figure);
        write_file("own.yaml", text, strlen(text));
        snprintf(text, sizeof text, "gpu: %s/own.yaml", folder);
        struct profile profile = load_well(text);
        const struct curve *share = &profile.curves[CURVE_GPU_ATTENTION_SHARE];
        bool assumed = cases[i].basis == BASIS_ASSUMED;
        assert_int_equal(share->basis, cases[i].basis);
        assert_int_equal(strncmp(share->source, "carried over from the profile l40s", 34) == 0,
                         assumed);
        assert_int_equal(profile.curves[CURVE_GPU_L2].basis, BASIS_DATASHEET);
        profile_release(&profile);
    }
}

/* The last that is said holds; of a part there is none. */
static void price_is_the_whole_machines(void **state)
{
    static const struct {
        const char *format;
        double price;
    } cases[] = {
        {"%s/unpriced.yaml", 0},
        {"%s/priced.yaml", 1.5},
        {"{extends: %s/priced.yaml}", 1.5},
        {"{extends: %s/priced.yaml, link: pcie5-x16}", 1.5},
        {"{extends: %s/priced.yaml, price_per_hour: 1.25}", 1.25},
        {"{extends: %s/unpriced.yaml, price_per_hour: 0.45}", 0.45},
        {"{extends: a40, gpu: %s/priced.yaml}", 0},
        {"{extends: a40, gpu: {extends: %s/priced.yaml}, price_per_hour: 0.001}", 0.001},
    };
    (void)state;
    write_file("unpriced.yaml", "extends: h200", 13);
    write_file("priced.yaml", "{extends: h200, price_per_hour: 1.5}", 36);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, cases[i].format, folder);
        struct profile profile = load_well(text);
        assert_float_equal(profile.price_per_hour, cases[i].price, 0);
        profile_release(&profile);
    }
}

/* A machine has as many GPUs as it states last; a fabric replaces that of the machine, whole. */
static void gpus_and_fabric_are_the_machines(void **state)
{
    static const struct {
        const char *format;
        uint64_t gpus;
        bool pair, all; /* stated: fabric.collective_2, fabric.collective */
    } cases[] = {
        {"{extends: h200}", 0, false, false},
        {"{extends: h200, gpus: 8}", 8, false, false},
        {"%s/pair.yaml", 2, true, false},
        {"{extends: %s/pair.yaml, gpus: 4}", 4, true, false},
        {"{extends: %s/pair.yaml, fabric: pcie4}", 2, true, true},
        {"{extends: h200, fabric: %s/pair.yaml}", 0, true, false},
        {"{extends: h200, gpu: %s/pair.yaml}", 0, false, false},
    };
    static const char pair[] = "{extends: h200, gpus: 2, fabric: {collective_2: 30us}}";
    (void)state;
    write_file("pair.yaml", pair, sizeof pair - 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[256];
        snprintf(text, sizeof text, cases[i].format, folder);
        struct profile profile = load_well(text);
        assert_int_equal(profile.gpus, cases[i].gpus);
        assert_int_equal(profile_states(&profile, CURVE_FABRIC_COLLECTIVE_2), cases[i].pair);
        assert_int_equal(profile_states(&profile, CURVE_FABRIC_COLLECTIVE), cases[i].all);
        profile_release(&profile);
    }
}

static void part_that_a_file_does_not_state_is_refused(void **state)
{
    char text[256];
    (void)state;
    snprintf(text, sizeof text, "gpu: %s/deep1.yaml\n", folder);
    write_file("deep1.yaml", "link: {h2d: 1GB/s}\n", 19);
    write_file("no-gpu.yaml", text, strlen(text));
    expect_found("no-gpu.yaml", "has no part 'gpu'");
}

/* ---- what ships ------------------------------------------------------------------------------ */

/* Call `check` with each profile of a folder, loaded as `format` says of its name. */
static void for_each_shipped(const char *shipped, const char *format,
                             void (*check)(const struct profile *profile))
{
    struct error why;
    char **names;
    size_t count;
    assert_true(find_names(shipped, "yaml", &names, &count, &why));
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        char text[128];
        snprintf(text, sizeof text, format, names[i]);
        struct profile profile = load_well(text);
        check(&profile);
        profile_release(&profile);
        free(names[i]);
    }
    free(names);
}

/* Does the file that states the figure begin as what 'calibrate' writes? The loader holds such a
 * file against its checksum. */
static bool was_measured(const struct profile *profile, enum curve_id id)
{
    char part[8] = "", line[128] = "";
    const char *name = curve_kinds[id].name;
    size_t length = strcspn(name, ".");
    assert_true(length < sizeof part);
    memcpy(part, name, length);
    const struct node *figure = node_get(node_get(profile->node, part), name + length + 1);
    assert_non_null(figure);
    FILE *file = fopen(figure->file, "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    return strncmp(line, measured_first_line, strlen(measured_first_line)) == 0;
}

/* Shipped figures say where they come from: none is bare, and what is assumed has a real band. */
static void check_figures(const struct profile *profile)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        const struct curve *curve = &profile->curves[id];
        if (curve->count == 0) {
            continue;
        }
        if (strlen(curve->source) < 10 || strstr(curve->source, "bare value") != NULL) {
            fail_msg("%s: %s: source '%s'", profile->name, curve_kinds[id].name, curve->source);
        }
        if (curve->basis == BASIS_ASSUMED && curve->least == 1 && curve->most == 1) {
            fail_msg("%s: %s is assumed exactly", profile->name, curve_kinds[id].name);
        }
        if (curve->basis == BASIS_MEASURED && !was_measured(profile, id)) {
            fail_msg("%s: %s: written, not measured", profile->name, curve_kinds[id].name);
        }
    }
}

/* What must hold of any link, whatever its figures. */
static void check_link(const struct profile *profile)
{
    check_figures(profile);
    if (profile->curves[CURVE_LINK_IN].count == 0) {
        return;
    }
    double h2d = value_of(profile, CURVE_LINK_IN);
    double d2h = value_of(profile, CURVE_LINK_OUT);
    double duplex = value_of(profile, CURVE_LINK_DUPLEX);
    assert_true(duplex >= h2d && duplex >= d2h && duplex <= h2d + d2h);
    assert_true(value_of(profile, CURVE_LINK_ZERO_COPY) <= h2d);
    const struct curve *store = &profile->curves[CURVE_LINK_CPU_STORE];
    assert_true(store->value[store->count - 1] <= h2d);
}

/* Every curve but those that have a standard or are optional. */
static void check_whole(const struct profile *profile)
{
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        bool needed = curve_kinds[id].standard == 0 && !curve_kinds[id].optional;
        if (needed && !profile_states(profile, id)) {
            fail_msg("%s does not state %s", profile->name, curve_kinds[id].name);
        }
    }
    check_link(profile);
}

static void every_machine_states_every_curve(void **state)
{
    (void)state;
    for_each_shipped("hwprofiles", "%s", check_whole);
}

static void every_figure_has_a_source(void **state)
{
    (void)state;
    for_each_shipped("hwprofiles/gpus", "gpu: %s", check_figures);
    for_each_shipped("hwprofiles/links", "link: %s", check_link);
    for_each_shipped("hwprofiles/hosts", "host: %s", check_figures);
}

static void every_link_fits_a_machine(void **state)
{
    static const char *const links[] = {"pcie3-x16", "pcie4-x16", "pcie5-x16", "pcie6-x16",
                                        "nvlink-c2c"};
    (void)state;
    for (size_t i = 0; i < COUNT(links); i++) {
        char text[64];
        snprintf(text, sizeof text, "{extends: a40, link: %s}", links[i]);
        struct profile profile = load_well(text);
        check_whole(&profile);
        profile_release(&profile);
    }
}

/* ---- what a GPU takes over from another ------------------------------------------------------ */

static void gpu_of_another_architecture_is_not_extended(void **state)
{
    static const struct {
        const char *text, *found; /* found: of the message; NULL: the profile is loaded */
    } cases[] = {
        {"{gpu: {extends: l40s, compute_capability: 8.9}}", NULL},
        {"{gpu: {extends: nvidia, compute_capability: 8.0}}", NULL},
        {"{gpu: {extends: h100-sxm, compute_capability: 8.0}}",
         "a GPU of compute capability 8.0 cannot extend 'h100-sxm', which has 9.0"},
        {"{extends: h100-sxm, gpu: {compute_capability: 8.0}}",
         "a GPU of compute capability 8.0 cannot extend 'h100-sxm', which has 9.0"},
        {"{gpu: {compute_capability: ada}}",
         "'gpu.compute_capability' is not a compute capability"},
        {"{gpu: {compute_capability: 89}}", "'gpu.compute_capability' is not a compute capability"},
        {"{gpu: {compute_capability: [8, 9]}}",
         "'gpu.compute_capability' is not a compute capability"},
        {"{gpu: {compute_capability: 8.95}}",
         "'gpu.compute_capability' is not a compute capability"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct profile profile;
        struct error why;
        if (load(cases[i].text, &profile, &why)) {
            assert_null(cases[i].found);
            profile_release(&profile);
        } else {
            assert_string_equal(why.found, cases[i].found);
            assert_string_not_equal(why.expected, "");
        }
    }
}

/* A GPU without fp8 takes over no figure of it, whatever it extends, unless it states it. */
static void gpu_without_fp8_takes_over_none_of_it(void **state)
{
    (void)state;
    struct profile with = load_well("{gpu: {extends: h100-sxm, flops_fp8: 1979TFLOP/s}}");
    struct profile without =
        load_well("{gpu: {extends: h100-sxm, flops_bf16: 312TFLOP/s, flops_fp8: 312TFLOP/s,"
                  " product_fixed_fp8: 5us}}");
    static const enum curve_id of_fp8[] = {
        CURVE_GPU_PRODUCT_SHARE_FP8, CURVE_GPU_FLOPS_SHARE_FP8, CURVE_GPU_ATTENTION_FIXED_FP8,
        CURVE_GPU_ATTENTION_SHARE_FP8, CURVE_GPU_ATTENTION_PAIR_FP8};
    for (size_t i = 0; i < COUNT(of_fp8); i++) {
        assert_true(profile_states(&with, of_fp8[i]));
        assert_false(profile_states(&without, of_fp8[i]));
    }
    assert_true(profile_states(&without, CURVE_GPU_PRODUCT_FIXED_FP8));
    assert_true(profile_states(&without, CURVE_GPU_PRODUCT_FIXED));
    profile_release(&with);
    profile_release(&without);
}

/* What a compute capability rules out: fp8 before 8.9. */
static void check_architecture(const struct profile *profile)
{
    const char *capability = NULL;
    struct error why;
    assert_true(node_text(node_get(profile->node, "gpu"), "compute_capability", &capability, &why));
    if (capability == NULL) {
        assert_string_equal(profile->name, "nvidia");
        return;
    }
    bool has = value_of(profile, CURVE_GPU_FLOPS_FP8) > value_of(profile, CURVE_GPU_FLOPS_BF16);
    assert_int_equal(has, atof(capability) >= 8.9);
    assert_true(has || !profile_states(profile, CURVE_GPU_PRODUCT_FIXED_FP8));
    assert_true(profile_states(profile, CURVE_GPU_L2));
}

static void every_gpu_has_the_fp8_of_its_architecture(void **state)
{
    (void)state;
    for_each_shipped("hwprofiles/gpus", "gpu: %s", check_architecture);
}

/* ---- machines of published results ------------------------------------------------------------ */

static void machines_are_those_of_the_published_results(void **state)
{
    static const struct {
        const char *name;
        double hbm, flops, h2d, cores;
    } machines[] = {
        {"a40-no-ecc", 696e9, 149.7e12, 26e9, 96}, {"h100-sxm", 3350e9, 989e12, 50e9, 90},
        {"rtx-4090", 1008e9, 165.2e12, 26e9, 32},  {"rtx-a6000", 768e9, 154.8e12, 26e9, 64},
        {"h200", 4800e9, 989e12, 50e9, 112},       {"rtx-pro-6000", 1792e9, 503.8e12, 50e9, 32},
        {"t4", 320e9, 65e12, 12.36e9, 16},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(machines); i++) {
        struct profile profile = load_well(machines[i].name);
        assert_string_equal(profile.name, machines[i].name);
        assert_float_equal(value_of(&profile, CURVE_GPU_HBM_BANDWIDTH), machines[i].hbm, 1);
        assert_float_equal(value_of(&profile, CURVE_GPU_FLOPS_BF16), machines[i].flops, 1);
        assert_float_equal(value_of(&profile, CURVE_LINK_IN), machines[i].h2d, 1);
        assert_float_equal(value_of(&profile, CURVE_HOST_CORES), machines[i].cores, 0);
        profile_release(&profile);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(name_and_extends_say_the_same),
        cmocka_unit_test(parts_come_from_where_they_are_named),
        cmocka_unit_test(part_is_taken_from_a_whole_machine),
        cmocka_unit_test(override_replaces_a_figure_whole),
        cmocka_unit_test(part_with_extends_starts_from_that_part),
        cmocka_unit_test(profile_is_named_after_what_it_is_made_of),
        cmocka_unit_test(file_that_is_no_profile_is_refused),
        cmocka_unit_test(every_cut_of_a_profile_loads_less_or_is_refused),
        cmocka_unit_test(files_that_lead_back_to_themselves_are_refused),
        cmocka_unit_test(files_are_followed_eight_deep),
        cmocka_unit_test(part_of_a_file_brings_its_overrides),
        cmocka_unit_test(price_is_the_whole_machines),
        cmocka_unit_test(gpus_and_fabric_are_the_machines),
        cmocka_unit_test(part_that_a_file_does_not_state_is_refused),
        cmocka_unit_test(gpu_of_another_architecture_is_not_extended),
        cmocka_unit_test(gpu_without_fp8_takes_over_none_of_it),
        cmocka_unit_test(every_gpu_has_the_fp8_of_its_architecture),
        cmocka_unit_test(every_machine_states_every_curve),
        cmocka_unit_test(figures_taken_over_by_another_gpu_are_assumed),
        cmocka_unit_test(every_figure_has_a_source),
        cmocka_unit_test(every_link_fits_a_machine),
        cmocka_unit_test(machines_are_those_of_the_published_results),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
