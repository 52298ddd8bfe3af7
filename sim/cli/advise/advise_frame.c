/* A row for each system, form and change of an advice, described once for people and programs. */
#include "cli/advise/advise_verdict.h"

#include "base/array.h"
#include "cli/advise/advise_words.h"
#include "cli/plan/violation.h"
#include "cli/runs/runs_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT = ADVISE_PHRASE + 2 };

enum {
#define COLUMN(name, type, what) DATA_##name,
#define SHOWN(name, type, what, ...) DATA_##name,
#define PEOPLE(name, ...) DATA_##name,
#include "answer/advices.def"
    COLUMNS
};

static const struct frame_column fixed_columns[COLUMNS] = {
#define COLUMN(id, type, meaning) [DATA_##id] = {.key = #id, .unit = ANSWER_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [DATA_##id] = {.key = #id, .unit = ANSWER_##type, __VA_ARGS__},
#define PEOPLE(id, ...) [DATA_##id] = {__VA_ARGS__},
#include "answer/advices.def"
};

struct advise_line {
    const char *kind, *change;
    const struct search *search;
    const struct advice_form *form;
    bool advised;
    double rate;     /* NaN: nothing was found */
    char what[WHAT]; /* was changed, behind a comma; or "" */
};

/* ---- which rows, in which order ---- */

/* What stands for a search in a row: its answer, or what comes nearest to one, or its first run. */
static const struct result *shown_of(const struct search *search)
{
    bool none = search->cannot || search->grid.count == 0;
    return none                               ? NULL
           : search->found != PLANNING_NONE   ? &search->results[search->found]
           : search->nearest != PLANNING_NONE ? &search->results[search->nearest]
                                              : &search->results[0];
}

/* Do two searches have the same answer, to the last digit, or fall short alike? In decode alone,
 * many servers do. */
bool advise_alike(const struct search *a, const struct search *b)
{
    static const enum column columns[] = {
        COLUMN_BATCH, COLUMN_HBM_BYTES, COLUMN_DRAM_BYTES,  COLUMN_MAX_BATCH,
        COLUMN_TPOT,  COLUMN_TTFT,      COLUMN_DECODE_RATE, COLUMN_MASS_RECALL,
    };
    const struct result *x = shown_of(a), *y = shown_of(b);
    bool alike = x != NULL && y != NULL && (advice_result(a) == NULL) == (advice_result(b) == NULL);
    alike = alike && result_ok(x) == result_ok(y) && !result_failed(x) && !result_failed(y);
    for (size_t i = 0; alike && i < sizeof columns / sizeof columns[0]; i++) {
        double left = result_number(x, columns[i]), right = result_number(y, columns[i]);
        alike = left == right || (isnan(left) && isnan(right));
    }
    return alike;
}

/* Does the search stand for those alike? Plain vLLM does, else the first. */
bool advise_stands(const struct advice *advice, uint32_t index)
{
    const struct planning *systems = &advice->systems;
    const struct search *own = &systems->searches[index];
    for (uint32_t i = 0; i < systems->count; i++) {
        const struct search *other = &systems->searches[i];
        bool plain = strcmp(other->candidate->system, ADVICE_PLAIN) == 0;
        bool before = plain || (i < index && strcmp(own->candidate->system, ADVICE_PLAIN) != 0);
        if (i != index && before && advise_alike(own, other)) {
            return false;
        }
    }
    return true;
}

/* Highest rate first; without one last; equal ones in the order of their searches. */
static int advise_frame_by_rate(const void *a, const void *b)
{
    const struct advise_line *x = a, *y = b;
    if (isnan(x->rate) != isnan(y->rate)) {
        return isnan(x->rate) ? 1 : -1;
    }
    int order = (x->rate < y->rate) - (x->rate > y->rate);
    return order != 0 ? order : (x->search > y->search) - (x->search < y->search);
}

