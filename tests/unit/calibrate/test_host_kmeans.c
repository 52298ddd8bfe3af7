/* An iteration of k-means beside one by hand, and beside distances one by one. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/kmeans.h"

#include <math.h>
#include <stdlib.h>

enum { DIM = 12, COUNT = 300 };

struct iteration {
    float keys[COUNT * DIM], centroids[DIM * KMEANS_CENTROIDS], halves[KMEANS_CENTROIDS];
    uint8_t nearest[COUNT];
    float sums[KMEANS_CENTROIDS * DIM];
    uint32_t members[KMEANS_CENTROIDS];
};

static float value_of(const struct iteration *all, uint32_t centroid, uint32_t d)
{
    return all->centroids[d * KMEANS_CENTROIDS + centroid];
}

static void iterate(struct iteration *all, uint32_t dim, uint32_t count)
{
    for (uint32_t c = 0; c < KMEANS_CENTROIDS; c++) {
        all->halves[c] = 0;
        for (uint32_t d = 0; d < dim; d++) {
            all->halves[c] += value_of(all, c, d) * value_of(all, c, d) / 2;
        }
    }
    kmeans_iterate(&(struct kmeans){dim, count, all->keys, all->centroids, all->halves,
                                    all->nearest, all->sums, all->members});
}

/* On a line with a centroid at every whole number; 2.5 is as far from 2 as from 3. */
static void keys_go_to_the_nearest(void **state)
{
    (void)state;
    static struct iteration all;
    const float keys[] = {0.4f, 2.6f, -7, 62.9f, 2.5f, 100};
    const uint8_t nearest[] = {0, 3, 0, 63, 2, 63};
    for (uint32_t c = 0; c < KMEANS_CENTROIDS; c++) {
        all.centroids[c] = (float)c;
    }
    for (uint32_t i = 0; i < 6; i++) {
        all.keys[i] = keys[i];
    }
    iterate(&all, 1, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(all.nearest[i], nearest[i]);
    }
    assert_int_equal(all.members[0], 2);
    assert_int_equal(all.members[63], 2);
    assert_int_equal(all.members[1], 0);
    assert_true(fabsf(all.sums[0] - -6.6f) < 1e-5f);
    assert_true(fabsf(all.sums[63] - 162.9f) < 1e-4f);
    assert_true(all.sums[1] == 0);
}

static double distance(const struct iteration *all, uint32_t key, uint32_t centroid)
{
    double sum = 0;
    for (uint32_t d = 0; d < DIM; d++) {
        double apart = (double)all->keys[key * DIM + d] - (double)value_of(all, centroid, d);
        sum += apart * apart;
    }
    return sum;
}

static void none_is_nearer_and_sums_are_those_of_members(void **state)
{
    (void)state;
    static struct iteration all;
    double sums[KMEANS_CENTROIDS * DIM] = {0};
    uint32_t members[KMEANS_CENTROIDS] = {0};
    srand(3);
    for (uint32_t i = 0; i < COUNT * DIM; i++) {
        all.keys[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    }
    for (uint32_t i = 0; i < DIM * KMEANS_CENTROIDS; i++) {
        all.centroids[i] = (float)rand() / (float)RAND_MAX - 0.5f;
    }
    iterate(&all, DIM, COUNT);
    for (uint32_t key = 0; key < COUNT; key++) {
        uint32_t nearest = all.nearest[key];
        members[nearest]++;
        for (uint32_t c = 0; c < KMEANS_CENTROIDS; c++) {
            assert_true(distance(&all, key, nearest) <= distance(&all, key, c) + 1e-5);
        }
        for (uint32_t d = 0; d < DIM; d++) {
            sums[nearest * DIM + d] += (double)all.keys[key * DIM + d];
        }
    }
    assert_memory_equal(all.members, members, sizeof members);
    for (uint32_t i = 0; i < KMEANS_CENTROIDS * DIM; i++) {
        assert_true(fabs((double)all.sums[i] - sums[i]) < 1e-4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_go_to_the_nearest),
        cmocka_unit_test(none_is_nearer_and_sums_are_those_of_members),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
