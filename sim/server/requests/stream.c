/* Sessions are laid one by one: each of its turns that comes before 0 is past. */
#include "server/requests/stream.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>

/* Sessions that began this many times as long ago as one takes have ended, but for very few. */
enum { LIVES = 2 };

/* Multiples of the golden ratio, less their whole parts, are spread evenly however many there are. */
static const double golden = 0.6180339887498949;

/* ---- what a session is ---------------------------------------------------------------- */

/* Means. */
struct session_shape {
    double turns;
    double life_ns; /* from its first turn to its last answer */
};

static struct session_shape read_shape(const struct requests *requests, int64_t answer_ns)
{
    double sessions = (double)requests_sessions(requests), think_ns = 0;
    for (size_t i = 0; i < requests->count; i++) {
        think_ns += (double)requests->all[i].think_ns;
    }
    double turns = (double)requests->count / sessions;
    return (struct session_shape){turns, turns * (double)answer_ns + think_ns / sessions};
}

double stream_session_ns(const struct requests *requests, double answer_ns)
{
    return read_shape(requests, (int64_t)answer_ns).life_ns;
}

/* Sessions that began before 0, without those that clients have then. */
static uint64_t past_sessions(const struct session_shape *shape,
                              const struct stream_options *options)
{
    double fill = (double)options->past / shape->turns;
    bool under_way = options->clients == 0 && shape->turns > 1;
    double begun = under_way ? LIVES * shape->life_ns * options->rate / shape->turns / 1e9 : 0;
    return (uint64_t)ceil(fmax(fill, fmin(begun, (double)options->most_past / shape->turns)));
}

uint64_t stream_past(const struct requests *sample, const struct stream_options *options)
{
    struct session_shape shape = read_shape(sample, options->answer_ns);
    uint64_t sessions = past_sessions(&shape, options) + options->clients;
    return (uint64_t)ceil((double)sessions * shape.turns);
}

/* ---- a session ------------------------------------------------------------------------ */

/* The turns of a session from `start_ns` up to the first at 0 or later. Returns its end if all are past. */
static double lay_turns(struct requests *requests, size_t first, double start_ns, int64_t answer_ns)
{
    double at_ns = start_ns;
    size_t i = first;
    do {
        at_ns += i > first ? (double)(answer_ns + requests->all[i].think_ns) : 0;
        requests->all[i].arrival_ns = (int64_t)floor(at_ns);
    } while (at_ns < 0 && ++i < requests->count && requests->all[i].turn > 0);
    return at_ns + (double)answer_ns;
}

static size_t session_end(const struct requests *requests, size_t first)
{
    size_t end = first + 1;
    while (end < requests->count && requests->all[end].turn > 0) {
        end++;
    }
    return end;
}

/* A client is at this share of what it does. In its only request, the rest of the output is to come;
 * in a session, the next turn. At its last turn, that one. */
static void lay_client(struct requests *requests, size_t first, size_t end, double share,
                       int64_t answer_ns)
{
    struct request *all = requests->all;
    double life_ns = 0;
    if (end - first == 1) {
        all[first].output = (uint32_t)ceil((1 - share) * all[first].output);
        all[first].arrival_ns = 0;
        return;
    }
    for (size_t i = first; i < end; i++) {
        life_ns += (double)(answer_ns + all[i].think_ns) + 1;
    }
    lay_turns(requests, first, -share * life_ns, answer_ns + 1);
    if (all[end - 1].arrival_ns < 0) {
        all[end - 1].arrival_ns = 0;
    }
}

/* ---- all sessions --------------------------------------------------------------------- */

/* Let the gaps from `past` on have a mean of 1 up to each look. `at` has moments of mean gaps of about 1. */
static void even_gaps(double *at, size_t count, size_t past)
{
    size_t from = past;
    double drawn_from = at[past];
    for (uint32_t looks = STREAM_LOOKS + 1; looks-- > 0;) {
        size_t to = past + stream_look((uint32_t)(count - 1 - past), looks);
        double drawn_to = at[to], drawn = drawn_to - drawn_from;
        double scale = drawn > 0 ? (double)(to - from) / drawn : 1;
        for (size_t i = from + 1; i <= to; i++) {
            at[i] = at[from] + (at[i] - drawn_from) * scale;
        }
        drawn_from = to > from ? drawn_to : drawn_from;
        from = to;
    }
}

