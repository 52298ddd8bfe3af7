/* `advise` about one machine: what it holds, and how. A row for each system, form and change of an advice,
 * and what people are told below them. */
#include "cli/advise/advise.h"

#include "cli/frame/message.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LIST "tables/advices.def"
#define ID(name) DATA_##name
#define ARRAY fixed_columns
#include "tables/columns.h"

struct advise_line {
    const struct advice_trial *trial; /* NULL: a system */
    const struct search *search;
    const struct advice_form *form;
    bool advised;
    double rate; /* NaN: nothing was found */
};

static void machine_print_rest(const void *context, bool wide, FILE *out)
{
    const struct advice *advice = context;
    left_out_print(advice->systems.candidates, advice->systems.count, wide, out);
}

/* Highest rate first; without one last; of equal ones the answer, then in the order of their searches. */
static int advise_rows_by_rate(const void *a, const void *b)
{
    const struct advise_line *x = a, *y = b;
    if (isnan(x->rate) != isnan(y->rate)) {
        return isnan(x->rate) ? 1 : -1;
    }
    bool short_runs = !isnan(x->rate) && x->search->depth != NULL && y->search->depth != NULL;
    double left = short_runs ? search_interval(x->search).least : x->rate;
    double right = short_runs ? search_interval(y->search).least : y->rate;
    return left != right              ? (left < right) - (left > right)
           : x->advised != y->advised ? y->advised - x->advised
                                      : (x->search > y->search) - (x->search < y->search);
}

/* Systems, for people by their rate; then what was tried with plain vLLM. */
static uint32_t list_lines(const struct advice *advice, bool for_people, struct advise_line *lines)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        if (!for_people || search->candidate->left_out[0] == '\0') {
            double rate = advice_rate(advice, search, &advice->form);
            bool advised = i == advice->best;
            lines[count++] = (struct advise_line){NULL, search, &advice->form, advised, rate};
        }
    }
    if (for_people) {
        qsort(lines, count, sizeof *lines, advise_rows_by_rate);
    }
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        const struct advice_trial *trial = &advice->trials[i];
        const struct search *search = advice_trial_search(trial);
        double rate = advice_rate(advice, search, &trial->form);
        if (i != advice->plain) {
            lines[count++] = (struct advise_line){trial, search, &trial->form, false, rate};
        }
    }
    return count;
}

static const char *or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static void put_trial(const struct advice *advice, const struct advice_trial *trial,
                      struct frame *rows)
{
    static const char *const names[ADVICE_CHANGES] = {
        [ADVICE_FP8_KV] = "fp8 KV",
        [ADVICE_MORE_GPUS] = "more GPUs",
        [ADVICE_SHORTER] = "shorter context",
        [ADVICE_DRAFTS] = "drafts",
        [ADVICE_FP8_WEIGHTS] = "fp8 weights",
        [ADVICE_USABLE] = "more of HBM",
        [ADVICE_MORE_RANKS] = "more ranks",
        [ADVICE_MORE_SERVERS] = "more servers",
        [ADVICE_INT4_WEIGHTS] = "int4 weights",
    };
    char what[ADVISE_WORDS];
    frame_text(rows, DATA_kind, trial->change == ADVICE_NO_CHANGE ? "form" : "change");
    frame_text(rows, DATA_change, names[trial->change]);
    frame_textf(rows, DATA_name, "%s, %s", advice_trial_search(trial)->candidate->system,
                advise_what(advice, trial, what));
}

/* If an interval's ends are so many times apart, only the upper one is printed. (Assumed.) */
static const double wide = 4;

/* The highest rate of the answer; of another the interval that it lies in. */
static void put_rate(const struct advice *advice, const struct search *search, struct frame *rows)
{
    struct search_interval rate = search_interval(search);
    double next = advise_rate_of(advice, search, search_next_miss(search));
    bool whole = search_is_whole(search), open = isinf(rate.most);
    if (rate.most > wide * rate.least && !open) {
        frame_textf(rows, DATA_at, "<%s", number_shown(UNIT_ROUGH, rate.most).text);
    } else if (whole) {
        frame_number(rows, DATA_at, rate.least);
    } else if (open) {
        frame_textf(rows, DATA_at, ">%s", number_shown(UNIT_ROUGH, rate.least).text);
    } else {
        frame_textf(rows, DATA_at, "%s–%s", number_shown(UNIT_ROUGH, rate.least).text,
                    number_shown(UNIT_ROUGH, rate.most).text);
    }
    frame_number(rows, DATA_rate, rate.least);
    frame_number(rows, DATA_misses_at, whole ? next : open ? (double)NAN : rate.most);
}

