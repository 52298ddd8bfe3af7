#include "tables/verdict.h"

enum { INDENT = 9 };

bool verdict_print(const struct frame *verdict, FILE *out, struct error *why)
{
    bool good = frame_ok(verdict, why);
    if (good && verdict->columns[0].title == NULL && verdict->cells[0].set) {
        table_line("", verdict->cells[0].text, out);
        fputc('\n', out);
    }
    for (uint32_t i = 0; good && i < verdict->column_count; i++) {
        if (verdict->columns[i].title != NULL && verdict->cells[i].set) {
            fprintf(out, "%-*s", INDENT, verdict->columns[i].title);
            table_wrap(verdict->cells[i].text, INDENT, out);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
    return good;
}

bool verdict_print_json(const struct frame *verdict, FILE *out, struct error *why)
{
    static const struct frame_column whole = {.key = "verdict", .unit = UNIT_JSON};
    struct frame *frame = frame_create(&whole, 1, why);
    frame_row(frame);
    bool good =
        frame != NULL && frame_object(frame, 0, verdict, why) && frame_print_json(frame, out, why);
    frame_destroy(frame);
    return good;
}
