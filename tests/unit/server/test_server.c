/* The server against queueing theory, against timelines worked out by hand, and under storms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "server/requests/requests.h"
#include "server/server_state.h"
#include "unit/fixture/rounds.h"
#include "unit/fixture/server_course.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_statistics.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- by hand ---------------------------------------------------------------------------- */

/* Steps of 10 ms and 1 ms a token of a prompt. A (3 tokens, 2 out) comes at 0, B (1, 2) at 1:
 *   0 A's prompt ends 13; 13 A's second and B's prompt end 24; 24 B's second ends 34. */
static void a_step_computes_who_is_there(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .token_ns = MS, .load_rate = 1e9};
    add_request(&course, 0, 3, 2);
    add_request(&course, 1 * MS, 1, 2);
    run_course(&course);
    check_served(&course.served[0], 0, 13, 24);
    check_served(&course.served[1], 13, 24, 34);
    assert_int_equal(course.totals.steps, 3);
    end_course(&course);
}

/* The same, of which the link stalls 2 of the 10 ms. B's step beside A's second token: 1 ms of it
 * is B's prompt, 2 the link's, 8 A's own. B waits 12 in the queue. */
static void a_wait_has_a_cause(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.clock = (struct plain_clock){10 * MS, 0, MS, 1e9, 2 * MS};
    add_request(&course, 0, 3, 2);
    add_request(&course, 1 * MS, 1, 2);
    run_course(&course);
    const int64_t *a = course.served[0].waits.ns, *b = course.served[1].waits.ns;
    assert_int_equal(a[WAIT_QUEUE], 0);
    assert_int_equal(a[WAIT_PREFILL], 13 * MS);
    assert_int_equal(a[WAIT_OTHERS], 1 * MS);
    assert_int_equal(a[WAIT_STALL + PART_LINK], 2 * MS);
    assert_int_equal(a[WAIT_DECODE], 8 * MS);
    assert_int_equal(b[WAIT_QUEUE], 12 * MS);
    assert_int_equal(b[WAIT_PREFILL], 11 * MS);
    assert_int_equal(waited_ns(&course.served[0]), 24 * MS);
    assert_int_equal(waited_ns(&course.served[1]), 33 * MS);
    /* One or two run all the time; A's 3 tokens, B's 1 are computed. */
    assert_true(series_sum(&course, SERIES_RUNNING) == 45 * MS);
    assert_true(series_sum(&course, SERIES_PROMPT) == 4);
    assert_true(series_sum(&course, SERIES_OUTPUT) == 4);
    end_course(&course);
}

/* At most 4 tokens a step: A's 6 tokens are 4 and 2; B's 3 start beside A's last 2, and A's next
 * token leaves 3 of 4 in the third step, of which B needs 1. Each step is 10 ms. */
static void long_prompts_are_cut_into_chunks(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.options.batched_tokens = 4;
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    add_request(&course, 0, 6, 2);
    add_request(&course, 0, 3, 1);
    run_course(&course);
    check_served(&course.served[0], 0, 20, 30);
    check_served(&course.served[1], 10, 30, 30);
    end_course(&course);
}

/* Of 8 tokens a step no sequence gets more than 4: B's 3 start beside A's first 4 of 6. */
static void a_chunk_is_no_longer_than_a_rank_computes(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.options.batched_tokens = 8;
    course.options.chunk_tokens = 4;
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    add_request(&course, 0, 6, 2);
    add_request(&course, 0, 3, 1);
    run_course(&course);
    check_served(&course.served[0], 0, 20, 30);
    check_served(&course.served[1], 0, 10, 10);
    end_course(&course);
}

static void clients_send_when_they_are_answered(void **state)
{
    (void)state;
    struct course course = begin_course(3);
    course.clients = 1;
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    for (int i = 0; i < 3; i++) {
        add_request(&course, 0, 1, 2);
    }
    run_course(&course);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(course.served[i].arrived_ns, 20 * i * MS);
        check_served(&course.served[i], 20 * i, 20 * i + 10, 20 * i + 20);
    }
    end_course(&course);
}

/* Blocks of 128. A's 256 tokens and output fill 3 of 5 blocks, B's (128 + 1) 2; A's 257th ... all
 * fit; B's block is full at 129 + 127. A grows past 384 at its 129th token: B is put back. */