static void put_line(const struct advice *advice, const struct advise_line *line,
                     struct frame *rows)
{
    const struct search *search = line->search;
    const struct candidate *candidate = search->candidate;
    frame_text(rows, DATA_kind, "system");
    frame_text(rows, DATA_name, candidate->system);
    if (line->trial != NULL) {
        put_trial(advice, line->trial, rows);
    }
    frame_text(rows, DATA_system, candidate->system);
    frame_text(rows, DATA_hardware, candidate->machine);
    frame_number(rows, DATA_servers, line->form->servers);
    frame_number(rows, DATA_gpus, line->form->gpus);
    frame_number(rows, DATA_ranks, line->form->ranks > 0 ? line->form->ranks : (double)NAN);
    frame_text(rows, DATA_available, candidate->traits.available);
    frame_text(rows, DATA_from, or_null(candidate->traits.where));
    frame_number(rows, DATA_advised, line->advised);
    frame_text(rows, DATA_left_out, or_null(candidate->left_out));
    frame_text(rows, DATA_error, search->cannot ? search->why.found : NULL);
    if (advice->serves && advice_result(search) != NULL) {
        put_rate(advice, search, rows);
    }
}

static void put_missing(const struct advice *advice, const struct search *search,
                        struct frame *rows)
{
    char text[VIOLATION_TEXT] = "";
    uint32_t shown = search_shown(search) != PLANNING_NONE ? search_shown(search) : 0;
    if (!search->cannot && search->grid.count > 0) {
        violation_describe(&advice->targets, advice->systems.options.best, &search->results[shown],
                           text);
    }
    frame_reason(rows, DATA_at,
                 search->cannot    ? search->why.found
                 : text[0] != '\0' ? text
                                   : search->candidate->left_out);
}

static void advise_put_figures(const struct advice *advice, const struct advise_line *line,
                               const struct result *result, bool for_people, struct frame *rows)
{
    bool close = line->trial == NULL && advise_too_close(advice, line->search) != TIE_NONE;
    double times = advice->serves ? 1 : line->form->servers, low = NAN, high = NAN;
    double mass = result_number(result, COLUMN(mass_recall)), least = NAN, most = NAN;
    frame_text(rows, DATA_mark, close ? "tie" : NULL);
    if (!search_is_whole(line->search) || (for_people && line->search->depth != NULL)) {
        return; /* nothing else is known of a short run; and the verdict has all of the answer's */
    }
    frame_result(rows, result);
    result_range(result, COLUMN(decode_tokens_per_s), &low, &high);
    frame_range(rows, DATA_tokens_per_s, line->rate, times * low, times * high);
    if (result_range(result, COLUMN(mass_recall), &least, &most) || mass < 0.9995) {
        frame_range(rows, DATA_mass, mass, least, most);
    }
    if (advice_result(advice_plain(advice)) != NULL && search_is_whole(advice_plain(advice))) {
        struct advise_ratio plain = advise_ratio(advice, line->search, line->form);
        frame_number(rows, DATA_times, advise_gain(advice, line->search, line->form).times);
        frame_number(rows, DATA_times_plain, plain.times);
        frame_number(rows, DATA_tie, plain.tie);
    }
}

static bool advise_put_data(const struct search *search, struct frame *rows, struct error *why)
{
    struct scenario scenario;
    if (advice_result(search) == NULL || !search_is_whole(search)) {
        return true;
    }
    bool good =
        search_scenario(search, search->found, &scenario, why) &&
        advise_put_run(&scenario, advice_result(search), rows, DATA_scenario, DATA_run, why);
    scenario_release(&scenario);
    return good;
}