static void list_systems(const struct advice *advice, bool for_people, struct advise_line *lines,
                         uint32_t *count)
{
    for (uint32_t i = 0; i < advice->systems.count; i++) {
        const struct search *search = &advice->systems.searches[i];
        bool shown = search->candidate->left_out[0] == '\0' && advise_stands(advice, i);
        if (!for_people || shown) {
            lines[(*count)++] =
                (struct advise_line){.kind = "system",
                                     .search = search,
                                     .form = &advice->form,
                                     .advised = i == advice->best,
                                     .rate = advice_rate(advice, search, &advice->form)};
        }
    }
    if (for_people) {
        qsort(lines, *count, sizeof *lines, advise_frame_by_rate);
    }
}

static void list_trial(const struct advice *advice, const struct advice_trial *trial,
                       const char *kind, const char *what, struct advise_line *line)
{
    const struct search *search = advice_trial_search(trial);
    *line = (struct advise_line){.kind = kind,
                                 .search = search,
                                 .form = &trial->form,
                                 .rate = advice_rate(advice, search, &trial->form)};
    snprintf(line->what, sizeof line->what, ", %s", what);
}

static void advise_frame_list_changes(const struct advice *advice, struct advise_line *lines,
                                      uint32_t *count)
{
    static const char *const names[ADVICE_CHANGES] = {
        [ADVICE_FP8_KV] = "fp8 KV",
        [ADVICE_MORE_GPUS] = "more GPUs",
        [ADVICE_SHORTER] = "shorter context",
        [ADVICE_FP8_WEIGHTS] = "fp8 weights",
    };
    char text[ADVISE_PHRASE];
    for (int i = 0; i < ADVICE_CHANGES; i++) {
        if (advice->changes[i].tried) {
            advise_change(advice, (enum advice_change)i, true, text);
            list_trial(advice, &advice->changes[i], "change", text, &lines[*count]);
            lines[(*count)++].change = names[i];
        }
    }
}

/* Systems, for people by their rate and alike ones once; then what was tried with plain vLLM. */
static uint32_t list_lines(const struct advice *advice, bool for_people, struct advise_line *lines)
{
    uint32_t count = 0;
    char text[ADVISE_PHRASE];
    list_systems(advice, for_people, lines, &count);
    for (uint32_t i = 0; i < advice->form_count; i++) {
        const struct advice_trial *form = &advice->forms[i];
        if (i != advice->plain) {
            list_trial(advice, form, "form", advise_form(&form->form, text), &lines[count++]);
        }
    }
    advise_frame_list_changes(advice, lines, &count);
    return count;
}

/* ---- for programs ---- */

