#include "study/papers/measured_number.h"

#include <math.h>

#define LEAST 1e-6
#define MOST 1e12

/* The value for a message, such as "-5", "1e+308" or "a text". */
static const char *measured_number_describe(const json_t *value, char *text, size_t size)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a text",
        [JSON_TRUE] = "true",        [JSON_FALSE] = "false",
    };
    if (json_is_number(value)) {
        snprintf(text, size, "%.6g", json_number_value(value));
    } else {
        snprintf(text, size, "%s", kinds[json_typeof(value)]);
    }
    return text;
}

bool measured_number(const json_t *object, const char *key, const char *path, int line, double *out,
                     struct error *why)
{
    const json_t *value = json_object_get(object, key);
    char text[32];
    *out = NAN;
    if (value == NULL || json_is_null(value)) {
        return true;
    }
    double number = json_number_value(value); /* 0 if it is not a number */
    if (json_is_number(value) && (number == 0 || (number >= LEAST && number <= MOST))) {
        *out = number;
        return true;
    }
    error_set(why, path, line, "'%s' is %s", key,
              measured_number_describe(value, text, sizeof text));
    return error_expect(why, "a plausible measurement: 0, or from %g to %g", LEAST, MOST);
}