static struct frame *machine_rows(const void *context, bool for_people, struct error *why)
{
    const struct advice *advice = context;
    uint32_t most = advice->systems.count + ADVICE_TRIALS;
    struct advise_line *lines = array_zeroed(most, sizeof *lines, why);
    struct frame_column columns[DATA_COUNT];
    memcpy(columns, fixed_columns, sizeof columns);
    columns[DATA_at].title = advice->serves ? "req/s" : "batch";
    if (advice->best != PLANNING_NONE &&
        strcmp(advice->systems.searches[advice->best].candidate->system, PLAIN_SYSTEM) != 0) {
        columns[DATA_times].title = "x answer";
    }
    if (advice->serves) {
        columns[DATA_at].unit = UNIT_COUNT;
        columns[DATA_at].of = NULL; /* what was asked, as the verdict says it */
        columns[DATA_tpot].of = "tpot_p50_ms";
        columns[DATA_tpot].title = COLUMN(tpot_p50_ms)->title;
    }
    struct frame *rows = lines != NULL ? frame_create(columns, DATA_COUNT, why) : NULL;
    uint32_t count = rows != NULL ? list_lines(advice, for_people, lines) : 0;
    bool good = rows != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        const struct result *result = advice_result(lines[i].search);
        frame_row(rows);
        put_line(advice, &lines[i], rows);
        if (result != NULL) {
            advise_put_figures(advice, &lines[i], result, for_people, rows);
        } else {
            put_missing(advice, lines[i].search, rows);
        }
        good = for_people || advise_put_data(lines[i].search, rows, why);
    }
    free(lines);
    if (!good) {
        frame_destroy(rows);
        return NULL;
    }
    return rows;
}

/* Systems without an answer count as well for what the figures rest on: their misses are shown. */
static void machine_take_notes(const void *context, struct runs_notes *notes,
                               struct runs_notes *sources)
{
    const struct advice *advice = context;
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        const struct result *result = advice_result(search);
        const struct result *nearest =
            search->nearest != PLANNING_NONE ? &search->results[search->nearest] : result;
        if (result != NULL && advice->serves) {
            bool stream = search->depth != NULL;
            runs_notes_add_note(notes, search->candidate->system,
                                note_plain(stream ? NOTE_capacity_stream : NOTE_arrivals_drawn));
        }
        if (result != NULL) {
            runs_notes_add(notes, result);
        }
        if (nearest != NULL) {
            runs_notes_add(sources, nearest);
        }
    }
}

/* The most GPUs of a form or change with an answer, or that there are. */
static uint32_t most_gpus(const struct advice *advice)
{
    uint32_t most = advice->gpus;
    for (uint32_t i = 0; i < advice->trial_count; i++) {
        const struct advice_trial *trial = &advice->trials[i];
        uint32_t gpus = trial->form.servers * trial->form.gpus;
        bool answers = advice_result(advice_trial_search(trial)) != NULL;
        most = answers && gpus > most ? gpus : most;
    }
    return most;
}

static bool answer(const struct arguments *arguments, const struct advice *advice,
                   const struct study *study, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    const struct search *best =
        advice->best != PLANNING_NONE ? &advice->systems.searches[advice->best] : NULL;
    struct advise_answer answer = {.targets = &advice->targets,
                                   .servers = advice->form.servers,
                                   .ran = &advice_plain(advice)->candidate->scenario,
                                   .most_gpus = most_gpus(advice),
                                   .result = best != NULL ? advice_result(best) : NULL,
                                   .context = advice,
                                   .rows = machine_rows,
                                   .take_notes = machine_take_notes,
                                   .print_rest = machine_print_rest};
    bool good = best == NULL || search_scenario(best, best->found, &answer.scenario, why);
    answer.verdict = good ? advise_verdict(advice, &answer, model, why) : NULL;
    good = answer.verdict != NULL && advise_write(arguments, study, &answer, why);
    advise_answer_release(&answer);
    return good &&
           (best != NULL || error_unmet(why, "nothing that one can start fits within the limits"));
}

bool advise_machine(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    struct advice advice;
    bool good = advice_run(scenario, with, &advice, why);
    progress_clear();
    /* Each search is a plan of its own, so that a report shows all questions and answers. */
    struct store *store = with->study.store;
    good = good && (store == NULL || plan_store(&advice.systems, store, why));
    for (uint32_t i = 0; good && store != NULL && i < advice.trial_count; i++) {
        good = i == advice.plain || plan_store(&advice.trials[i].planning, store, why);
    }
    good = good && answer(arguments, &advice, &with->study, why);
    advice_release(&advice);
    return good;
}