static const char *or_null(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* Requests a second of a value of the search's axis; NaN without one, or if a batch decodes. */
static double advise_frame_rate_of(const struct advice *advice, const struct search *search,
                                   uint32_t value)
{
    bool rate = advice->serves && value != PLANNING_NONE && search->axis.count > 0;
    return rate ? search_value(search, true, value)->number : NAN;
}

static bool advise_frame_put_run(const struct advice *advice, const struct search *search,
                                 struct frame *frame, struct error *why)
{
    const struct result *run = advice_result(search);
    struct scenario scenario;
    if (run == NULL) {
        return true;
    }
    bool good = search_scenario(search, advice->serves, search->found, &scenario, why) &&
                advise_put_scenario(&scenario, frame, DATA_scenario, why);
    scenario_release(&scenario);
    return good && run_put_json(run, frame, DATA_run, why);
}

static bool advise_frame_put_data(const struct advice *advice, const struct advise_line *line,
                                  struct frame *frame, struct error *why)
{
    const struct search *search = line->search, *plain = advice_plain(advice);
    const struct candidate *candidate = search->candidate;
    frame_text(frame, DATA_kind, line->kind);
    frame_text(frame, DATA_system, candidate->system);
    frame_text(frame, DATA_hardware, candidate->machine);
    frame_text(frame, DATA_change, line->change);
    frame_number(frame, DATA_servers, line->form->servers);
    frame_number(frame, DATA_gpus, line->form->gpus);
    frame_text(frame, DATA_available, candidate->traits.available);
    frame_text(frame, DATA_from, or_null(candidate->traits.where));
    frame_number(frame, DATA_advised, line->advised);
    frame_text(frame, DATA_left_out, or_null(candidate->left_out));
    frame_text(frame, DATA_error, search->cannot ? search->why.found : NULL);
    if (advice_result(search) != NULL && advice_result(plain) != NULL) {
        frame_number(frame, DATA_tie, advice_ties(search, plain));
    }
    frame_number(frame, DATA_rate, advise_frame_rate_of(advice, search, search->found));
    frame_number(frame, DATA_misses_at,
                 advise_frame_rate_of(advice, search, advise_next_miss(search)));
    return advise_frame_put_run(advice, search, frame, why);
}

/* ---- for both ---- */

static void put_tokens(const struct advice *advice, const struct advise_line *line,
                       struct frame *frame)
{
    const struct result *result = advice_result(line->search);
    const struct search *plain = advice_plain(advice);
    double times = advice->serves ? 1 : line->form->servers, low = NAN, high = NAN;
    if (result == NULL) {
        return;
    }
    figure_range(result, FIGURE_RATE, &low, &high);
    frame_range(frame, DATA_tokens_per_s, line->rate, times * low, times * high);
    if (advice_result(plain) != NULL) {
        struct advise_ratio ratio =
            advise_ratio(advice, line->search, line->form, plain, &advice->form);
        frame_number(frame, DATA_times_plain, ratio.times);
        frame_number(frame, DATA_times_plain_low, ratio.low);
        frame_number(frame, DATA_times_plain_high, ratio.high);
    }
}

/* ---- for people ---- */

/* An engine has HiSparse for models with an indexer of their own alone. */
static const char *where_of(const struct search *search)
{
    const struct system_traits *traits = &search->candidate->traits;
    bool lacks = traits->native && advice_result(search) != NULL && !advice_starts(search);
    return lacks ? "no indexer" : traits->available;
}

/* In place of figures: why there are none. */
static void put_missing(const struct advice *advice, const struct search *search,
                        struct frame *frame)
{
    char text[VIOLATION_TEXT] = "";
    if (!search->cannot && search->grid.count > 0) {
        violation_describe(&advice->targets, advice->systems.best, shown_of(search), text);
    }
    frame_reason(frame, DATA_at,
                 search->cannot    ? search->why.found
                 : text[0] != '\0' ? text
                                   : search->candidate->left_out);
}

static void advise_frame_put_shown(const struct advice *advice, const struct advise_line *line,
                                   struct frame *frame)
{
    const struct result *result = advice_result(line->search);
    double low = NAN, high = NAN;
    frame_textf(frame, DATA_name, "%s%s", line->search->candidate->system, line->what);
    frame_text(frame, DATA_where, where_of(line->search));
    if (result == NULL) {
        put_missing(advice, line->search, frame);
        return;
    }
    frame_result(frame, result);
    double mass = figure_value(result, FIGURE_MASS);
    if (figure_range(result, FIGURE_MASS, &low, &high) || mass < 0.9995) {
        frame_range(frame, DATA_mass, mass, low, high);
    }
}

/* ---- all of it ---- */

static struct frame *advise_frame_make(const struct advice *advice, struct error *why)
{
    struct frame_column columns[COLUMNS];
    memcpy(columns, fixed_columns, sizeof columns);
    columns[DATA_at].figure = advice->serves ? FIGURE_RATE_IN : FIGURE_BATCH;
    columns[DATA_at].title = advice->serves ? "req/s" : "batch";
    return frame_create(columns, COLUMNS, why);
}

struct frame *advise_frame(const struct advice *advice, bool for_people, struct error *why)
{
    uint32_t most = advice->systems.count + ADVICE_FORMS + ADVICE_CHANGES;
    struct advise_line *lines = array_zeroed(most, sizeof *lines, why);
    struct frame *frame = lines != NULL ? advise_frame_make(advice, why) : NULL;
    uint32_t count = frame != NULL ? list_lines(advice, for_people, lines) : 0;
    bool good = frame != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        frame_row(frame);
        put_tokens(advice, &lines[i], frame);
        if (for_people) {
            advise_frame_put_shown(advice, &lines[i], frame);
        } else {
            good = advise_frame_put_data(advice, &lines[i], frame, why);
        }
    }
    free(lines);
    if (!good) {
        frame_destroy(frame);
        return NULL;
    }
    return frame;
}
