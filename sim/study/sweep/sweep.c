/* The calling thread resolves points into a ring of slots, queues those that must run for the
 * workers, and delivers results in point order. It alone uses the store.
 *
 *      delivered                    issued           points
 *   ------|----------------------------|---------------|
 *         |  waiting, in work or done  | not resolved  |
 *
 * A slot belongs to the calling thread, except while it is queued or in work: then it belongs to
 * the queue, and after that to the worker that took it. A point that is stored already, or that
 * cannot be resolved, never enters the queue.
 *
 * Before the first point is issued, the first MOST_SURVEYED points are planned. This finds the
 * replays that can share one reading of a trace, which must be known together. Those that fit into
 * the ring stay resolved in it.
 *
 * Workers often wait for the same replay. It runs on the cores that they leave idle (core/parallel.h). The
 * points [delivered, issued) fit into the ring, so a slow point holds up a bounded number of finished ones.
 * The calling thread wakes ten times a second to look at the stop flag. */

#include "study/sweep/sweep.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "core/parallel.h"
#include "predict/answer.h"
#include "predict/decode/outcome.h"
#include "predict/decode/replays.h"
#include "predict/server/serving_stream.h"
#include "store/stored_run.h"

/* A survey takes a millisecond and kilobytes per point; one that stays resolved some hundred kilobytes. */
enum { SLOTS_A_WORKER = 4, LEAST_SLOTS = 256, MOST_SURVEYED = 4096 };

#define LOOK_NS 100000000L /* between two looks at the stop flag */
#define SECOND_NS 1000000000L

struct slot {
    struct point point;
    struct result result;
    struct error why;
    bool stored; /* read back, not run */
    bool failed; /* with `why`; otherwise there is a result */
    bool done;
    STAILQ_ENTRY(slot) next; /* in the queue */
};

STAILQ_HEAD(slot_queue, slot);

struct sweep {
    const struct scenario *scenario;
    const struct sweep_options *options;
    struct slot *slots; /* [slot_count] */
    struct threads workers;
    uint32_t jobs, slot_count;
    struct meter meter;
    uint64_t expected;                    /* that the surveyed points expect of the meter */
    struct run_context runs;              /* the options', with the threads for a point's replay */
    uint32_t points;                      /* of the shard; the fields below count these */
    uint32_t delivered, issued, resolved; /* `resolved`: by the survey */
    sem_t finished;                       /* posted when a point is finished */
    pthread_mutex_t lock;                 /* of the fields below, and of `done` in every slot */
    pthread_cond_t work;
    struct slot_queue waiting;
    bool closing;
};

static bool is_stopping(const struct sweep *sweep)
{
    return atomic_load(&sweep->runs.stop->raised);
}

static void *sweep_work(void *context)
{
    struct sweep *sweep = context;
    pthread_mutex_lock(&sweep->lock);
    while (!sweep->closing) {
        struct slot *slot = STAILQ_FIRST(&sweep->waiting);
        if (slot == NULL) {
            pthread_cond_wait(&sweep->work, &sweep->lock);
            continue;
        }
        STAILQ_REMOVE_HEAD(&sweep->waiting, next);
        cores_await(sweep->runs.cores); /* before the next point is taken, which may replay */
        pthread_mutex_unlock(&sweep->lock);
        cores_take_awaited(sweep->runs.cores);
        slot->failed = !replication_run(&slot->point, sweep->options->replications, &sweep->runs,
                                        &slot->result, &slot->why);
        cores_give(sweep->runs.cores);
        pthread_mutex_lock(&sweep->lock);
        slot->done = !slot->failed || !is_stopping(sweep); /* an abandoned run is not a failure */
        sem_post(&sweep->finished);
    }
    pthread_mutex_unlock(&sweep->lock);
    return NULL;
}

static struct slot *sweep_slot_of(const struct sweep *sweep, uint32_t index)
{
    return &sweep->slots[index % sweep->slot_count];
}

/* The number of the shard's `index`th point in the scenario. */
static uint32_t point_of(const struct sweep *sweep, uint32_t index)
{
    const struct sweep_shard *shard = &sweep->options->shard;
    return shard->count == 0 ? index : index * shard->count + shard->number - 1;
}

static void release_slot(struct slot *slot)
{
    point_release(&slot->point);
    result_release(&slot->result);
}

