/* A faster part never makes decoding or a prefill slower.
 *
 * Random scenarios: every shipped system in its turn, on a drawn model, machine and link, with drawn
 * sizes and mechanisms. Each figure of the machine that the scenario reads is made better by a drawn
 * factor, one at a time and then all at once (faster.h). Then
 *
 *   - the schedule has the same tasks, and none takes longer alone;
 *   - the schedule ends later by at most what the tasks of its critical path lose to others on
 *     shared channels. So it never does where nothing is shared;
 *   - and by at most 5 % in any case.
 *
 * A schedule ends later if a copy that could have waited takes more of HBM, of DRAM or of the link
 * from a task that decides, as max-min fair channels divide them; or is done sooner and leaves a
 * kernel alone that cannot use all of HBM by itself. The most seen in 24 000 scenarios is 4.1 %:
 * weights that stream over a link of 2.3 times its rate.
 *
 * The time is that of all steps from a standing start. The reported time leaves out the first step,
 * so that it rises where a faster figure saves more in that step than in the others.
 *
 * A rule of the system, not the time, decides in two places:
 *
 *   - CAPTURE's equation divides KV and activations by rates, and as it is printed it leaves out that
 *     activations have to be loaded. A faster GPU moves the share, to the worse where activations
 *     are larger than K and V. The share is held here.
 *   - PQCache's CPU trains as many whole iterations of k-means as the GPU hides. A faster CPU leaves
 *     less of that time unused: less than one pass over the keys as it took before.
 *
 *     test_faster 20000        20 000 scenarios instead of 500
 *     test_faster 1 4711       scenario 4711 */
#include "unit/fixture/faster.h"
#include "unit/fixture/mechanism_choice.h"
#include "unit/fixture/random_scenario.h"
#include "unit/fixture/rounds.h"

#include "core/engine/engine.h"
#include "unit/fixture/make_timing.h"

enum { LAYERS = 4, STEPS = 1 };

static const double most_shared = 0.05;

static uint64_t scenarios = ROUNDS(130, 25), first_scenario = 1;

/* ---- schedules ------------------------------------------------------------------------------- */

/* A task's time: as it was, and if nobody had shared its channels. */
struct span {
    int64_t ns, alone_ns;
    int64_t slack_ns; /* by which a better figure may lengthen it: k-means */
};

struct schedule {
    int64_t end_ns;
    struct span *tasks; /* [count] owned */
    uint32_t count;
};

/* Less than a pass of the CPU's k-means, which is the only work of the pool in a prefill. */
static int64_t slack_of(const struct pipe *pipe, const struct engine_record *record, bool prefill)
{
    const struct mechanisms *m = pipe->mechanisms;
    uint64_t passes = m->cluster_passes + m->cluster_iterations;
    bool trains = prefill && record->resource == pipe->resource[PIPE_POOL];
    return trains ? (record->end_ns - record->start_ns) / (int64_t)(passes > 0 ? passes : 1) : 0;
}

static struct schedule schedule_of(const struct pipe *pipe, engine_task_id last, bool prefill)
{
    struct schedule schedule = {.end_ns = engine_task_record(pipe->engine, last)->end_ns,
                                .count = engine_task_count(pipe->engine)};
    schedule.tasks = calloc(schedule.count, sizeof *schedule.tasks);
    assert_non_null(schedule.tasks);
    for (engine_task_id i = 0; i < schedule.count; i++) {
        const struct engine_record *record = engine_task_record(pipe->engine, i);
        schedule.tasks[i] = (struct span){.ns = record->end_ns - record->start_ns,
                                          .alone_ns = pipe->marks[record->tag].alone_ns,
                                          .slack_ns = slack_of(pipe, record, prefill)};
    }
    return schedule;
}

/* What the tasks of a critical path take longer than before. */
struct losses {
    const struct schedule *before, *now;
    int64_t ns;
};

static void add_loss(engine_task_id task, int64_t begin_ns, int64_t end_ns, void *context)
{
    struct losses *losses = context;
    (void)begin_ns;
    (void)end_ns;
    if (task != ENGINE_NONE && losses->now->tasks[task].ns > losses->before->tasks[task].ns) {
        losses->ns += losses->now->tasks[task].ns - losses->before->tasks[task].ns;
    }
}

/* ---- the property ---------------------------------------------------------------------------- */

/* A scenario, and what the better figure is called. */
struct trial {
    const struct lottery *lottery;
    uint64_t number;
    const char *figure;
    double factor;
};

