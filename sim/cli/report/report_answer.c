#include "cli/report/report_answer.h"

#include "cli/frame/drawing.h"
#include "cli/report/report.h"

bool report_answer(const struct report_answer *answer, const char *path, struct error *why)
{
    struct report report = {.store = answer->store,
                            .database = answer->database,
                            .path = path,
                            .steps = true,
                            .answer = answer};
    return report_write(&report, why);
}

void report_write_verdict(const struct report *report)
{
    const struct frame *verdict = report->answer->verdict;
    fputs("<dl class=\"answer\">\n", report->out);
    for (uint32_t i = 0; i < verdict->column_count; i++) {
        if (verdict->columns[i].title != NULL && verdict->cells[i].set &&
            verdict->cells[i].text != NULL) {
            html_print(report->out, "<dt>%s</dt><dd>%s</dd>\n", verdict->columns[i].title,
                       verdict->cells[i].text);
        }
    }
    fputs("</dl>\n", report->out);
}
