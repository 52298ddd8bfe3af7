/* The sentences about a hire. Internal to advise_hire*.c. */
#ifndef CLI_ADVISE_ADVISE_HIRE_WORDS_H
#define CLI_ADVISE_ADVISE_HIRE_WORDS_H

#include "cli/advise/advise_verdict.h"
#include "study/advise/hire.h"

enum hire_part { HIRE_RUN, HIRE_MEETS, HIRE_OTHERS, HIRE_START, HIRE_PARTS };

extern const char *const hire_parts[HIRE_PARTS]; /* "run", ... */

struct hire_verdict {
    char parts[HIRE_PARTS][VERDICT_TEXT]; /* "": nothing to say */
};

bool hire_verdict_make(const struct hire *hire, const char *model, struct hire_verdict *out,
                       struct error *why);

/* Why a form has no answer: what it misses, or why it was not tried whole. */
void hire_say_why(const struct hire *hire, const struct hire_form *form, char text[VERDICT_TEXT]);

/* Dollars a request; NaN without a price. */
double hire_request_cost(const struct hire *hire, const struct hire_form *form);

/* Digits behind the point that show two of an amount's: 0.0042. */
int hire_cost_digits(double dollars);

#endif
