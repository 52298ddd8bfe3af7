/* Reads the output of nvbandwidth -j: an object "nvbandwidth" with a list "testcases". Each test
 * has a name, a status and a matrix of results as texts, "N/A" if a result is missing. A test
 * between host and device has one row with a column for each GPU. Rates are in 10^9 bytes/s,
 * latencies in ns. A result is the median of samples (github.com/NVIDIA/nvbandwidth,
 * json_output.cpp).
 */
#include "calibrate/import/import.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct test {
    const char *name;   /* of the test */
    const char *second; /* a test whose result is added; NULL: none */
    const char *curve;
    double scale; /* from the test's unit to the curve's */
};

/* Each of the two bidirectional tests states the rate of one direction. */
static const struct test tests[] = {
    {"host_to_device_memcpy_ce", NULL, "link.h2d", 1e9},
    {"device_to_host_memcpy_ce", NULL, "link.d2h", 1e9},
    {"host_to_device_bidirectional_memcpy_ce", "device_to_host_bidirectional_memcpy_ce",
     "link.duplex", 1e9},
    {"host_to_device_memcpy_sm", NULL, "link.zero_copy", 1e9},
    {"host_device_latency_sm", NULL, "link.round_trip", 1},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

static bool is_text(const json_t *value, const char *text)
{
    return json_is_string(value) && strcmp(json_string_value(value), text) == 0;
}

/* The test of that name; NULL if it did not pass or was not run. */
static const json_t *find_test(const json_t *cases, const char *name)
{
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *test = json_array_get(cases, i);
        if (is_text(json_object_get(test, "name"), name) &&
            is_text(json_object_get(test, "status"), "Passed")) {
            return test;
        }
    }
    return NULL;
}

/* The first GPU's result: a text, or a number. */
static bool read_result(const json_t *test, const char *name, double *out, struct error *why)
{
    const json_t *row = json_array_get(json_object_get(test, "bandwidth_matrix"), 0);
    const json_t *cell = json_array_get(row, 0);
    const char *text = json_string_value(cell);
    char *end = NULL;
    *out = text != NULL ? strtod(text, &end) : json_number_value(cell);
    if ((text != NULL && (end == text || *end != '\0')) || !isfinite(*out) || *out <= 0) {
        error_set(why, name, 0, "test '%s' states no result for the first GPU",
                  json_string_value(json_object_get(test, "name")));
        return error_expect(why, "\"bandwidth_matrix\": [[\"25.1\", ...]]");
    }
    return true;
}

static const char *nvbandwidth_text_of(const json_t *root, const char *key)
{
    const char *text = json_string_value(json_object_get(root, key));
    return text != NULL ? text : "of unknown version";
}

static bool import_test(const json_t *root, const struct test *test, const char *name,
                        struct findings *findings, bool *found, struct error *why)
{
    const json_t *cases = json_object_get(root, "testcases");
    const json_t *first = find_test(cases, test->name);
    const json_t *second = test->second != NULL ? find_test(cases, test->second) : NULL;
    double value, more = 0;
    if (first == NULL || (test->second != NULL && second == NULL)) {
        return true;
    }
    if (!read_result(first, name, &value, why) ||
        (second != NULL && !read_result(second, name, &more, why))) {
        return false;
    }
    value = (value + more) * test->scale;
    *found = true;
    return import_figure(findings, test->curve, &value, 1, name, why,
                         "nvbandwidth %s, %s%s%s, first GPU, median of its samples (%s)",
                         nvbandwidth_text_of(root, "version"), test->name,
                         second != NULL ? " and " : "", second != NULL ? test->second : "",
                         basename(name));
}

/* "0: NVIDIA H100 80GB HBM3 (00000000:07:00.0): (host)" names the GPU between ": " and " (". */
static void nvbandwidth_name_gpu(const json_t *root, struct provenance *provenance)
{
    const char *text =
        json_string_value(json_array_get(json_object_get(root, "GPU Device list"), 0));
    const char *start = text != NULL ? strstr(text, ": ") : NULL;
    const char *end = start != NULL ? strstr(start, " (") : NULL;
    if (end != NULL && end > start + 2) {
        provenance_set(provenance, FACT_GPU, "%.*s", (int)(end - start - 2), start + 2);
    }
    const char *driver = json_string_value(json_object_get(root, "Driver Version"));
    if (driver != NULL) {
        provenance_set(provenance, FACT_DRIVER, "%s", driver);
    }
}

static bool import_root(const json_t *root, const char *name, struct findings *findings,
                        struct provenance *provenance, struct error *why)
{
    bool found = false;
    if (!json_is_array(json_object_get(root, "testcases"))) {
        error_set(why, name, 0, "not a result of nvbandwidth");
        return error_expect(why, "what 'nvbandwidth -j' prints: {\"nvbandwidth\": {\"testcases\": "
                                 "[...], ...}}");
    }
    for (size_t i = 0; i < TESTS; i++) {
        if (!import_test(root, &tests[i], name, findings, &found, why)) {
            return false;
        }
    }
    if (!found) {
        error_set(why, name, 0, "no test between host and GPU passed");
        return error_expect(why, "a result of %s, %s, ...", tests[0].name, tests[1].name);
    }
    nvbandwidth_name_gpu(root, provenance);
    provenance_add(provenance, FACT_FROM, basename(name));
    return true;
}

bool nvbandwidth_import(const char *text, size_t size, const char *name, struct findings *findings,
                        struct provenance *provenance, struct error *why)
{
    json_error_t problem;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &problem);
    if (root == NULL) {
        error_set(why, name, problem.line, "neither JSON nor SQLite: %s", problem.text);
        return error_expect(why, "what 'nvbandwidth -j' prints, or an Nsight Systems export (nsys "
                                 "export --type sqlite)");
    }
    bool ok = import_root(json_object_get(root, "nvbandwidth"), name, findings, provenance, why);
    json_decref(root);
    return ok;
}
