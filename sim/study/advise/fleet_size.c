/* Cheap runs say where the search for each form's servers begins. How many a form takes is then asked of the
 * endless stream of which `plan` asks its loads: of few of its requests, and for the answer of more. */
#include "study/advise/fleet_size.h"

#include "core/array.h"
#include "study/advise/advice.h"
#include "study/sweep/rounds.h"

#include <math.h>
#include <stdlib.h>

enum { A_ROUND = 2 }; /* numbers of servers of a form that are tried in a round */

/* A form that misses is tried up to this many times the cost that it was expected to have, before others are;
 * and nothing is tried that costs so many times as much as an answer. */
static const double further = 2, too_dear = 4;

/* Few requests are wrong by this share of a limit at times. */
static const double nearly = 0.15;

/* Behind a router that knows no prompts servers answer at most this many times what one answers of requests that
 * come at once: each meets all prompts, as that one does. (Assumed: that run also begins and ends.) */
static const double each_most = 1.25;

/* Requests at this share of what a server answers at most hardly meet each other. */
static const double hardly = 0.001;

/* What the tries of a round serve. */
enum fleet_what {
    FLEET_AT_ONCE, /* cheap: one server, a few requests at once */
    FLEET_ALONE,   /* one server whose requests hardly meet each other */
    FLEET_BRIEF,   /* so many servers: do they hold the rate, as far as few requests tell? */
    FLEET_FULL,    /* as `simulate` runs them: what may be shown, and servers that nearly hold */
};

struct sizing {
    struct fleet_size *fleet;
    const struct fleet_options *options;
    struct sources *sources;
    enum fleet_what what; /* of all tries of a round */
    bool any;             /* has one been run? */
};

/* One server whose requests hardly meet each other, and not more often than of the most servers. */
static bool set_alone(const struct fleet_size *fleet, const struct fleet_form *form,
                      struct scenario *out, struct error *why)
{
    double rate = fmin(hardly * form->most, fleet->rate / form->most_servers);
    return fleet_scenario(fleet, form, 1, out, why) &&
           scenario_values_set(&out->values, "rate", rate, why);
}

/* A line is a form, and its values are numbers of servers, less one. */
static bool fleet_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                      struct error *why)
{
    const struct sizing *sizing = context;
    const struct fleet_size *fleet = sizing->fleet;
    const struct fleet_form *form = &fleet->forms[line];
    switch (sizing->what) {
    case FLEET_BRIEF:
    case FLEET_FULL:
        return fleet_scenario(fleet, form, value % form->grid.count + 1, out, why) &&
               draws_set(out, value / form->grid.count, why);
    case FLEET_ALONE:
        return set_alone(fleet, form, out, why);
    default:
        return fleet_scenario(fleet, form, 1, out, why) && capacity_set_at_once(out, why);
    }
}

static void tell(const struct sizing *sizing)
{
    const struct study *study = &sizing->options->study;
    uint32_t done = 0;
    for (uint32_t i = 0; i < sizing->fleet->count; i++) {
        const struct fleet_form *form = &sizing->fleet->forms[i];
        done += form->refused[0] != '\0' || form->decided;
    }
    if (study->on_progress != NULL) {
        study->on_progress(done, sizing->fleet->count, "forms of servers", study->context);
    }
}

/* The best form of its machine has to hold as an answer does; and then one that may be better at its cost. */
static bool fleet_leads(const struct fleet_size *fleet, uint32_t line)
{
    const struct fleet_form *form = &fleet->forms[line];
    uint32_t leads = fleet_best_on(fleet, form->candidate->machine);
    const struct fleet_form *leader = &fleet->forms[leads];
    return form->servers > 0 &&
           (leads == line || (fleet_is_sure(fleet, leader) && fleet_may_lead(form, leader)));
}

/* The form, and the next one if it is the same server behind another router. */
static uint32_t routers_of(const struct fleet_size *fleet, uint32_t line)
{
    return line + 1 < fleet->count && fleet_single(&fleet->forms[line + 1]) == &fleet->forms[line]
               ? 2
               : 1;
}

