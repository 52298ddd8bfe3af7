/* Which server a router picks that sees their loads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "server/server.h"
#include "server/workload.h"

#include <string.h>

enum { MOST = 6, CHUNK = 100 };

static struct error why;

/* Prompts by the letters of their chunks, 100 tokens each, each of which has one in front of it
 * always; "-" is a prompt of 100 tokens without hashes. Then the requests in flight on each server
 * when it comes, and the server that gets it. */
static const struct {
    const char *what;
    int routing;
    uint32_t servers;
    struct {
        const char *prompt, *requests;
        uint32_t server;
    } sent[MOST];
} cases[] = {
    {"equals take turns",
     ROUTE_LEAST_REQUESTS,
     3,
     {{"a", "000", 0}, {"a", "000", 1}, {"a", "111", 2}, {"a", "222", 0}}},
    {"fewest requests",
     ROUTE_LEAST_REQUESTS,
     3,
     {{"a", "210", 2}, {"a", "213", 1}, {"a", "533", 2}}},
    {"the less loaded of two",
     ROUTE_TWO_CHOICES,
     2,
     {{"a", "10", 1}, {"a", "01", 0}, {"a", "98", 1}}},
    {"a server alone", ROUTE_TWO_CHOICES, 1, {{"a", "7", 0}}},
    /* ac: half of it is known to 0, over 0.3. d and efgh to the less loaded. aijk: a quarter of it is known
     * to 0, under 0.3, and as many are in flight on both: the next in turn. */
    {"known beginnings, then fewest requests",
     ROUTE_PREFIX_LOAD,
     2,
     {{"ab", "00", 0}, {"ac", "10", 0}, {"d", "20", 1}, {"efgh", "21", 1}, {"aijk", "22", 0}}},
    /* The differences are limited to 2, and to 2 times. */
    {"load decides when it differs too much",
     ROUTE_PREFIX_LOAD,
     2,
     {{"a", "00", 0}, {"a", "20", 0}, {"a", "30", 1}, {"b", "62", 1}, {"b", "74", 1}}},
    {"of servers that know it always the same, whatever their loads",
     ROUTE_PREFIX_LOAD,
     2,
     {{"a", "00", 0}, {"a", "30", 1}, {"a", "21", 0}, {"a", "12", 0}, {"a", "20", 0}}},
    {"prompts without hashes go where fewest are in flight",
     ROUTE_PREFIX_LOAD,
     2,
     {{"-", "00", 0}, {"-", "00", 1}, {"-", "01", 0}}},
};

static struct request all[MOST];
static uint32_t chunks[MOST * MOST];
static struct request_chunk kinds[26];

static struct requests make_requests(size_t number)
{
    struct requests requests = {.all = all, .chunks = chunks, .kind = kinds, .ids = {.count = 26}};
    uint32_t used = 0;
    for (int i = 0; i < 26; i++) {
        kinds[i].tokens = CHUNK;
    }
    while (requests.count < MOST && cases[number].sent[requests.count].prompt != NULL) {
        const char *prompt = cases[number].sent[requests.count].prompt;
        struct request *request = &all[requests.count++];
        *request =
            (struct request){.first_chunk = used, .prompt = CHUNK * (uint32_t)strlen(prompt)};
        for (; *prompt >= 'a'; prompt++) {
            chunks[used++] = (uint32_t)(*prompt - 'a');
            request->chunks++;
        }
    }
    return requests;
}

static void the_load_and_what_was_sent_decide(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct requests requests = make_requests(i);
        const struct workload workload = {.routing = cases[i].routing,
                                          .replicas = cases[i].servers,
                                          .cache_threshold = 0.3,
                                          .balance_abs = 2,
                                          .balance_rel = 2};
        struct balancer *balancer =
            balancer_create(&workload, (uint32_t)workload.replicas, &requests, 1, &why);
        assert_non_null(balancer);
        for (uint32_t r = 0; r < requests.count; r++) {
            struct server_load loads[MOST] = {{.requests = 0}};
            for (uint32_t s = 0; s < cases[i].servers; s++) {
                loads[s].requests = (uint32_t)(cases[i].sent[r].requests[s] - '0');
            }
            uint32_t server = balancer_choose(balancer, r, loads);
            if (server != cases[i].sent[r].server) {
                fail_msg("%s: request %u, '%s', goes to %u", cases[i].what, r,
                         cases[i].sent[r].prompt, server);
            }
        }
        balancer_destroy(balancer);
    }
}

