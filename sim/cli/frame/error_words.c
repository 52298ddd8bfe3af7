#include "cli/frame/error_words.h"

#include "core/text.h"
#include "predict/result/column.h"

#include <inttypes.h>

void error_words(const struct result *result, char text[ERROR_WORDS])
{
    const struct {
        const struct column *band;
        const char *figure;
    } bands[] = {
        {COLUMN(ttft_band), "TTFT"}, {COLUMN(tpot_band), "TPOT"}, {COLUMN(error_band), "tok/s"}};
    bool serves =
        result_cell(result, COLUMN(requests))->set || result_cell(result, COLUMN(tpot_band))->set;
    const char *before = serves ? "8 of 10 such servers had " : "8 of 10 such systems had ";
    text[0] = '\0';
    for (size_t i = 0; i < sizeof bands / sizeof bands[0]; i++) {
        if (result_cell(result, bands[i].band)->set) {
            const double *ends = result->band[bands[i].band->band - BANDED_RATE];
            text_append(text, ERROR_WORDS, "%s%s %+.0f … %+.0f %%", before, bands[i].figure,
                        100 * ends[0], 100 * ends[1]);
            before = ", ";
        }
    }
    if (text[0] == '\0') {
        text_append(text, ERROR_WORDS, "the error is unknown");
        return;
    }
    int64_t sources = result_cell(result, COLUMN(error_sources))->integer;
    text_append(text, ERROR_WORDS, " off this (%" PRId64 " figures of %" PRId64 " source%s)",
                result_cell(result, COLUMN(error_figures))->integer, sources,
                text_plural((uint64_t)sources));
}