/* What one server answers is the same behind any router. */
static void take_single(const struct sizing *sizing, uint32_t line, struct result *result,
                        double violation)
{
    struct fleet_form *form = &sizing->fleet->forms[line];
    bool missed = violation > 0 && notes_find(result->notes, NOTE_too_close) == NULL;
    for (uint32_t i = 0, all = routers_of(sizing->fleet, line); i < all; i++) {
        if (sizing->what == FLEET_ALONE) {
            form[i].alone = missed ? ALONE_MISSES : ALONE_HOLDS;
        } else {
            form[i].most = capacity_at_once(result);
            if (!result_ok(result)) {
                result_reason(result, form[i].refused, sizeof form[i].refused);
            }
        }
    }
    if (sizing->what == FLEET_ALONE) {
        result_release(&form->idle);
        form->idle = *result;
        result_init(result);
    }
}

/* A run of so many servers, in a draw of the requests. */
static void take_servers(const struct sizing *sizing, uint32_t line, uint32_t value,
                         struct result *result, double violation)
{
    struct fleet_form *form = &sizing->fleet->forms[line];
    uint32_t draw = value / form->grid.count, at = value % form->grid.count;
    struct capacity_draws once = {.asked = 0};
    bool full = sizing->what == FLEET_FULL;
    if (draws_take(full ? &form->draws[at] : &once, draw, violation > 0, result, &form->runs[at])) {
        grid_put(&form->grid, at, violation);
        form->searched |= full;
    }
}

static bool fleet_take(uint32_t line, uint32_t value, struct result *result, void *context,
                       struct error *why)
{
    struct sizing *sizing = context;
    double violation = targets_violation(&sizing->options->targets, result);
    (void)why;
    sizing->any = true;
    if (sizing->what == FLEET_BRIEF || sizing->what == FLEET_FULL) {
        take_servers(sizing, line, value, result, violation);
    } else {
        take_single(sizing, line, result, violation);
    }
    tell(sizing);
    return true;
}

/* The next numbers of servers, of those that may be tried so far. */
static uint32_t next_within(struct fleet_form *form, uint32_t *values)
{
    uint32_t count = grid_next(&form->grid, A_ROUND, values), kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t value = values[i] < form->within ? values[i] : form->within - 1;
        if (!grid_tried(&form->grid, value) && (kept == 0 || values[kept - 1] != value)) {
            values[kept++] = value;
        }
    }
    return kept;
}

/* Do the most servers of the form that miss a limit nearly hold, as far as few requests tell, at a cost that
 * may be the least of their machine? */
static bool nearly_holds(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return form->fewer > 0 && form->alone != ALONE_MISSES &&
           form->grid.violation[form->fewer - 1] <= nearly &&
           fleet_cost(form, form->fewer) <= fleet_found_on(fleet, form);
}

/* Is it told what the most servers of the form that miss a limit miss? Of each machine's best form it is asked,
 * so that a machine beside others has the answer that it has alone. */
static bool tells_miss(const struct fleet_size *fleet, uint32_t line)
{
    const struct fleet_form *form = &fleet->forms[line];
    uint32_t leads = fleet_best_on(fleet, form->candidate->machine);
    const struct fleet_form *leader = &fleet->forms[leads];
    bool below = fleet_is_sure(fleet, leader) && form == fleet_next_below(fleet, leader);
    return form->fewer > 0 && form->alone != ALONE_MISSES &&
           (below || (form->servers == 0 && leads == line));
}

static uint32_t next_full(const struct fleet_size *fleet, uint32_t line, uint32_t *values)
{
    const struct fleet_form *form = &fleet->forms[line];
    bool tells = nearly_holds(fleet, form) || tells_miss(fleet, line);
    const uint32_t told[] = {fleet_leads(fleet, line) ? form->servers : 0, tells ? form->fewer : 0};
    uint32_t count = 0;
    for (int i = 0; i < 2 && count == 0; i++) {
        uint32_t at = told[i] - 1;
        count = told[i] > 0 ? draws_next(&form->draws[at], at, form->grid.count, values) : 0;
    }
    return count;
}