static void who_came_last_makes_room(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.prefix.gpu_blocks = 5;
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    add_request(&course, 0, 256, 200);
    add_request(&course, 0, 128, 200);
    run_course(&course);
    assert_int_equal(course.served[0].preemptions, 0);
    assert_int_equal(course.served[1].preemptions, 1);
    /* A's end: a step a token. B had 129 of 200 when A needed a fourth block, and goes on with its
     * 130th, whose step computes 128 + 129 tokens, when A has ended. */
    check_served(&course.served[0], 0, 1, 200);
    check_served(&course.served[1], 0, 1, 200 + 71);
    const int64_t *waits = course.served[1].waits.ns;
    assert_int_equal(waits[WAIT_PREFILL], 1 * MS);
    assert_int_equal(waits[WAIT_PREEMPTED], (201 - 129) * MS);
    assert_int_equal(waits[WAIT_DECODE], (128 + 70) * MS);
    end_course(&course);
}

/* Steps of 129 tokens and 1 ms. A's 256 tokens take 2 of 4 blocks, and its output a third; B's
 * 384 would find room for its first chunks, and be put back for A. It waits for A's end. */
static void who_has_no_room_for_all_waits(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.prefix.gpu_blocks = 4;
    course.options.batched_tokens = 129;
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    add_request(&course, 0, 256, 100);
    add_request(&course, 0, 384, 1);
    run_course(&course);
    assert_int_equal(course.served[1].preemptions, 0);
    check_served(&course.served[0], 0, 2, 101);
    check_served(&course.served[1], 101, 104, 104);
    end_course(&course);
}

/* One of 300 + 1 tokens can run in 3 blocks; one of 300 + 86 needs KV of 385, a fourth. */
static void what_can_never_run_is_left_out(void **state)
{
    (void)state;
    struct course course = begin_course(2);
    course.prefix.gpu_blocks = 3;
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    add_request(&course, 0, 300, 86);
    add_request(&course, 0, 300, 85);
    run_course(&course);
    assert_true(course.served[0].too_long);
    assert_int_equal(course.served[0].end_ns, -1);
    assert_false(course.served[1].too_long);
    assert_int_equal(course.served[1].end_ns, 85 * MS);
    end_course(&course);
}

/* Two prompts of 300 tokens that are alike, the second one `later_ms` later, over a host: 1000
 * bytes a token at 1 GB/s, 1 ms to start a transfer of 256 tokens. */
static struct course begin_alike(int64_t later_ms)
{
    static uint32_t chunks[] = {0, 0};
    static struct request_chunk kinds[] = {{UINT32_MAX, 300, 0}};
    struct course course = begin_course(4);
    struct error why;
    course.prefix.lower_count = 1;
    course.prefix.lower[0].blocks = 8;
    course.prefix.lower[0].policy = policy_find("lru", NULL, 0, &why);
    course.options.token_bytes = 1000;
    course.load.unit = course.save.unit = MS;
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    add_request(&course, 0, 300, 1);
    add_request(&course, later_ms * MS, 300, 1);
    course.requests.chunks = chunks;
    course.requests.kind = kinds;
    course.requests.chunk_tokens = CHUNK;
    course.requests.ids.count = 1;
    course.requests.all[0].chunks = course.requests.all[1].chunks = 1;
    course.requests.all[1].first_chunk = 1;
    return course;
}

static void end_alike(struct course *course)
{
    course->requests.chunks = NULL;
    course->requests.kind = NULL;
    end_course(course);
}

/* The second prompt finds 2 blocks of 128 in host memory, which take 0.256 ms, after 1 ms. */
static void what_the_host_has_is_loaded_first(void **state)
{
    (void)state;
    struct course course = begin_alike(50);
    run_course(&course);
    assert_int_equal(course.served[1].match.found[1], 256);
    assert_int_equal(course.served[1].match.compute_tokens, 44);
    assert_int_equal(course.served[1].scheduled_ns, 50 * MS);
    assert_int_equal(course.served[1].end_ns, 61256000);
    end_alike(&course);
}

/* Another prompt takes all of the GPU's blocks in between. Of two alike at 100 ms the first loads
 * the 2 blocks in 500.256 ms; the second finds them on the GPU, loads nothing, and cannot compute
 * before they have come either. */
