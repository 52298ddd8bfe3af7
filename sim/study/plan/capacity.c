#include "study/plan/capacity.h"

#include "core/text.h"
#include "server/requests/synthetic.h"

#include <inttypes.h>
#include <string.h>

/* Requests that come at once. Sessions overlap only once there are many; a server idles while users think. */
enum { FEW = 250, FEW_OF_SESSIONS = 1000 };

/* The text of made-up requests; NULL: they are of a file. */
static const struct node *made_up(const struct scenario *scenario)
{
    const struct node *workload = node_stated(scenario->root, "workload");
    bool made = workload != NULL && workload->kind == NODE_SCALAR && synthetic_is(workload->text) &&
                strlen(workload->text) < WORKLOAD_PATH;
    return made ? workload : NULL;
}

/* The scenario is our own; a message about the text names the place of the typed one. */
static bool state_without(const struct node *workload, const char *key, struct error *why)
{
    char text[WORKLOAD_PATH];
    synthetic_without(workload->text, key, text);
    return node_set_text((struct node *)workload, text, why);
}

bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why)
{
    const struct node *workload = made_up(scenario);
    static const char *const finite[] = {"limit", "warm_requests", "warm_rate", "warm_clients"};
    *is_stream = workload != NULL;
    for (size_t i = 0; *is_stream && i < sizeof finite / sizeof *finite; i++) {
        scenario_values_remove(&scenario->values, finite[i]);
    }
    return !*is_stream || state_without(workload, "requests", why);
}

bool capacity_has_sessions(const struct scenario *scenario)
{
    const struct node *workload = made_up(scenario);
    return workload != NULL && synthetic_says(workload->text, "turns");
}

enum { ALL_DRAWS = (1 << CAPACITY_DRAWS) - 1 };

uint32_t draws_next(const struct capacity_draws *draws, uint32_t value, uint32_t count,
                    uint32_t *values)
{
    uint32_t used = 0;
    values[0] = value;
    for (uint32_t draw = 1; draws->asked > 0 && draw < CAPACITY_DRAWS; draw++) {
        values[used] = draw * count + value;
        used += (draws->asked >> draw & 1) == 0;
    }
    return draws->asked == 0 ? 1 : used;
}

/* The seed of draw k. Behind the largest seed, 2^53, comes 0. */
static int64_t draw_seed(int64_t first, int64_t draw)
{
    const int64_t seeds = (INT64_C(1) << 53) + 1;
    return (first + draw + seeds) % seeds;
}

bool draws_set(struct scenario *scenario, uint32_t draw, struct error *why)
{
    int64_t seed = (int64_t)scenario_stated(&scenario->values, "seed", 1);
    return draw == 0 ||
           scenario_values_set(&scenario->values, "seed", (double)draw_seed(seed, draw), why);
}

uint32_t draws_asked(const struct capacity_draws *draws)
{
    return (uint32_t)__builtin_popcount(draws->asked);
}

uint32_t draws_missed(const struct capacity_draws *draws)
{
    return (uint32_t)__builtin_popcount(draws->missed);
}

/* "1, 3", where the first draw has the seed `first`. */
static void list_seeds(const struct capacity_draws *draws, int64_t first, char text[64])
{
    text[0] = '\0';
    for (int draw = 0; draw < CAPACITY_DRAWS; draw++) {
        if ((draws->missed >> draw & 1) != 0) {
            text_append(text, 64, "%s%" PRId64, text[0] != '\0' ? ", " : "",
                        draw_seed(first, draw));
        }
    }
}

bool draws_take(struct capacity_draws *draws, uint32_t draw, bool misses, struct result *run,
                struct result *kept)
{
    int64_t first = draw_seed(result_cell(run, COLUMN(seed))->integer, -(int64_t)draw);
    bool keeps = draw == 0 || (misses && draws->missed == 0);
    char seeds[64];
    draws->asked |= (uint8_t)(1U << draw);
    draws->missed |= (uint8_t)(misses << draw);
    draws->grown |= (uint8_t)((result_number(run, COLUMN(queue_grows)) > 0) << draw);
    if (keeps) {
        result_release(kept);
        *kept = *run;
        result_init(run);
    }
    if (draws->asked == ALL_DRAWS && draws->missed > 0 && draws->missed < ALL_DRAWS) {
        list_seeds(draws, first, seeds);
        bool alike = draws->grown == 0 || draws->grown == draws->missed;
        result_note(kept, note_make(NOTE_draws, note_flag(alike), note_whole(draws_missed(draws)),
                                    note_text(seeds)));
    }
    return keeps;
}

bool capacity_set_at_once(struct scenario *scenario, struct error *why)
{
    const struct node *workload = made_up(scenario);
    static const char *const of_rate[] = {"rate", "burstiness", "warm_rate"};
    bool sessions = capacity_has_sessions(scenario);
    double servers = scenario_stated(&scenario->values, "replicas", 1);
    for (size_t i = 0; i < sizeof of_rate / sizeof *of_rate; i++) {
        scenario_values_remove(&scenario->values, of_rate[i]);
    }
    return (!sessions || state_without(workload, "think", why)) &&
           scenario_values_set(&scenario->values, "arrivals", ARRIVALS_AT_ONCE, why) &&
           scenario_values_set(&scenario->values, "limit",
                               sessions ? FEW_OF_SESSIONS * servers : FEW, why);
}

/* Of outputs that differ, a few last long: half of the requests tell more then, unless some are left out. */
double capacity_at_once(const struct result *result)
{
    double half_s = result_number(result, COLUMN(e2e_p50_ms)) / 1e3;
    double half = result_number(result, COLUMN(requests)) / 2;
    double all = result_number(result, COLUMN(requests_out_per_s));
    bool serves = result_number(result, COLUMN(requests_left_out)) == 0;
    return !result_ok(result) ? 0 : serves && half / half_s > all ? half / half_s : all;
}