static uint32_t fleet_next(uint32_t line, uint32_t *values, void *context)
{
    const struct sizing *sizing = context;
    struct fleet_form *form = &sizing->fleet->forms[line];
    values[0] = 0;
    switch (sizing->what) {
    case FLEET_BRIEF:
        return form->searched ? next_within(form, values) : 0;
    case FLEET_FULL:
        return next_full(sizing->fleet, line, values);
    case FLEET_ALONE:
        return form->alone == ALONE_ASKED;
    default:
        return form->refused[0] == '\0' && fleet_single(form) == form;
    }
}

/* Cheap runs are rough, and nothing of them is kept. Of requests without end, the others last until it is
 * known on which side of the limits they are, and that of the answer until its figures are known. */
static bool fleet_try(struct sizing *sizing, enum fleet_what what, struct error *why)
{
    bool rough = what == FLEET_AT_ONCE;
    const struct stream_question question = targets_question(
        &sizing->options->targets, what == FLEET_ALONE ? CAPACITY_IDLE : STREAM_FEWEST);
    const struct rounds rounds = {
        .lines = sizing->fleet->count,
        .once = rough || what == FLEET_ALONE || what == FLEET_FULL,
        .question = sizing->fleet->is_stream && !rough && what < FLEET_FULL ? &question : NULL,
        .rough = rough,
        .study = &sizing->options->study,
        .sources = sizing->sources,
        .next = fleet_next,
        .set = fleet_set,
        .take = fleet_take,
        .context = sizing};
    sizing->what = what;
    tell(sizing);
    return rounds_run(&rounds, why);
}

/* Search the forms that begun. */
static bool search(struct sizing *sizing, enum fleet_what what, struct error *why)
{
    bool good = fleet_try(sizing, what, why);
    for (uint32_t i = 0; good && i < sizing->fleet->count; i++) {
        struct fleet_form *form = &sizing->fleet->forms[i];
        if (form->searched) {
            uint32_t found = grid_found(&form->grid);
            form->servers = found != GRID_NONE ? found + 1 : 0;
            form->fewer = found != GRID_NONE ? found : form->grid.count;
            while (form->fewer > 0 && !(form->grid.violation[form->fewer - 1] > 0)) {
                form->fewer--;
            }
            form->decided |= found != GRID_NONE || form->within == form->most_servers;
            form->searched = false;
        }
    }
    return good;
}

/* Servers at a share of what each answers at most. */
static uint32_t servers_at(const struct fleet_size *fleet, const struct fleet_form *form,
                           double share)
{
    double servers = ceil(fleet->rate / (share * form->most));
    return servers < form->most_servers ? (uint32_t)servers : form->most_servers;
}

/* Search the form, 1 to `within` servers, from a guess; or go on with more. */
static bool begin(const struct fleet_size *fleet, struct fleet_form *form, uint32_t within,
                  struct error *why)
{
    uint32_t guess = servers_at(fleet, form, CAPACITY_USUAL), most = form->most_servers;
    bool begun = form->within > 0;
    form->within = within;
    form->searched =
        begun || ((form->runs = array_zeroed(most, sizeof *form->runs, why)) != NULL &&
                  (form->draws = array_zeroed(most, sizeof *form->draws, why)) != NULL &&
                  grid_init(&form->grid, most, why));
    if (form->searched && !begun) {
        grid_near(&form->grid, (guess < within ? guess : within) - 1, 1, 1);
    }
    return form->searched;
}

/* Servers of the form that cost no more. */
static uint32_t servers_for(const struct fleet_form *form, double cost)
{
    return (uint32_t)fmin(floor(cost / fleet_cost(form, 1) + 1e-6), form->most_servers);
}

/* What the form costs at least that has no answer yet: of what a cheap run says, and of more servers than
 * missed a limit. */
static double least_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    uint32_t servers = servers_at(fleet, form, 1);
    return fleet_cost(form, form->within < servers ? servers : form->within + 1);
}

/* Of the machine whose first form this is, and which has no answer yet, the form that is probably the
 * cheapest among those that are not decided, and up to which cost it is tried; NULL if all are. */