/* Two servers; the sums of 3 x the known share, 2 x the place in the queues, 2 x the free memory:
 *   a    0 + 2 + 1    0 + 2 + 2      1: its memory is free
 *   ab   0 + 2 + 1.6  1.5 + 0 + 2    0: the queue of 1 outweighs half of the prompt
 *   abc  2 + 0 + 2    1 + 2 + 0.8    0: 200 tokens of 300, and free memory, against the queue
 *   d    0 + 2 + 0    0 + 1 + 1.5    1: a queue of 2, between 1 and 3 of another server */
static void scores_add_up(void **state)
{
    (void)state;
    struct request prompts[] = {{.prompt = 100, .chunks = 1},
                                {.prompt = 200, .chunks = 2, .first_chunk = 0},
                                {.prompt = 300, .chunks = 3, .first_chunk = 0},
                                {.prompt = 100, .chunks = 1, .first_chunk = 3}};
    uint32_t numbers[] = {0, 1, 2, 3};
    struct request_chunk kind[] = {{0, 100, 0}, {0, 100, 0}, {0, 100, 0}, {0, 100, 0}};
    const struct requests requests = {
        .all = prompts, .count = 4, .chunks = numbers, .kind = kind, .ids = {.count = 4}};
    const struct workload workload = {.routing = ROUTE_SCORES, .replicas = 3};
    const struct {
        struct server_load loads[3];
        uint32_t server;
    } steps[] = {
        {{{.kv = 0.5}, {.kv = 0}, {.kv = 1}}, 1},
        {{{.kv = 0.2}, {.waiting = 1}, {.kv = 1, .waiting = 1}}, 0},
        {{{.waiting = 1}, {.kv = 0.6}, {.kv = 1, .waiting = 1}}, 0},
        {{{.waiting = 1, .kv = 1}, {.waiting = 2, .kv = 0.25}, {.waiting = 3}}, 1},
    };
    struct balancer *balancer =
        balancer_create(&workload, (uint32_t)workload.replicas, &requests, 1, &why);
    assert_non_null(balancer);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(balancer_choose(balancer, i, steps[i].loads), steps[i].server);
    }
    balancer_destroy(balancer);
}

/* Each of 3 servers is drawn about equally often, and the same seed draws the same. */
static void equals_are_drawn(void **state)
{
    static const int routings[] = {ROUTE_TWO_CHOICES, ROUTE_SCORES};
    struct request request = {.prompt = 1};
    const struct requests requests = {.all = &request, .count = 1};
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct workload workload = {.routing = routings[i], .replicas = 3};
        const struct server_load loads[3] = {{.requests = 4}, {.requests = 4}, {.requests = 4}};
        struct balancer *one =
            balancer_create(&workload, (uint32_t)workload.replicas, &requests, 7, &why);
        struct balancer *two =
            balancer_create(&workload, (uint32_t)workload.replicas, &requests, 7, &why);
        uint32_t drawn[3] = {0};
        for (int n = 0; n < 3000; n++) {
            uint32_t server = balancer_choose(one, 0, loads);
            assert_int_equal(balancer_choose(two, 0, loads), server);
            drawn[server]++;
        }
        for (int s = 0; s < 3; s++) {
            assert_in_range(drawn[s], 900, 1100); /* 4 standard deviations of 26 */
        }
        balancer_destroy(one);
        balancer_destroy(two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_load_and_what_was_sent_decide),
        cmocka_unit_test(scores_add_up),
        cmocka_unit_test(equals_are_drawn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
