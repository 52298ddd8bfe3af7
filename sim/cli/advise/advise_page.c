#include "base/text.h"
#include "cli/advise/advise_question.h"
#include "cli/frame/database.h"
#include "cli/report/report_answer.h"

enum { TITLE = 4200 };

/* The question, as it was typed. */
static void write_title(const struct arguments *arguments, char title[TITLE])
{
    uint32_t operands;
    const char *const *names = arguments_operands(arguments, &operands);
    const char *context = arguments_text(arguments, ADVISE_CONTEXT);
    const char *rate = arguments_text(arguments, ADVISE_RATE);
    title[0] = '\0';
    text_append(title, TITLE, "%s on %s", names[0], names[1]);
    if (context != NULL) {
        text_append(title, TITLE, ", %s tokens of context", context);
    }
    if (rate != NULL) {
        text_append(title, TITLE, ", %s requests a second", rate);
    }
}

/* Of a database that is kept, only what this program computed. */
bool advise_page(const struct arguments *arguments, struct store *store, const struct result *best,
                 const struct targets *targets, const struct frame *verdict, struct error *why)
{
    const char *path = arguments_text(arguments, ADVISE_HTML);
    const char *database = arguments_text(arguments, ADVISE_DB);
    char note[DATABASE_NOTE], limits[TARGETS_TEXT] = "", title[TITLE];
    if (path == NULL) {
        return true;
    }
    write_title(arguments, title);
    struct report_answer answer = {
        .title = title,
        .store = database != NULL ? database_show(database, note, why) : store,
        .verdict = verdict,
        .run = best != NULL ? best->cells[COLUMN_RUN].text : NULL,
        .targets = targets->count > 0 ? targets_text(targets, limits) : "",
        .database = database,
    };
    bool good = answer.store != NULL && report_answer(&answer, path, why);
    if (answer.store != store) {
        store_close(answer.store);
    }
    return good;
}
