#include "predict/server/serving_load.h"

#include "core/array.h"
#include "predict/server/stationary.h"
#include "server/requests/stream.h"

#include <gsl/gsl_statistics.h>
#include <math.h>
#include <stdlib.h>

enum {
    QUEUE = 2,     /* a single request waits for the running step */
    BEHIND = 50,   /* one in 50 fewer begin than come */
    SHARE = 20,    /* one in 20 more are in the server */
    DEVIATIONS = 2 /* of the noise */
};

/* Was the request sent, and not too long? */
static bool was_served(const struct served *served)
{
    return served->arrived_ns >= 0 && !served->too_long;
}

/* A stream ends before some of its requests do. */
static int64_t or_never(int64_t ns)
{
    return ns < 0 ? INT64_MAX : ns;
}

/* How long the requests that came in the first quarter ran, in the mean: so long a server fills. */
static double first_times(const struct served *all, size_t count, int64_t last_ns)
{
    double sum = 0, came = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].end_ns >= 0 && all[i].arrived_ns <= last_ns / 4) {
            sum += (double)(all[i].end_ns - all[i].scheduled_ns);
            came++;
        }
    }
    return came > 0 ? sum / came : 0;
}

/* ---- what changes --------------------------------------------------------------------- */

/* A session begins, a request comes to its server or is begun there, or a turn ends. */
struct load_change {
    int64_t ns;
    uint32_t server;
    int32_t waits; /* so many requests more */
    double owes;   /* so many turns more */
};

/* At one time ends come first, and a queue is empty before the next request comes. */
static int compare_changes(const void *a, const void *b)
{
    const struct load_change *x = a, *y = b;
    int first = x->waits == 0 ? -2 : x->waits, second = y->waits == 0 ? -2 : y->waits;
    return x->ns != y->ns ? (x->ns > y->ns) - (x->ns < y->ns) : first - second;
}

/* All changes up to `to_ns`, in order; without `requests` no turns are owed. `changes` has room for three of each
 * request. */
static size_t list_changes(const struct requests *requests, const struct served *all, size_t rows,
                           int64_t to_ns, struct load_change *changes)
{
    size_t count = 0;
    for (size_t i = rows, turns = 0; i-- > 0;) {
        const struct served *row = &all[i];
        bool begins = requests != NULL && stream_begins(requests, i);
        bool past = requests != NULL && requests->all[i].arrival_ns < 0;
        turns += !row->too_long;
        double owes = begins ? (double)turns : 0;
        turns = begins || past ? 0 : turns;
        if (was_served(row) && !past) {
            changes[count++] = (struct load_change){row->arrived_ns, row->server, 1, owes};
            changes[count++] =
                (struct load_change){or_never(row->scheduled_ns), row->server, -1, 0};
            changes[count++] = (struct load_change){or_never(row->end_ns), row->server, 0, -1};
        }
    }
    qsort(changes, count, sizeof *changes, compare_changes);
    while (count > 0 && changes[count - 1].ns > to_ns) {
        count--;
    }
    return count;
}

/* A server's requests: all that came, that wait, and that ended since its queue was last empty. */
struct load_queue {
    double all, waiting, ended;
    int64_t empty_ns;
};

/* `counts`: what comes or ends counts already. */
static void queue_change(struct load_queue *queue, const struct load_change *change, bool counts)
{
    queue->all += change->waits > 0;
    queue->waiting += change->waits;
    queue->ended += counts && change->waits == 0;
    if (change->waits < 0 && queue->waiting <= 0) {
        queue->ended = 0;
        queue->empty_ns = change->ns;
    }
}

/* ---- the queue ------------------------------------------------------------------------ */

