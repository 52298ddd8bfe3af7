/* `advise --rate`: how many GPUs of which machine hold a rate of requests. */
#include "cli/advise/advise.h"

#include <math.h>
#include <string.h>

#include "cli/frame/message.h"
#include "core/text.h"

enum { LINE = 2048 };

#define LIST "tables/fleets.def"
#define ID(name) DATA_##name
#define ARRAY fixed_columns
#include "tables/columns.h"

static bool read_rate(const struct arguments *arguments, double *out, struct error *why)
{
    const char *text = arguments_shared(arguments, "--rate");
    if (!units_parse(text, UNIT_COUNT, NULL, 0, "--rate", out, why)) {
        return error_expect(why, "requests a second, such as 0.3");
    }
    if (*out < 1e-6 || *out > 1e6) {
        error_usage(why, "--rate", 0, "'%.40s' is no rate that can be served", text);
        return error_expect(why, "0.000001 to 1000000 requests a second");
    }
    return true;
}

/* Each machine's best form, and others that were asked as an answer is. */
static bool is_shown(const struct fleet_size *fleet, uint32_t index)
{
    const struct fleet_form *form = &fleet->forms[index];
    return fleet_is_sure(fleet, form) || fleet_best_on(fleet, form->candidate->machine) == index;
}

static void fleet_print_rest(const void *context, bool wide, FILE *out)
{
    const struct fleet_size *fleet = context;
    char line[LINE] = "";
    uint32_t dearer = 0, refused = 0;
    const char *such = NULL;
    (void)wide;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        bool can_be = form->refused[0] == '\0', left = !is_shown(fleet, i);
        dearer += left && can_be;
        refused += left && !can_be;
        such = such == NULL && left && !can_be ? form->refused : such;
    }
    if (dearer > 0) {
        snprintf(line, sizeof line, "%u no cheaper, or beyond a limit", dearer);
    }
    if (refused > 0) {
        text_append(line, sizeof line, "%s%u impossible, such as: %s", dearer > 0 ? "; " : "",
                    refused, such);
    }
    if (dearer + refused > 0) {
        table_line("other forms (--json lists them): ", line, out);
    }
}

/* For people a time to the first token, or of one, is shown as it is limited, or as its 99th percentile. */
static const struct column *limited_time(const struct fleet_size *fleet, bool first)
{
    const struct column *shown = first ? COLUMN(ttft_p99_ms) : COLUMN(tpot_p99_ms);
    for (uint32_t i = 0; i < fleet->targets.count; i++) {
        const struct column *column = fleet->targets.all[i].column;
        if (strncmp(column->name, first ? "ttft" : "tpot", 4) == 0) {
            shown = column;
        }
    }
    return shown;
}

/* Why a form does not hold the rate, or is not known to. Figures are those of `simulate`. */
static void put_why(const struct fleet_size *fleet, const struct fleet_form *form,
                    struct frame *rows)
{
    const struct result *misses = fleet_misses(form);
    bool held = form->servers > 0, sure = fleet_miss_is_sure(fleet, form);
    char shape[ADVISE_WORDS], limits[ADVISE_SENTENCE], text[ADVISE_SENTENCE] = "not decided";
    bool alone = form->alone == ALONE_MISSES;
    advise_form(held                        ? form->servers
                : alone || form->fewer == 0 ? 1
                                            : form->fewer,
                form->gpus, form->ranks > 0, shape);
    if (form->refused[0] != '\0') {
        text_copy(text, sizeof text, form->refused);
    } else if (held) {
        snprintf(text, sizeof text, "%s cost no less", shape);
    } else if (misses != NULL && sure) {
        advise_put_limits(rows, DATA_limits, &fleet->targets, misses);
        snprintf(text, sizeof text, "%s, weights in %s%s: %.3000s", shape, form->weights,
                 alone ? ", requests alone" : "",
                 violation_describe(&fleet->targets, NULL, misses, limits));
    } else if (misses != NULL) {
        snprintf(text, sizeof text, "%s, weights in %s: beyond a limit", shape, form->weights);
    } else if (form->decided) {
        snprintf(text, sizeof text, "%s costs more", shape);
    }
    frame_text(rows, DATA_why, text);
    frame_reason(rows, DATA_all_gpus, text);
}