static void complain(const struct trial *trial, const char *what, int64_t before, int64_t now)
{
    print_message("scenario %llu:", (unsigned long long)trial->number);
    for (size_t i = 0; i < trial->lottery->count; i++) {
        print_message(" %s", trial->lottery->overrides[i]);
    }
    fail_msg("%s %.4g times better: %s %lld ns after %lld", trial->figure, trial->factor, what,
             (long long)now, (long long)before);
}

/* A mark is rounded up where the engine forgives a rounding error: 1 ns. */
static void check_alone(const struct trial *trial, const struct schedule *before,
                        const struct schedule *now)
{
    if (now->count != before->count) {
        complain(trial, "tasks, not", before->count, now->count);
    }
    for (uint32_t i = 0; i < now->count; i++) {
        if (now->tasks[i].alone_ns > before->tasks[i].alone_ns + before->tasks[i].slack_ns + 1) {
            complain(trial, "a task takes", before->tasks[i].alone_ns, now->tasks[i].alone_ns);
        }
    }
}

static void check_end(const struct trial *trial, const struct pipe *pipe, engine_task_id last,
                      const struct schedule *before, const struct schedule *now)
{
    int64_t later = now->end_ns - before->end_ns;
    struct losses losses = {before, now, 0};
    if (later <= 0) {
        return;
    }
    critical_path_walk(pipe->engine, last, 0, add_loss, &losses);
    if (later > losses.ns || (double)later > most_shared * (double)before->end_ns) {
        complain(trial, "the end is at", before->end_ns, now->end_ns);
    }
}

/* The schedule of `pipe`. If `trial` is not NULL, it may not be slower than `before`. */
static struct schedule look_at(const struct trial *trial, const struct pipe *pipe, bool prefill,
                               const struct schedule *before)
{
    engine_task_id last = prefill ? prefill_last(pipe) : pipe->step_end[pipe->steps - 1];
    struct schedule now = schedule_of(pipe, last, prefill);
    if (trial != NULL) {
        check_alone(trial, before, &now);
        check_end(trial, pipe, last, before, &now);
    }
    return now;
}

enum { DECODE, PREFILL, KINDS };

struct schedules {
    struct schedule of[KINDS];
};

static void schedules_release(struct schedules *schedules)
{
    for (int i = 0; i < KINDS; i++) {
        free(schedules->of[i].tasks);
    }
}

/* Run the setup; a prefill only if it has a prompt. */
static bool run_setup_once(const struct setup *setup, const struct trial *trial,
                           const struct schedules *before, struct schedules *out, struct error *why)
{
    struct course course;
    struct pipe pipe;
    *out = (struct schedules){0};
    if (!try_course(setup, &course, why)) {
        return false;
    }
    bool good = true;
    out->of[DECODE] = look_at(trial, &course.pipe, false, before ? &before->of[DECODE] : NULL);
    if (setup->prompt > 0) {
        good = prefill_build(&pipe, setup, &course.plan, course.used, NULL, why);
        if (good) {
            out->of[PREFILL] = look_at(trial, &pipe, true, before ? &before->of[PREFILL] : NULL);
        }
        pipe_release(&pipe);
    }
    course_release(&course);
    return good;
}

/* Run it with better figures, and compare. */
static void try_faster(const struct setup *setup, const struct trial *trial,
                       const struct schedules *before)
{
    struct schedules now;
    struct error why;
    if (!run_setup_once(setup, trial, before, &now, &why)) {
        fail_msg("%s: %s", trial->figure, message_of(&why));
    }
    schedules_release(&now);
}

static void try_figures(struct setup *setup, struct lottery *lottery, uint64_t number,
                        const enum curve_id *figures, size_t count, const struct schedules *before)
{
    struct faster faster[CURVE_COUNT];
    for (size_t i = 0; i < count; i++) {
        double factor = faster_factor(lottery->random);
        struct trial trial = {lottery, number, curve_kinds[figures[i]].name, factor};
        if (faster_begin(&setup->profile, figures[i], factor, &faster[i])) {
            try_faster(setup, &trial, before);
        }
        faster_end(&faster[i]);
    }
    double factor = faster_factor(lottery->random);
    for (size_t i = 0; i < count; i++) {
        faster_begin(&setup->profile, figures[i], factor, &faster[i]);
    }
    try_faster(setup, &(struct trial){lottery, number, "everything", factor}, before);
    for (size_t i = 0; i < count; i++) {
        faster_end(&faster[i]);
    }
}