/* The first sign. */
static bool falls_behind(const struct served *all, size_t count, int64_t last_ns, double rate,
                         bool *grows, struct error *why)
{
    double share = rate > 0 ? fmin(rate * (double)last_ns / 1e9 / ((double)count - 1), 1) : 1;
    double behind = 0, served = 0, filled = first_times(all, count, last_ns);
    int64_t half_ns = last_ns / 2, from_ns = filled < (double)half_ns ? (int64_t)filled : half_ns;
    size_t servers = 1;
    for (size_t i = 0; i < count; i++) {
        served += was_served(&all[i]);
        servers = all[i].server >= servers ? all[i].server + (size_t)1 : servers;
    }
    struct arrays arrays = {.last = NULL};
    struct load_change *changes = arrays_add(&arrays, 3 * count, sizeof *changes, why);
    struct load_queue *queues = arrays_add(&arrays, servers, sizeof *queues, why);
    bool good = !arrays.failed;
    size_t changed = good ? list_changes(NULL, all, count, last_ns, changes) : 0;
    for (size_t i = 0; i < changed; i++) {
        queue_change(&queues[changes[i].server], &changes[i], changes[i].ns > from_ns);
    }
    for (size_t i = 0; good && i < servers; i++) {
        int64_t full_ns = from_ns > queues[i].empty_ns ? from_ns : queues[i].empty_ns;
        double come = share * queues[i].all * (double)(last_ns - full_ns) / (double)last_ns;
        behind += full_ns > half_ns ? 0 : fmax(come - queues[i].ended, 0);
    }
    *grows = behind >= QUEUE && BEHIND * behind > share / 2 * served;
    arrays_release(&arrays);
    return good;
}

/* ---- the trend ------------------------------------------------------------------------ */

/* Requests that run between two times: their mean number, and how many came. */
struct stay {
    double held, came;
};

static struct stay read_stay(const struct served *all, size_t count, int64_t from_ns, int64_t to_ns)
{
    struct stay stay = {0, 0};
    for (size_t i = 0; i < count; i++) {
        int64_t scheduled_ns = or_never(all[i].scheduled_ns), ended_ns = or_never(all[i].end_ns);
        int64_t begin = scheduled_ns > from_ns ? scheduled_ns : from_ns;
        int64_t end = ended_ns < to_ns ? ended_ns : to_ns;
        if (was_served(&all[i])) {
            stay.held += end > begin ? (double)(end - begin) : 0;
            stay.came += all[i].arrived_ns > from_ns && all[i].arrived_ns <= to_ns;
        }
    }
    stay.held /= (double)(to_ns - from_ns);
    return stay;
}

static bool piles_up(const struct served *all, size_t count, int64_t last_ns)
{
    double filled = fmax((double)last_ns / 2, first_times(all, count, last_ns));
    if (filled > 0.75 * (double)last_ns) {
        return false;
    }
    int64_t from_ns = (int64_t)filled, middle_ns = from_ns + (last_ns - from_ns) / 2;
    if (middle_ns == from_ns || middle_ns == last_ns) {
        return false;
    }
    struct stay before = read_stay(all, count, from_ns, middle_ns);
    struct stay after = read_stay(all, count, middle_ns, last_ns);
    if (before.came <= 0 || after.came <= 0) {
        return false;
    }
    double came = (before.came + after.came) / 2, chance = DEVIATIONS * sqrt(2 * came);
    double faster = after.came - before.came > chance ? after.came / before.came : 1;
    double late = fmax(after.came - before.came, 0); /* they may all be there still */
    double growth = after.held - fmax(before.held * faster, before.held + late);
    double held = (before.held + after.held) / 2;
    double variance =
        fmin(2 * held * held / came, 4 * came / 3); /* of the difference of two stays */
    return growth >= QUEUE && SHARE * growth > came && growth > DEVIATIONS * sqrt(variance);
}

bool backlog_grows(const struct served *all, size_t count, int64_t last_ns, double rate,
                   bool *grows, struct error *why)
{
    bool good = falls_behind(all, count, last_ns, rate, grows, why);
    *grows = *grows || piles_up(all, count, last_ns);
    return good;
}

/* ---- a stream ---- */