static struct fleet_form *find_likely(const struct fleet_size *fleet, uint32_t first, double *most)
{
    struct fleet_form *likely = NULL;
    const struct fleet_form *forms = fleet->forms;
    double least = INFINITY, next = INFINITY;
    for (uint32_t i = 0; i < fleet->count; i++) {
        least = fmin(least, too_dear * fleet_found_on(fleet, &forms[i]));
    }
    *most = least;
    if ((first > 0 && fleet_on_one_machine(&forms[first], &forms[first - 1])) ||
        !isinf(fleet_found_on(fleet, &forms[first]))) {
        return NULL;
    }
    for (uint32_t i = first; i < fleet->count && fleet_on_one_machine(&forms[i], &forms[first]);
         i++) {
        struct fleet_form *form = &fleet->forms[i];
        bool open = form->refused[0] == '\0' && !form->decided;
        double cost = open ? least_cost(fleet, form) : INFINITY;
        next = fmin(next, cost < least ? least : cost);
        likely = cost < least ? form : likely;
        least = fmin(least, cost);
    }
    *most = fmin(*most, isinf(next) ? further * least : fmax(next, further * least));
    return likely;
}

/* Do requests alone miss a limit? Then no number of servers holds. */
static bool ask_alone(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = fleet_try(sizing, FLEET_ALONE, why);
    for (uint32_t i = 0; i < fleet->count; i++) {
        fleet->forms[i].decided = fleet->forms[i].decided || fleet->forms[i].alone == ALONE_MISSES;
    }
    return good;
}

/* Is a form asked of requests alone before more of its servers are tried? Of requests without end a few
 * tell. */
static bool asks_alone(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct result *misses = fleet_misses(form);
    bool calm = misses != NULL && result_number(misses, COLUMN(queue_grows)) == 0;
    return form->alone == ALONE_UNKNOWN &&
           (fleet->is_stream ? targets_limit_times(&fleet->targets) : calm);
}

/* The form that is probably the cheapest is searched, and as soon as another one is, that one, until each
 * machine has an answer, or no form of it is left. */
static bool find_any(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true, any = true;
    while (good && any) {
        any = false;
        for (uint32_t i = 0; good && i < fleet->count; i++) {
            double most;
            struct fleet_form *likely = find_likely(fleet, i, &most);
            any = any || likely != NULL;
            if (likely != NULL && asks_alone(fleet, likely)) {
                likely[likely == fleet_single(likely) ? 0 : -1].alone = ALONE_ASKED;
            } else if (likely != NULL) {
                good = begin(fleet, likely, servers_for(likely, most), why);
            }
        }
        good = good && search(sizing, FLEET_BRIEF, why) && ask_alone(sizing, why);
    }
    return good;
}

/* The answer of a machine did not last: its forms are tried again as where there was none. */
static void reopen(struct fleet_size *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        form->decided =
            form->decided && (!isinf(fleet_found_on(fleet, form)) || form->alone == ALONE_MISSES ||
                              form->within == form->most_servers);
    }
}

/* May so many servers of the form hold the rate, more than missed a limit already? One server is that of the
 * form before, which only its router tells apart. */
static bool may_hold(const struct fleet_size *fleet, const struct fleet_form *form,
                     uint32_t servers)
{
    bool knows = form->routing == ADVICE_ROUTER || form->routing == ROUTINGS;
    return form->refused[0] == '\0' && form->alone != ALONE_MISSES && servers > form->within &&
           (servers > 1 || !form->twin) && (knows || servers >= servers_at(fleet, form, each_most));
}

/* How many servers of the form are tried where its machine has an answer: as many as cost no more, or less if the
 * form would not be better. */
static uint32_t servers_to_compare(const struct fleet_size *fleet, const struct fleet_form *form)
{
    double found = fleet_found_on(fleet, form);
    uint32_t within = isinf(found) ? 0 : servers_for(form, found);
    const struct fleet_form *leader = &fleet->forms[fleet_best_on(fleet, form->candidate->machine)];
    bool spares = within > 1 && form->routing == ROUTE_LEAST_REQUESTS && leader->ample;
    return within - (spares && fleet_cost(form, within) == found);
}

/* The other forms on machines that have an answer, with as many servers as cost no more. If they miss a limit,
 * the form is dearer. */
