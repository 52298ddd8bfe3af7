#include "study/papers/measured_run.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const char separators[] = "-_/";

/* Step over a word and the separator after it. */
static const char *measured_run_next_word(const char *at)
{
    at += strcspn(at, separators);
    return at + strspn(at, separators);
}

static bool same_word(const char *a, const char *b)
{
    size_t length = strcspn(a, separators);
    return length == strcspn(b, separators) && strncasecmp(a, b, length) == 0;
}

bool measured_names_model(const char *model_id, const char *model)
{
    while (*model != '\0' && *model_id != '\0') {
        model = same_word(model_id, model) ? measured_run_next_word(model) : model;
        model_id = measured_run_next_word(model_id);
    }
    return *model == '\0';
}

bool measured_agrees_in_rate(double asked, double rate_in, double requests)
{
    return fabs(rate_in / asked - 1) <= 0.05 + 2 / sqrt(requests);
}