/* Moments at which the owed turns are counted, and those of them at which no more than usual are owed. */
enum { LOOKS = 1000, USUAL = LOOKS / 10 };

static const double grown = 0.01, by_chance = 3, far_above = 2;

/* Of a queue that stands: its least share of the time, that of an open one, and half-widths by which it grows,
 * or does not. */
static const double briefly = 0.05, stands = 0.25, grows_by = 1.5, shrinks_by = 0.5;

/* The number of turns that is exceeded in nine tenths of the time between two moments. */
static double usually_owed(const struct load_change *changes, size_t count, int64_t from_ns,
                           int64_t to_ns)
{
    double owed = 0, levels[LOOKS];
    size_t next = 0;
    for (int i = 0; i < LOOKS; i++) {
        int64_t ns = from_ns + (to_ns - from_ns) / LOOKS * (i + 1);
        for (; next < count && changes[next].ns <= ns; next++) {
            owed += changes[next].owes;
        }
        levels[i] = owed;
    }
    return gsl_stats_select(levels, 1, LOOKS, USUAL);
}

/* Judge what is owed since it was no more than usual. */
static struct stream_growth judge_owed(const struct load_change *changes, size_t count,
                                       int64_t from_ns, double usual)
{
    double owed = 0, since = 0, before = usual, came = 0, variance = 0;
    for (size_t i = 0; i < count; i++) {
        double owes = changes[i].owes;
        owed += owes;
        since = changes[i].ns > from_ns ? fmax(since, owed) : 0;
        came += owes > 0 ? owes : 0;
        variance += owes * owes;
        if (owed <= usual || changes[i].ns <= from_ns) {
            before = fmax(before, since);
            since = came = variance = 0;
        }
    }
    double more = owed - usual;
    bool behind = more >= QUEUE && more > grown * came && more > by_chance * sqrt(variance);
    bool grows = behind && more > far_above * (before - usual);
    return (struct stream_growth){.grows = grows, .open = behind && !grows && owed > before};
}

/* How long a queue that stands has not been empty; 0: it does not stand. */
static double stood_ns(const struct load_queue *queue, int64_t from_ns, int64_t to_ns)
{
    int64_t empty_ns = queue->empty_ns > from_ns ? queue->empty_ns : from_ns;
    double stood = (double)(to_ns - empty_ns);
    return queue->waiting > 0 && stood > briefly * (double)(to_ns - from_ns) ? stood : 0;
}

/* Judge the queues that stand. `queues` [servers] are zeroed; so many requests are asked for in the whole time. */
static struct stream_growth judge_queues(const struct load_change *changes, size_t count,
                                         int64_t from_ns, int64_t to_ns, double asked,
                                         size_t servers, struct load_queue *queues)
{
    double all = 0, come = 0, begun[STATIONARY_BATCHES] = {0};
    for (size_t i = 0; i < count; i++) {
        queue_change(&queues[changes[i].server], &changes[i], false);
        all += changes[i].waits > 0;
    }
    for (size_t i = 0; i < servers; i++) {
        double share = stood_ns(&queues[i], from_ns, to_ns) / (double)(to_ns - from_ns);
        come += share * asked * queues[i].all / fmax(all, 1);
    }
    for (size_t i = 0; i < count; i++) {
        double stood = stood_ns(&queues[changes[i].server], from_ns, to_ns);
        double left = (double)(to_ns - changes[i].ns);
        if (changes[i].waits < 0 && left < stood) {
            begun[(int)ceil((1 - left / stood) * STATIONARY_BATCHES) - 1]++;
        }
    }
    double mean = gsl_stats_mean(begun, 1, STATIONARY_BATCHES);
    double behind = come - STATIONARY_BATCHES * mean;
    double half = STATIONARY_BATCHES * stationary_interval(mean, begun, STATIONARY_BATCHES).half;
    double clear = fmax(shrinks_by * half, grown * come);
    return (struct stream_growth){.grows = behind > grows_by * half,
                                  .open = come > stands * asked && behind > -clear};
}