/* Of the best form of another machine: why the cost is too close to call. */
static const char *fleet_tie_of(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct fleet_form *best = &fleet->forms[fleet->best];
    uint32_t first = fleet_best_on(fleet, form->candidate->machine);
    bool asked = form != best && &fleet->forms[first] == form && fleet_is_sure(fleet, form);
    enum tie tie = asked ? fleet_tie(form, best) : TIE_NONE;
    return tie != TIE_NONE ? tie_reason(tie) : NULL;
}

/* Dollars of all servers an hour; and of a request, and a million output tokens, at the rate of the run, as
 * `simulate` counts them. NaN without a price, or if none holds the rate. */
static double fleet_hour_cost(const struct fleet_form *form)
{
    return form->price > 0 && form->servers > 0 ? fleet_cost(form, form->servers) : NAN;
}

static double fleet_cost_of(const struct fleet_form *form, const struct column *rate)
{
    const struct result *result = fleet_holds(form);
    return result != NULL ? fleet_hour_cost(form) / 3600 / result_number(result, rate) : NAN;
}

static double fleet_request_cost(const struct fleet_form *form)
{
    return fleet_cost_of(form, COLUMN(requests_out_per_s));
}

static double fleet_tokens_cost(const struct fleet_form *form)
{
    return 1e6 * fleet_cost_of(form, COLUMN(decode_tokens_per_s));
}

static void fleet_put_figures(const struct fleet_size *fleet, const struct fleet_form *form,
                              struct frame *rows)
{
    const struct result *result = fleet_holds(form);
    const struct fleet_form *best = &fleet->forms[fleet->best];
    frame_number(rows, DATA_servers, form->servers);
    frame_number(rows, DATA_all_gpus, form->servers * form->gpus);
    frame_textf(rows, DATA_shape, "%u x %u%s", form->servers, form->gpus,
                form->ranks > 0 ? " ranks" : "");
    frame_number(rows, DATA_cost_per_hour, fleet_hour_cost(form));
    frame_number(rows, DATA_cost_per_million_tokens, fleet_tokens_cost(form));
    frame_number(rows, DATA_cost_per_request, fleet_request_cost(form));
    frame_text(rows, DATA_tie, fleet_tie_of(fleet, form));
    if (form != best) {
        frame_number(rows, DATA_times_cost, fleet_hour_cost(form) / fleet_hour_cost(best));
    }
    frame_number(rows, DATA_ttft, result_number(result, limited_time(fleet, true)));
    frame_number(rows, DATA_tpot, result_number(result, limited_time(fleet, false)));
    frame_result(rows, result);
    advise_put_limits(rows, DATA_limits, &fleet->targets, result);
}

static void fleet_put_row(const struct fleet_size *fleet, uint32_t index, struct frame *rows)
{
    const struct fleet_form *form = &fleet->forms[index];
    frame_row(rows);
    frame_text(rows, DATA_kind, "fleet");
    frame_text(rows, DATA_hardware, form->candidate->machine);
    frame_text(rows, DATA_weights, form->weights);
    frame_text(rows, DATA_system, form->candidate->system);
    if (form->routing != ROUTINGS && form->servers != 1) {
        frame_text(rows, DATA_routing, advise_router(form->routing));
    }
    frame_number(rows, DATA_gpus, form->gpus);
    frame_number(rows, DATA_ranks, form->ranks > 0 ? form->ranks : (double)NAN);
    frame_number(rows, DATA_fewer, form->fewer > 0 ? form->fewer : (double)NAN);
    frame_number(rows, DATA_price_per_hour, form->price > 0 ? form->price : (double)NAN);
    frame_number(rows, DATA_advised, index == fleet->best);
    if (fleet_is_sure(fleet, form)) {
        fleet_put_figures(fleet, form, rows);
    } else {
        put_why(fleet, form, rows);
    }
}

static bool fleet_put_run(const struct fleet_size *fleet, const struct fleet_form *form,
                          struct frame *rows, struct error *why)
{
    bool holds = fleet_is_sure(fleet, form), misses = fleet_miss_is_sure(fleet, form);
    const struct result *run = holds ? fleet_holds(form) : fleet_misses(form);
    struct scenario scenario;
    if (!holds && (form->servers > 0 || !misses)) {
        return true;
    }
    bool good = (holds ? fleet_scenario(fleet, form, form->servers, &scenario, why)
                       : fleet_miss_scenario(fleet, form, &scenario, why)) &&
                advise_put_run(&scenario, run, rows, DATA_scenario, DATA_run, why);
    scenario_release(&scenario);
    return good;
}

