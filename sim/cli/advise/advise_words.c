/* What sentences and rows of `advise` have in common: how a run stands to its limits, and names of forms. */
#include "cli/advise/advise.h"

#include "core/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FAR = 10 /* times the median */ };

const char *advise_title(const struct column *column)
{
    return column->title != NULL && column_shown(column) == UNIT_MS ? column->title : column->name;
}

static void say_target(const struct target *target, const struct result *result,
                       char words[ADVISE_WORDS])
{
    const struct column *column = target->column;
    const char *title = advise_title(column), *unit = strstr(title, " ms"); /* behind the value */
    int length = (int)(unit != NULL ? (size_t)(unit - title) : strlen(title));
    double value = result_number(result, column), tail = NAN;
    double margin = target_margin(target, result);
    char number[SHOWN_TEXT];
    if (column->unit == UNIT_MS && !isnan(value)) {
        shown_value(UNIT_DURATION, 0, 1e3 * value, NAN, NAN, number);
    } else {
        target_format(target, result, number);
    }
    snprintf(words, ADVISE_WORDS, "%.*s %s of %s", length, title, number, target->typed);
    if (margin < TARGET_AMPLE) {
        text_append(words, ADVISE_WORDS, " (by %.2g %%%s)", 100 * margin,
                    band_of(result, target->column) == NULL ? ""
                    : target_is_near(target, result)        ? ", within the error"
                                                            : ", more than the error");
    }
    /* A median that is met says nothing of requests that take ten times as long. */
    if (column == COLUMN(ttft_p50_ms)) {
        tail = result_number(result, COLUMN(ttft_p99_ms));
    } else if (column == COLUMN(tpot_p50_ms)) {
        tail = result_number(result, COLUMN(tpot_p99_ms));
    }
    if (tail >= FAR * value) {
        text_append(words, ADVISE_WORDS, " (but p99 %s)",
                    number_shown(UNIT_DURATION, 1e3 * tail).text);
    }
}

const char *advise_limits(const struct targets *targets, const struct result *result,
                          char text[ADVISE_SENTENCE])
{
    char words[ADVISE_WORDS];
    text[0] = '\0';
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        if (target->column != COLUMN(requests_left_out) && target->column != COLUMN(queue_grows)) {
            say_target(target, result, words);
            advise_say(text, "%s%s", text[0] != '\0' ? ", " : "", words);
        }
    }
    return text;
}

void advise_put_limits(struct frame *frame, uint32_t column, const struct targets *targets,
                       const struct result *result)
{
    static const struct frame_column columns[] = {{.key = "key"},
                                                  {.key = "value", .unit = UNIT_COUNT},
                                                  {.key = "at_most", .unit = UNIT_FLAG},
                                                  {.key = "bound", .unit = UNIT_COUNT},
                                                  {.key = "met", .unit = UNIT_FLAG}};
    struct error unused; /* memory that ran out shows when the frame is printed */
    struct frame *rows = frame_create(columns, sizeof columns / sizeof columns[0], &unused);
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        frame_row(rows);
        frame_text(rows, 0, target->column->name);
        frame_number(rows, 1, result_number(result, target->column));
        frame_number(rows, 2, target->at_most);
        frame_number(rows, 3, target->bound);
        frame_number(rows, 4, target_violation(target, result) == 0);
    }
    frame_take(frame, column, rows);
}

const char *advise_tokens(uint64_t tokens, char text[ADVISE_WORDS])
{
    bool whole = tokens % 1024 == 0;
    snprintf(text, ADVISE_WORDS, whole ? "%" PRIu64 "K" : "%" PRIu64,
             whole ? tokens / 1024 : tokens);
    return text;
}

const char *advise_router(enum routing routing)
{
    return routing == ADVICE_ROUTER ? ADVICE_ROUTER_NAME : routing_names[routing];
}

const char *advise_form(uint32_t servers, uint32_t gpus, bool ranks, char text[ADVISE_WORDS])
{
    char each[32] = "one GPU";
    if (gpus > 1) {
        snprintf(each, sizeof each, "%u %s", gpus, ranks ? "ranks" : "GPUs");
    }
    if (servers > 1) {
        snprintf(text, ADVISE_WORDS, "%u servers of %s each", servers, each);
    } else {
        snprintf(text, ADVISE_WORDS, "%s%s", gpus > 1 ? "one server of " : "", each);
    }
    return text;
}