static bool compare(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true;
    fleet_size_choose(fleet);
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        uint32_t within = servers_to_compare(fleet, form);
        bool open = form->servers == 0 && may_hold(fleet, form, within);
        good = !open || begin(fleet, form, within, why);
    }
    good = good && search(sizing, FLEET_BRIEF, why);
    for (uint32_t i = 0; i < fleet->count; i++) {
        fleet->forms[i].decided = true; /* those without an answer cost more, or too much */
    }
    return good;
}

/* Servers of a machine's best form, as many as few requests tell, are run as `simulate` runs them, and so
 * are those that nearly hold. Where the former do not hold the rate then, the form that is probably the
 * cheapest now is searched, with more servers or another. */
static bool confirm(struct sizing *sizing, struct error *why)
{
    struct fleet_size *fleet = sizing->fleet;
    bool good = true;
    while (good) {
        reopen(fleet);
        good = find_any(sizing, why) && compare(sizing, why);
        fleet_size_choose(fleet);
        sizing->any = false; /* run at length in this round */
        good = good && (!fleet->is_stream || fleet_try(sizing, FLEET_FULL, why));
        if (!sizing->any) {
            break;
        }
        good = good && search(sizing, FLEET_BRIEF, why);
    }
    return good;
}

static void form_release(struct fleet_form *form)
{
    for (uint32_t j = 0; j < form->grid.count; j++) {
        result_release(&form->runs[j]);
    }
    free(form->runs);
    free(form->draws);
    grid_release(&form->grid);
    result_release(&form->idle);
    scenario_release(&form->scenario);
}

/* One server is one form, behind whichever router it was found. */
static void drop_twins_of_one(struct fleet_size *fleet)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        struct fleet_form *form = &fleet->forms[i];
        if (form->twin && form->servers == 1 && fleet_single(form)->servers == 1) {
            form_release(form);
        } else {
            fleet->forms[kept++] = *form;
        }
    }
    fleet->count = kept;
}

bool fleet_size_run(const struct scenario *scenario, const struct fleet_options *options,
                    struct fleet_size *out, struct error *why)
{
    struct sizing sizing = {.fleet = out, .options = options, .sources = scenario->sources};
    struct scenario asked;
    *out =
        (struct fleet_size){.best = FLEET_NONE, .rate = options->rate, .targets = options->targets};
    out->most_gpus = options->most_gpus > 0 ? options->most_gpus : FLEET_MOST_GPUS;
    bool good =
        scenario_copy(scenario, &asked, why) && capacity_set_stream(&asked, &out->is_stream, why) &&
        fleet_list_forms(&asked, options, out, why) && fleet_try(&sizing, FLEET_AT_ONCE, why) &&
        find_any(&sizing, why) && confirm(&sizing, why);
    drop_twins_of_one(out);
    fleet_size_choose(out);
    scenario_release(&asked);
    return good;
}

void fleet_size_release(struct fleet_size *fleet)
{
    for (uint32_t i = 0; i < fleet->count; i++) {
        form_release(&fleet->forms[i]);
    }
    free(fleet->forms);
    candidates_destroy(fleet->candidates, fleet->candidate_count);
    *fleet = (struct fleet_size){.best = FLEET_NONE};
}

bool fleet_scenario(const struct fleet_size *fleet, const struct fleet_form *form, uint32_t servers,
                    struct scenario *out, struct error *why)
{
    return scenario_copy(&form->scenario, out, why) &&
           scenario_values_set(&out->values, "rate", fleet->rate, why) &&
           advice_set_servers(out, servers, form->routing, why);
}

bool fleet_miss_scenario(const struct fleet_size *fleet, const struct fleet_form *form,
                         struct scenario *out, struct error *why)
{
    const struct capacity_draws *draws = fleet_miss_draws(form);
    if (form->alone == ALONE_MISSES) {
        return set_alone(fleet, form, out, why);
    }
    return fleet_scenario(fleet, form, form->fewer, out, why) &&
           draws_set(out, draws != NULL ? (uint32_t)__builtin_ctz(draws->missed) : 0, why);
}
