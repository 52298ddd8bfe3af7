/* Numbers of an advice in words: no more digits than are sure. */
#ifndef CLI_ADVISE_ADVISE_WORDS_H
#define CLI_ADVISE_ADVISE_WORDS_H

#include "study/advise/advice.h"

enum { ADVISE_NUMBER = 32, ADVISE_PHRASE = 256 };

/* Two digits: "17", "120", "0.93". Returns `text`. */
const char *advise_number(double number, char text[ADVISE_NUMBER]);

/* "about 120 tokens a second (100 to 140)", with the range of the error band if one stands. */
const char *advise_rate(const struct advice *advice, const struct quest *quest,
                        const struct advice_form *form, char text[ADVISE_PHRASE]);

/* How many times as many tokens a second as `base`: "1.9 times (1.3 to 2.6)", or "as many (a tie)".
 * Both have a result. */
const char *advise_times(const struct advice *advice, const struct quest *quest,
                         const struct advice_form *form, const struct quest *base,
                         const struct advice_form *base_form, char text[ADVISE_PHRASE]);

/* "29 % (21 to 40 %) of vllm's tokens a second", in the form that is compared in. Both have a
 * result. */
const char *advise_reach(const struct advice *advice, const struct quest *quest,
                         char text[ADVISE_PHRASE]);

/* "one sequence", "12 sequences" */
const char *advise_sequences(const struct result *result, char text[ADVISE_NUMBER]);

/* "one GPU", "one server of 8 GPUs", "2 servers of 4 GPUs each" */
const char *advise_form(const struct advice_form *form, char text[ADVISE_PHRASE]);

/* "128K", "4000" */
const char *advise_tokens(uint64_t tokens, char text[ADVISE_NUMBER]);

#endif