static void what_is_on_its_way_is_waited_for(void **state)
{
    (void)state;
    struct course course = begin_alike(50);
    course.prefix.gpu_keeps = true;
    course.prefix.gpu_blocks = 6;
    course.load.unit = course.save.unit = 500 * MS;
    struct request *all = course.requests.all, alike = all[1];
    all[1] = (struct request){.arrival_ns = 50 * MS, .prompt = 6 * BLOCK, .output = 1};
    alike.arrival_ns = 100 * MS;
    all[2] = all[3] = alike;
    course.requests.count = 4;
    run_course(&course);
    assert_int_equal(course.served[2].match.found[1], 256);
    assert_int_equal(course.served[3].match.found[0], 256);
    for (int i = 2; i < 4; i++) {
        assert_int_equal(course.served[i].scheduled_ns, 100 * MS);
        assert_int_equal(course.served[i].end_ns, 610256000);
        assert_int_equal(course.served[i].waits.ns[WAIT_LOAD], 500256000);
    }
    assert_true(fabs(series_sum(&course, SERIES_LOADED) - 256000) < 1e-6);
    end_alike(&course);
}

/* Load and 10 ms of 2 layers: the first layer's half of 1.256 ms, then the step. */
static void layers_wait_each_for_its_own(void **state)
{
    (void)state;
    struct course course = begin_alike(50);
    course.options.layers = 2;
    run_course(&course);
    assert_int_equal(course.served[1].match.found[1], 256);
    assert_int_equal(course.served[1].end_ns, 60628000);
    end_alike(&course);
}

/* A chunk's 300 KB leave in 0.3 ms and 2 transfers of 1 ms, layer by layer: of 2 layers the step
 * waits for the half of 2.3 ms, which the last one's is. The second token writes none of its own. */
static void what_a_prompt_writes_takes_the_link(void **state)
{
    (void)state;
    struct course course = begin_course(1);
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    course.load.unit = course.save.unit = MS;
    course.options.written_bytes = 1000;
    course.options.written_layers = 2;
    add_request(&course, 0, 300, 2);
    run_course(&course);
    assert_int_equal(course.served[0].first_token_ns, 11150000);
    assert_int_equal(course.served[0].end_ns, 21150000);
    assert_true(fabs(series_sum(&course, SERIES_WRITTEN) - 300000) < 1e-6);
    end_course(&course);
}

/* The first one ends at 10 ms, and its 2 blocks are on the host at 11.256: too late for who comes
 * at 11, and there for who comes at 12. */
static void what_is_saved_takes_its_time(void **state)
{
    (void)state;
    for (int64_t later_ms = 11; later_ms <= 12; later_ms++) {
        struct course course = begin_alike(later_ms);
        course.prefix.saves_wait = course.options.saves_cross = true;
        run_course(&course);
        assert_int_equal(course.served[1].match.found[1], later_ms == 12 ? 256 : 0);
        assert_int_equal(course.served[1].end_ns, later_ms == 12 ? 23256000 : 21000000);
        end_alike(&course);
    }
}

/* A ends at 10 ms, and its 2 blocks are on the host at 11.256. B came at 5 and needs 3 blocks of 4; C has the
 * last one, and decodes. B waits until A's are free, for C's step that ends at 20; or it gets them at 10 and
 * the step waits, which C feels. */
static void a_step_waits_for_room_that_is_being_saved(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        struct course course = begin_course(3);
        struct error why;
        course.prefix.gpu_keeps = course.prefix.saves_wait = course.options.saves_cross = true;
        course.prefix.gpu_blocks = 4;
        course.prefix.lower_count = 1;
        course.prefix.lower[0] = (struct prefix_tier){
            .blocks = 8, .policy = policy_find("lru", NULL, 0, &why), .write = PREFIX_WRITE_FILL};
        course.prefix.frees_early = course.options.step_takes = early;
        course.options.token_bytes = 1000;
        course.save.unit = MS;
        course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
        add_request(&course, 0, 300, 1);
        add_request(&course, 0, 1, 4);
        add_request(&course, 5 * MS, 300, 1);
        run_course(&course);
        assert_int_equal(course.served[1].end_ns, early ? 41256000 : 40 * MS);
        assert_int_equal(course.served[1].waits.ns[WAIT_LOAD], early ? 1256000 : 0);
        assert_int_equal(course.served[2].end_ns, early ? 21256000 : 30 * MS);
        assert_int_equal(course.totals.copies_ns[COPY_TAKES], early ? 1256000 : 0);
        end_course(&course);
    }
}

