/* Numbers of an advice in words: no more digits than are sure. */
#ifndef CLI_ADVISE_ADVISE_WORDS_H
#define CLI_ADVISE_ADVISE_WORDS_H

#include "answer/frame.h"
#include "study/advise/advice.h"

enum { ADVISE_NUMBER = ANSWER_SIZE, ADVISE_PHRASE = 256 };

/* Two digits: "17", "120", "0.93". Returns `text`; NULL for NaN. */
const char *advise_number(double number, char text[ADVISE_NUMBER]);

/* "about 120 tokens a second (100 to 140)", with the range of the error band if one stands. */
const char *advise_rate(const struct advice *advice, const struct search *search,
                        const struct advice_form *form, char text[ADVISE_PHRASE]);

/* How many times as many tokens a second as `base`, with the range of both error bands (NaN:
 * without). Both have a result. */
struct advise_ratio {
    double times, low, high;
    bool tie;
};
struct advise_ratio advise_ratio(const struct advice *advice, const struct search *search,
                                 const struct advice_form *form, const struct search *base,
                                 const struct advice_form *base_form);

/* The factors of the error band of a result's tokens a second; NaN if it is unknown. */
void advise_band(const struct result *result, double *low, double *high);

/* "1.9 times (1.3 to 2.6)", "1.0 times, too close to call" */
const char *advise_times(const struct advise_ratio *ratio, char text[ADVISE_PHRASE]);

/* "29 % (21 to 40 %) of vllm's tokens a second" */
const char *advise_reach(const struct advise_ratio *ratio, char text[ADVISE_PHRASE]);

/* "one sequence", "12 sequences" */
const char *advise_sequences(const struct result *result, char text[ADVISE_NUMBER]);

/* "one GPU", "one server of 8 GPUs", "2 servers of 4 GPUs each" */
const char *advise_form(const struct advice_form *form, char text[ADVISE_PHRASE]);

/* "KV in fp8", "1 GPU more"; in a sentence "KV in fp8 (it rounds)", "with 1 GPU more" */
const char *advise_change(const struct advice *advice, enum advice_change change, bool row,
                          char text[ADVISE_PHRASE]);

/* "128K", "4000" */
const char *advise_tokens(uint64_t tokens, char text[ADVISE_NUMBER]);

/* ---- advise_miss.c ---- */

/* The limits that a run misses; "" if it meets all. A run without figures says why. Returns
 * `text`. */
const char *advise_misses(const struct targets *targets, const struct result *result,
                          char text[ADVISE_PHRASE]);

/* The figures that the limits bound: "TTFT p99 1.7 s of 2s, TPOT p99 38 ms of 50ms"; "" if nothing
 * is bounded but the queue. Returns `text`. */
const char *advise_meets(const struct targets *targets, const struct result *result,
                         char text[ADVISE_PHRASE]);

/* The limits that are met by less than a tenth: "TPOT p99 by 0.4 %", and whether that is within the
 * error; "" if there are none. Returns `text`. */
const char *advise_narrow(const struct targets *targets, const struct result *result,
                          char text[ADVISE_PHRASE]);

/* Fill a cell with all limits and what a run has of each, in the unit of its key:
 * [{"key":"ttft_p99_ms","value":1700,"at_most":true,"bound":2000,"met":true}] */
void advise_put_limits(const struct targets *targets, const struct result *result,
                       struct frame *frame, uint32_t column);

/* The lowest value tried above the one found that misses a limit, of a search that searched the
 * highest rate; PLANNING_NONE if the search ended at its highest rate. */
uint32_t advise_next_miss(const struct search *search);

#endif