/* Sessions that arrive by themselves: `past` of them before 0. */
static bool lay_arrivals(struct requests *requests, const struct stream_options *options,
                         uint64_t past, double turns, struct error *why)
{
    size_t sessions = requests_sessions(requests), number = 0;
    double *at = arrivals_gaps(sessions, options->shape, options->seed, why);
    if (at == NULL) {
        return false;
    }
    even_gaps(at, sessions, past);
    double gap_ns = turns / options->rate * 1e9;
    for (size_t i = 0; i < requests->count; i = session_end(requests, i), number++) {
        lay_turns(requests, i, (at[number] - at[past]) * gap_ns, options->answer_ns);
    }
    free(at);
    return true;
}

/* Clients have their sessions after `past` others. Later sessions begin when a client is free. */
static void lay_clients(struct requests *requests, const struct stream_options *options,
                        uint64_t past, double life_ns)
{
    size_t number = 0;
    double gap_ns = life_ns / options->clients + 1;
    for (size_t i = 0, end; i < requests->count; i = end, number++) {
        end = session_end(requests, i);
        if (number < past) {
            double ended_ns = -1 - life_ns - gap_ns * (double)(past - number);
            for (size_t turn = i; turn < end; turn++) {
                requests->all[turn].arrival_ns = (int64_t)ended_ns;
            }
        } else if (number < past + options->clients) {
            double share = fmod(golden * ((double)(number - past) + 0.5), 1);
            lay_client(requests, i, end, share, options->answer_ns);
        } else {
            requests->all[i].arrival_ns = 0;
        }
    }
}

/* ---- in order ------------------------------------------------------------------------- */

struct stream_moment {
    int64_t at_ns;
    uint32_t index;
};

static int compare_arrivals(const void *a, const void *b)
{
    const struct stream_moment *x = a, *y = b;
    return x->at_ns != y->at_ns ? (x->at_ns > y->at_ns) - (x->at_ns < y->at_ns)
                                : (x->index > y->index) - (x->index < y->index);
}

/* The requests before 0, or those that begin then, by their arrival. */
static uint32_t *stream_sort(const struct requests *requests, bool past, size_t most,
                             uint32_t *count, struct error *why)
{
    struct stream_moment *moments = array_zeroed(requests->count, sizeof *moments, why);
    uint32_t *out = array_zeroed(requests->count, sizeof *out, why);
    size_t found = 0;
    bool ok = moments != NULL && out != NULL;
    for (size_t i = 0; ok && i < requests->count; i++) {
        int64_t at_ns = requests->all[i].arrival_ns;
        if (past ? at_ns < 0 : stream_begins(requests, i)) {
            moments[found++] = (struct stream_moment){at_ns, (uint32_t)i};
        }
    }
    if (ok) { /* clients' later sessions have no arrivals, and stay behind */
        qsort(moments, found < most ? found : most, sizeof *moments, compare_arrivals);
    }
    for (size_t i = 0; i < found; i++) {
        out[i] = moments[i].index;
    }
    free(moments);
    *count = (uint32_t)found;
    return out;
}

bool stream_lay(struct requests *requests, const struct stream_options *options,
                struct request_stream *out, struct error *why)
{
    struct session_shape shape = read_shape(requests, options->answer_ns);
    size_t sessions = requests_sessions(requests);
    uint64_t past = past_sessions(&shape, options);
    past = past < sessions ? past : sessions - 1;
    bool alone = shape.turns <= 1;
    *out = (struct request_stream){.first =
                                       alone && options->clients > 0 ? past + options->clients : 0};
    if (options->clients > 0) {
        lay_clients(requests, options, past, shape.life_ns);
    } else if (!lay_arrivals(requests, options, past, shape.turns, why)) {
        return false;
    }
    size_t most = options->clients > 0 ? options->clients : SIZE_MAX;
    return (out->past = stream_sort(requests, true, SIZE_MAX, &out->past_count, why)) != NULL &&
           (out->order = stream_sort(requests, false, most, &out->count, why)) != NULL;
}

void stream_release(struct request_stream *stream)
{
    free(stream->past);
    free(stream->order);
    *stream = (struct request_stream){.count = 0};
}
