/* How fast a drive reads with some requests in flight, by hand. */
#include "unit/fixture/load_profile.h"

#include "machine/places.h"

#include <math.h>

/* A block of 96 kB takes 96 us alone: 64 us that other reads hide, and 32 us that they do not. With
 * 32 in flight that is 64 / 32 + 32 = 34 us a block. */
#define DRIVE                                                                                      \
    "{disk: {capacity: 1TB, read: 2823529411.7647B/s, write: 1GB/s, latency: 80us, read_one: "     \
    "1GB/s}}"

static double rate(const char *text, double bytes, uint32_t depth)
{
    struct trust trust = {.basis = BASIS_MEASURED};
    struct profile profile = load_well(text);
    double found = drive_read_rate(&profile, TIER_DISK, bytes, depth, &trust);
    profile_release(&profile);
    return found;
}

static void assert_rate(double found, double expected)
{
    if (fabs(found / expected - 1) > 1e-6) {
        fail_msg("%.9g instead of %.9g", found, expected);
    }
}

static void reads_in_flight_hide_a_part_of_each_others_time(void **state)
{
    (void)state;
    static const struct {
        uint32_t depth;
        double us; /* a block */
    } cases[] = {{1, 64 + 32}, {2, 32 + 32}, {4, 16 + 32}, {8, 8 + 32}, {32, 34}, {64, 34}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_rate(rate(DRIVE, 96000, cases[i].depth), 96000 / cases[i].us * 1e6);
    }
}

/* Deeper is never slower, and no depth beats the drive. Noise may put the rate of one read above
 * that of many. */
static void no_depth_is_faster_than_the_drive(void **state)
{
    (void)state;
    static const char *const drives[] = {
        DRIVE,
        "{disk: {capacity: 1TB, read: 1GB/s, write: 1GB/s, latency: 80us, read_one: 1.1GB/s}}",
        "{disk: {capacity: 1TB, read: 5GB/s, write: 1GB/s, latency: 80us, read_one: 10MB/s}}",
        "{disk: {capacity: 1TB, read: 2GB/s, write: 1GB/s, latency: 80us}}",
    };
    for (size_t i = 0; i < COUNT(drives); i++) {
        double most = rate(drives[i], 4096, DRIVE_DEPTH), before = 0;
        for (uint32_t depth = 1; depth <= 2 * DRIVE_DEPTH; depth++) {
            double now = rate(drives[i], 4096, depth);
            assert_true(now >= before && now <= most * (1 + 1e-12));
            before = now;
        }
        assert_rate(before, most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_in_flight_hide_a_part_of_each_others_time),
        cmocka_unit_test(no_depth_is_faster_than_the_drive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
