/* A faster part makes no server slower: not a step with the same load, and not a whole run in which
 * the batches do not depend on the clock, because all requests are there at the start or a single
 * client sends them. Otherwise a faster step may end just before a request comes that a slower one
 * would still have taken along; so no claim is made there.
 *
 * Scenarios and figures as in tests/unit/decode/test_faster.c, which says why a step that shares
 * channels may still take longer, by at most `most_shared`. A step with a chunk of P tokens of a
 * prompt beside B sequences may, too:
 *
 *     step = decode(B) + products(B + P) - products(B) + attention
 *
 * counts the chunk as if it hid in no stall of the decode step. Where decode waits for something
 * else than the figure, for launches or for streamed weights, only the subtracted products get
 * faster, and the step takes longer by at most that; a run has at most a chunk for each request.
 *
 * Copies beside a step are left out: a step with a part of the link is read off a line.
 *
 *     test_faster_server 1000       1000 scenarios of each kind
 *     test_faster_server 1 471      scenario 471 */
#include "decode/mechanism_values.h"
#include "unit/fixture/faster.h"
#include "unit/fixture/random_scenario.h"
#include "unit/fixture/rounds.h"

#include "decode/cost/cost.h"
#include "predict/server/serving.h"
#include "predict/server/step_cost.h"

enum { LAYERS = 4, MOST_FIGURES = 6, MOST_REQUESTS = 18, MOST_DECODES = 32 };

static const double most_shared = 0.05;

static uint64_t scenarios = ROUNDS(40, 8), first_scenario = 1;

/* A server, and what is timed of it. */
struct trial {
    struct lottery lottery;
    uint64_t number;
    struct point point;
    struct step_load load;
    struct step_chunk chunk;
};

/* A time. Chunks may cost as much more as the products of so many decoding sequences take less. */
struct time {
    int64_t ns;
    uint32_t chunks, least, most; /* sequences */
    double products_ns[MOST_DECODES + 1];
};

typedef bool (*timer)(const struct trial *trial, struct time *time, struct error *why);

/* ---- a step ---------------------------------------------------------------------------------- */

/* The layers' products for this many decoding sequences. */
static double products_ns(const struct setup *setup, uint32_t decodes)
{
    struct model_rows rows = model_rows(&setup->model, decodes);
    double ns = 0;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        uint64_t kernels;
        ns += cost_row_stage(setup, layer, MODEL_PRE, rows, 0, 1).ns +
              cost_row_stage(setup, layer, MODEL_POST, rows, 0, 1).ns +
              cost_exchanges(setup, layer, rows, &kernels).ns;
    }
    return ns;
}

static struct time time_of(const struct trial *trial, int64_t ns, uint32_t chunks, uint32_t least,
                           uint32_t most)
{
    struct time time = {ns, chunks, least, most, {0}};
    for (uint32_t i = least; i <= most; i++) {
        time.products_ns[i] = products_ns(&trial->point.setup, i);
    }
    return time;
}

/* What chunks may cost more than before. */
static double allowance(const struct time *before, const struct time *now)
{
    double most = 0;
    for (uint32_t i = before->least; i <= before->most; i++) {
        most = fmax(most, before->products_ns[i] - now->products_ns[i]);
    }
    return before->chunks * most;
}

static bool time_step(const struct trial *trial, struct time *time, struct error *why)
{
    const struct step_load *load = &trial->load;
    uint32_t sequences = load->decodes > 0 ? load->decodes : 1;
    uint64_t context = load->decodes > 0 ? load->decode_tokens / load->decodes : 64;
    const struct decode_range range = {sequences, context, context};
    struct run_context runs; /* a new one: it would keep the points of the machine before */
    struct step_time step;
    make_runs(&runs, 1);
    struct step_cost *cost = step_cost_create(&trial->point, &range, &runs, why);
    struct step_clock clock = {0};
    bool good = cost != NULL;
    if (good) {
        clock = step_cost_clock(cost);
        good = clock.step(clock.context, load, &step, why);
    }
    *time = time_of(trial, good ? step.ns : 0, load->chunk_count, sequences, sequences);
    step_cost_destroy(cost);
    run_context_release(&runs);
    return good;
}

/* ---- a run ----------------------------------------------------------------------------------- */

/* Until the last request has ended. */
static bool time_run(const struct trial *trial, struct time *time, struct error *why)
{
    struct run_context runs;
    struct result result;
    int64_t end = 0;
    make_runs(&runs, 1);
    bool good = serving_run(&trial->point, &runs, &result, why);
    if (good) {
        assert_true(result.request_count <= MOST_REQUESTS);
        for (uint32_t i = 0; i < result.request_count; i++) {
            end = result.requests[i].end_ns > end ? result.requests[i].end_ns : end;
        }
        *time = time_of(trial, end, result.request_count, 1, result.request_count);
        result_release(&result);
    }
    run_context_release(&runs);
    return good && end > 0;
}