static struct frame *fleet_rows(const void *context, bool for_people, struct error *why)
{
    const struct fleet_size *fleet = context;
    struct frame_column columns[DATA_COUNT];
    memcpy(columns, fixed_columns, sizeof columns);
    columns[DATA_ttft].title = advise_title(limited_time(fleet, true));
    columns[DATA_tpot].title = advise_title(limited_time(fleet, false));
    struct frame *rows = frame_create(columns, DATA_COUNT, why);
    bool good = rows != NULL;
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        if (!for_people || is_shown(fleet, i)) {
            fleet_put_row(fleet, i, rows);
            good = for_people || fleet_put_run(fleet, &fleet->forms[i], rows, why);
        }
    }
    if (!good) {
        frame_destroy(rows);
        return NULL;
    }
    return rows;
}

/* ---- the verdict ---- */

/* "2 servers of one GPU each of l40s with vllm, weights in fp8, behind prefix-load" */
static void say_form(const struct fleet_form *form, uint32_t servers, char text[ADVISE_SENTENCE])
{
    char shape[ADVISE_WORDS];
    bool routed = servers > 1 && form->routing != ROUTINGS;
    advise_say(text, "%s of %s with %s, weights in %s%s%s",
               advise_form(servers, form->gpus, form->ranks > 0, shape), form->candidate->machine,
               candidate_name(form->candidate), form->weights, routed ? ", behind " : "",
               routed ? advise_router(form->routing) : "");
}

/* "FORM, which misses ttft_p99_ms<=4s: 4200 (by 5.0 %)" */
static void say_missing(const struct fleet_size *fleet, const struct fleet_form *form,
                        char text[ADVISE_SENTENCE])
{
    char limits[ADVISE_SENTENCE];
    bool alone = form->alone == ALONE_MISSES;
    say_form(form, alone ? 1 : form->fewer, text);
    advise_say(text, "%s, which %s", alone ? ", requests alone" : "",
               violation_describe(&fleet->targets, NULL, fleet_misses(form), limits));
}

static void fleet_say_ties(const struct fleet_size *fleet, char text[ADVISE_SENTENCE])
{
    const char *before = " Costs too close to call: ";
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        if (fleet_tie_of(fleet, form) != NULL) {
            advise_say(text, "%s", before);
            say_form(form, form->servers, text);
            before = ", ";
        }
    }
    advise_say(text, "%s", *before == ',' ? "." : "");
}

static void say_cost(const struct fleet_form *best, char text[ADVISE_SENTENCE])
{
    double hour = fleet_hour_cost(best), tokens = fleet_tokens_cost(best);
    if (isnan(hour)) {
        advise_say(text, "no price is known (--price %s=DOLLARS).", best->candidate->machine);
        return;
    }
    advise_say(text, "$%.2f an hour, ", hour);
    if (!isnan(tokens)) {
        advise_say(text, "$%s a million output tokens, ", number_shown(UNIT_DOLLARS, tokens).text);
    }
    advise_say(text, "$%s a request.", number_shown(UNIT_ROUGH, fleet_request_cost(best)).text);
}

static void fleet_say_run(const struct fleet_size *fleet, const struct fleet_form *best,
                          bool unnamed, struct frame *verdict)
{
    uint32_t gpus = best->servers * best->gpus;
    char shape[ADVISE_WORDS], text[ADVISE_SENTENCE] = "";
    advise_say(text, "%u GPU%s of %s", gpus, text_plural(gpus), best->candidate->machine);
    if (gpus > 1) {
        advise_say(text, " as %s", advise_form(best->servers, best->gpus, best->ranks > 0, shape));
    }
    advise_say(text, ", %s%s, weights in %s%s: ", candidate_name(best->candidate),
               best->candidate->traits.tiers ? " with host memory for prompts that begin alike"
                                             : "",
               best->weights, unnamed ? ", from a checkpoint that is not known here" : "");
    say_cost(best, text);
    fleet_say_ties(fleet, text);
    frame_text(verdict, VERDICT_run, text);
}

