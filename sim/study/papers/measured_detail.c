#include "study/papers/measured_detail.h"

#include <math.h>

static const double most_s = 1e9, ms = 1e3;

static const char *const keys[] = {"ttfts", "itls", "output_lens"};
enum { TTFTS, ITLS, OUTPUTS, LISTS };

static bool blame(const char *path, const char *key, size_t place, struct error *why)
{
    error_set(why, path, 0, "'%s': entry %zu is no time or number of tokens", key, place + 1);
    return error_expect(why, "seconds in 'ttfts', lists of seconds in 'itls', whole numbers in "
                             "'output_lens'");
}

/* A number from 0 to most_s, or NAN. */
static double detail_number(const json_t *value)
{
    double number = json_number_value(value);
    return json_is_number(value) && number >= 0 && number <= most_s ? number : (double)NAN;
}

static bool find_lists(const json_t *object, const char *path, const json_t *lists[LISTS],
                       struct error *why)
{
    for (int i = 0; i < LISTS; i++) {
        lists[i] = json_object_get(object, keys[i]);
        if (!json_is_array(lists[i]) || json_array_size(lists[i]) != json_array_size(lists[0])) {
            error_set(why, path, 0, "'%s' is not a list with an entry for each of 'ttfts'",
                      keys[i]);
            return error_expect(why, "'ttfts', 'itls' and 'output_lens' of one benchmark");
        }
    }
    return true;
}

/* Add the gaps of a request; `*sum_s` is how long its answer took after the first token. */
static bool add_gaps(const json_t *gaps, const char *path, size_t place,
                     struct request_times *times, double *sum_s, struct error *why)
{
    *sum_s = 0;
    if (!json_is_array(gaps)) {
        return blame(path, keys[ITLS], place, why);
    }
    for (size_t i = 0; i < json_array_size(gaps); i++) {
        double gap = detail_number(json_array_get(gaps, i));
        if (isnan(gap)) {
            return blame(path, keys[ITLS], place, why);
        }
        *sum_s += gap;
        if (!request_times_add_gap(times, ms * gap, why)) {
            return false;
        }
    }
    return true;
}

static bool measured_detail_add(const json_t *lists[LISTS], const char *path, size_t place,
                                struct request_times *times, struct error *why)
{
    double sum_s, first = detail_number(json_array_get(lists[TTFTS], place));
    double tokens = detail_number(json_array_get(lists[OUTPUTS], place));
    if (isnan(first) || isnan(tokens)) {
        return blame(path, keys[isnan(first) ? TTFTS : OUTPUTS], place, why);
    }
    return tokens < 1 ||
           (add_gaps(json_array_get(lists[ITLS], place), path, place, times, &sum_s, why) &&
            request_times_add(times, ms * first, ms * (first + sum_s), tokens, why));
}

bool measured_detail_read(const json_t *object, const char *path, struct request_times *times,
                          struct error *why)
{
    const json_t *lists[LISTS], *errors = json_object_get(object, "errors");
    if (json_object_get(object, keys[TTFTS]) == NULL) {
        return true;
    }
    if (!find_lists(object, path, lists, why)) {
        return false;
    }
    for (size_t i = 0; i < json_array_size(lists[TTFTS]); i++) {
        const char *fault = json_string_value(json_array_get(errors, i));
        bool failed = fault != NULL && fault[0] != '\0';
        if (!failed && !measured_detail_add(lists, path, i, times, why)) {
            return false;
        }
    }
    return true;
}
