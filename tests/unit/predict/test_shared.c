/* Values that runs share: made once for a key, by whoever asks first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/parallel.h"
#include "core/stop_flag.h"
#include "predict/decode/context.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int made, destroyed;

/* The context is the value to make; NULL fails. */
static void *make_int(void *context, struct error *why)
{
    atomic_fetch_add(&made, 1);
    usleep(1000); /* long enough for others to come and wait */
    int *value = context == NULL ? NULL : malloc(sizeof *value);
    if (value == NULL) {
        error_set(why, NULL, 0, "nothing to make");
        return NULL;
    }
    *value = *(int *)context;
    return value;
}

static void destroy_int(void *value)
{
    atomic_fetch_add(&destroyed, 1);
    free(value);
}

static struct stop_flag *flag;

static const struct shared_kind ints = {make_int, destroy_int};
static const struct shared_kind others = {make_int, destroy_int};

static int start(void **state)
{
    struct error why;
    made = destroyed = 0;
    static struct stop_flag stop;
    atomic_store(&stop.raised, false);
    flag = &stop;
    *state = shared_create(8, flag, &why);
    return *state == NULL;
}

static int get(struct shared *shared, const struct shared_kind *kind, uint64_t key, int value)
{
    struct shared_entry *entry;
    struct error why;
    const int *got = shared_get(shared, kind, key, &value, &entry, &why);
    assert_non_null(got);
    int copy = *got;
    shared_release(shared, entry);
    return copy;
}

static void equal_keys_are_made_once(void **state)
{
    struct shared *shared = *state;
    assert_int_equal(get(shared, &ints, 7, 1), 1);
    assert_int_equal(get(shared, &ints, 7, 2), 1);
    assert_int_equal(get(shared, &ints, 8, 3), 3);
    assert_int_equal(get(shared, &others, 7, 4), 4);
    assert_int_equal(made, 3);
    shared_destroy(shared);
    assert_int_equal(destroyed, 3);
}

static bool ask(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    struct shared_entry *entry;
    int value = (int)(index % 3);
    (void)thread;
    const int *got = shared_get(context, &ints, index % 3, &value, &entry, why);
    bool good = got != NULL && *got == value;
    shared_release(context, entry);
    return good;
}

static void threads_wait_for_the_one_that_makes(void **state)
{
    struct error why;
    assert_true(parallel_for(300, 8, ask, *state, &why));
    assert_int_equal(made, 3);
    shared_destroy(*state);
}

static void failing_is_not_kept(void **state)
{
    struct shared_entry *entry;
    struct error why;
    assert_null(shared_get(*state, &ints, 7, NULL, &entry, &why));
    assert_string_equal(why.found, "nothing to make");
    assert_null(entry);
    assert_int_equal(get(*state, &ints, 7, 5), 5);
    assert_int_equal(made, 2);
    shared_destroy(*state);
    assert_int_equal(destroyed, 1);
}

/* However many keys: what is held stays, what was used last stays, the rest goes. */
static void what_nobody_uses_goes(void **state)
{
    struct shared *shared = *state;
    struct shared_entry *entry;
    struct error why;
    int first = 100;
    const int *held = shared_get(shared, &ints, 1000, &first, &entry, &why);
    for (int i = 0; i < 400; i++) {
        assert_int_equal(get(shared, &ints, (uint64_t)i, i), i);
    }
    assert_int_equal(*held, 100);
    assert_true(destroyed > 100);
    assert_int_equal(get(shared, &ints, 399, 1), 399);
    assert_int_equal(get(shared, &ints, 0, 1), 1);
    shared_release(shared, entry);
    shared_destroy(shared);
    assert_int_equal(destroyed, made);
}

static void who_is_stopped_makes_nothing_more(void **state)
{
    struct shared *shared = *state;
    struct shared_entry *entry;
    struct error why;
    int value = 20;
    get(shared, &ints, 1, 10);
    atomic_store(&flag->raised, true);
    assert_int_equal(get(shared, &ints, 1, 10), 10); /* it is there */
    assert_null(shared_get(shared, &ints, 2, &value, &entry, &why));
    assert_string_equal(why.found, "interrupted");
    assert_null(entry);
    assert_int_equal(made, 1);
    shared_destroy(shared);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equal_keys_are_made_once, start),
        cmocka_unit_test_setup(threads_wait_for_the_one_that_makes, start),
        cmocka_unit_test_setup(failing_is_not_kept, start),
        cmocka_unit_test_setup(what_nobody_uses_goes, start),
        cmocka_unit_test_setup(who_is_stopped_makes_nothing_more, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
