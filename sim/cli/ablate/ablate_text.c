#include "cli/ablate/ablate_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int ablate_decimals(const struct ablation *ablation)
{
    int64_t longest = 0;
    for (uint32_t i = 0; i < ablation->done; i++) {
        const struct cell *step = result_cell(&ablation->results[i], COLUMN(step_us));
        longest = step->set && step->integer > longest ? step->integer : longest;
    }
    return longest < 10000000 ? 3 : longest < 10000000000 ? 2 : 1;
}

const char *ablate_ms(const struct ablation *ablation, int64_t ns, char text[SHOWN_TEXT])
{
    return shown_value(UNIT_US, ablate_decimals(ablation), (double)ns / 1e3, NAN, NAN, text);
}

const char *ablate_system(const struct ablation *ablation, char text[ABLATE_NAMES])
{
    bool same = strcmp(ablation->system.name, ablation->base.name) == 0;
    snprintf(text, ABLATE_NAMES, "%s%s", ablation->system.name, same ? ", overridden" : "");
    return text;
}

const char *ablate_name(const struct ablation *ablation, const struct ablation_row *row,
                        char text[ABLATE_NAMES])
{
    const char *mechanism = ablation->difference.mechanisms[row->mechanism].label;
    switch (row->kind) {
    case ABLATION_BASE:
        snprintf(text, ABLATE_NAMES, "%s", ablation->base.name);
        break;
    case ABLATION_ALONE:
        snprintf(text, ABLATE_NAMES, "  + %s", mechanism);
        break;
    case ABLATION_LEFT_OUT:
        snprintf(text, ABLATE_NAMES, "  - %s", mechanism);
        break;
    case ABLATION_WHOLE:
        ablate_system(ablation, text);
        break;
    }
    return text;
}

const char *ablate_others(const struct ablation *ablation, const struct ablation_row *row,
                          char text[ABLATE_NAMES])
{
    char names[ABLATE_NAMES / 2];
    if (row->others == 0) {
        return "";
    }
    snprintf(text, ABLATE_NAMES, row->kind == ABLATION_ALONE ? "on top of %s" : "also without %s",
             difference_names(&ablation->difference, row->others, false, names, sizeof names));
    return text;
}

/* The mechanism's row of this kind that has a run. */
static const struct ablation_row *ablate_text_find_row(const struct ablation *ablation,
                                                       enum ablation_kind kind, uint32_t mechanism)
{
    const struct ablation_row *row = ablation->rows;
    while (row->kind != kind || row->mechanism != mechanism || row->refused != NULL) {
        row++;
    }
    return row;
}

bool ablate_ends(const struct ablation *ablation, uint32_t mechanism, struct ablate_ends *out)
{
    double times;
    out->rows[0] = ablate_text_find_row(ablation, ABLATION_ALONE, mechanism);
    out->rows[1] = ablate_text_find_row(ablation, ABLATION_LEFT_OUT, mechanism);
    return ablation_saves(ablation, out->rows[0], &out->saves[0], &times) &&
           ablation_saves(ablation, out->rows[1], &out->saves[1], &times);
}

bool ablate_is_idle(const struct ablation *ablation, uint32_t mechanism)
{
    struct ablate_ends ends;
    return ablate_ends(ablation, mechanism, &ends) && ends.saves[0] == 0 && ends.saves[1] == 0;
}