/* A look-up takes 1 ms, and 0.01 for each of 300 tokens. The first step has two; B has no room beside A, and
 * is looked up in each of A's other two steps and in its own, or never again. */
static void who_waits_is_looked_up_again(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct course course = begin_course(2);
        course.prefix.gpu_blocks = 4;
        course.options.lookup = (struct connector_lookup){MS, 10000, 0, again};
        course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
        add_request(&course, 0, 300, 3);
        add_request(&course, 0, 300, 1);
        run_course(&course);
        assert_int_equal(course.served[0].end_ns, (again ? 46 : 38) * MS);
        assert_int_equal(course.served[1].end_ns, (again ? 60 : 48) * MS);
        end_course(&course);
    }
}

/* ---- theory ------------------------------------------------------------------------------ */

enum { WARM = 2000, BATCH = ROUNDS(2000, 500), BATCHES = 20, MANY = WARM + BATCH * BATCHES };

/* Poisson arrivals of `rate` a second, prompts of a token, and outputs of `mean` tokens that are as
 * good as exponential. */
static struct course random_course(double rate, double mean)
{
    struct error why;
    struct course course = begin_course(MANY);
    gsl_rng *random = random_stream(12, "test.server", 0, &why);
    for (uint32_t i = 0; i < MANY; i++) {
        add_request(&course, 0, 1, gsl_ran_geometric(random, 1 / mean));
    }
    gsl_rng_free(random);
    assert_true(arrivals_draw(&course.requests, rate, 1, 12, &why));
    return course;
}

static double time_s(const struct served *served, bool queue_only)
{
    int64_t end = queue_only ? served->scheduled_ns : served->end_ns;
    return (double)(end - served->arrived_ns) / 1e9;
}

/* The mean time is the expected one, within four of its standard errors, by the means of batches so
 * long that they are as good as independent; and these are small enough to tell. */
static void check_mean(const struct course *course, bool queue_only, double expected)
{
    double means[BATCHES];
    for (uint32_t b = 0; b < BATCHES; b++) {
        double sum = 0;
        for (uint32_t i = 0; i < BATCH; i++) {
            sum += time_s(&course->served[WARM + b * BATCH + i], queue_only);
        }
        means[b] = sum / BATCH;
    }
    double mean = gsl_stats_mean(means, 1, BATCHES);
    double error = gsl_stats_sd(means, 1, BATCHES) / sqrt(BATCHES);
    print_message("found %g +- %g, expected %g\n", mean, error, expected);
    assert_true(fabs(mean - expected) < 4 * error && error < ROUNDS(0.1, 0.2) * expected);
}

/* A step's time in proportion to who runs is processor sharing: M/M/1-PS, E[T] = 1 / (mu - lambda)
 * (Kleinrock 1967). A token is 1 ms; outputs of 100 tokens: mu = 10 a second. */
static void shared_time_is_processor_sharing(void **state)
{
    (void)state;
    const double rates[] = {2, 5, 8};
    for (int i = 0; i < ROUNDS(3, 1); i++) {
        struct course course = random_course(rates[i], 100);
        course.options.sequences = 4096;
        course.clock = (struct plain_clock){.sequence_ns = MS, .load_rate = 1e9};
        run_course(&course);
        check_mean(&course, false, 1 / (10 - rates[i]));
        end_course(&course);
    }
}

/* Steps that take as long for any number of sequences, at most c of them: M/M/c, and the time in
 * the queue is Erlang's C / (c mu - lambda). */
static void places_of_their_own_are_erlangs(void **state)
{
    (void)state;
    const uint32_t c = 4;
    const double mu = 10, rate = 32, load = rate / mu;
    double term = 1, sum = 1;
    for (uint32_t k = 1; k < c; k++) {
        term *= load / k;
        sum += term;
    }
    double last = term * load / c / (1 - load / c);
    struct course course = random_course(rate, 100);
    course.options.sequences = c;
    course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
    run_course(&course);
    check_mean(&course, true, last / (sum + last) / (c * mu - rate));
    end_course(&course);
}