static void fleet_put_numbers(const struct fleet_size *fleet, const struct fleet_form *best,
                              struct frame *verdict)
{
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_text(verdict, VERDICT_hardware, best->candidate->machine);
    frame_text(verdict, VERDICT_weights, best->weights);
    frame_number(verdict, VERDICT_gpus, best->gpus);
    frame_number(verdict, VERDICT_servers, best->servers);
    frame_number(verdict, VERDICT_ranks, best->ranks > 0 ? best->ranks : (double)NAN);
    frame_number(verdict, VERDICT_cost_per_hour, fleet_hour_cost(best));
    frame_number(verdict, VERDICT_cost_per_million_tokens, fleet_tokens_cost(best));
    frame_number(verdict, VERDICT_cost_per_request, fleet_request_cost(best));
    advise_put_limits(verdict, VERDICT_limits, &fleet->targets, fleet_holds(best));
    if (best->fewer > 0) {
        frame_number(verdict, VERDICT_fewer, best->fewer);
        verdict_put_draws(verdict, fleet_miss_draws(best));
    }
}

/* Of cheaper forms that miss a limit by so little that a run may be wrong about it, the nearest; not the one that is
 * named as the next below. Without prices, cheaper than others of their machine. */
static void say_near_miss(const struct fleet_size *fleet, const struct fleet_form *best,
                          const struct fleet_form *below, char text[ADVISE_SENTENCE])
{
    static const double nearly = 0.05, called = 0.1; /* the second, what is too close to call */
    const struct fleet_form *nearest = NULL;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        const struct result *misses = fleet_misses(form);
        double cost =
            form->price > 0 ? fleet_cost(best, best->servers) : fleet_found_on(fleet, form);
        if (fleet_miss_is_sure(fleet, form) && form != below &&
            fleet_cost(form, form->fewer) < cost &&
            fleet_short(fleet, form) <=
                (notes_find(misses->notes, NOTE_too_close) != NULL ? called : nearly) &&
            (nearest == NULL || fleet_short(fleet, form) < fleet_short(fleet, nearest))) {
            nearest = form;
        }
    }
    if (nearest != NULL) {
        advise_say(text, " Nearly: ");
        say_missing(fleet, nearest, text);
        advise_say(text, ".");
    }
}

static void fleet_say_nearest(const struct fleet_size *fleet, struct frame *verdict)
{
    const struct fleet_form *nearest = NULL;
    char text[ADVISE_SENTENCE] = "";
    advise_say(text,
               "nothing: no form of up to %u GPUs holds %g request%s a second within the limits",
               fleet->most_gpus, fleet->rate, fleet->rate == 1 ? "" : "s");
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        bool nearer = nearest == NULL || fleet_short(fleet, form) < fleet_short(fleet, nearest);
        nearest = fleet_misses(form) != NULL && nearer ? form : nearest;
    }
    if (nearest != NULL) {
        advise_say(text, "; nearest: ");
        say_missing(fleet, nearest, text);
    }
    if (nearest != NULL && nearest->alone == ALONE_MISSES) {
        advise_say(text, ". More servers do not help a request that has one for itself: a longer "
                         "limit, shorter prompts or a faster machine would");
    }
    frame_textf(verdict, VERDICT_run, "%s.", text);
}

/* What the whole workload took, and what it takes with fewer GPUs. */
static void say_meets(const struct fleet_size *fleet, const struct fleet_form *best,
                      struct frame *verdict)
{
    const struct result *result = fleet_holds(best);
    double requests = result_number(result, COLUMN(requests));
    char text[ADVISE_SENTENCE] = "", limits[ADVISE_SENTENCE];
    advise_limits(&fleet->targets, result, limits);
    advise_say(text, "%s%s%.0f request%s at %g a second, all simulated%s.", limits,
               limits[0] != '\0' ? "; " : "", requests, text_plural((uint64_t)requests),
               fleet->rate, fleet->is_stream ? ", and held in 3 draws" : "");
    const struct fleet_form *below = fleet_next_below(fleet, best);
    if (below != NULL) {
        advise_say(text, " With ");
        say_form(below, below->fewer, text);
        advise_say(text, " it %s.",
                   violation_describe(&fleet->targets, NULL, fleet_misses(below), limits));
    }
    say_near_miss(fleet, best, below, text);
    frame_text(verdict, VERDICT_meets, text);
}