/* Read back the replications as well. A run that has too few of them is run again. */
static bool read_draws(const struct sweep *sweep, struct slot *slot, const char *run,
                       struct error *why)
{
    struct result_draws *draws = &slot->result.draws;
    if (sweep->options->replications == 0 || replication_main(&slot->result) == NULL) {
        return true;
    }
    replication_ranges(&slot->point.setup, draws->ranges);
    if (!store_get_draws(sweep->options->store, run, draws, why)) {
        return false;
    }
    slot->stored = draws->count >= sweep->options->replications;
    if (slot->stored) {
        draws->count = sweep->options->replications;
    } else {
        result_release(&slot->result);
    }
    return true;
}

static bool sweep_read_back(const struct sweep *sweep, struct slot *slot, struct error *why)
{
    struct run_hashes hashes;
    struct store *store = sweep->options->store;
    if (store == NULL) {
        return true;
    }
    if (!run_hashes(&slot->point, &hashes, why) ||
        !store_has(store, hashes.run, &slot->stored, why)) {
        return false;
    }
    if (!slot->stored) {
        return true;
    }
    if (!store_get(store, hashes.run, &slot->result, why)) {
        return false;
    }
    answer_seal(&hashes, &slot->result);
    return read_draws(sweep, slot, hashes.run, why);
}

static void resolve_next(const struct sweep *sweep, uint32_t index, struct slot *slot)
{
    *slot = (struct slot){.stored = false};
    point_init(&slot->point);
    result_init(&slot->result);
    slot->failed =
        !scenario_point(sweep->scenario, point_of(sweep, index), &slot->point, &slot->why);
    if (!slot->failed) {
        /* A server in steady state that is asked a question runs for as long as that takes. */
        const struct stream_question *question = sweep->options->runs->question;
        bool asks =
            question != NULL && point_serves(&slot->point) && serving_is_stream(&slot->point);
        slot->point.asked = asks ? stream_question_hash(question) : 0;
        slot->failed = !sweep_read_back(sweep, slot, &slot->why);
    }
}

/* Plan the points, so that replays that go together are known; errors are told in their turn. */
static void survey(struct sweep *sweep)
{
    replays_seal(sweep->runs.expected);
    for (uint32_t i = 0; i < sweep->points && i < MOST_SURVEYED && !is_stopping(sweep); i++) {
        struct slot passing, *slot = i < sweep->slot_count ? &sweep->slots[i] : &passing;
        resolve_next(sweep, i, slot);
        if (!slot->failed && !slot->stored && !point_serves(&slot->point)) {
            struct point view;
            for (uint32_t v = 0; v < point_views(&slot->point); v++) {
                if (point_view(&slot->point, v, &view, ERROR_UNSEEN)) {
                    run_expect(&view.setup, &sweep->runs, ERROR_UNSEEN);
                    point_view_release(&view);
                }
            }
        }
        if (slot == &passing) {
            release_slot(slot);
        } else {
            sweep->resolved = i + 1;
        }
    }
    sweep->expected = replays_work(sweep->runs.expected);
}

static bool sweep_is_done(struct sweep *sweep, uint32_t index)
{
    if (index == sweep->issued) {
        return false;
    }
    pthread_mutex_lock(&sweep->lock);
    bool done = sweep_slot_of(sweep, index)->done;
    pthread_mutex_unlock(&sweep->lock);
    return done;
}

/* Turn the error into a result. If the point was resolved, the result names its inputs. */
static bool describe_failure(struct slot *slot, struct error *why)
{
    struct result *result = &slot->result;
    char place[sizeof slot->why.file + 16] = ""; /* data without line numbers has none */
    if (slot->why.line > 0) {
        snprintf(place, sizeof place, "%s:%d: ", slot->why.file, slot->why.line);
    }
    result_init(result);
    snprintf(result->message, sizeof result->message, "%.240s%s", place, slot->why.found);
    snprintf(result->expected, sizeof result->expected, "%.255s", slot->why.expected);
    snprintf(result->nearest, sizeof result->nearest, "%s", slot->why.nearest);
    result->invalid = slot->why.kind == ERROR_USAGE;
    return (slot->point.scenario == NULL || outcome_names(&slot->point.setup, result, why)) &&
           result_text(result, COLUMN(status), "failed", why);
}

static bool hand_over(const struct sweep *sweep, struct slot *slot, struct error *why)
{
    const struct sweep_options *options = sweep->options;
    return options->on_result == NULL || options->on_result(point_of(sweep, sweep->delivered),
                                                            &slot->result, options->context, why);
}

static bool deliver(struct sweep *sweep, struct slot *slot, struct error *why)
{
    const struct sweep_options *options = sweep->options;
    if (slot->failed && sweep->scenario->points == 1 && !options->keep_failed) {
        *why = slot->why;
        return false;
    }
    if (slot->failed) {
        return describe_failure(slot, why) && hand_over(sweep, slot, why);
    }
    return (options->store == NULL || slot->stored ||
            store_put(options->store, &slot->result, why)) &&
           hand_over(sweep, slot, why);
}

