/* The profiles that measurements extend by default. */
#include "unit/fixture/load_profile.h"

#include "calibrate/harness/default_base.h"

static void every_known_gpu_has_a_profile(void **state)
{
    (void)state;
    for (const struct known_gpu *gpu = known_gpus; gpu->device != NULL; gpu++) {
        struct profile profile = load_well(gpu->profile);
        assert_string_equal(profile.name, gpu->profile);
        profile_release(&profile);
    }
}

static void gpu_is_known_by_its_whole_name(void **state)
{
    (void)state;
    assert_string_equal(default_base("NVIDIA H200"), "h200");
    assert_string_equal(default_base("NVIDIA H100 80GB HBM3"), "h100-sxm");
    assert_string_equal(default_base("NVIDIA A40"), "a40");
    assert_string_equal(default_base("NVIDIA L4"), "l4");
    assert_string_equal(default_base("NVIDIA L40S"), "l40s");
    assert_string_equal(default_base("NVIDIA A100-SXM4-80GB"), "a100-sxm-80gb");
    assert_string_equal(default_base("NVIDIA RTX PRO 6000 Blackwell Server Edition"),
                        "rtx-pro-6000-server");
    assert_string_equal(default_base("NVIDIA A100 80GB PCIe"), "h100-sxm");
    assert_string_equal(default_base("NVIDIA L40"), "h100-sxm");
    assert_string_equal(default_base("NVIDIA A40-8Q"), "h100-sxm");
    assert_string_equal(default_base(""), "h100-sxm");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_known_gpu_has_a_profile),
        cmocka_unit_test(gpu_is_known_by_its_whole_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