static bool put_host(const struct fleet_form *best, const struct scenario *scenario,
                     struct frame *verdict, struct error *why)
{
    char text[ADVISE_SENTENCE] = "";
    struct point point;
    if (!best->candidate->traits.tiers) {
        return true;
    }
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    double unseen;
    uint64_t gib = host_given_gib(&point, fleet_holds(best), &unseen);
    const struct host_engine *engine = host_room_engine(&point);
    frame_number(verdict, VERDICT_host_bytes, (double)(gib << 30));
    advise_say(text, "%s for prompts that begin alike, of each server",
               number_shown(UNIT_BYTES, (double)(gib << 30)).text);
    if (engine != NULL) {
        double takes = host_takes(&point, gib);
        frame_text(verdict, VERDICT_host_where, host_engine_where(engine));
        frame_number(verdict, VERDICT_host_takes_bytes, takes);
        advise_say(text, "; %s %s takes %s %s", engine->engine, engine->versions,
                   number_shown(UNIT_BYTES, takes).text, host_engine_where(engine));
    }
    advise_say(text, ".");
    frame_text(verdict, VERDICT_memory, text);
    point_release(&point);
    return true;
}

static bool fleet_put_answer(const struct fleet_size *fleet, struct advise_answer *answer,
                             struct error *why)
{
    const struct fleet_form *best = &fleet->forms[fleet->best];
    if (!put_host(best, &answer->scenario, answer->verdict, why) ||
        !verdict_put_start(answer->verdict, answer, why)) {
        return false;
    }
    fleet_put_numbers(fleet, best, answer->verdict);
    fleet_say_run(fleet, best, answer->unnamed, answer->verdict);
    say_meets(fleet, best, answer->verdict);
    verdict_put_sure(answer->verdict, answer->result);
    return true;
}

static bool fleet_verdict(const struct fleet_size *fleet, const char *model,
                          struct advise_answer *answer, struct error *why)
{
    const char *plural = fleet->rate == 1 ? "" : "s";
    char asked[ADVISE_SENTENCE], shape[ADVISE_WORDS];
    snprintf(asked, sizeof asked, "%s%s, %g request%s a second", model,
             verdict_shape(model, &fleet->candidates[0].scenario, shape), fleet->rate, plural);
    struct frame *verdict = verdict_create(asked, &fleet->forms[0].scenario, &fleet->targets, why);
    answer->verdict = verdict;
    frame_number(verdict, VERDICT_rate, fleet->rate);
    if (answer->result != NULL) {
        return verdict != NULL && fleet_put_answer(fleet, answer, why);
    }
    fleet_say_nearest(fleet, verdict);
    return verdict != NULL;
}

/* ---- the answer ---- */

static void fleet_take_notes(const void *context, struct runs_notes *notes,
                             struct runs_notes *sources)
{
    const struct fleet_size *fleet = context;
    (void)sources;
    for (uint32_t i = 0; fleet->best != FLEET_NONE && i < fleet->count; i++) {
        if (fleet_is_sure(fleet, &fleet->forms[i])) {
            runs_notes_add(notes, fleet_holds(&fleet->forms[i]));
        }
    }
}

static bool answer_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                         const struct study *study, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    const struct fleet_form *best = fleet->best != FLEET_NONE ? &fleet->forms[fleet->best] : NULL;
    struct advise_answer answer = {.targets = &fleet->targets,
                                   .servers = best != NULL ? best->servers : 0,
                                   .ran = best != NULL ? &best->scenario
                                                       : &fleet->candidates[0].scenario,
                                   .most_gpus = best != NULL ? best->gpus : 1,
                                   .result = best != NULL ? fleet_holds(best) : NULL,
                                   .context = fleet,
                                   .rows = fleet_rows,
                                   .take_notes = fleet_take_notes,
                                   .print_rest = fleet_print_rest};
    bool good =
        (best == NULL || fleet_scenario(fleet, best, best->servers, &answer.scenario, why)) &&
        fleet_verdict(fleet, model, &answer, why) && advise_write(arguments, study, &answer, why);
    advise_answer_release(&answer);
    return good && (best != NULL || error_unmet(why, "no form holds the rate within the limits"));
}

bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    uint32_t operands;
    struct fleet_options options = {.targets = with->targets,
                                    .machines = arguments_operands(arguments, &operands)[1],
                                    .prices = with->candidates.prices,
                                    .weights = arguments_shared(arguments, "--weights"),
                                    .most_gpus = with->gpus,
                                    .study = with->study};
    struct fleet_size fleet;
    if (!read_rate(arguments, &options.rate, why) ||
        !targets_add_service(true, &options.targets, why)) {
        return false;
    }
    bool good = fleet_size_run(scenario, &options, &fleet, why);
    progress_clear();
    good = good && answer_fleet(arguments, &fleet, &with->study, why);
    fleet_size_release(&fleet);
    return good;
}
