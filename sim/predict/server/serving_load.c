#include "predict/server/serving_load.h"

#include "predict/server/backlog.h"

#include <math.h>

/* A rate that a server sustains for a short time may be too high for longer. If requests arrive for
 * less than LASTING times as long as one takes, the last ones arrive before the first have made room.
 * The number is assumed: a plan over 1.2 times found a rate 45 % above that of a plan over the same
 * requests ten times over. */
enum { LASTING = 10 };

uint64_t serving_lasting(double rate, double taken_s)
{
    return (uint64_t)ceil(LASTING * taken_s * rate + 1);
}

static void note_load(const struct point *point, bool grows, int64_t last_ns, struct result *result)
{
    int64_t taken_ns = result_cell(result, COLUMN(e2e_ms))->integer;
    if (grows) {
        result_note(result, note_queue_grows());
    } else if (point->workload.clients == 0 && last_ns < LASTING * taken_ns) {
        result_note(result, note_arrivals_short());
    }
}

/* While the first sessions go on and the last ones end, fewer requests come than were asked for. */
static bool lack_sessions(const struct point *point, const struct requests *requests, double came)
{
    return requests->sessions && came < 0.9 * point->workload.rate;
}

uint64_t serving_requests_wanted(const struct result *result)
{
    const struct cell *rate = result_cell(result, COLUMN(requests_in_per_s)),
                      *taken = result_cell(result, COLUMN(e2e_ms));
    const struct cell *requests = result_cell(result, COLUMN(requests));
    if (!rate->set || !taken->set || !requests->set) {
        return 0;
    }
    uint64_t wanted = serving_lasting(rate->real, (double)taken->integer / 1e9);
    return wanted > (uint64_t)requests->integer ? wanted : 0;
}

bool serving_sessions_lack(const struct result *result)
{
    return result_cell(result, COLUMN(requests_in_per_s))->set &&
           !result_cell(result, COLUMN(queue_grows))->set;
}

double serving_session_s(const struct result *result, double rate)
{
    double more = result_number(result, COLUMN(requests)) - 1;
    return fmax(more / result_number(result, COLUMN(requests_in_per_s)) - more / rate, 0);
}

/* When the last request came, and the last session or request without one began. */
struct arrivals {
    int64_t last_ns, begun_ns;
};

static struct arrivals serving_load_read_arrivals(const struct requests *requests,
                                                  const struct served *all)
{
    struct arrivals arrivals = {0, 0};
    for (size_t i = 0; i < requests->count; i++) {
        int64_t ns = all[i].arrived_ns;
        arrivals.last_ns = ns > arrivals.last_ns ? ns : arrivals.last_ns;
        bool begins = requests->all[i].turn == 0 && ns > arrivals.begun_ns;
        arrivals.begun_ns = begins ? ns : arrivals.begun_ns;
    }
    return arrivals;
}

/* Clients that wait for their answers set the rate themselves. */
static bool write_load(const struct point *point, const struct requests *requests,
                       const struct served *all, struct arrivals arrivals, struct result *result,
                       struct error *why)
{
    const struct workload *workload = &point->workload;
    double came = (double)(requests->count - 1) * 1e9 / (double)arrivals.last_ns;
    double asked = requests->sessions || workload->time_scale != 1 ? 0 : workload->rate;
    bool few = lack_sessions(point, requests, came), grows = false;
    if (workload->clients == 0 &&
        !(few ? backlog_waits : backlog_grows)(all, requests->count, arrivals.begun_ns, asked,
                                               &grows, why)) {
        return false;
    }
    result_real(result, COLUMN(requests_in_per_s), came);
    if (grows || !few) { /* a few sessions that are served say nothing of many */
        result_integer(result, COLUMN(queue_grows), grows);
    }
    note_load(point, grows, arrivals.last_ns, result);
    if (few) {
        result_note(result, note_sessions_too_few(workload->rate, came));
    }
    return true;
}

bool serving_write_load(const struct point *point, const struct requests *requests,
                        const struct served *all, struct result *result, struct error *why)
{
    struct arrivals arrivals = serving_load_read_arrivals(requests, all);
    if (arrivals.last_ns == 0 && requests->count > 0) {
        result_integer(result, COLUMN(queue_grows), 0); /* all at once: the queue only shrinks */
    }
    return arrivals.last_ns == 0 || write_load(point, requests, all, arrivals, result, why);
}

bool serving_saturated(const struct result *result)
{
    const struct cell *queue = result_cell(result, COLUMN(queue_p50_ms));
    const struct cell *ttft = result_cell(result, COLUMN(ttft_p50_ms));
    const struct cell *tpot = result_cell(result, COLUMN(tpot_p50_ms));
    return queue->set && ttft->set && tpot->set && 2 * queue->integer > ttft->integer &&
           queue->integer > 4 * tpot->integer;
}

enum band_load serving_band_load(const struct result *result)
{
    return serving_saturated(result) ? BAND_SATURATED : BAND_LOW;
}
