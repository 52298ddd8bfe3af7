#include "study/advise/hire_parts.h"

#include "core/array.h"
#include "core/node.h"
#include "predict/server/serving_load.h"
#include "study/advise/advice_search.h"
#include "study/plan/lengthen.h"
#include "study/plan/rough.h"
#include "study/sweep/tries.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Requests of a cheap run: at once, and alone. */
enum { AT_ONCE = 250, ALONE = 100, A_ROUND = 2 };

/* Rates at which all requests come at once, and none meets another. */
static const char *const at_once = "100000", *const far_apart = "0.00001";

/* ---- what a try serves ---- */

static bool lay_few(struct scenario *scenario, const char *rate, uint64_t few,
                    const struct hire_form *form, struct error *why)
{
    return node_set(scenario->root, "rate", rate, why) &&
           advice_set_number(scenario, "limit",
                             (double)(few < form->requests ? few : form->requests), why);
}

static bool lay_share(struct scenario *scenario, double share, const struct hire_form *form,
                      struct error *why)
{
    uint64_t requests = rough_requests(&form->rough, share, ROUGH_LEAST, form->requests);
    return advice_set_number(scenario, "rate", share, why) &&
           advice_set_number(scenario, "limit", (double)requests, why);
}

static bool hire_tries_lay(uint32_t index, struct scenario *out, void *context, struct error *why)
{
    const struct sizing *sizing = context;
    const struct hire_try *try = &sizing->tries[index];
    const struct hire_form *form = try->form;
    if (sizing->what == HIRE_WHOLE || sizing->what == HIRE_LESS_HOST) {
        return hire_scenario(sizing->hire, form, try->servers, out, why) &&
               hire_host_lay_gib(try->gib, out, why);
    }
    if (!scenario_copy(&form->scenario, out, why) || !hire_host_lay(form, try->servers, out, why)) {
        return false;
    }
    switch (sizing->what) {
    case HIRE_AT_ONCE:
        return lay_few(out, at_once, AT_ONCE, form, why);
    case HIRE_ALONE:
        return lay_few(out, far_apart, ALONE, form, why);
    case HIRE_SHARE:
        return lay_share(out, sizing->hire->rate / try->servers, form, why);
    default: /* HIRE_ALL_ALONE */
        return node_set(out->root, "rate", far_apart, why);
    }
}

/* ---- cheap runs ---- */

static void take_at_once(struct hire_form *form, const struct result *result)
{
    rough_read(result, &form->rough);
    if (!result_ok(result)) {
        result_reason(result, form->refused, sizeof form->refused);
    }
}

/* Few requests hardly show that a server falls behind. Where no time is limited, it is taken to
 * answer as many as when all come at once; a server that then runs out of KV answers more. */
static void take_share(const struct sizing *sizing, const struct hire_try *try,
                       const struct result *result)
{
    struct hire_form *form = try->form;
    bool untimed = sizing->times.count == 0;
    bool lack = serving_sessions_lack(result);
    double violation = targets_violation(lack ? &sizing->times : &sizing->options->targets, result);
    bool behind = untimed && sizing->hire->rate / try->servers > form->rough.most;
    if (violation == 0 && !behind) {
        double session = serving_session_s(result, sizing->hire->rate / try->servers);
        form->taken = fmax(result_number(result, COLUMN(e2e_ms)) / 1e3, session);
    }
    grid_put(&form->grid, try->servers - 1, behind ? fmax(violation, 1) : violation);
}

/* ---- progress ---- */

/* How far the forms are: each step forward counts once, so that the share never falls. */
static double share_done(const struct hire *hire)
{
    enum { SURVEYED = 1, WEIGHED = 2, DECIDED = 4 };
    uint32_t done = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        bool ends = form->refused[0] != '\0' || form->decided;
        done += ends ? DECIDED : form->weighed ? WEIGHED : form->rough.most > 0 ? SURVEYED : 0;
    }
    return (double)done / (DECIDED * hire->count);
}

static void tell(const struct sizing *sizing)
{
    static const char *const names[] = {
        [HIRE_AT_ONCE] = "what a server answers at most",
        [HIRE_ALONE] = "a few requests that have a server alone",
        [HIRE_SHARE] = "one server with its share of the rate",
        [HIRE_WHOLE] = "all servers with the whole workload",
        [HIRE_ALL_ALONE] = "all requests, each with a server alone",
        [HIRE_LESS_HOST] = "the answer with less host memory",
    };
    if (sizing->options->on_progress != NULL) {
        sizing->options->on_progress(share_done(sizing->hire), names[sizing->what],
                                     sizing->options->context);
    }
}

/* ---- what it tells ---- */

/* More servers answer no more of what does not come. */
static bool refuse_sessions(double rate, const struct result *result, struct error *why)
{
    uint64_t wanted = lengthen_spare(serving_lasting(rate, serving_session_s(result, rate)));
    error_usage(why, "--rate", 0,
                "%.0f requests in sessions do not show %g a second: only %.3g came, as sessions "
                "last too long for so few",
                result_number(result, COLUMN(requests)), rate,
                result_number(result, COLUMN(requests_in_per_s)));
    return error_expect(why, "a workload with requests=%" PRIu64 " or so, or a lower rate",
                        (wanted + 99) / 100 * 100);
}

