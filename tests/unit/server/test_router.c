/* Who gets which request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/workload.h"

enum { MOST = 8, CHUNKS = 4, IDS = 26 };

/* Prompts by the letters of their chunks, each of which has one in front of it always, and the
 * server of each. */
static const struct {
    const char *what, *prompts[MOST];
    bool by_prefix;
    uint32_t servers, server_of[MOST];
} cases[] = {
    {"round-robin takes turns, whatever is asked",
     {"a", "a", "a", "b", "b"},
     false,
     3,
     {0, 1, 2, 0, 1}},
    {"what nobody was sent goes to who was sent least, the first of them",
     {"a", "b", "c", "d", "e"},
     true,
     3,
     {0, 1, 2, 0, 1}},
    {"a beginning goes where it was sent, however many that has",
     {"ab", "ac", "ad", "a", "e"},
     true,
     2,
     {0, 0, 0, 0, 1}},
    {"beginnings part ways", {"ab", "cd", "ce", "af", "abg", "h"}, true, 2, {0, 1, 1, 0, 0, 1}},
    {"a single server gets all", {"a", "b", "ac"}, true, 1, {0, 0, 0}},
};

static void requests_go_where_their_beginning_was_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct request all[MOST];
        uint32_t chunks[MOST * CHUNKS], used = 0;
        struct requests requests = {.all = all, .chunks = chunks};
        requests.ids.count = IDS;
        while (requests.count < MOST && cases[i].prompts[requests.count] != NULL) {
            const char *prompt = cases[i].prompts[requests.count];
            struct request *request = &all[requests.count++];
            *request = (struct request){.first_chunk = used};
            for (; *prompt != '\0'; prompt++) {
                chunks[used++] = (uint32_t)(*prompt - 'a');
                request->chunks++;
            }
        }
        struct router router;
        struct error why;
        assert_true(
            router_init(&router, &requests, cases[i].servers, cases[i].by_prefix, NULL, &why));
        for (size_t r = 0; r < requests.count; r++) {
            if (router.server_of[r] != cases[i].server_of[r]) {
                fail_msg("%s: '%s' goes to %u, not %u", cases[i].what, cases[i].prompts[r],
                         router.server_of[r], cases[i].server_of[r]);
            }
        }
        router_release(&router);
    }
}

static void a_server_has_its_requests_in_order(void **state)
{
    struct request all[MOST] = {{.prompt = 1}};
    struct requests requests = {.all = all, .count = MOST};
    struct router router;
    struct error why;
    (void)state;
    assert_true(router_init(&router, &requests, 3, false, NULL, &why));
    assert_int_equal(router_select(&router, 1), 3);
    assert_int_equal(router.indices[0], 1);
    assert_int_equal(router.indices[1], 4);
    assert_int_equal(router.indices[2], 7);
    router_release(&router);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_go_where_their_beginning_was_sent),
        cmocka_unit_test(a_server_has_its_requests_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
