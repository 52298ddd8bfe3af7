/* Links as sysfs states them, and what keeps a GPU's clocks down. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/device/nvml.h"
#include "calibrate/device/pcie.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])

static void speeds_are_generations(void **state)
{
    (void)state;
    static const struct {
        const char *speed;
        uint32_t generation;
    } cases[] = {
        {"2.5 GT/s PCIe\n", 1},
        {"5.0 GT/s PCIe", 2},
        {"8.0 GT/s PCIe", 3},
        {"16.0 GT/s PCIe", 4},
        {"32.0 GT/s PCIe", 5},
        {"32 GT/s", 5},
        {"64.0 GT/s PCIe", 6},
        {"16GT/s", 4},
        {"Unknown", 0},
        {"", 0},
        {"32.0", 0},
        {"31.0 GT/s PCIe", 0},
        {"GT/s", 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        print_message("# '%s'\n", cases[i].speed);
        assert_int_equal(pcie_generation(cases[i].speed), cases[i].generation);
    }
}

/* By hand: 32 GT/s x 16 lanes / 8 x 128/130 = 63.015 GB/s; 8 GT/s x 4 / 8 x 128/130 = 3.938;
 * 2.5 GT/s x 1 / 8 x 8/10 = 0.25. */
static void rates_are_those_of_the_specification(void **state)
{
    (void)state;
    assert_float_equal(pcie_rate((struct pcie_link){5, 16}), 63.0154e9, 1e5);
    assert_float_equal(pcie_rate((struct pcie_link){3, 4}), 3.93846e9, 1e5);
    assert_float_equal(pcie_rate((struct pcie_link){1, 1}), 0.25e9, 1);
    assert_float_equal(pcie_rate((struct pcie_link){0, 16}), 0, 0);
    assert_float_equal(pcie_rate((struct pcie_link){9, 16}), 0, 0);
}

static void links_are_written_out(void **state)
{
    (void)state;
    char text[40];
    assert_string_equal(pcie_format((struct pcie_link){5, 16}, text, sizeof text),
                        "generation 5, 16 lanes");
    assert_string_equal(pcie_format((struct pcie_link){1, 1}, text, sizeof text),
                        "generation 1, 1 lane");
    assert_string_equal(pcie_format((struct pcie_link){0, 16}, text, sizeof text), "not known");
    assert_string_equal(pcie_format((struct pcie_link){4, 0}, text, sizeof text), "not known");
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

#define DEVICE "0000:17:00.0"

static void a_link_is_read_whole_or_not_at_all(void **state)
{
    (void)state;
    static const char *const files[] = {"current_link_speed", "current_link_width",
                                        "max_link_speed", "max_link_width"};
    char root[] = "/tmp/test_pcie.XXXXXX", folder[256] = "", path[512];
    struct pcie_link now, most;
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < 4; i++) {
        static const char *const parts[] = {"", "/bus", "/bus/pci", "/bus/pci/devices"};
        snprintf(folder, sizeof folder, "%s%s", root, parts[i]);
        mkdir(folder, 0700);
    }
    snprintf(folder, sizeof folder, "%s/bus/pci/devices/%s", root, DEVICE);
    assert_int_equal(mkdir(folder, 0700), 0);
    write_file(folder, files[0], "16.0 GT/s PCIe\n");
    write_file(folder, files[1], "8\n");
    write_file(folder, files[2], "32.0 GT/s PCIe\n");
    assert_false(pcie_read(root, DEVICE, &now, &most)); /* one is missing */
    assert_int_equal(now.generation, 0);
    write_file(folder, files[3], "16\n");
    assert_true(pcie_read(root, DEVICE, &now, &most));
    assert_int_equal(now.generation, 4);
    assert_int_equal(now.lanes, 8);
    assert_int_equal(most.generation, 5);
    assert_int_equal(most.lanes, 16);
    write_file(folder, files[1], "255\n"); /* what Linux says where it does not know */
    assert_false(pcie_read(root, DEVICE, &now, &most));
    assert_false(pcie_read(root, "0000:18:00.0", &now, &most));
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "rm -r %s", root);
    assert_int_equal(system(path), 0);
}

static void reasons_are_named(void **state)
{
    (void)state;
    char text[160], cut[12];
    assert_string_equal(nvml_reasons(0, text, sizeof text), "nothing");
    assert_string_equal(nvml_reasons(1, text, sizeof text), "nothing"); /* idle */
    assert_string_equal(nvml_reasons(0x4, text, sizeof text), "power cap");
    assert_string_equal(nvml_reasons(0x25, text, sizeof text), "power cap, heat");
    assert_string_equal(nvml_reasons(0x1fe, cut, sizeof cut), "application");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(speeds_are_generations),
        cmocka_unit_test(rates_are_those_of_the_specification),
        cmocka_unit_test(links_are_written_out),
        cmocka_unit_test(a_link_is_read_whole_or_not_at_all),
        cmocka_unit_test(reasons_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
