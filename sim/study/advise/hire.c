/* Rounds: each is one sweep over the tries of several forms, so that all processors have work. */
#include "study/advise/hire.h"

#include "base/array.h"
#include "base/node.h"
#include "serving/serving_outcome.h"
#include "study/advise/advice.h"
#include "study/advise/advice_search.h"
#include "study/advise/hire_forms.h"
#include "study/plan/lengthen.h"
#include "study/sweep/sweep.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Requests of a cheap run: all at once, alone, and of a server with its share of the rate at least;
 * there they arrive for TIMES as long as one takes. A hire's own run lasts LASTING times as long
 * (serving/serving_outcome.h). */
enum { AT_ONCE = 250, ALONE = 100, LEAST = 100, TIMES = 3, LASTING = 10 };

/* Rates at which all requests come at once, and none meets another. */
static const char *const at_once = "100000", *const far_apart = "0.00001";

/* A server answers at most so many times what it answers of AT_ONCE requests: these begin and end
 * with a batch that is not full. A limit on times is mostly met up to USUAL of that. */
#define FULLER 1.5
#define USUAL 0.7

enum { A_ROUND = 2 };

/* ---- tries ---- */

enum what { TRY_AT_ONCE, TRY_ALONE, TRY_SHARE, TRY_HIRE, TRY_ALL_ALONE };

struct
try {
    struct hire_form *form;
    enum what what;
    uint32_t servers; /* of TRY_SHARE and TRY_HIRE */
    struct search *search;
};

struct sizing {
    struct hire *hire;
    const struct hire_options *options;
    struct sources *sources;
    struct targets times; /* without the queue's: few requests cannot judge it */
    struct try *tries;    /* owned */
    size_t count, capacity;
    bool *interrupted;
};

static bool add_try(struct sizing *sizing, struct try new, struct error *why)
{
    if (!array_reserve(&sizing->tries, &sizing->capacity, sizing->count + 1, sizeof *sizing->tries,
                       why)) {
        return false;
    }
    sizing->tries[sizing->count++] = new;
    return true;
}

/* Requests of a server's share: for TIMES as long as one takes. */
static uint64_t share_requests(const struct sizing *sizing, const struct try *try)
{
    double load = fmin(sizing->hire->rate / try->servers / try->form->most, 1);
    double wanted = fmax(TIMES * try->form->held * load, LEAST);
    return wanted < (double)try->form->requests ? (uint64_t)wanted : try->form->requests;
}

static bool set_number(struct scenario *scenario, const char *key, double number, struct error *why)
{
    char text[32];
    snprintf(text, sizeof text, "%.9g", number);
    return node_set(scenario->root, key, text, why);
}

static bool lay_try(const struct sizing *sizing, const struct try *try, struct scenario *out,
                    struct error *why)
{
    const struct hire_form *form = try->form;
    switch (try->what) {
    case TRY_AT_ONCE:
        return node_set(out->root, "rate", at_once, why) &&
               set_number(out, "limit", fmin(AT_ONCE, (double)form->requests), why);
    case TRY_ALONE:
        return node_set(out->root, "rate", far_apart, why) &&
               set_number(out, "limit", fmin(ALONE, (double)form->requests), why);
    case TRY_SHARE:
        return set_number(out, "rate", sizing->hire->rate / try->servers, why) &&
               set_number(out, "limit", (double)share_requests(sizing, try), why);
    case TRY_HIRE:
        return set_number(out, "rate", sizing->hire->rate, why) &&
               (try->servers == 1 || set_number(out, "replicas", try->servers, why));
    case TRY_ALL_ALONE:
        return node_set(out->root, "rate", far_apart, why);
    }
    return false;
}

static void take_at_once(struct hire_form *form, const struct result *result)
{
    double taken = result_number(result, COLUMN_E2E) - result_number(result, COLUMN_QUEUE);
    if (!result_ok(result)) {
        result_reason(result, form->refused, sizeof form->refused);
        return;
    }
    form->most = result_number(result, COLUMN_RATE_OUT);
    form->held = form->most * taken / 1e3;
}

/* A server that answers less than its share falls behind, even if few requests do not show it. */
static void take_share(const struct sizing *sizing, const struct try *try,
                       const struct result *result)
{
    double shortfall = targets_shortfall(&sizing->times, result);
    bool behind = sizing->hire->rate / try->servers > try->form->most * FULLER;
    if (shortfall == 0 && !behind) {
        try->form->taken = result_number(result, COLUMN_E2E) / 1e3;
    }
    search_put(try->search, try->servers - 1, behind ? fmax(shortfall, 1) : shortfall);
}