bool serving_stream_growth(const struct requests *requests, const struct served *all,
                           size_t servers, double asked, int64_t from_ns, int64_t to_ns,
                           struct stream_growth *out, struct error *why)
{
    struct arrays arrays = {.last = NULL};
    struct load_change *changes = arrays_add(&arrays, 3 * requests->count, sizeof *changes, why);
    struct load_queue *queues = arrays_add(&arrays, servers, sizeof *queues, why);
    bool good = !arrays.failed;
    if (good) {
        size_t count = list_changes(requests, all, requests->count, to_ns, changes);
        double usual = usually_owed(changes, count, from_ns, to_ns);
        double come = asked * (double)(to_ns - from_ns) / 1e9;
        struct stream_growth owed = judge_owed(changes, count, from_ns, usual);
        *out = judge_queues(changes, count, from_ns, to_ns, come, servers, queues);
        *out = (struct stream_growth){owed.grows || out->grows, owed.open || out->open};
    }
    arrays_release(&arrays);
    return good;
}

/* ---- a run ---- */

/* A rate that a server sustains for a short time may be too high for longer. If requests arrive for
 * less than LASTING times as long as one takes, the last ones arrive before the first have made room.
 * The number is assumed: a plan over 1.2 times found a rate 45 % above that of a plan over the same
 * requests ten times over. */
enum { LASTING = 10 };

bool serving_sessions_lack(const struct result *result)
{
    return result_cell(result, COLUMN(requests_in_per_s))->set &&
           !result_cell(result, COLUMN(queue_grows))->set;
}

/* When requests came: the first and the last that count, and the last that began a session or is none. */
struct arrivals {
    size_t warm; /* requests before those that count */
    int64_t first_ns, last_ns, begun_ns;
};

/* The requests that count, timed from the first on: what warmed the server came before. NULL: no memory. */
static struct served *counted_since(const struct served *all, size_t count, int64_t first_ns,
                                    struct error *why)
{
    struct served *own = array_zeroed(count, sizeof *own, why);
    for (size_t i = 0; own != NULL && i < count; i++) {
        own[i] = all[i];
        int64_t *const times[] = {&own[i].arrived_ns, &own[i].scheduled_ns, &own[i].end_ns};
        for (size_t j = 0; j < sizeof times / sizeof *times; j++) {
            *times[j] -= *times[j] >= first_ns ? first_ns : 0;
        }
    }
    return own;
}

/* Clients that wait for their answers set the rate themselves. */
static bool write_load(const struct point *point, const struct requests *requests,
                       const struct served *all, struct arrivals arrivals, struct result *result,
                       struct error *why)
{
    const struct workload *workload = &point->workload;
    size_t counted = requests->count - arrivals.warm;
    double came = (double)(counted - 1) * 1e9 / (double)(arrivals.last_ns - arrivals.first_ns);
    double asked = requests->sessions || workload->time_scale != 1 ? 0 : workload->rate;
    /* While the first sessions go on and the last ones end, fewer requests come than were asked for. */
    bool few = requests->sessions && came < 0.9 * workload->rate, grows = false;
    int64_t before_ns = arrivals.warm > 0 ? arrivals.first_ns : 0;
    struct served *own = NULL;
    if (arrivals.warm > 0 &&
        (own = counted_since(all + arrivals.warm, counted, before_ns, why)) == NULL) {
        return false;
    }
    const struct served *seen = own != NULL ? own : all;
    int64_t begun_ns = arrivals.begun_ns - before_ns;
    bool good =
        workload->clients > 0 || (few ? falls_behind(seen, counted, begun_ns, asked, &grows, why)
                                      : backlog_grows(seen, counted, begun_ns, asked, &grows, why));
    free(own);
    if (!good) {
        return false;
    }
    result_real(result, COLUMN(requests_in_per_s), came);
    if (grows || !few) { /* a few sessions that are served say nothing of many */
        result_integer(result, COLUMN(queue_grows), grows);
    }
    int64_t taken_ns = result_cell(result, COLUMN(e2e_ms))->integer;
    if (grows) {
        result_note(result, note_plain(NOTE_queue_grows));
    } else if (workload->clients == 0 && arrivals.last_ns - before_ns < LASTING * taken_ns) {
        result_note(result, note_plain(NOTE_arrivals_short));
    }
    if (few) {
        result_note(result,
                    note_make(NOTE_sessions_too_few, note_real(workload->rate), note_real(came)));
    }
    return true;
}

