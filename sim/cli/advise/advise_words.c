#include "cli/advise/advise_words.h"

#include "base/text.h"
#include "study/plan/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

const char *advise_number(double number, char text[ADVISE_NUMBER])
{
    double unit = number > 0 ? pow(10, floor(log10(number)) - 1) : 1;
    double rounded = nearbyint(number / unit) * unit;
    int decimals = rounded == 0 || rounded >= 9.95 ? 0
                   : rounded >= 0.995              ? 1
                   : rounded >= 0.0995             ? 2
                                                   : 3;
    snprintf(text, ADVISE_NUMBER, "%.*f", decimals, rounded);
    return text;
}

/* The factors of the error band of a result's tokens a second; false if none stands. */
static bool read_band(const struct result *result, double *low, double *high)
{
    const struct target rate = {.column = COLUMN_DECODE_RATE};
    double least, most;
    if (!verdict_range(&rate, result, &least, &most)) {
        return false;
    }
    double value = result->cells[COLUMN_DECODE_RATE].real;
    *low = least / value;
    *high = most / value;
    return true;
}

static void add_range(double least, double most, char text[ADVISE_PHRASE])
{
    char low[ADVISE_NUMBER], high[ADVISE_NUMBER];
    text_append(text, ADVISE_PHRASE, " (%s to %s)", advise_number(least, low),
                advise_number(most, high));
}

const char *advise_rate(const struct advice *advice, const struct quest *quest,
                        const struct advice_form *form, char text[ADVISE_PHRASE])
{
    char number[ADVISE_NUMBER];
    double rate = advice_rate(advice, quest, form), low, high;
    snprintf(text, ADVISE_PHRASE, "about %s tokens a second", advise_number(rate, number));
    if (read_band(advice_result(quest), &low, &high)) {
        add_range(rate * low, rate * high, text);
    }
    return text;
}

/* Two GPUs are not one that is twice as fast: answers tie only if they are of as many GPUs. */
static bool is_tie(const struct quest *a, const struct advice_form *form, const struct quest *b,
                   const struct advice_form *other)
{
    bool alike = form->servers * form->gpus == other->servers * other->gpus;
    return alike && form->servers == other->servers && advice_ties(a, b);
}

const char *advise_times(const struct advice *advice, const struct quest *quest,
                         const struct advice_form *form, const struct quest *base,
                         const struct advice_form *base_form, char text[ADVISE_PHRASE])
{
    char number[ADVISE_NUMBER];
    double times = advice_rate(advice, quest, form) / advice_rate(advice, base, base_form);
    double low, high, base_low, base_high;
    snprintf(text, ADVISE_PHRASE, "%s times", advise_number(times, number));
    if (read_band(advice_result(quest), &low, &high) &&
        read_band(advice_result(base), &base_low, &base_high)) {
        add_range(times * low / base_high, times * high / base_low, text);
    }
    if (is_tie(quest, form, base, base_form)) {
        text_append(text, ADVISE_PHRASE, ", too close to call");
    }
    return text;
}

const char *advise_reach(const struct advice *advice, const struct quest *quest,
                         char text[ADVISE_PHRASE])
{
    const struct quest *plain = advice_plain(advice);
    char number[ADVISE_NUMBER], least[ADVISE_NUMBER], most[ADVISE_NUMBER];
    double share =
        100 * advice_rate(advice, quest, &advice->form) / advice_rate(advice, plain, &advice->form);
    double low, high, plain_low, plain_high;
    snprintf(text, ADVISE_PHRASE, "%s %%", advise_number(share, number));
    if (read_band(advice_result(quest), &low, &high) &&
        read_band(advice_result(plain), &plain_low, &plain_high)) {
        text_append(text, ADVISE_PHRASE, " (%s to %s %%)",
                    advise_number(share * low / plain_high, least),
                    advise_number(share * high / plain_low, most));
    }
    text_append(text, ADVISE_PHRASE, " of %s's tokens a second%s", ADVICE_PLAIN,
                advice_ties(quest, plain) ? ", too close to call," : "");
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