/* ---- scenarios ------------------------------------------------------------------------------- */

/* A measured drive, so that systems may ignore it; a third of them do not. */
static void draw_disk(struct lottery *lottery)
{
    OVERRIDE(lottery,
             "hardware.disk={capacity: 100TB, write: %dGB/s, latency: %dus, read_one: %dGB/s, "
             "read: {value: %dGB/s, basis: measured, source: x}}",
             draw_size(lottery, 0, 4), draw_size(lottery, 0, 8), draw_size(lottery, 0, 2),
             draw_size(lottery, 2, 6));
    if (draw_below(lottery, 3) == 0) {
        OVERRIDE(lottery, "mechanisms.disk_kv=%s", DRAW(lottery, "30%", "100%"));
        OVERRIDE(lottery, "mechanisms.disk_depth=%s", DRAW(lottery, "1", "4", "32"));
        OVERRIDE(lottery, "mechanisms.disk_block=%s", DRAW(lottery, "1tok", "8tok", "64tok"));
    }
}

static void draw_scenario(struct lottery *lottery, uint64_t number)
{
    char override[128];
    draw_machine(lottery, number);
    OVERRIDE(lottery, "steps=%d", STEPS);
    if (draw_below(lottery, 6) == 0) {
        int contexts[] = {draw_size(lottery, 6, 17), draw_size(lottery, 6, 17)};
        OVERRIDE(lottery, "context=");
        OVERRIDE(lottery, "contexts=[%d, %d]", contexts[0], contexts[1]);
    } else {
        OVERRIDE(lottery, "context=%d", draw_size(lottery, 6, 17));
        OVERRIDE(lottery, "batch=%d", draw_size(lottery, 0, 5));
    }
    if (draw_below(lottery, 4) == 0) {
        OVERRIDE(lottery, "prompt=%d", draw_size(lottery, 4, 12));
    }
    for (size_t i = draw_below(lottery, 3); i > 0; i--) {
        choice_draw(lottery->random, "=", override, sizeof override);
        OVERRIDE(lottery, "mechanisms.%s", override);
    }
    draw_disk(lottery);
}

/* Keep the share that CAPTURE's rule chose on this machine. */
static void hold_balance(struct setup *setup)
{
    struct plan plan = make_plan(setup);
    const struct split *split = &plan.cohorts[0].sizes.split;
    double again = (double)(split->act_host + split->ids), left = again + (double)split->kv;
    setup->mechanisms->balance = 0;
    setup->mechanisms->representation_share = left > 0 ? again / left : 0;
    plan_release(&plan);
}

/* A scenario whose mechanisms contradict each other, or whose machine lacks a figure, is refused. */
static bool run_scenario(struct lottery *lottery, uint64_t number)
{
    struct setup setup;
    struct schedules before;
    struct error why;
    enum curve_id figures[CURVE_COUNT];
    draw_scenario(lottery, number);
    if (!try_setup(lottery->overrides, &setup, &why)) {
        return false;
    }
    setup.model.layer_count = setup.model.layer_count < LAYERS ? setup.model.layer_count : LAYERS;
    size_t count = pipeline_curves(&setup, (struct pipeline_beside){0}, figures);
    bool good = profile_require(&setup.profile, figures, count, "it", &why) &&
                run_setup_once(&setup, NULL, NULL, &before, &why);
    if (good && setup.mechanisms->balance) {
        hold_balance(&setup);
        schedules_release(&before);
        good = run_setup_once(&setup, NULL, NULL, &before, &why);
    }
    if (good) {
        try_figures(&setup, lottery, number, figures, count, &before);
        schedules_release(&before);
    }
    setup_release(&setup);
    return good;
}

static void faster_parts_are_never_slower(void **state)
{
    struct lottery lottery;
    uint64_t ran = 0, number = first_scenario;
    (void)state;
    lottery_init(&lottery);
    for (; ran < scenarios; number++) {
        ran += run_scenario(&lottery, number);
        assert_true(number < first_scenario + 20 + 3 * scenarios);
    }
    lottery_release(&lottery);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(faster_parts_are_never_slower)};
    scenarios = argc > 1 ? strtoull(argv[1], NULL, 10) : scenarios;
    first_scenario = argc > 2 ? strtoull(argv[2], NULL, 10) : first_scenario;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
