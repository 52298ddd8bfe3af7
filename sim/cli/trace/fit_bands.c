#include "cli/trace/fit_bands.h"

/* The user's recordings as rows, over the layers that `like` has too. */
static bool make_own(const struct fit_learned *learned, const struct trace *like,
                     struct twin_rows *own, struct error *why)
{
    bool ok = true;
    *own = (struct twin_rows){.row = NULL};
    for (uint32_t i = 0; ok && i < learned->count; i++) {
        struct twin_row row;
        beside_twin_row(&learned->own[i], like, &row);
        ok = twin_rows_add(own, &row, why);
    }
    return ok;
}

static void find_text(const struct twin_evidence *evidence, uint32_t context,
                      const double is[LIKENESS_FIGURES], struct fit_bands *out)
{
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        out->known[f] = twin_band_text(evidence, f, context, is[f], out->band[f]);
    }
}

static void find_model(const struct twin_evidence *evidence, uint32_t context,
                       struct fit_bands *out)
{
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        out->known[f] = twin_band_model(evidence, f, context, out->band[f]);
    }
}

bool fit_bands_find(const struct fit_learned *learned, const struct beside_twin *report,
                    struct fit_bands *out, struct error *why)
{
    struct twin_rows own;
    struct twin_row row;
    *out = (struct fit_bands){.known = {false}};
    if (!learned->is_like_shipped) {
        return true;
    }
    bool ok = make_own(learned, report->recording, &own, why);
    if (ok) {
        struct twin_evidence evidence = {&learned->shipped, &own};
        beside_twin_row(report, NULL, &row);
        if (report->is_same_model) {
            find_text(&evidence, row.context, row.is, out);
        } else {
            find_model(&evidence, row.context, out);
        }
    }
    twin_rows_release(&own);
    return ok;
}

bool fit_outlook_find(const struct fit_learned *learned, const struct fitted *fitted,
                      struct fit_outlook *out, struct error *why)
{
    struct twin_rows own = {.row = NULL};
    *out = (struct fit_outlook){.is_twice = {0}};
    if (!learned->is_like_shipped) {
        return true;
    }
    uint32_t twice = 2 * fitted->profile->context;
    bool ok =
        make_own(learned, NULL, &own, why) && beside_twin_at(fitted, twice, out->is_twice, why);
    if (ok) {
        struct twin_evidence evidence = {&learned->shipped, &own};
        find_text(&evidence, own.row[0].context, own.row[0].is, &out->text);
        find_text(&evidence, twice, out->is_twice, &out->twice);
        find_model(&evidence, own.row[0].context, &out->model);
    }
    twin_rows_release(&own);
    return ok;
}
