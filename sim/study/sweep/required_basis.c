/* Checks three parts of a result: its trace, a share of its time, or all of its figures. */
#include "study/sweep/required_basis.h"

#include "decode/time/pipeline.h"

#include <string.h>

#define ROUNDING 1e-9 /* of shares that were summed or read back from text */

bool required_basis_parse(const char *text, struct required_basis *out, struct error *why)
{
    static const char option[] = "--require-basis";
    const char *colon = strchr(text, ':');
    char level[32];
    size_t length = colon != NULL ? (size_t)(colon - text) : strlen(text);
    snprintf(level, sizeof level, "%.*s", (int)(length < sizeof level ? length : sizeof level - 1),
             text);
    *out = (struct required_basis){.asked = true, .share = 1};
    if (!basis_find(level, option, 0, &out->least, why)) {
        return false;
    }
    if (colon == NULL) {
        return true;
    }
    if (!units_parse(colon + 1, UNIT_SHARE, NULL, 0, option, &out->share, why)) {
        return false;
    }
    if (!(out->share > 0 && out->share <= 1)) {
        error_usage(why, NULL, 0, "'%s' has an invalid share '%.20s'", option, colon + 1);
        return error_expect(why, "a share above 0 and at most 100%%, such as published:90%%");
    }
    return true;
}

static void expect_level(const struct required_basis *required, struct error *why)
{
    error_expect(why, "%s%s", basis_name(required->least),
                 required->least == BASIS_MEASURED ? "" : " or better");
}

static bool read_cell(const struct cell *cell, enum basis *out, struct error *why)
{
    return basis_find(cell->text, NULL, 0, out, why);
}

static bool required_basis_check_trace(const struct required_basis *required,
                                       const struct setup *setup, const struct result *result,
                                       struct error *why)
{
    const struct cell *cell = result_cell(result, COLUMN(trace_basis));
    enum basis basis = BASIS_MEASURED;
    if (cell->set && !read_cell(cell, &basis, why)) {
        return false;
    }
    if (basis > required->least) {
        error_set(why, NULL, 0, "the hits of system '%s' rest on a trace that is %s: '%.100s'",
                  setup->system.name, basis_name(basis), setup->trace_name);
        expect_level(required, why);
        return false;
    }
    return true;
}

static bool check_share(const struct required_basis *required, const struct setup *setup,
                        const struct result *result, struct error *why)
{
    double share = 0;
    for (uint32_t i = 0; i < result->basis_count; i++) {
        enum basis basis;
        if (!basis_find(result->basis[i].name, NULL, 0, &basis, why)) {
            return false;
        }
        share += basis <= required->least ? result->basis[i].share : 0;
    }
    if (share + ROUNDING < required->share) {
        error_set(why, NULL, 0, "system '%s' on '%s': %.3g %% of the step rests on %s figures%s",
                  setup->system.name, setup->profile.name, 100 * share, basis_name(required->least),
                  required->least == BASIS_MEASURED ? "" : " or better");
        return error_expect(why, "at least %.3g %%", 100 * required->share);
    }
    return true;
}

/* The error names the first figure of the profile that is worse, if the time rests on one. If not,
 * it was a figure of memory. */
static bool required_basis_check_figures(const struct required_basis *required,
                                         const struct point *point, const struct result *result,
                                         struct error *why)
{
    const struct setup *setup = &point->setup;
    enum curve_id curves[CURVE_COUNT];
    enum basis basis;
    if (!read_cell(result_cell(result, COLUMN(basis)), &basis, why)) {
        return false;
    }
    if (basis <= required->least) {
        return true;
    }
    size_t count = point_curves(point, curves);
    if (!profile_require_basis(&setup->profile, curves, count, required->least, why)) {
        return false;
    }
    error_set(why, NULL, 0, "system '%s' on '%s' rests on %s figures", setup->system.name,
              setup->profile.name, basis_name(basis));
    expect_level(required, why);
    return false;
}

bool required_basis_check(const struct required_basis *required, const struct point *point,
                          const struct result *result, struct error *why)
{
    if (!required->asked || !result_cell(result, COLUMN(basis))->set) {
        return true;
    }
    return required_basis_check_trace(required, &point->setup, result, why) &&
           (required->share < 1 ? check_share(required, &point->setup, result, why)
                                : required_basis_check_figures(required, point, result, why));
}
