#include "cli/advise/advise_question.h"
#include "cli/frame/question.h"
#include "cli/report/report_answer.h"

/* Of a database that is kept, only what this program computed. */
bool advise_page(const struct arguments *arguments, struct store *store, const struct result *best,
                 const struct targets *targets, const struct frame *verdict, struct error *why)
{
    const char *path = arguments_text(arguments, ADVISE_HTML);
    const char *database = arguments_text(arguments, ADVISE_DB);
    char note[DATABASE_NOTE], limits[TARGETS_TEXT] = "";
    if (path == NULL) {
        return true;
    }
    struct report_answer answer = {
        .title = verdict->cells[0].text,
        .store = database != NULL ? database_show(database, note, why) : store,
        .verdict = verdict,
        .run = best != NULL ? result_cell(best, COLUMN(run))->text : NULL,
        .targets = targets->count > 0 ? targets_text(targets, limits) : "",
        .database = database,
    };
    bool good = answer.store != NULL && report_answer(&answer, path, why);
    if (answer.store != store) {
        store_close(answer.store);
    }
    return good;
}