static void take_hire(const struct sizing *sizing, const struct try *try, struct result *result)
{
    search_put(try->search, try->servers - 1, targets_shortfall(&sizing->options->targets, result));
    try->form->runs[try->servers - 1] = *result;
    result_init(result);
}

static void take_all_alone(const struct sizing *sizing, struct hire_form *form,
                           struct result *result)
{
    form->alone = targets_shortfall(&sizing->options->targets, result);
    form->is_alone = true;
    form->lonely = *result;
    result_init(result);
}

static bool take(uint32_t index, struct result *result, void *context, struct error *why)
{
    struct sizing *sizing = context;
    const struct try *try = &sizing->tries[index];
    (void)why;
    switch (try->what) {
    case TRY_AT_ONCE:
        take_at_once(try->form, result);
        break;
    case TRY_ALONE:
        try->form->alone = targets_shortfall(&sizing->times, result);
        break;
    case TRY_SHARE:
        take_share(sizing, try, result);
        break;
    case TRY_HIRE:
        take_hire(sizing, try, result);
        break;
    case TRY_ALL_ALONE:
        take_all_alone(sizing, try->form, result);
        break;
    }
    return true;
}

/* Run all tries that were added. Only runs of the whole workload are kept. */
static bool run_tries(struct sizing *sizing, bool keep, struct error *why)
{
    struct scenario points;
    struct run_context runs = *sizing->options->runs; /* a view */
    runs.rough = !keep;
    const struct sweep_options sweep = {.store = keep ? sizing->options->store : NULL,
                                        .jobs = sizing->options->jobs,
                                        .runs = &runs,
                                        .keep_failed = true,
                                        .on_result = take,
                                        .context = sizing};
    bool good = scenario_init(&points, why);
    for (size_t i = 0; good && i < sizing->count; i++) {
        struct scenario point;
        good = scenario_copy(&sizing->tries[i].form->scenario, &point, why) &&
               lay_try(sizing, &sizing->tries[i], &point, why) &&
               scenario_add_case(&points, point.root, why);
        scenario_release(&point);
    }
    points.sources = sources_hold(sizing->sources);
    good = good && (sizing->count == 0 || sweep_run(&points, &sweep, sizing->interrupted, why));
    scenario_release(&points);
    sizing->count = 0;
    return good;
}

static void tell(const struct sizing *sizing, double share, const char *what)
{
    if (sizing->options->on_progress != NULL) {
        sizing->options->on_progress(share, what, sizing->options->context);
    }
}

/* ---- what cheap runs tell ---- */

static bool survey(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    bool good = true;
    tell(sizing, 0, "what a server answers at most");
    for (uint32_t i = 0; good && i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        good = form->refused[0] != '\0' ||
               (add_try(sizing, (struct try){form, TRY_AT_ONCE, 1, NULL}, why) &&
                add_try(sizing, (struct try){form, TRY_ALONE, 1, NULL}, why));
    }
    good = good && run_tries(sizing, false, why);
    for (uint32_t i = 0; i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        double least = form->most > 0 ? ceil(hire->rate / (FULLER * form->most)) : 1;
        form->least = least < HIRE_MOST_GPUS ? (uint32_t)least : HIRE_MOST_GPUS;
        form->least = form->least > 0 ? form->least : 1;
    }
    return good;
}

double hire_cost(const struct hire_form *form, uint32_t servers)
{
    return (double)servers * form->gpus * (form->price > 0 ? form->price : 1);
}

static bool is_alike(const struct hire_form *a, const struct hire_form *b)
{
    return strcmp(a->candidate->machine, b->candidate->machine) == 0;
}

/* The least that a form on the same machine was found to cost; a guess counts until it is tried. */
static double found_on(const struct hire *hire, const struct hire_form *form)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *other = &hire->forms[i];
        uint32_t guess = other->confirmed ? 0 : other->guess;
        uint32_t servers = other->servers > 0 ? other->servers : guess;
        if (is_alike(other, form) && servers > 0) {
            least = fmin(least, hire_cost(other, servers));
        }
    }
    return least;
}

