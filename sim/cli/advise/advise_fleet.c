/* The verdict about a rate of requests: the values that its sentences say. */
#include "cli/advise/advise_answer.h"

#include "tables/sentence.h"
#include "core/node.h"
#include "study/plan/host_room.h"

#include <math.h>
#include <string.h>

double fleet_hour_cost(const struct fleet_form *form)
{
    return form->price > 0 && form->servers > 0 ? fleet_cost(form, form->servers) : NAN;
}

double fleet_request_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return fleet_hour_cost(form) / 3600 / fleet->rate;
}

/* Servers are paid for while requests come; that the last ones are answered later is of the run. */
double fleet_tokens_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct result *result = fleet_holds(form);
    double tokens = result == NULL ? NAN
                                   : result_number(result, COLUMN(decode_tokens_per_s)) /
                                         result_number(result, COLUMN(requests_out_per_s));
    return 1e6 * fleet_request_cost(fleet, form) / tokens;
}

/* ---- what holds the rate ---- */

/* An interrupted search says so before it names a cost. */
static void put_undecided(const struct fleet_size *fleet, struct frame *verdict)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        open += fleet->forms[i].refused[0] == '\0' && !fleet->forms[i].decided;
    }
    if (fleet->interrupted) {
        frame_textf(verdict, VERDICT_undecided,
                    "the best so far, while %u of %u forms are not decided", open, fleet->count);
    }
}

static void fleet_put_form(const struct fleet_size *fleet, const struct fleet_form *best,
                           struct frame *verdict)
{
    const struct advice_form as = {best->servers, best->gpus};
    char shape[ADVISE_WORDS];
    uint32_t gpus = best->servers * best->gpus;
    put_undecided(fleet, verdict);
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_text(verdict, VERDICT_hardware, best->candidate->machine);
    frame_text(verdict, VERDICT_weights, best->weights);
    frame_number(verdict, VERDICT_gpus, best->gpus);
    frame_number(verdict, VERDICT_servers, best->servers);
    frame_number(verdict, VERDICT_all_gpus, gpus);
    frame_text(verdict, VERDICT_form, gpus > 1 ? advise_form(&as, shape) : NULL);
    frame_number(verdict, VERDICT_tiers, best->candidate->traits.tiers);
    frame_number(verdict, VERDICT_cost_per_hour, fleet_hour_cost(best));
    frame_number(verdict, VERDICT_cost_per_million_tokens, fleet_tokens_cost(fleet, best));
    frame_number(verdict, VERDICT_cost_per_request, fleet_request_cost(fleet, best));
}

/* What the whole workload took, and what it takes with fewer servers. */
static void put_meets(const struct fleet_size *fleet, const struct fleet_form *best,
                      struct frame *verdict)
{
    const struct result *result = fleet_holds(best);
    char time[ADVISE_WORDS];
    frame_number(verdict, VERDICT_requests, result_number(result, COLUMN(requests)));
    advise_put_limits(verdict, VERDICT_limits, &fleet->targets, result);
    advise_put_queued(verdict, &fleet->targets, result);
    frame_text(verdict, VERDICT_ttft_p50_text,
               advise_time(result_number(result, COLUMN(ttft_p50_ms)), time));
    if (best->fewer > 0) {
        frame_number(verdict, VERDICT_fewer, best->fewer);
        advise_put_limits(verdict, VERDICT_limits_with_fewer, &fleet->targets, fleet_misses(best));
    }
}

/* Host memory that the answer is started with, where the scenario states none. */
static bool put_host(const struct fleet_form *best, const struct scenario *scenario,
                     struct frame *verdict, struct error *why)
{
    uint64_t gib = fleet_host_gib(best, best->servers);
    struct point point;
    if (gib == 0) {
        return true;
    }
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    const struct host_engine *engine = host_room_engine(&point);
    frame_number(verdict, VERDICT_host_bytes, (double)(gib << 30));
    if (best->most_host_gib > gib) {
        frame_number(verdict, VERDICT_most_host_bytes, (double)(best->most_host_gib << 30));
    }
    if (engine != NULL) {
        frame_textf(verdict, VERDICT_host_engine, "%s %s", engine->engine, engine->versions);
        frame_text(verdict, VERDICT_host_where, host_engine_where(engine));
        frame_number(verdict, VERDICT_host_takes_bytes, host_takes(&point, gib));
    }
    point_release(&point);
    return true;
}

static bool fleet_put_best(const struct fleet_size *fleet, struct frame *verdict, struct error *why)
{
    const struct fleet_form *best = &fleet->forms[fleet->best];
    struct scenario scenario;
    fleet_put_form(fleet, best, verdict);
    put_meets(fleet, best, verdict);
    bool good = fleet_scenario(fleet, best, best->servers, &scenario, why) &&
                put_host(best, &scenario, verdict, why) &&
                verdict_put_start(verdict, &scenario, &fleet->targets, fleet_holds(best),
                                  best->servers, why);
    scenario_release(&scenario);
    return good;
}

struct frame *fleet_verdict(const struct fleet_size *fleet, const char *model, struct frame *rows,
                            struct error *why)
{
    struct frame *verdict = verdict_create(model, &fleet->candidates[0].scenario,
                                           &fleet->forms[0].scenario, &fleet->targets, why);
    bool good = verdict != NULL;
    frame_keep(verdict, VERDICT_forms, rows);
    frame_number(verdict, VERDICT_rate, fleet->rate);
    frame_textf(verdict, VERDICT_asked, "%g", fleet->rate);
    frame_number(verdict, VERDICT_one, fleet->rate == 1);
    if (fleet->best != FLEET_NONE) {
        good = good && fleet_put_best(fleet, verdict, why);
    } else if (fleet->interrupted) {
        frame_text(verdict, VERDICT_nothing, "the search was interrupted");
    } else {
        frame_textf(verdict, VERDICT_nothing,
                    "no form of up to %u GPUs holds %g request%s a second within the limits",
                    fleet->most_gpus, fleet->rate, fleet->rate == 1 ? "" : "s");
    }
    if (!good) {
        frame_destroy(verdict);
        return NULL;
    }
    frame_say(verdict);
    return verdict;
}
