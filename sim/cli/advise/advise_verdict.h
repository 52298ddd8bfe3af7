/* Output of an advice: its verdict (answer/verdict.h) and its rows. Whoever writes a sentence fills
 * its numbers, too. */
#ifndef CLI_ADVISE_ADVISE_VERDICT_H
#define CLI_ADVISE_ADVISE_VERDICT_H

#include "answer/verdict.h"
#include "base/text.h"
#include "study/advise/advice.h"
#include "study/sweep/explain.h"

enum { VERDICT_TEXT = 2048 };

/* Append to the text of a sentence, as printf() writes. */
#define SAY(text, ...) text_append(text, VERDICT_TEXT, __VA_ARGS__)

enum advise_verdict {
#define COLUMN(name, type, what) VERDICT_##name,
#define SHOWN(name, type, what, ...) VERDICT_##name,
#include "answer/verdicts.def"
    VERDICT_COLUMNS
};

/* A verdict that says nothing yet. */
struct frame *verdict_create(struct error *why);

/*   model   as it was typed
 * NULL on failure. The caller destroys the frame. */
struct frame *advise_verdict(const struct advice *advice, const char *model,
                             const struct run_context *runs, struct error *why);

/* ---- the parts, each in a file of its own. Memory that runs out shows when the frame is printed.
 * `explanation` is of the advised run. */

void advise_say_run(const struct advice *advice, struct frame *verdict);
bool advise_say_fits(const struct advice *advice, struct frame *verdict, struct error *why);
void advise_say_offload(const struct advice *advice, struct frame *verdict);
void advise_say_instead(const struct advice *advice, struct frame *verdict);
void advise_say_limit(const struct advice *advice, const struct explanation *explanation,
                      struct frame *verdict);
void advise_say_sure(const struct explanation *explanation, const struct point *point,
                     struct frame *verdict);

/* The command that starts `servers` servers alike, or why there is none. `scenario` is that of
 * `result`; `model` as it was typed. */
bool advise_say_start(const struct scenario *scenario, const struct result *result,
                      const char *model, uint32_t servers, char text[VERDICT_TEXT],
                      struct error *why);

/* Fill a cell with a scenario that 'simulate' reads. */
bool advise_put_scenario(const struct scenario *scenario, struct frame *frame, uint32_t column,
                         struct error *why);

/* ---- what stands around it: advise_report.c and advise_frame.c ---- */

/* The verdict, the table below it, and the notes that the runs share. `model` as it was typed. A
 * wide view names the systems that were left out instead of counting them. */
bool advise_report(const struct advice *advice, const char *model, const struct frame *verdict,
                   const struct table_view *view, FILE *out, struct error *why);

/* JSON objects, each on its own line: the verdict (answer/verdicts.def), then a row for each
 * system, form and change that was tried (answer/advices.def). */
bool advise_json(const struct advice *advice, const struct frame *verdict, FILE *out,
                 struct error *why);

/* The rows; for people systems by their rate, those alike once. NULL on failure. The caller
 * destroys the frame. */
struct frame *advise_frame(const struct advice *advice, bool for_people, struct error *why);

/* Have two searches the same answer, or fall short alike? And does one stand for those alike? */
bool advise_alike(const struct search *a, const struct search *b);
bool advise_stands(const struct advice *advice, uint32_t index);

#endif