/* Is it worth a look: can it be, does a request alone meet the limits, and might it cost no more
 * than what was found on this machine? */
static bool may_win(const struct hire *hire, const struct hire_form *form)
{
    return form->refused[0] == '\0' && form->alone == 0 && !form->weighed &&
           hire_cost(form, form->least) <= found_on(hire, form);
}

/* The next form to weigh on the machine of form `first`, the first of its row. */
static struct hire_form *next_to_weigh(struct hire *hire, uint32_t first)
{
    struct hire_form *next = NULL;
    for (uint32_t i = first; i < hire->count && is_alike(&hire->forms[i], &hire->forms[first]);
         i++) {
        struct hire_form *form = &hire->forms[i];
        if (may_win(hire, form) &&
            (next == NULL || hire_cost(form, form->least) < hire_cost(next, next->least))) {
            next = form;
        }
    }
    return next;
}

/* Search the numbers of servers of several forms in common rounds. `searches` belong to the forms at
 * the same place. */
static bool search_all(struct sizing *sizing, enum what what, struct hire_form **forms,
                       struct search *searches, uint32_t count, struct error *why)
{
    bool good = true, open = true;
    while (good && open && !*sizing->interrupted) {
        for (uint32_t i = 0; good && i < count; i++) {
            uint32_t values[A_ROUND], tries = search_next(&searches[i], A_ROUND, values);
            for (uint32_t j = 0; good && j < tries; j++) {
                good =
                    add_try(sizing, (struct try){forms[i], what, values[j] + 1, &searches[i]}, why);
            }
        }
        open = sizing->count > 0;
        good = good && run_tries(sizing, what == TRY_HIRE, why);
    }
    return good;
}

/* Begin a search of the form's servers at a guess. */
static bool begin_search(const struct hire_form *form, double guess, uint32_t reach,
                         struct search *search, struct error *why)
{
    uint32_t most = form->most_servers;
    uint32_t at = guess < 1 ? 1 : guess < most ? (uint32_t)guess : most;
    if (!search_init(search, most, why)) {
        return false;
    }
    search_near(search, at - 1, reach, 1);
    return true;
}

/* The next form of each machine, as far as it has one. Returns how many. */
static uint32_t take_round(struct hire *hire,
                           struct hire_form *(*next)(struct hire *hire, uint32_t first),
                           struct hire_form **forms)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        bool first = i == 0 || !is_alike(&hire->forms[i], &hire->forms[i - 1]);
        forms[count] = first ? next(hire, i) : NULL;
        count += forms[count] != NULL;
    }
    return count;
}

/* Look at forms in the order of what they cost at least, one on each machine at a time, until the
 * others must cost more. */
static bool weigh(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    struct hire_form **forms = array_zeroed(hire->count, sizeof(struct hire_form *), why);
    struct search *searches = array_zeroed(hire->count, sizeof *searches, why);
    bool good = forms != NULL && searches != NULL;
    uint32_t count = 1;
    while (good && count > 0 && !*sizing->interrupted) {
        count = take_round(hire, next_to_weigh, forms);
        for (uint32_t i = 0; good && i < count; i++) {
            double guess =
                fmin(ceil(hire->rate / (USUAL * forms[i]->most)), forms[i]->most_servers);
            forms[i]->weighed = true;
            good = begin_search(forms[i], guess, 1 + (uint32_t)(guess / 8), &searches[i], why);
        }
        good = good && search_all(sizing, TRY_SHARE, forms, searches, count, why);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t found = search_found(&searches[i]);
            forms[i]->guess = found != SEARCH_NONE ? found + 1 : forms[i]->most_servers;
            search_release(&searches[i]);
        }
    }
    free(forms);
    free(searches);
    return good;
}

/* ---- answers ---- */

/* The least that a confirmed form on the machine costs. */
static double confirmed_on(const struct hire *hire, const struct hire_form *form)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *other = &hire->forms[i];
        if (is_alike(other, form) && other->servers > 0) {
            least = fmin(least, hire_cost(other, other->servers));
        }
    }
    return least;
}

static bool is_offloading(const struct hire_form *form)
{
    return strcmp(form->candidate->system, ADVICE_PLAIN) != 0;
}

