/* Pieces of a pool of blocks: they are known, idle and evicted together, and cut and joined where need be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_requests.h"

#include "server/prefix/block_pool.h"

#include <sys/resource.h>

static struct error why;
static struct requests requests;
static struct block_numbers numbers;
static struct block_pool *pool;

static bool is_gone(uint32_t id, void *context)
{
    (void)context;
    return !block_pool_knows(pool, id);
}

static void cut(uint32_t id, uint32_t rest, void *context)
{
    (void)context;
    block_pool_cut(pool, id, rest);
}

static bool join(uint32_t id, uint32_t rest, void *context)
{
    (void)context;
    bool joins = block_pool_joins(pool, id, rest);
    if (joins) {
        block_pool_join(pool, id, rest);
    }
    return joins;
}

static const struct block_pieces tiers = {.gone = is_gone, .cut = cut, .join = join};

/* Two requests of 16 blocks of a shared prompt, the second of which ends otherwise behind the eighth. */
static void make_numbers(uint64_t capacity)
{
    requests = no_requests();
    add_request(&requests, (const uint32_t[]){0, 1, 2, 3}, 4, CHUNK, 1);
    add_request(&requests, (const uint32_t[]){0, 1, 4, 5}, 4, CHUNK, 1);
    const struct block_owners of = {.requests = &requests, .block_tokens = BLOCK};
    assert_true(block_numbers_init(&numbers, &of, &why));
    numbers.tiers = &tiers;
    pool = block_pool_create(&numbers, capacity, NULL, NULL, &why);
    assert_non_null(pool);
}

static void check_pieces(size_t index, const char *counts)
{
    size_t count;
    char text[64] = "";
    const struct piece_span *spans = block_numbers_list(&numbers, index, 0, 16, &count);
    for (size_t i = 0; i < count; i++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), " %u", spans[i].count);
    }
    assert_string_equal(text + 1, counts);
}

static void fill(size_t index, uint64_t from, uint64_t to)
{
    size_t count;
    block_pool_take(pool, to - from);
    const struct piece_span *spans = block_numbers_list(&numbers, index, from, to, &count);
    for (size_t i = 0; i < count; i++) {
        block_pool_name(pool, spans[i].first);
    }
}

static void release(size_t index, uint64_t to)
{
    size_t count;
    const struct piece_span *spans = block_numbers_list(&numbers, index, 0, to, &count);
    while (count-- > 0) {
        block_pool_release(pool, spans[count].first, true);
    }
}

static void a_piece_loses_its_last_blocks_first(void **state)
{
    (void)state;
    make_numbers(20);
    block_numbers_give(&numbers, 0);
    check_pieces(0, "16");
    fill(0, 0, 10);
    fill(0, 10, 16);
    check_pieces(0, "10 6");
    release(0, 16);
    block_numbers_give(&numbers, 0);
    check_pieces(0, "16");
    block_pool_take(pool, 9); /* four free ones, and five of the piece */
    check_pieces(0, "11 5");
    assert_int_equal(block_pool_census(pool).known, 11);
    assert_int_equal(block_pool_census(pool).idle, 11);
    block_pool_destroy(pool);
    block_numbers_release(&numbers);
}

static void a_row_ends_where_another_prompt_differs(void **state)
{
    (void)state;
    make_numbers(40);
    block_numbers_give(&numbers, 0);
    fill(0, 0, 16);
    block_numbers_give(&numbers, 1);
    check_pieces(0, "8 8");
    check_pieces(1, "8 8");
    fill(1, 0, 16); /* the first half is known */
    assert_int_equal(block_pool_census(pool).known, 24);
    assert_int_equal(block_pool_census(pool).references, 32);
    release(0, 16);
    assert_int_equal(block_pool_census(pool).idle, 8);
    block_pool_destroy(pool);
    block_numbers_release(&numbers);
}

/* The first of two requests has ended: the second one gets all of its numbers, though no memory is left to
 * note them. */
static void no_number_is_forgotten_when_memory_runs_out(void **state)
{
    (void)state;
    enum { BLOCKS = 1 << 19 };
    requests = no_requests();
    requests.count = 2;
    all[0].output = all[1].output = BLOCKS * BLOCK;
    const struct block_owners of = {
        .requests = &requests, .block_tokens = BLOCK, .recycled = true, .single = true};
    struct rlimit old;
    assert_true(block_numbers_init(&numbers, &of, &why));
    numbers.tiers = &tiers;
    pool = block_pool_create(&numbers, BLOCKS, NULL, NULL, &why);
    assert_non_null(pool);
    block_numbers_give(&numbers, 0);
    block_numbers_leave(&numbers, 0);
    getrlimit(RLIMIT_AS, &old);
    setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = 1, .rlim_max = old.rlim_max});
    block_numbers_give(&numbers, 1);
    setrlimit(RLIMIT_AS, &old);
    assert_int_equal(numbers.next, BLOCKS);
    block_pool_destroy(pool);
    block_numbers_release(&numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_piece_loses_its_last_blocks_first),
        cmocka_unit_test(a_row_ends_where_another_prompt_differs),
        cmocka_unit_test(no_number_is_forgotten_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
