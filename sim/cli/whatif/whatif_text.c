#include "cli/whatif/whatif_report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT, LINE = WHATIF_LINE };

const struct whatif_words whatif_words[] = {
    [WHATIF_RATE] = {"tokens/s", "tokens a second, all sequences", "nothing fits in memory",
                     "no value changes how fast it decodes"},
    [WHATIF_BORNE] = {"tokens/s", "tokens a second, all requests", "no point answers all requests",
                      "no value changes how many tokens a second are served"},
    [WHATIF_TIME] = {"s a request (mean, arrival to last token)",
                     "seconds a request (mean, arrival to last token)",
                     "no point answers all requests", "no value changes how long requests take"},
    [WHATIF_GOODPUT] = {"requests/s that meet the objectives",
                        "requests a second that meet the objectives", "no request has a time",
                        "no value changes how many requests meet the objectives",
                        "no request meets the objectives at any point"},
    [WHATIF_FOUND] = {"% of the prompts' tokens found", "prompt tokens found, %",
                      "it is unknown which prompts begin alike: the workload has no hashes",
                      "no value changes how many prompt tokens are found",
                      "no prompt tokens are found at any point"},
};

const char *whatif_name(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    size_t used = 0;
    for (uint32_t axis = 0; axis < whatif->axis_count && used < LINE; axis++) {
        char label[TEXT];
        axis_label(&whatif->axes[axis], whatif_value(whatif, axis, point), label, sizeof label);
        used += (size_t)snprintf(text + used, LINE - used, "%s%s%s%s", used > 0 ? ", " : "",
                                 whatif->axis_count > 1 ? axis_title(&whatif->axes[axis]) : "",
                                 whatif->axis_count > 1 ? " " : "", label);
    }
    return text;
}

const char *whatif_number(double worth, char text[SHOWN_TEXT])
{
    if (worth < 0.1) {
        snprintf(text, SHOWN_TEXT, "%.2g", worth);
        return text;
    }
    return shown_value(UNIT_COUNT, 0, worth, NAN, NAN, text);
}

const char *whatif_mark(const struct whatif *whatif, const struct whatif_findings *findings,
                        uint32_t point, char text[TEXT])
{
    const char *objection = whatif_objection(whatif, point);
    bool all_tie = whatif_all_tie(whatif, findings);
    bool grows = result_cell(&whatif->results[point], COLUMN(queue_grows))->integer > 0;
    const struct {
        bool here;
        const char *mark;
    } marks[] = {
        {findings->own == point, "here"},
        {findings->more == point, "here and a GiB more"},
        {findings->knee == point, "knee"},
        {findings->best == point && !findings->flat && !all_tie, "best"},
        {all_tie || (findings->best != point && whatif_ties(whatif, findings, point)), "tie"},
        {objection != NULL, objection},
        {objection == NULL && grows, "queue grows"}, /* goodput shows it by itself */
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (marks[i].here) {
            size_t used = strlen(text);
            snprintf(text + used, TEXT - used, "%s%s", used > 0 ? ", " : "", marks[i].mark);
        }
    }
    return text;
}