/* Of forms that cost the same plain vLLM comes first, then fewer servers. */
static bool is_before(const struct hire_form *a, uint32_t servers, const struct hire_form *b,
                      uint32_t others)
{
    double x = hire_cost(a, servers), y = hire_cost(b, others);
    bool plain = is_offloading(a) != is_offloading(b);
    return x != y ? x < y : plain ? !is_offloading(a) : servers < others;
}

/* The cheapest form of the machine that was weighed and may cost less than what is confirmed. */
static struct hire_form *next_to_confirm(struct hire *hire, uint32_t first)
{
    struct hire_form *next = NULL;
    for (uint32_t i = first; i < hire->count && is_alike(&hire->forms[i], &hire->forms[first]);
         i++) {
        struct hire_form *form = &hire->forms[i];
        bool open = form->weighed && !form->confirmed &&
                    hire_cost(form, form->guess) < confirmed_on(hire, form);
        if (open && (next == NULL || is_before(form, form->guess, next, next->guess))) {
            next = form;
        }
    }
    return next;
}

static void read_search(struct hire_form *form)
{
    uint32_t found = search_found(&form->search);
    form->servers = found != SEARCH_NONE ? found + 1 : 0;
    form->fewer = found != SEARCH_NONE ? found : form->search.count;
    while (form->fewer > 0 && !(form->search.shortfall[form->fewer - 1] > 0)) {
        form->fewer--;
    }
}

/* Serve the whole workload with the forms that are cheapest so far, one on each machine at a time. */
static bool confirm(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    struct hire_form **forms = array_zeroed(hire->count, sizeof(struct hire_form *), why);
    struct search *searches = array_zeroed(hire->count, sizeof *searches, why);
    bool good = forms != NULL && searches != NULL;
    uint32_t count = 1;
    while (good && count > 0 && !*sizing->interrupted) {
        count = take_round(hire, next_to_confirm, forms);
        for (uint32_t i = 0; good && i < count; i++) {
            struct hire_form *form = forms[i];
            form->confirmed = true;
            form->runs = array_zeroed(form->most_servers, sizeof *form->runs, why);
            good = form->runs != NULL && begin_search(form, form->guess, 1, &searches[i], why);
        }
        good = good && search_all(sizing, TRY_HIRE, forms, searches, count, why);
        for (uint32_t i = 0; i < count; i++) {
            forms[i]->search = searches[i];
            searches[i] = (struct search){.count = 0}; /* the form owns it */
            read_search(forms[i]);
        }
    }
    free(forms);
    free(searches);
    return good;
}

/* ---- the length of the workload ---- */

/* Requests that the cheapest form of each machine needs, so that they arrive for LASTING times as
 * long as one takes. */
static uint64_t needed(const struct hire *hire)
{
    double most = 0, there = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        bool cheapest = form->weighed && hire_cost(form, form->guess) <= found_on(hire, form);
        most = cheapest ? fmax(most, LASTING * form->taken * hire->rate + 1) : most;
        there = cheapest ? (double)form->requests : there;
    }
    return most > there ? (uint64_t)ceil(most) : 0;
}

static bool lengthen(struct sizing *sizing, struct error *why)
{
    struct hire *hire = sizing->hire;
    bool good = true, sessions = lengthen_has_sessions(&hire->forms[0].scenario);
    uint64_t more = sessions ? LENGTHEN_SESSIONS : lengthen_spare(needed(hire));
    if (!lengthen_may(&hire->forms[0].scenario) || more == 0 || more > LENGTHEN_MOST) {
        return true;
    }
    hire->lengthened = more;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        hire->forms[i].requests = more;
        good = lengthen_lay(&hire->forms[i].scenario, more, why);
    }
    return good;
}

/* ---- no number of servers ---- */

/* A few requests alone missed a limit: whether all do, all must say. Only for machines without an
 * answer. `*again`: forms are left to be weighed, these among them, or because the guess that made
 * them too dear was refuted. */
static bool try_alone(struct sizing *sizing, bool *again, struct error *why)
{
    struct hire *hire = sizing->hire;
    bool good = true;
    *again = false;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        bool asks = form->refused[0] == '\0' && form->alone > 0 && !form->is_alone;
        if (asks && isinf(confirmed_on(hire, form))) {
            good = add_try(sizing, (struct try){form, TRY_ALL_ALONE, 1, NULL}, why);
        }
    }
    tell(sizing, 0.9, "requests that have a server alone");
    good = good && run_tries(sizing, true, why);
    for (uint32_t i = 0; i < hire->count; i++) {
        *again = *again || may_win(hire, &hire->forms[i]);
    }
    return good;
}