/* Steps that take as long for any number of sequences, one at a time, and outputs all alike: M/D/1,
 * E[W] = rho / (2 mu (1 - rho)) (Pollaczek and Khinchine). */
static void alike_and_one_at_a_time_is_m_d_1(void **state)
{
    (void)state;
    const double mu = 10, rates[] = {3, 7};
    for (int i = 0; i < ROUNDS(2, 1); i++) {
        struct error why;
        struct course course = begin_course(MANY);
        double rho = rates[i] / mu;
        for (uint32_t r = 0; r < MANY; r++) {
            add_request(&course, 0, 1, 100);
        }
        assert_true(arrivals_draw(&course.requests, rates[i], 1, 21, &why));
        course.options.sequences = 1;
        course.clock = (struct plain_clock){.fixed_ns = MS, .load_rate = 1e9};
        run_course(&course);
        check_mean(&course, true, rho / (2 * mu * (1 - rho)));
        end_course(&course);
    }
}

/* ---- storms ------------------------------------------------------------------------------ */

enum { DOCUMENTS = 3, DOCUMENT_BLOCKS = 600 / BLOCK };

/* Prompts are beginnings of a few documents: chunks of a block, and one that is cut short. */
static void share_prompts(struct course *course, gsl_rng *random)
{
    struct requests *requests = &course->requests;
    requests->chunks = calloc(requests->count * (DOCUMENT_BLOCKS + 1), sizeof *requests->chunks);
    assert_non_null(requests->chunks);
    requests->chunk_tokens = BLOCK;
    requests->ids.count = DOCUMENTS * DOCUMENT_BLOCKS + (uint32_t)requests->count;
    requests->kind = calloc(requests->ids.count, sizeof *requests->kind);
    assert_non_null(requests->kind);
    for (uint32_t i = 0; i < DOCUMENTS * DOCUMENT_BLOCKS; i++) {
        requests->kind[i].tokens = BLOCK; /* what is cut short has no whole block */
    }
    for (uint32_t i = 0; i < requests->count; i++) {
        struct request *request = &requests->all[i];
        uint32_t document = (uint32_t)gsl_rng_uniform_int(random, DOCUMENTS);
        request->first_chunk = requests->chunk_count;
        for (uint32_t block = 0; block < request->prompt / BLOCK; block++) {
            requests->chunks[requests->chunk_count++] = document * DOCUMENT_BLOCKS + block;
        }
        if (request->prompt % BLOCK > 0) {
            requests->chunks[requests->chunk_count++] = DOCUMENTS * DOCUMENT_BLOCKS + i;
        }
        request->chunks = (uint32_t)(requests->chunk_count - request->first_chunk);
    }
}

/* A second tier of any kind, whose copies take their time. */
static void add_host(struct course *course, gsl_rng *random)
{
    static const char *const policies[] = {NULL, "lru", "arc"};
    struct error why;
    struct prefix_options *prefix = &course->prefix;
    const char *policy = policies[gsl_rng_uniform_int(random, 3)];
    prefix->lower_count = 1;
    prefix->lower[0].blocks = 1 + gsl_rng_uniform_int(random, 30);
    prefix->lower[0].policy = policy != NULL ? policy_find(policy, NULL, 0, &why) : NULL;
    prefix->pins = gsl_rng_uniform_int(random, 2) > 0 && (policy == NULL || policy == policies[1]);
    prefix->unit_blocks = 1 + (uint32_t)gsl_rng_uniform_int(random, 2);
    prefix->lower[0].least_asked = 1 + (uint32_t)gsl_rng_uniform_int(random, 2);
    prefix->lower[0].write = (enum prefix_write[]){
        PREFIX_WRITE_FILL, PREFIX_WRITE_FINISH, PREFIX_WRITE_EVICT}[gsl_rng_uniform_int(random, 3)];
    prefix->saves_wait = course->options.saves_cross = true;
    course->options.token_bytes = 1 + gsl_rng_uniform_int(random, 100000);
    course->options.layers = (uint32_t)gsl_rng_uniform_int(random, 3);
    course->load.unit = course->save.unit = (double)gsl_rng_uniform_int(random, 20 * MS);
    course->options.step_saves = gsl_rng_uniform_int(random, 2) > 0;
    course->options.load_steps = (uint32_t)gsl_rng_uniform_int(random, 4);
    course->save.cpu = (double)gsl_rng_uniform_int(random, MS);
    prefix->prompts_only = gsl_rng_uniform_int(random, 2) > 0;
    prefix->frees_early = gsl_rng_uniform_int(random, 2) > 0;
    course->options.step_takes = gsl_rng_uniform_int(random, 2) > 0;
}

