/* Servers in one time: timelines worked out by hand, and storms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "unit/fixture/conservation.h"
#include "unit/fixture/make_shares.h"
#include "server/fleet.h"

#include <gsl/gsl_randist.h>
#include <string.h>

enum { MS = 1000000, SERVERS = 3, MOST = 400, BLOCK = 16 };

static struct error why;

/* A step of 10 ms, and 10 us for each token of a prompt; nothing slows copies down. */
static bool step(void *context, const struct step_load *load, struct step_time *time,
                 struct error *unused)
{
    (void)context;
    (void)unused;
    time->ns = 10 * MS;
    for (uint32_t i = 0; i < load->chunk_count; i++) {
        time->ns += (load->chunks[i].tokens - 1) * (MS / 100);
    }
    for (uint32_t flow = 0; flow < SERVER_FLOWS; flow++) {
        time->rate[flow] = 1e9;
    }
    return true;
}

struct run {
    struct request all[MOST];
    struct requests requests;
    struct prefix_options prefix;
    struct server_options options;
    struct workload workload;
    struct served served[MOST];
    struct series series;
};

static struct run begin(uint32_t servers, int routing)
{
    return (struct run){
        .prefix = {.block_tokens = BLOCK, .gpu_blocks = 64},
        .options = {.sequences = 1,
                    .batched_tokens = 512,
                    .unit_tokens = BLOCK,
                    .token_bytes = 1000},
        .workload = {.replicas = servers,
                     .routing = routing,
                     .cache_threshold = 0.3,
                     .balance_abs = 4,
                     .balance_rel = 1.5},
    };
}

static void ask(struct run *run, int64_t arrival_ns, uint32_t prompt, uint32_t output)
{
    run->all[run->requests.count++] =
        (struct request){.arrival_ns = arrival_ns, .prompt = prompt, .output = output};
}

static void serve(struct run *run)
{
    struct server *servers[SERVERS] = {NULL};
    struct prefix_cache *caches[SERVERS] = {NULL};
    struct server_totals totals[SERVERS];
    struct way_shares shares = make_shares(1e9, 1e9, 2e9);
    const struct step_clock clock = {.step = step, .shares = &shares};
    uint32_t count = (uint32_t)run->workload.replicas;
    run->requests.all = run->all;
    assert_true(series_init(&run->series, &why));
    run->options.series = &run->series;
    for (uint32_t i = 0; i < count; i++) {
        run->options.number = i;
        caches[i] = prefix_cache_create(&run->prefix, &run->requests, &why);
        assert_non_null(caches[i]);
        servers[i] = server_create(&run->options, &clock, &run->requests, caches[i], run->served,
                                   &totals[i], &why);
        assert_non_null(servers[i]);
    }
    const struct fleet fleet = {
        .servers = servers,
        .server_count = count,
        .balancer = balancer_create(&run->workload, count, &run->requests, 1, &why),
        .requests = &run->requests,
        .served = run->served,
        .count = (uint32_t)run->requests.count,
        .clients = (uint32_t)run->workload.clients,
        .warm = run->workload.warm,
        .warm_clients = (uint32_t)run->workload.warm_clients,
    };
    assert_true(fleet_run(&fleet, &(int64_t){0}, &why));
    balancer_destroy(fleet.balancer);
    series_release(&run->series);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(prefix_room(caches[i]), run->prefix.gpu_blocks);
        server_destroy(servers[i]);
        prefix_cache_destroy(caches[i]);
    }
    way_shares_release(&shares);
}

static void check(const struct run *run, uint32_t index, uint32_t server, int64_t arrived_ms,
                  int64_t scheduled_ms, int64_t end_ms)
{
    const struct served *served = &run->served[index];
    assert_int_equal(served->server, server);
    assert_int_equal(served->arrived_ns, arrived_ms * MS);
    assert_int_equal(served->scheduled_ns, scheduled_ms * MS);
    assert_int_equal(served->end_ns, end_ms * MS);
}

/* Servers of one sequence, to fewest requests. Request 1 ends at 10 ms: at 1 ms that is known, but
 * has not happened, so that request 2 takes its turn at server 0; at 12 ms server 1 is idle. */
static void a_router_sees_the_load_of_the_moment(void **state)
{
    (void)state;
    struct run run = begin(2, ROUTE_LEAST_REQUESTS);
    ask(&run, 0, 1, 3);
    ask(&run, 0, 1, 1);
    ask(&run, 1 * MS, 1, 1);
    ask(&run, 12 * MS, 1, 1);
    serve(&run);
    check(&run, 0, 0, 0, 0, 30);
    check(&run, 1, 1, 0, 0, 10);
    check(&run, 2, 0, 1, 30, 40);
    check(&run, 3, 1, 12, 12, 22);
}

/* Two clients: the one of request 1 sends the next two, when it has its answers. */
static void clients_send_to_any_server(void **state)
{
    (void)state;
    struct run run = begin(2, ROUTE_LEAST_REQUESTS);
    run.workload.clients = 2;
    ask(&run, 0, 1, 3);
    ask(&run, 0, 1, 1);
    ask(&run, 0, 1, 1);
    ask(&run, 0, 1, 2);
    serve(&run);
    check(&run, 0, 0, 0, 0, 30);
    check(&run, 1, 1, 0, 0, 10);
    check(&run, 2, 1, 10, 10, 20);
    check(&run, 3, 1, 20, 20, 40);
}

/* One client sends the two requests that warm the servers; once it has sent the second, the other two
 * begin. */
