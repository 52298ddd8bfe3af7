#include "decode/mechanism_value.h"

#include "core/quote.h"
#include "core/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const void *mechanism_value_of(const struct mechanism_key *key, const struct mechanisms *of)
{
    return (const char *)of + key->offset;
}

static size_t param_count(const struct policy_kind *policy)
{
    size_t count = 0;
    while (policy->params != NULL && policy->params[count].name != NULL) {
        count++;
    }
    return count;
}

static bool mechanism_value_same_policy(const struct mechanisms *a, const struct mechanisms *b)
{
    bool same = strcmp(a->policy->name, b->policy->name) == 0;
    for (size_t i = 0; same && i < param_count(a->policy); i++) {
        same = a->policy_values[i] == b->policy_values[i];
    }
    return same;
}

static bool same_amount(const struct amount *a, const struct amount *b)
{
    return a->rest == b->rest && (a->rest || (a->unit == b->unit && a->value == b->value));
}

bool mechanism_same(const struct mechanism_key *key, const struct mechanisms *a,
                    const struct mechanisms *b)
{
    const void *x = mechanism_value_of(key, a), *y = mechanism_value_of(key, b);
    switch (key->type) {
    case MECHANISM_CHOICE:
    case MECHANISM_SWITCH:
        return *(const int *)x == *(const int *)y;
    case MECHANISM_WHOLE:
        return *(const uint64_t *)x == *(const uint64_t *)y;
    case MECHANISM_REAL:
        return *(const double *)x == *(const double *)y;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        return same_amount(x, y);
    case MECHANISM_POLICY:
        return mechanism_value_same_policy(a, b);
    }
    return true;
}

void mechanism_take(const struct mechanism_key *key, struct mechanisms *to,
                    const struct mechanisms *from)
{
    void *at = (char *)to + key->offset;
    const void *value = mechanism_value_of(key, from);
    switch (key->type) {
    case MECHANISM_CHOICE:
    case MECHANISM_SWITCH:
        *(int *)at = *(const int *)value;
        break;
    case MECHANISM_WHOLE:
        *(uint64_t *)at = *(const uint64_t *)value;
        break;
    case MECHANISM_REAL:
        *(double *)at = *(const double *)value;
        break;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        *(struct amount *)at = *(const struct amount *)value;
        break;
    case MECHANISM_POLICY:
        to->policy = from->policy;
        memcpy(to->policy_values, from->policy_values, sizeof to->policy_values);
        break;
    }
}

/* ---- writing ---- */

static void mechanism_value_write_policy(const struct mechanisms *of, FILE *out)
{
    char number[32];
    size_t params = param_count(of->policy);
    fputs(params > 0 ? "{name: " : "", out);
    quote_write(QUOTE_YAML, of->policy->name, out); /* that of a plug-in is its path */
    for (size_t i = 0; i < params; i++) {
        fprintf(out, ", %s: %s", of->policy->params[i].name,
                units_write(of->policy_values[i], UNIT_COUNT, number, sizeof number));
    }
    fputs(params > 0 ? "}" : "", out);
}

static void mechanism_value_write(const struct mechanism_key *key, const struct mechanisms *of,
                                  FILE *out)
{
    const void *value = mechanism_value_of(key, of);
    const struct amount *amount = value;
    char number[32];
    switch (key->type) {
    case MECHANISM_CHOICE:
        fputs(key->values[*(const int *)value], out);
        break;
    case MECHANISM_SWITCH:
        fputs(*(const int *)value ? "yes" : "no", out);
        break;
    case MECHANISM_WHOLE:
        fputs(units_write((double)*(const uint64_t *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_REAL:
        fputs(units_write(*(const double *)value, key->unit, number, sizeof number), out);
        break;
    case MECHANISM_BUDGET:
    case MECHANISM_EXTENT:
        fputs(amount->rest ? "rest"
                           : units_write(amount->value, amount->unit, number, sizeof number),
              out);
        break;
    case MECHANISM_POLICY:
        mechanism_value_write_policy(of, out);
        break;
    }
}

char *mechanism_text(const struct mechanism_key *key, const struct mechanisms *of,
                     struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why);
    if (good) {
        mechanism_value_write(key, of, file.out);
    }
    return text_close(&file, good, why);
}