/* ---- the property ---------------------------------------------------------------------------- */

static void check(const struct trial *trial, const char *figure, double factor, timer timer,
                  const struct time *before)
{
    struct time now;
    struct error why;
    if (!timer(trial, &now, &why)) {
        fail_msg("%s: %s", figure, message_of(&why));
    }
    double most = most_shared * (double)before->ns + allowance(before, &now);
    if ((double)(now.ns - before->ns) > most) {
        print_message("scenario %llu:", (unsigned long long)trial->number);
        for (size_t i = 0; i < trial->lottery.count; i++) {
            print_message(" %s", trial->lottery.overrides[i]);
        }
        fail_msg("%s %.4g times better: %lld ns after %lld", figure, factor, (long long)now.ns,
                 (long long)before->ns);
    }
}

static void try_figures(struct trial *trial, timer timer, const struct time *before)
{
    struct profile *profile = &trial->point.setup.profile;
    enum curve_id figures[CURVE_COUNT];
    struct faster faster[CURVE_COUNT];
    size_t count = point_curves(&trial->point, figures);
    for (size_t i = 0; i < MOST_FIGURES; i++) {
        enum curve_id id = figures[draw_below(&trial->lottery, count)];
        double factor = faster_factor(trial->lottery.random);
        if (faster_begin(profile, id, factor, &faster[0])) {
            check(trial, curve_kinds[id].name, factor, timer, before);
        }
        faster_end(&faster[0]);
    }
    double factor = faster_factor(trial->lottery.random);
    for (size_t i = 0; i < count; i++) {
        faster_begin(profile, figures[i], factor, &faster[i]);
    }
    check(trial, "everything", factor, timer, before);
    for (size_t i = 0; i < count; i++) {
        faster_end(&faster[i]);
    }
}

static void draw_load(struct trial *trial)
{
    struct lottery *lottery = &trial->lottery;
    uint64_t context = (uint64_t)draw_size(lottery, 6, 16);
    trial->chunk = (struct step_chunk){.start = draw_below(lottery, 2) * 300,
                                       .tokens = (uint32_t)draw_size(lottery, 0, 11)};
    trial->load = (struct step_load){.decodes = (uint32_t)draw_size(lottery, 0, 5),
                                     .chunks = &trial->chunk,
                                     .chunk_count = (uint32_t)draw_below(lottery, 2)};
    trial->load.decodes *= trial->load.chunk_count == 0 || draw_below(lottery, 4) > 0;
    trial->load.decode_tokens = trial->load.decodes * context;
}

/* A scenario that fits no memory, or whose machine lacks a figure, is refused. */
static bool run_scenario(struct trial *trial, timer timer)
{
    struct lottery *lottery = &trial->lottery;
    struct error why;
    struct time before;
    enum curve_id figures[CURVE_COUNT];
    draw_machine(lottery, trial->number);
    OVERRIDE(lottery, "context=");
    OVERRIDE(lottery, "workload=synthetic:prompt=%d,output=%d,output_spread=50%%,requests=%d",
             draw_size(lottery, 5, 10), draw_size(lottery, 1, 5), 2 + draw_size(lottery, 0, 4));
    OVERRIDE(lottery, "%s", DRAW(lottery, "clients=1", "timed=no"));
    OVERRIDE(lottery, "steps=2");
    draw_load(trial);
    if (!try_point(lottery->overrides, &trial->point, &why)) {
        return false;
    }
    struct setup *setup = &trial->point.setup;
    setup->model.layer_count =
        setup->model.layer_count < LAYERS ? setup->model.layer_count : LAYERS;
    if (setup->mechanisms->balance) { /* a rule of the system, not the time, chooses the share */
        setup->mechanisms->balance = 0;
        setup->mechanisms->representation_share = 0.3;
    }
    size_t count = point_curves(&trial->point, figures);
    bool good =
        profile_require(&setup->profile, figures, count, "it", &why) && timer(trial, &before, &why);
    if (good) {
        try_figures(trial, timer, &before);
    }
    point_release(&trial->point);
    return good;
}

static void run_scenarios(timer timer)
{
    struct trial trial = {.number = first_scenario};
    uint64_t ran = 0;
    lottery_init(&trial.lottery);
    for (; ran < scenarios; trial.number++) {
        ran += run_scenario(&trial, timer);
        assert_true(trial.number < first_scenario + 20 + 4 * scenarios);
    }
    lottery_release(&trial.lottery);
}

static void no_step_of_a_server_is_slower(void **state)
{
    (void)state;
    run_scenarios(time_step);
}

static void no_run_of_a_server_is_slower(void **state)
{
    (void)state;
    run_scenarios(time_run);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_step_of_a_server_is_slower),
        cmocka_unit_test(no_run_of_a_server_is_slower),
    };
    scenarios = argc > 1 ? strtoull(argv[1], NULL, 10) : scenarios;
    first_scenario = argc > 2 ? strtoull(argv[2], NULL, 10) : first_scenario;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