/* Replays take nearly all time, so their work says how much has passed; once they are done, the runs do. */
static double sweep_share_done(const struct sweep *sweep)
{
    uint64_t spared = atomic_load(&sweep->meter.spared), done = atomic_load(&sweep->meter.done);
    uint64_t work = sweep->expected > spared ? sweep->expected - spared : 0;
    return done < work ? (double)done / (double)work
                       : (double)sweep->delivered / (double)sweep->points;
}

static void sweep_report_progress(const struct sweep *sweep)
{
    if (sweep->options->on_progress != NULL) {
        sweep->options->on_progress(sweep->delivered, sweep->points, sweep_share_done(sweep),
                                    sweep->options->context);
    }
}

static bool sweep_run_points(struct sweep *sweep, struct error *why)
{
    uint32_t points = sweep->points;
    survey(sweep);
    sweep->runs.threads = sweep->jobs / sweep->workers.count; /* of all but replays */
    sweep_report_progress(sweep);
    while (sweep->delivered < points && !is_stopping(sweep)) {
        if (sweep->issued < points && sweep->issued - sweep->delivered < sweep->slot_count) {
            /* Resolve the next point, unless the survey did, and queue it if it has to run. */
            struct slot *slot = sweep_slot_of(sweep, sweep->issued);
            if (sweep->issued >= sweep->resolved) {
                resolve_next(sweep, sweep->issued, slot);
            }
            pthread_mutex_lock(&sweep->lock);
            if (slot->failed || slot->stored) {
                slot->done = true;
            } else {
                STAILQ_INSERT_TAIL(&sweep->waiting, slot, next);
                pthread_cond_signal(&sweep->work);
            }
            pthread_mutex_unlock(&sweep->lock);
            sweep->issued++;
        } else if (!sweep_is_done(sweep, sweep->delivered)) {
            /* Sleep until something is finished, but look at the stop flag in between. */
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += LOOK_NS;
            until.tv_sec += until.tv_nsec / SECOND_NS;
            until.tv_nsec %= SECOND_NS;
            sem_timedwait(&sweep->finished, &until);
            sweep_report_progress(sweep);
        }
        while (!is_stopping(sweep) && sweep_is_done(sweep, sweep->delivered)) {
            struct slot *slot = sweep_slot_of(sweep, sweep->delivered);
            if (!deliver(sweep, slot, why)) {
                return false;
            }
            release_slot(slot);
            sweep->delivered++;
            sweep_report_progress(sweep);
        }
    }
    return true;
}

/* After a failure the running work is of no use: raising the flag ends it. */
static bool run_watched(struct sweep *sweep, uint32_t workers, struct error *why)
{
    struct shared *shared = sweep->runs.shared;
    shared_cores(shared, sweep->runs.cores);
    bool ok = threads_start(&sweep->workers, workers, sweep_work, sweep, 0, why) &&
              (sweep->workers.count > 0 ||
               error_set(why, NULL, 0, "cannot start a thread for the sweep")) &&
              sweep_run_points(sweep, why);
    if (!ok) {
        atomic_store(&sweep->runs.stop->raised, true);
    }
    pthread_mutex_lock(&sweep->lock);
    sweep->closing = true;
    pthread_cond_broadcast(&sweep->work);
    pthread_mutex_unlock(&sweep->lock);
    threads_join(&sweep->workers);
    shared_cores(shared, NULL);
    for (uint32_t i = sweep->delivered; i < sweep->issued || i < sweep->resolved; i++) {
        release_slot(sweep_slot_of(sweep, i));
    }
    return ok;
}

bool sweep_shard_parse(const char *text, struct sweep_shard *out, struct error *why)
{
    char end;
    uint32_t number = 0, count = 0;
    bool digits = text[strspn(text, "0123456789/")] == '\0';
    if (!digits || sscanf(text, "%7u/%7u%c", &number, &count, &end) != 2 || number == 0 ||
        number > count) {
        error_usage(why, NULL, 0, "invalid shard '%.60s'", text);
        return error_expect(why, "K/N, from 1/N to N/N");
    }
    *out = (struct sweep_shard){.number = number, .count = count};
    return true;
}

uint32_t sweep_users(uint32_t jobs, bool replicated)
{
    return (replicated ? 2 : 1) * parallel_threads(jobs);
}