static void hire_tries_keep(struct result *result, struct result *out)
{
    *out = *result;
    result_init(result);
}

/* A form that holds the rate with less host memory is started with less. */
static void take_less_host(struct sizing *sizing, struct hire_form *form, struct result *result)
{
    struct result *answer = &form->runs[form->servers - 1];
    const struct targets *targets = &sizing->options->targets;
    sizing->holds =
        targets_violation(targets, result) == 0 && (!form->ample || targets_ample(targets, result));
    if (sizing->holds) {
        result_release(answer);
        hire_tries_keep(result, answer);
    }
}

static bool hire_tries_take(uint32_t index, struct result *result, void *context, struct error *why)
{
    struct sizing *sizing = context;
    const struct hire_try *try = &sizing->tries[index];
    struct hire_form *form = try->form;
    double whole = targets_violation(&sizing->options->targets, result);
    switch (sizing->what) {
    case HIRE_AT_ONCE:
        take_at_once(form, result);
        break;
    case HIRE_ALONE:
        form->alone = targets_violation(&sizing->times, result);
        break;
    case HIRE_SHARE:
        take_share(sizing, try, result);
        break;
    case HIRE_WHOLE:
        if (serving_sessions_lack(result)) {
            return refuse_sessions(sizing->hire->rate, result, why);
        }
        grid_put(&form->grid, try->servers - 1, whole);
        hire_tries_keep(result, &form->runs[try->servers - 1]);
        break;
    case HIRE_ALL_ALONE:
        form->alone = whole;
        form->is_alone = true;
        hire_tries_keep(result, &form->lonely);
        break;
    case HIRE_LESS_HOST:
        take_less_host(sizing, form, result);
        break;
    }
    sizing->hire->cheap_runs += sizing->what < HIRE_WHOLE;
    sizing->hire->runs += sizing->what == HIRE_WHOLE;
    tell(sizing);
    return true;
}

/* ---- rounds ---- */

static bool hire_tries_add(struct sizing *sizing, struct hire_form *form, uint32_t servers,
                           uint64_t gib, struct error *why)
{
    if (!array_reserve(&sizing->tries, &sizing->capacity, sizing->count + 1, sizeof *sizing->tries,
                       why)) {
        return false;
    }
    sizing->tries[sizing->count++] = (struct hire_try){form, servers, gib};
    return true;
}

/* Cheap runs are rough: only runs of the whole workload are kept. */
static bool hire_tries_run_round(struct sizing *sizing, struct error *why)
{
    const struct tries tries = {.count = (uint32_t)sizing->count,
                                .rough = sizing->what < HIRE_WHOLE,
                                .store = sizing->options->store,
                                .jobs = sizing->options->jobs,
                                .runs = sizing->options->runs,
                                .sources = sizing->sources,
                                .lay = hire_tries_lay,
                                .take = hire_tries_take,
                                .context = sizing};
    tell(sizing);
    bool good = tries_run(&tries, sizing->interrupted, why);
    sizing->count = 0;
    return good;
}

bool hire_try_forms(struct sizing *sizing, enum hire_what what,
                    bool (*is_wanted)(const struct hire *hire, const struct hire_form *form),
                    struct error *why)
{
    bool good = true;
    sizing->what = what;
    for (uint32_t i = 0; good && i < sizing->hire->count; i++) {
        struct hire_form *form = &sizing->hire->forms[i];
        good = !is_wanted(sizing->hire, form) || hire_tries_add(sizing, form, 1, 0, why);
    }
    return good && hire_tries_run_round(sizing, why);
}

bool hire_try_host(struct sizing *sizing, struct hire_form *form, uint64_t gib, bool *holds,
                   struct error *why)
{
    sizing->what = HIRE_LESS_HOST;
    bool good =
        hire_tries_add(sizing, form, form->servers, gib, why) && hire_tries_run_round(sizing, why);
    *holds = sizing->holds;
    return good;
}

bool hire_begin(struct hire_form *form, uint32_t most, uint32_t guess, uint32_t reach,
                struct error *why)
{
    grid_release(&form->grid);
    if (!grid_init(&form->grid, most, why)) {
        return false;
    }
    grid_near(&form->grid, (guess < 1 ? 1 : guess < most ? guess : most) - 1, reach, 1);
    form->searched = true;
    return true;
}

bool hire_search(struct sizing *sizing, enum hire_what what, struct error *why)
{
    bool good = true, open = true;
    sizing->what = what;
    while (good && open && !*sizing->interrupted) {
        for (uint32_t i = 0; good && i < sizing->hire->count; i++) {
            struct hire_form *form = &sizing->hire->forms[i];
            uint32_t values[A_ROUND];
            uint32_t tries = form->searched ? grid_next(&form->grid, A_ROUND, values) : 0;
            for (uint32_t j = 0; good && j < tries; j++) {
                good = hire_tries_add(sizing, form, values[j] + 1, 0, why);
            }
        }
        open = sizing->count > 0;
        good = good && hire_tries_run_round(sizing, why);
    }
    return good;
}
