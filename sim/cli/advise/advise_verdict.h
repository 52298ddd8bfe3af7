/* The verdict of an advice: what to run and why, in a few labelled sentences. */
#ifndef CLI_ADVISE_ADVISE_VERDICT_H
#define CLI_ADVISE_ADVISE_VERDICT_H

#include "study/advise/advice.h"
#include "study/sweep/explain.h"

#include <stdio.h>

enum verdict_part {
    VERDICT_RUN,     /* what to run, how fast that is, and what it costs */
    VERDICT_FITS,    /* what the memory holds */
    VERDICT_OFFLOAD, /* should KV leave the GPU */
    VERDICT_INSTEAD, /* what else would do */
    VERDICT_LIMIT,   /* what holds it up, and what would help most */
    VERDICT_SURE,    /* how sure that is, and what to measure first */
    VERDICT_START,   /* the command that starts it */
    VERDICT_PARTS
};

enum { VERDICT_TEXT = 2048 };

struct advise_verdict {
    const char *model; /* as it was typed; borrowed */
    bool wide; /* below the table, name the systems that were left out instead of counting them */
    char parts[VERDICT_PARTS][VERDICT_TEXT]; /* "": nothing to say */
};

/* Names of the parts: "run", "fits", ... */
extern const char *const advise_parts[VERDICT_PARTS];

/*   model   as it was typed */
bool advise_verdict_make(const struct advice *advice, const char *model,
                         const struct run_context *runs, struct advise_verdict *out,
                         struct error *why);

void advise_verdict_print(const struct advise_verdict *verdict, FILE *out);

/* The parts, each in a file of its own; `explanation` is of the advised run. */
void advise_say_run(const struct advice *advice, char text[VERDICT_TEXT]);
bool advise_say_fits(const struct advice *advice, char text[VERDICT_TEXT], struct error *why);
void advise_say_offload(const struct advice *advice, char text[VERDICT_TEXT]);
void advise_say_instead(const struct advice *advice, char text[VERDICT_TEXT]);
void advise_say_limit(const struct advice *advice, const struct explanation *explanation,
                      char text[VERDICT_TEXT]);

/* The command that starts `servers` servers alike, or why there is none. `scenario` is that of
 * `result`; `model` as it was typed. */
bool advise_say_start(const struct scenario *scenario, const struct result *result,
                      const char *model, uint32_t servers, char text[VERDICT_TEXT],
                      struct error *why);
void advise_say_sure(const struct explanation *explanation, const struct point *point,
                     char text[VERDICT_TEXT]);

#endif