bool sweep_run(const struct scenario *scenario, const struct sweep_options *options,
               struct error *why)
{
    uint32_t jobs = parallel_threads(options->jobs);
    const struct sweep_shard *shard = &options->shard;
    uint32_t points = shard->count == 0
                          ? scenario->points
                          : (scenario->points + shard->count - shard->number) / shard->count;
    uint32_t workers = jobs < points ? jobs : points;
    if (points == 0) {
        return true; /* more shards than points */
    }
    uint32_t slots =
        SLOTS_A_WORKER * workers > LEAST_SLOTS ? SLOTS_A_WORKER * workers : LEAST_SLOTS;
    struct sweep sweep = {
        .scenario = scenario,
        .options = options,
        .points = points,
        .jobs = jobs,
        .slot_count = slots < points ? slots : points,
        .runs = *options->runs,
    };
    sweep.runs.cores = cores_create(jobs, why);
    sweep.runs.meter = &sweep.meter;
    sweep.slots = array_zeroed(sweep.slot_count, sizeof *sweep.slots, why);
    pthread_mutex_init(&sweep.lock, NULL);
    pthread_cond_init(&sweep.work, NULL);
    sem_init(&sweep.finished, 0, 0);
    STAILQ_INIT(&sweep.waiting);
    bool ok = sweep.runs.cores != NULL && sweep.slots != NULL &&
              run_watched(&sweep, workers, why) &&
              (sweep.delivered == sweep.points || stop_flag_check(sweep.runs.stop, why));
    sem_destroy(&sweep.finished);
    pthread_cond_destroy(&sweep.work);
    pthread_mutex_destroy(&sweep.lock);
    cores_destroy(sweep.runs.cores);
    free(sweep.slots);
    return ok;
}

/* Which runs of a sweep failed, and what a command says of them. */

bool sweep_is_one_point(const struct scenario *scenario, struct error *why)
{
    if (scenario->sweep == NULL) {
        return true;
    }
    error_usage(why, NULL, 0, "the scenario already sweeps '%s'",
                scenario->sweep->children[0]->key);
    return error_expect(why, "a scenario of one point; values of that key may be an axis");
}

bool sweep_has_point(const struct scenario *scenario, struct error *why)
{
    bool found = false;
    for (uint32_t i = 0; i < scenario->points && !found; i++) {
        struct point point;
        found = scenario_point(scenario, i, &point, i == 0 ? why : ERROR_UNSEEN);
        if (found) {
            point_release(&point);
        }
    }
    return found;
}

void sweep_count(struct sweep_failures *failures, const struct result *result)
{
    failures->points++;
    failures->unfit += result_out_of_memory(result);
    if (result_failed(result) && failures->failed++ == 0) {
        error_set(&failures->first, NULL, 0, "%s", result->message);
        error_expect(&failures->first, "%s", result->expected);
        error_nearest(&failures->first, result->nearest);
        failures->first.kind = result->invalid ? ERROR_USAGE : ERROR_FAILURE;
    }
}

bool sweep_all_ran(const struct sweep_failures *failures, struct error *why)
{
    if (failures->failed == 0) {
        return true;
    }
    *why = failures->first;
    why->kind = ERROR_FAILURE;
    snprintf(why->found, sizeof why->found, "%u of %u runs failed%s: %.200s", failures->failed,
             failures->points, failures->failed == 1 ? "" : ", the first", failures->first.found);
    return false;
}

bool sweep_check(const struct result *results, uint32_t count, struct error *why)
{
    struct sweep_failures failures = {.points = 0};
    for (uint32_t i = 0; i < count; i++) {
        sweep_count(&failures, &results[i]);
    }
    return sweep_all_ran(&failures, why);
}

/* A sweep whose results all stay in memory. */

struct keeping {
    const struct study *study;
    struct result *results;
    uint32_t *count;
};

static bool sweep_keep_result(uint32_t index, struct result *result, void *context,
                              struct error *why)
{
    const struct keeping *keeping = context;
    (void)why;
    keeping->results[index] = *result;
    *keeping->count = index + 1;
    result_init(result);
    return true;
}

static void sweep_keep_report_progress(uint32_t done, uint32_t points, double share, void *context)
{
    (void)share;
    const struct study *study = ((const struct keeping *)context)->study;
    if (study->on_progress != NULL) {
        study->on_progress(done, points, "runs", study->context);
    }
}

bool sweep_keep(const struct scenario *scenario, const struct study *study, struct result *results,
                uint32_t *count, struct error *why)
{
    struct keeping keeping = {study, results, count};
    const struct sweep_options sweep = {.store = study->store,
                                        .jobs = study->jobs,
                                        .runs = study->runs,
                                        .keep_failed = true,
                                        .on_result = sweep_keep_result,
                                        .on_progress = sweep_keep_report_progress,
                                        .context = &keeping};
    return sweep_run(scenario, &sweep, why);
}
