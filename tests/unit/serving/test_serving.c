/* Runs of a server: the file of requests is the one that the scenario was read with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "study/serving.h"

static struct error why;

static bool serve(uint64_t other_content)
{
    struct result result;
    struct setup setup = SETUP("system=vllm", "hardware=h200", "context=null", "trace=null",
                               "workload=conversations", "limit=10", "timed=no");
    struct shared *shared = shared_create(1, &why);
    assert_non_null(shared);
    setup.workload.content ^= other_content;
    result_init(&result);
    bool ok = serving_run(&setup, 1, shared, &result, &why);
    result_release(&result);
    shared_destroy(shared);
    setup_release(&setup);
    return ok;
}

static void a_file_that_changed_is_not_served(void **state)
{
    (void)state;
    assert_true(serve(0));
    assert_false(serve(1));
    assert_non_null(strstr(message_of(&why), "has changed since the scenario was read"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_file_that_changed_is_not_served)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