static void nothing_is_lost_in_a_storm(void **state)
{
    double loaded = 0, saved = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct error why;
        gsl_rng *random = random_stream(seed, "test.server.storm", 0, &why);
        struct course course = begin_course(300);
        print_message("seed %u\n", (unsigned)seed);
        course.prefix.gpu_blocks = 4 + gsl_rng_uniform_int(random, 20);
        course.options.sequences = 1 + (uint32_t)gsl_rng_uniform_int(random, 30);
        course.options.batched_tokens = 1 + (uint32_t)gsl_rng_uniform_int(random, 700);
        course.options.chunk_tokens = seed % 5 == 0 ? (uint32_t)seed * 7 : 0; /* several ranks */
        course.clock = (struct plain_clock){MS, MS, 1000, 1e9, MS / 3};
        bool host = seed % 3 == 0;
        course.prefix.gpu_keeps = seed % 4 > 1;
        uint64_t preemptions = 0, tokens = 0, left_out = 0;
        int64_t waited = 0;
        for (int i = 0; i < 300; i++) {
            add_request(&course, 0, 1 + (uint32_t)gsl_rng_uniform_int(random, 600),
                        1 + (uint32_t)gsl_rng_uniform_int(random, 400));
        }
        if (host) {
            share_prompts(&course, random);
            add_host(&course, random);
        }
        run_course(&course);
        for (int i = 0; i < 300; i++) {
            const struct request *request = &course.requests.all[i];
            const struct served *served = &course.served[i];
            assert_int_equal(served->too_long, request->prompt + request->output - 1 >
                                                   course.prefix.gpu_blocks * BLOCK);
            assert_true(served->too_long ? served->end_ns == -1
                                         : served->scheduled_ns >= 0 &&
                                               served->first_token_ns > served->scheduled_ns &&
                                               served->end_ns - served->first_token_ns >=
                                                   (int64_t)(request->output - 1) * 2 * MS);
            assert_int_equal(waited_ns(served), served->too_long ? 0 : served->end_ns);
            assert_true(served->too_long || served->waits.ns[WAIT_QUEUE] == served->scheduled_ns);
            assert_true((served->preemptions > 0) == (served->waits.ns[WAIT_PREEMPTED] > 0));
            left_out += served->too_long;
            waited += waited_ns(served);
            preemptions += served->preemptions;
            tokens += served->too_long ? 0 : request->output;
        }
        assert_true(series_sum(&course, SERIES_OUTPUT) == (double)tokens);
        double there = series_sum(&course, SERIES_WAITING) + series_sum(&course, SERIES_RUNNING) +
                       series_sum(&course, SERIES_LOADING);
        assert_true(left_out > 0 || fabs(there - (double)waited) < 1e-9 * there);
        assert_true(tokens > 0 && (preemptions > 0 || course.options.sequences < 8));
        loaded += series_sum(&course, SERIES_LOADED) * host;
        saved += series_sum(&course, SERIES_SAVED) * host;
        gsl_rng_free(random);
        end_course(&course);
    }
    assert_true(loaded > 0 && saved > 0);
}

/* ---- books that do not agree ------------------------------------------------------------- */

/* A clock in whose third step something happens to the cache that the server knows nothing of. */
struct saboteur {
    struct plain_clock clock;
    struct prefix_cache *cache;
    void (*act)(struct prefix_cache *cache);
    int steps;
};

static bool sabotaged_step(void *context, const struct step_load *load, struct step_time *time,
                           struct error *why)
{
    struct saboteur *saboteur = context;
    if (++saboteur->steps == 3) {
        saboteur->act(saboteur->cache);
    }
    return plain_step(&saboteur->clock, load, time, why);
}

static void do_nothing(struct prefix_cache *cache)
{
    (void)cache;
}

/* Blocks for a request that is still to come. */
static void take_blocks(struct prefix_cache *cache)
{
    struct prefix_match match;
    assert_true(prefix_begin(cache, 2, 300, 300, &match));
}