const char *advise_what(const struct advice *advice, const struct advice_trial *trial,
                        char text[ADVISE_WORDS])
{
    const struct scenario *scenario = &advice_trial_search(trial)->candidate->scenario;
    const struct node *root = scenario->root;
    uint32_t gpus = trial->form.servers * trial->form.gpus - advice->gpus;
    char tokens[ADVISE_WORDS];
    switch (trial->change) {
    case ADVICE_MORE_GPUS:
        snprintf(text, ADVISE_WORDS, "%u GPU%s more", gpus, text_plural(gpus));
        break;
    case ADVICE_MORE_RANKS:
        snprintf(text, ADVISE_WORDS, "%u GPU%s more, %u ranks", gpus, text_plural(gpus),
                 trial->form.ranks);
        break;
    case ADVICE_MORE_SERVERS:
        snprintf(text, ADVISE_WORDS, "%u GPU%s more, %u servers", gpus, text_plural(gpus),
                 trial->form.servers);
        break;
    case ADVICE_INT4_WEIGHTS:
        text_copy(text, ADVISE_WORDS, node_get(root, "model")->text);
        break;
    case ADVICE_SHORTER:
        snprintf(text, ADVISE_WORDS, "context %.20s", advise_tokens(trial->context, tokens));
        break;
    case ADVICE_FP8_KV:
        text_copy(text, ADVISE_WORDS, "KV in fp8");
        break;
    case ADVICE_FP8_WEIGHTS:
        text_copy(text, ADVISE_WORDS, "weights in fp8");
        break;
    case ADVICE_USABLE:
        snprintf(text, ADVISE_WORDS, "hbm_usable=%.0f%%",
                 100 * scenario_stated(&scenario->values, "hbm_usable", NAN));
        break;
    case ADVICE_DRAFTS:
        snprintf(text, ADVISE_WORDS, "%.4s %.16s drafts", node_find(root, "drafts.count")->text,
                 node_find(root, "drafts.method")->text);
        break;
    default:
        advise_form(trial->form.servers, trial->form.gpus, trial->form.ranks > 0, text);
        if (trial->form.servers > 1 && trial->form.routing != ROUTINGS) {
            text_append(text, ADVISE_WORDS, ", %s", advise_router(trial->form.routing));
        }
    }
    return text;
}

bool advise_put_run(const struct scenario *scenario, const struct result *run, struct frame *rows,
                    uint32_t scenario_column, uint32_t run_column, struct error *why)
{
    char *text = scenario_canonical(scenario, why);
    frame_text(rows, scenario_column, text);
    bool good = text != NULL && (run == NULL || run_put_json(run, rows, run_column, why));
    free(text);
    return good;
}

struct advise_range advise_range(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form)
{
    const struct result *result = advice_result(search);
    double own = result_number(result, COLUMN(decode_tokens_per_s)), least = NAN, most = NAN;
    double times = advice_rate(advice, search, form) / own;
    band_ends(result, COLUMN(decode_tokens_per_s), &least, &most);
    return (struct advise_range){times * band_middle(own, least, most), times * least,
                                 times * most};
}

const struct search *advise_base(const struct advice *advice)
{
    const struct search *plain = advice_plain(advice);
    return advice_result(plain) == NULL && advice->best != PLANNING_NONE
               ? &advice->systems.searches[advice->best]
               : plain;
}

/* Two GPUs are not one that is twice as fast: answers tie only if they are of as many GPUs. */
struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form)
{
    const struct search *plain = advise_base(advice);
    double times = advice_rate(advice, search, form) / advice_rate(advice, plain, &advice->form);
    struct advise_range range = advise_range(advice, search, form);
    struct advise_range other = advise_range(advice, plain, &advice->form);
    double low = range.low / range.value, high = range.high / range.value;
    double plain_low = other.low / other.value, plain_high = other.high / other.value;
    bool alike = form->servers == advice->form.servers && form->gpus == advice->form.gpus;
    const struct result *own = advice_result(search);
    if (strcmp(search->candidate->system, plain->candidate->system) == 0) {
        /* Forms are off together; what drafts gain is known by itself. */
        low = result_cell(own, COLUMN(drafts))->set ? low : NAN;
        plain_low = plain_high = 1;
    }
    return (struct advise_ratio){.times = times,
                                 .low = times * exp(-hypot(log(low), log(plain_high))),
                                 .high = isnan(low) ? NAN
                                                    : times * exp(hypot(log(high), log(plain_low))),
                                 .tie = alike && searches_tie(search, plain) != TIE_NONE};
}

struct advise_ratio advise_gain(const struct advice *advice, const struct search *search,
                                const struct advice_form *form)
{
    struct advise_ratio ratio = advise_ratio(advice, search, form);
    if (advice->best != PLANNING_NONE) {
        const struct search *best = &advice->systems.searches[advice->best];
        double answer = advise_ratio(advice, best, &advice->form).times;
        ratio.times /= answer;
        ratio.low /= answer;
        ratio.high /= answer;
    }
    return ratio;
}

enum tie advise_too_close(const struct advice *advice, const struct search *search)
{
    const struct advice_form *form = &advice->form;
    if (advice->best == PLANNING_NONE || advice_result(search) == NULL || !advice_starts(search)) {
        return TIE_NONE;
    }
    const struct search *best = &advice->systems.searches[advice->best];
    bool differ = advice_rate(advice, search, form) != advice_rate(advice, best, form);
    return search != best && (differ || !search_is_whole(search)) ? searches_tie(search, best)
                                                                  : TIE_NONE;
}

double advise_rate_of(const struct advice *advice, const struct search *search, uint32_t value)
{
    bool rate = advice->serves && value != PLANNING_NONE && search->axis.count > 0;
    return rate ? search_value(search, value)->number : NAN;
}