/* ---- all of it ---- */

static void choose(struct hire *hire)
{
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        const struct hire_form *best = hire->best != HIRE_NONE ? &hire->forms[hire->best] : NULL;
        if (form->servers > 0 &&
            (best == NULL || is_before(form, form->servers, best, best->servers))) {
            hire->best = i;
        }
    }
}

static bool size_all(struct sizing *sizing, struct error *why)
{
    bool first = true, again = true, good = survey(sizing, why);
    while (good && again && !*sizing->interrupted) {
        tell(sizing, 0.2, "servers with their share of the rate");
        good = weigh(sizing, why) && (!first || lengthen(sizing, why)); /* one workload for all */
        first = false;
        tell(sizing, 0.5, "hires with the whole workload");
        good = good && (*sizing->interrupted || confirm(sizing, why)) &&
               (*sizing->interrupted || try_alone(sizing, &again, why));
    }
    return good;
}

bool hire_run(const struct scenario *scenario, const struct hire_options *options, struct hire *out,
              bool *interrupted, struct error *why)
{
    struct sizing sizing = {
        .hire = out, .options = options, .sources = scenario->sources, .interrupted = interrupted};
    *out = (struct hire){.best = HIRE_NONE, .rate = options->rate, .targets = options->targets};
    out->most_gpus = options->most_gpus > 0 ? options->most_gpus : HIRE_MOST_GPUS;
    *interrupted = false;
    targets_without_queue(&options->targets, &sizing.times);
    bool good = hire_list_forms(scenario, options, out, why) && size_all(&sizing, why);
    free(sizing.tries);
    out->interrupted = *interrupted;
    if (good) {
        choose(out);
    }
    return good;
}

void hire_release(struct hire *hire)
{
    for (uint32_t i = 0; i < hire->count; i++) {
        struct hire_form *form = &hire->forms[i];
        for (uint32_t j = 0; form->runs != NULL && j < form->most_servers; j++) {
            result_release(&form->runs[j]);
        }
        free(form->runs);
        search_release(&form->search);
        result_release(&form->lonely);
        scenario_release(&form->scenario);
    }
    free(hire->forms);
    candidates_destroy(hire->candidates, hire->candidate_count);
    *hire = (struct hire){.best = HIRE_NONE};
}

/* ---- what was found ---- */

bool hire_scenario(const struct hire *hire, const struct hire_form *form, uint32_t servers,
                   struct scenario *out, struct error *why)
{
    return scenario_copy(&form->scenario, out, why) && set_number(out, "rate", hire->rate, why) &&
           (servers == 1 || set_number(out, "replicas", servers, why));
}

const struct result *hire_holds(const struct hire_form *form)
{
    return form->servers > 0 ? &form->runs[form->servers - 1] : NULL;
}

const struct result *hire_misses(const struct hire_form *form)
{
    return form->fewer > 0                     ? &form->runs[form->fewer - 1]
           : form->is_alone && form->alone > 0 ? &form->lonely
                                               : NULL;
}

/* By how much the run that hire_misses() gives falls short. */
static double shortfall_of(const struct hire_form *form)
{
    return form->fewer > 0 ? form->search.shortfall[form->fewer - 1] : form->alone;
}

/* Which of two forms says more about a machine on which nothing holds: one that was tried whole, and
 * comes nearer. */
static bool says_more(const struct hire_form *a, const struct hire_form *b)
{
    bool tried = hire_misses(a) != NULL, other = hire_misses(b) != NULL;
    return tried != other ? tried : tried ? shortfall_of(a) < shortfall_of(b) : a->gpus > b->gpus;
}

uint32_t hire_best_on(const struct hire *hire, const char *machine)
{
    uint32_t best = HIRE_NONE;
    for (uint32_t i = 0; i < hire->count; i++) {
        const struct hire_form *form = &hire->forms[i];
        const struct hire_form *before = best != HIRE_NONE ? &hire->forms[best] : NULL;
        if (strcmp(form->candidate->machine, machine) != 0) {
            continue;
        }
        bool better = before == NULL ||
                      (before->servers > 0 ? form->servers > 0 && is_before(form, form->servers,
                                                                            before, before->servers)
                                           : form->servers > 0 || says_more(form, before));
        best = better ? i : best;
    }
    return best;
}