/* What is loaded crosses no link. */
static void load_beside(struct prefix_cache *cache)
{
    struct prefix_match match;
    assert_true(prefix_begin(cache, 2, 300, 300, &match));
    assert_int_equal(match.found[1], 256);
    prefix_end(cache, 2, false);
}

/* Run in a process of its own, which aborts after it said which two amounts differ: "6 is not 3".
 * NULL: it ends well. */
static void check_sabotaged(void (*act)(struct prefix_cache *), const char *amounts)
{
    FILE *said = tmpfile();
    assert_non_null(said);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        static uint32_t chunks[] = {0, 0, 0};
        static struct request_chunk kinds[] = {{UINT32_MAX, 300, 0}};
        static struct served served[3];
        struct error why;
        struct request all[] = {{.prompt = 300, .output = 1, .chunks = 1},
                                {.arrival_ns = 50 * MS, .prompt = 300, .output = 9},
                                {.arrival_ns = 900 * MS, .prompt = 300, .output = 1, .chunks = 1}};
        struct requests requests = {.all = all,
                                    .count = 3,
                                    .chunks = chunks,
                                    .chunk_count = 3,
                                    .kind = kinds,
                                    .chunk_tokens = CHUNK,
                                    .ids = {.count = 1}};
        struct prefix_options prefix = {.block_tokens = BLOCK,
                                        .gpu_blocks = 40,
                                        .lower_count = 1,
                                        .lower[0].blocks = 8,
                                        .lower[0].policy = policy_find("lru", NULL, 0, &why)};
        struct server_options options = {
            .sequences = 4, .batched_tokens = 1000, .unit_tokens = 256};
        struct saboteur saboteur = {.clock = {.fixed_ns = MS, .load_rate = 1e9}, .act = act};
        struct way_shares shares = make_shares(1e9, 1e9, 2e9);
        struct step_clock clock = {.step = sabotaged_step, .context = &saboteur, .shares = &shares};
        struct server_totals totals;
        saboteur.cache = prefix_cache_create(&prefix, &requests, &why);
        dup2(fileno(said), STDERR_FILENO);
        bool ok = run_alone(&options, &clock, &requests, 0, saboteur.cache, served, &totals, &why);
        _exit(ok ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    char line[256] = "";
    rewind(said);
    (void)!fgets(line, sizeof line, said);
    fclose(said);
    if (amounts == NULL) {
        assert_string_equal(line, "");
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    } else {
        char found[64] = "";
        assert_int_equal(sscanf(line, "conservation: %*[^:]: %63[^\n]", found), 1);
        assert_string_equal(found, amounts);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

static void what_breaks_a_law_is_noticed(void **state)
{
    (void)state;
    check_sabotaged(do_nothing, NULL);
    check_sabotaged(take_blocks, "6 is not 3");
    check_sabotaged(load_beside, "2 is not 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_computes_who_is_there),
        cmocka_unit_test(a_wait_has_a_cause),
        cmocka_unit_test(long_prompts_are_cut_into_chunks),
        cmocka_unit_test(a_chunk_is_no_longer_than_a_rank_computes),
        cmocka_unit_test(clients_send_when_they_are_answered),
        cmocka_unit_test(who_came_last_makes_room),
        cmocka_unit_test(who_has_no_room_for_all_waits),
        cmocka_unit_test(what_can_never_run_is_left_out),
        cmocka_unit_test(what_the_host_has_is_loaded_first),
        cmocka_unit_test(what_is_on_its_way_is_waited_for),
        cmocka_unit_test(layers_wait_each_for_its_own),
        cmocka_unit_test(what_a_prompt_writes_takes_the_link),
        cmocka_unit_test(what_is_saved_takes_its_time),
        cmocka_unit_test(who_waits_is_looked_up_again),
        cmocka_unit_test(a_step_waits_for_room_that_is_being_saved),
        cmocka_unit_test(shared_time_is_processor_sharing),
        cmocka_unit_test(places_of_their_own_are_erlangs),
        cmocka_unit_test(alike_and_one_at_a_time_is_m_d_1),
        cmocka_unit_test(nothing_is_lost_in_a_storm),
        cmocka_unit_test(what_breaks_a_law_is_noticed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
