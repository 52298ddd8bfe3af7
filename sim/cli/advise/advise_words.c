#include "cli/advise/advise_words.h"

#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *advise_number(double number, char text[ADVISE_NUMBER])
{
    return answer_format(ANSWER_ROUGH, 0, number, NAN, NAN, text);
}

void advise_band(const struct result *result, double *low, double *high)
{
    const struct target rate = {.column = COLUMN_DECODE_RATE};
    double value = result->cells[COLUMN_DECODE_RATE].real, least, most;
    bool known = target_range(&rate, result, &least, &most);
    *low = known ? least / value : NAN;
    *high = known ? most / value : NAN;
}

static void add_range(double least, double most, const char *unit, char text[ADVISE_PHRASE])
{
    char low[ADVISE_NUMBER], high[ADVISE_NUMBER];
    if (!isnan(least)) {
        text_append(text, ADVISE_PHRASE, " (%s to %s%s)", advise_number(least, low),
                    advise_number(most, high), unit);
    }
}

const char *advise_rate(const struct advice *advice, const struct search *search,
                        const struct advice_form *form, char text[ADVISE_PHRASE])
{
    char number[ADVISE_NUMBER];
    double rate = advice_rate(advice, search, form), low, high;
    snprintf(text, ADVISE_PHRASE, "about %s tokens a second", advise_number(rate, number));
    advise_band(advice_result(search), &low, &high);
    add_range(rate * low, rate * high, "", text);
    return text;
}

/* Two GPUs are not one that is twice as fast: answers tie only if they are of as many GPUs. */
static bool is_tie(const struct search *a, const struct advice_form *form, const struct search *b,
                   const struct advice_form *other)
{
    bool alike = form->servers * form->gpus == other->servers * other->gpus;
    return alike && form->servers == other->servers && advice_ties(a, b);
}

struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form, const struct search *base,
                                 const struct advice_form *base_form)
{
    double times = advice_rate(advice, search, form) / advice_rate(advice, base, base_form);
    double low, high, base_low, base_high;
    advise_band(advice_result(search), &low, &high);
    advise_band(advice_result(base), &base_low, &base_high);
    bool known = !isnan(low) && !isnan(base_low);
    return (struct advise_ratio){.times = times,
                                 .low = known ? times * low / base_high : NAN,
                                 .high = known ? times * high / base_low : NAN,
                                 .tie = is_tie(search, form, base, base_form)};
}

const char *advise_times(const struct advise_ratio *ratio, char text[ADVISE_PHRASE])
{
    char number[ADVISE_NUMBER];
    snprintf(text, ADVISE_PHRASE, "%s times", advise_number(ratio->times, number));
    add_range(ratio->low, ratio->high, "", text);
    text_append(text, ADVISE_PHRASE, "%s", ratio->tie ? ", too close to call" : "");
    return text;
}

const char *advise_reach(const struct advise_ratio *ratio, char text[ADVISE_PHRASE])
{
    char number[ADVISE_NUMBER];
    snprintf(text, ADVISE_PHRASE, "%s %%", advise_number(100 * ratio->times, number));
    add_range(100 * ratio->low, 100 * ratio->high, " %", text);
    text_append(text, ADVISE_PHRASE, " of %s's tokens a second%s", ADVICE_PLAIN,
                ratio->tie ? ", too close to call," : "");
    return text;
}

const char *advise_sequences(const struct result *result, char text[ADVISE_NUMBER])
{
    int64_t batch = result->cells[COLUMN_BATCH].integer;
    if (batch == 1) {
        snprintf(text, ADVISE_NUMBER, "one sequence");
    } else {
        snprintf(text, ADVISE_NUMBER, "%" PRId64 " sequences", batch);
    }
    return text;
}

const char *advise_form(const struct advice_form *form, char text[ADVISE_PHRASE])
{
    if (form->servers > 1 && form->gpus > 1) {
        snprintf(text, ADVISE_PHRASE, "%u servers of %u GPUs each", form->servers, form->gpus);
    } else if (form->servers > 1) {
        snprintf(text, ADVISE_PHRASE, "%u servers of one GPU each", form->servers);
    } else if (form->gpus > 1) {
        snprintf(text, ADVISE_PHRASE, "one server of %u GPUs", form->gpus);
    } else {
        snprintf(text, ADVISE_PHRASE, "one GPU");
    }
    return text;
}

const char *advise_tokens(uint64_t tokens, char text[ADVISE_NUMBER])
{
    if (tokens > 0 && tokens % 1024 == 0) {
        snprintf(text, ADVISE_NUMBER, "%" PRIu64 "K", tokens / 1024);
    } else {
        snprintf(text, ADVISE_NUMBER, "%" PRIu64, tokens);
    }
    return text;
}

/* What a number stands between, in a row of the table and in a sentence. */
static const struct {
    const char *row[2], *sentence[2];
} changes[ADVICE_CHANGES] = {
    [ADVICE_FP8_KV] = {{"KV in fp8", ""}, {"KV in fp8 (it rounds)", ""}},
    [ADVICE_MORE_GPUS] = {{"", " more"}, {"with ", " more"}},
    [ADVICE_SHORTER] = {{"context ", ""}, {"", " of context"}},
    [ADVICE_FP8_WEIGHTS] = {{"weights in fp8", ""}, {"weights in fp8 (it rounds)", ""}},
};

const char *advise_change(const struct advice *advice, enum advice_change change, bool row,
                          char text[ADVISE_PHRASE])
{
    const struct advice_trial *trial = &advice->changes[change];
    const char *const *words = row ? changes[change].row : changes[change].sentence;
    uint32_t gpus = advice->form.servers * (trial->form.gpus - advice->form.gpus);
    char number[ADVISE_NUMBER] = "";
    if (change == ADVICE_MORE_GPUS) {
        snprintf(number, sizeof number, "%u GPU%s", gpus, gpus > 1 ? "s" : "");
    } else if (change == ADVICE_SHORTER) {
        advise_tokens(trial->context, number);
    }
    snprintf(text, ADVISE_PHRASE, "%s%s%s", words[0], number, words[1]);
    return text;
}
