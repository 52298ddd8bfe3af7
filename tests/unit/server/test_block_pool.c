/* Runs of a pool of blocks: known, idle and evicted together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/prefix/block_pool.h"

static struct error why;
static struct block_numbers numbers = {.most = 1};

static void check_census(const struct block_pool *pool, uint64_t idle, uint64_t known,
                         uint64_t free_blocks)
{
    struct block_census census = block_pool_census(pool);
    assert_int_equal(census.idle, idle);
    assert_int_equal(census.known, known);
    assert_int_equal(census.free, free_blocks);
    assert_int_equal(census.free + census.taken + census.known, census.capacity);
}

/* Take blocks for a run, and fill them. */
static void fill(struct block_pool *pool, uint32_t run, uint64_t count)
{
    block_pool_take(pool, count);
    block_pool_run_name(pool, run, count);
}

static void a_run_loses_its_last_blocks_first(void **state)
{
    (void)state;
    struct block_pool *pool = block_pool_create(&numbers, 2, 10, NULL, NULL, &why);
    assert_non_null(pool);
    fill(pool, 0, 4);
    fill(pool, 1, 4);
    block_pool_run_release(pool, 1);
    block_pool_run_release(pool, 0);
    check_census(pool, 8, 8, 2);
    block_pool_take(pool, 5); /* two free ones, and three of the run that is idle longer */
    assert_int_equal(block_pool_run_known(pool, 1), 1);
    assert_int_equal(block_pool_run_known(pool, 0), 4);
    block_pool_take(pool, 2);
    assert_int_equal(block_pool_run_known(pool, 1), 0);
    assert_int_equal(block_pool_run_known(pool, 0), 3);
    check_census(pool, 3, 3, 0);
    block_pool_destroy(pool);
}

/* A request that is preempted finds all its blocks but the last, whose tokens it computes again:
 * that block keeps its place among the idle ones, until the request fills it again. */
static void the_block_that_is_left_stays_idle_longest(void **state)
{
    (void)state;
    struct block_pool *pool = block_pool_create(&numbers, 1, 10, NULL, NULL, &why);
    assert_non_null(pool);
    fill(pool, 0, 4);
    block_pool_run_release(pool, 0);
    for (int i = 0; i < 3; i++) {
        block_pool_run_refer(pool, 0, 3);
        check_census(pool, 1, 4, 6);
        block_pool_run_release(pool, 0);
        check_census(pool, 4, 4, 6);
    }
    block_pool_run_refer(pool, 0, 3);
    fill(pool, 0, 2); /* the block that was left, and a new one */
    check_census(pool, 0, 5, 5);
    assert_int_equal(block_pool_census(pool).references, 5);
    assert_int_equal(pool->first_uses, 4 + 4 * 3 + 2);
    block_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_loses_its_last_blocks_first),
        cmocka_unit_test(the_block_that_is_left_stays_idle_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
