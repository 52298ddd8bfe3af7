#include "decode/draft/drafts.h"

#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

const char *const drafts_rejected_names[] = {
    [REJECTED_ADJACENT] = "adjacent", [REJECTED_BEFORE] = "before", NULL};

void drafts_set_positions(struct drafts *drafts, uint32_t count, const double *shares)
{
    drafts->count = count;
    for (uint32_t i = 0; i <= count; i++) {
        double reached = i == 0 ? 1 : shares[i - 1];
        drafts->accepted[i] = reached - (i < count ? shares[i] : 0);
    }
}

void drafts_set_rate(struct drafts *drafts, uint32_t count, double rate)
{
    double shares[DRAFTS_MOST], share = 1;
    for (uint32_t i = 0; i < count; i++) {
        share *= rate;
        shares[i] = share;
    }
    drafts_set_positions(drafts, count, shares);
}

double drafts_tokens(const struct drafts *drafts)
{
    double tokens = 1;
    for (uint32_t i = 1; i <= drafts->count; i++) {
        tokens += i * drafts->accepted[i];
    }
    return tokens;
}

/* Bisection: tokens rise with the rate. */
double drafts_rate_of(uint32_t count, double tokens)
{
    double low = 0, high = 1;
    for (int i = 0; i < 60; i++) {
        struct drafts drafts;
        drafts_set_rate(&drafts, count, (low + high) / 2);
        *(drafts_tokens(&drafts) < tokens ? &low : &high) = (low + high) / 2;
    }
    return high;
}

/* 0 ... 1, without 1: the seed's number, moved on by the golden ratio each step. In any run of steps
 * these lie evenly, so that it accepts as many drafts as it should on average; independent numbers
 * would be 5 % off in twenty steps. */
static double number_of(uint64_t seed, uint64_t step)
{
    static const uint64_t golden = 0x9E3779B97F4A7C15u; /* of 2^64 */
    return ldexp((double)((XXH64(&seed, sizeof seed, 0) + step * golden) >> 11), -53);
}

uint32_t drafts_accepted(const struct drafts *drafts, uint64_t seed, uint64_t step)
{
    double left = 1 - number_of(seed, step); /* 0 ... 1, without 0 */
    uint32_t accepted = drafts->count;
    double more = drafts->count > 0 ? drafts->accepted[accepted] : 1;
    while (accepted > 0 && left > more) { /* `more`: the probability of so many or more */
        accepted--;
        more += drafts->accepted[accepted];
    }
    return accepted;
}

void drafts_release(struct drafts *drafts)
{
    if (drafts->model != NULL) {
        model_release(drafts->model);
        free(drafts->model);
    }
    memset(drafts, 0, sizeof *drafts);
}