static void fewer_clients_warm_the_servers(void **state)
{
    (void)state;
    struct run run = begin(3, ROUTE_LEAST_REQUESTS);
    run.workload.clients = 3;
    run.workload.warm = 2;
    run.workload.warm_clients = 1;
    for (int i = 0; i < 5; i++) {
        ask(&run, 0, 1, 1);
    }
    serve(&run);
    for (int i = 0; i < 5; i++) {
        static const int64_t ms[] = {0, 10, 10, 10, 20};
        check(&run, (uint32_t)i, run.served[i].server, ms[i], ms[i], ms[i] + 10);
    }
}

/* Ask for the next turn of the last request's session. */
static void ask_again(struct run *run, int64_t think_ns, uint32_t prompt, uint32_t output)
{
    ask(run, run->all[run->requests.count - 1].arrival_ns, prompt, output);
    run->all[run->requests.count - 1].turn = run->all[run->requests.count - 2].turn + 1;
    run->all[run->requests.count - 1].think_ns = think_ns;
    run->requests.sessions = true;
}

/* The answer comes at 20 ms, and 5 ms later the next turn, behind a request of another session. */
static void a_turn_follows_an_answer(void **state)
{
    (void)state;
    struct run run = begin(1, ROUTE_LEAST_REQUESTS);
    ask(&run, 0, 1, 2);
    ask_again(&run, 5 * MS, 1, 1);
    ask(&run, 3 * MS, 1, 1);
    serve(&run);
    check(&run, 0, 0, 0, 0, 20);
    check(&run, 1, 0, 25, 30, 40);
    check(&run, 2, 0, 3, 20, 30);
}

/* A client begins its next session when the last one is over; a turn that never fits ends at once. */
static void a_client_has_one_session_after_the_other(void **state)
{
    (void)state;
    struct run run = begin(1, ROUTE_LEAST_REQUESTS);
    run.workload.clients = 1;
    ask(&run, 0, 1, 2);
    ask_again(&run, 5 * MS, 1, 1);
    ask_again(&run, 1 * MS, 2000, 1);
    ask(&run, 0, 1, 1);
    serve(&run);
    check(&run, 0, 0, 0, 0, 20);
    check(&run, 1, 0, 25, 25, 35);
    assert_true(run.served[2].too_long);
    check(&run, 3, 0, 36, 36, 46);
}

/* 64 blocks of 16 tokens hold no prompt of 2000: its client sends the next one at once. */
static void what_never_fits_is_answered_at_once(void **state)
{
    (void)state;
    struct run run = begin(1, ROUTE_LEAST_REQUESTS);
    run.workload.clients = 1;
    ask(&run, 0, 2000, 1);
    ask(&run, 0, 1, 1);
    serve(&run);
    assert_true(run.served[0].too_long);
    check(&run, 1, 0, 0, 0, 10);
}

/* A storm: preemptions, a host tier, an API process or none, and every routing. All requests end, no earlier
 * than they can, and a second run is the same. Conservation laws are checked. */
static void storm(int routing, bool clients, uint64_t seed)
{
    static struct run run, again;
    gsl_rng *random = random_stream(seed, "test.fleet", 0, &why);
    run = begin(SERVERS, routing);
    run.options.sequences = 8;
    run.workload.clients = clients ? 10 : 0;
    run.prefix.gpu_keeps = run.prefix.saves_wait = true;
    run.prefix.lower_count = 1;
    run.prefix.lower[0].blocks = 100;
    run.prefix.lower[0].policy = policy_find("lru", NULL, 0, &why);
    run.options.saves_cross = true;
    if (seed % 2 == 0) {
        run.options.path = (struct server_path){.prompt_token_ns = MS / 50,
                                                .request_ns = 3 * MS,
                                                .output_token_ns = MS / 10,
                                                .overlaps = true,
                                                .prompts_alone = seed % 4 == 0,
                                                .reserves = seed % 4 == 0};
    }
    double now = 0;
    for (int i = 0; i < MOST; i++) {
        ask(&run, (int64_t)now, 1 + (uint32_t)gsl_rng_uniform_int(random, 500),
            1 + (uint32_t)gsl_rng_uniform_int(random, 60));
        now += gsl_ran_exponential(random, 60.0 * MS);
    }
    gsl_rng_free(random);
    again = run;
    serve(&run);
    serve(&again);
    assert_memory_equal(run.served, again.served, sizeof run.served);
    uint32_t per_server[SERVERS] = {0};
    for (int i = 0; i < MOST; i++) {
        const struct served *served = &run.served[i];
        assert_true(served->end_ns >= served->arrived_ns + run.all[i].output * (10 * MS));
        assert_true(served->scheduled_ns >= served->arrived_ns);
        assert_true(clients || served->arrived_ns == run.all[i].arrival_ns);
        per_server[served->server]++;
    }
    for (int i = 0; i < SERVERS; i++) {
        assert_true(per_server[i] > MOST / SERVERS / 2);
    }
}

static void storms_end_and_repeat(void **state)
{
    (void)state;
    for (int routing = ROUTE_LEAST_REQUESTS; routing <= ROUTE_SCORES; routing++) {
        for (uint64_t seed = 1; seed <= 4; seed++) {
            storm(routing, false, seed);
            storm(routing, true, seed);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_router_sees_the_load_of_the_moment),
        cmocka_unit_test(clients_send_to_any_server),
        cmocka_unit_test(fewer_clients_warm_the_servers),
        cmocka_unit_test(a_turn_follows_an_answer),
        cmocka_unit_test(a_client_has_one_session_after_the_other),
        cmocka_unit_test(what_never_fits_is_answered_at_once),
        cmocka_unit_test(storms_end_and_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