bool serving_write_load(const struct point *point, const struct requests *requests,
                        const struct served *all, struct result *result, struct error *why)
{
    struct arrivals arrivals = {.warm = point->workload.warm, .first_ns = INT64_MAX};
    for (size_t i = arrivals.warm; i < requests->count; i++) {
        int64_t ns = all[i].arrived_ns;
        arrivals.first_ns = ns < arrivals.first_ns ? ns : arrivals.first_ns;
        arrivals.last_ns = ns > arrivals.last_ns ? ns : arrivals.last_ns;
        bool begins = requests->all[i].turn == 0 && ns > arrivals.begun_ns;
        arrivals.begun_ns = begins ? ns : arrivals.begun_ns;
    }
    bool at_once = arrivals.last_ns <= arrivals.first_ns;
    if (at_once && requests->count > 0) {
        result_integer(result, COLUMN(queue_grows), 0); /* all at once: the queue only shrinks */
    }
    return at_once || write_load(point, requests, all, arrivals, result, why);
}

void serving_write_steady(const struct requests *requests, const struct served *all,
                          const struct serving_window *window, uint64_t counted,
                          struct result *result)
{
    double seconds = (double)(window->to_ns - window->from_ns) / 1e9, came = 0;
    for (size_t i = 0; i < requests->count; i++) {
        came += all[i].arrived_ns > window->from_ns && all[i].arrived_ns <= window->to_ns;
    }
    bool as_asked = serving_as_asked(window);
    result_real(result, COLUMN(requests_in_per_s), as_asked ? window->asked : came / seconds);
    result_integer(result, COLUMN(queue_grows), window->grows);
    if (isfinite(window->rate.half)) {
        result_real(result, COLUMN(requests_out_half), window->rate.half);
    }
    if (isfinite(window->ttft_p99.half)) {
        result_integer(result, COLUMN(ttft_p99_half_ms), llround(window->ttft_p99.half));
    }
    if (window->grows) {
        result_note(result, note_plain(NOTE_queue_grows));
    } else if (!window->known) {
        result_note(result, note_make(NOTE_not_known, note_whole(counted),
                                      note_real(100 * fmin(window->means_wide, 0.99)),
                                      note_real(100 * fmin(window->tails_wide, 0.99))));
    }
    if (!window->grows && !as_asked && window->asked > 0) {
        result_note(result, note_make(NOTE_rate_drawn, note_real(window->rate.value),
                                      note_real(window->asked), note_whole(counted)));
    }
    if (window->close) {
        result_note(result, note_plain(NOTE_too_close));
    }
}

bool serving_waits_for_room(double queue_ns, double ttft_ns, double tpot_ns)
{
    return 2 * queue_ns > ttft_ns && queue_ns > 4 * tpot_ns;
}

bool serving_saturated(const struct result *result)
{
    const struct cell *queue = result_cell(result, COLUMN(queue_p50_ms));
    const struct cell *ttft = result_cell(result, COLUMN(ttft_p50_ms));
    const struct cell *tpot = result_cell(result, COLUMN(tpot_p50_ms));
    return queue->set && ttft->set && tpot->set &&
           serving_waits_for_room((double)queue->integer, (double)ttft->integer,
                                  (double)tpot->integer);
}

enum band_load serving_band_load(const struct result *result)
{
    return serving_saturated(result) ? BAND_SATURATED : BAND_LOW;
}
