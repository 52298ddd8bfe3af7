#include "cli/runs/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "predict/result/tie.h"
#include "core/text.h"

enum { LINE = 2048 };

/* ---- what runs share ---- */

enum shared_id {
    SHARED_MODEL,
    SHARED_GPUS,
    SHARED_HARDWARE,
    SHARED_CONTEXT,
    SHARED_STEPS,
    SHARED_WARMUP,
    SHARED_COUNT
};

static const char *const shared_columns[SHARED_COUNT] = {"model",   "gpus",  "hardware",
                                                         "context", "steps", "warmup"};

/* What all runs of a table have in common, said once above it. Zeroed before the first run. */
struct runs_shared {
    char text[SHARED_COUNT][128]; /* "" until a run has one */
    bool varies[SHARED_COUNT];
};

/* If machines differ only in their parts, as a40 and a40+pcie5-x16, they share the GPU's name. */
static void runs_shared_add(struct runs_shared *shared, const struct result *result)
{
    char buffer[CELL_SIZE];
    for (int i = 0; i < SHARED_COUNT; i++) {
        const char *text = cell_text(result, column_find(shared_columns[i]), buffer);
        char *before = shared->text[i];
        size_t gpu = strcspn(before, "+");
        if (text == NULL || strcmp(before, text) == 0) {
            continue;
        }
        if (before[0] == '\0') {
            text_copy(before, sizeof shared->text[i], text);
        } else if (i == SHARED_HARDWARE && strcspn(text, "+") == gpu &&
                   strncmp(before, text, gpu) == 0) {
            before[gpu] = '\0';
        } else {
            shared->varies[i] = true;
        }
    }
}

/* "" if runs differ in it, or have none. */
static const char *shared_text(const struct runs_shared *shared, enum shared_id which)
{
    return shared->varies[which] ? "" : shared->text[which];
}

/* Append a number and what it counts, after `join` unless it is the first. */
static void append_number(const struct runs_shared *shared, enum shared_id which, const char *join,
                          const char *one, const char *many, char line[LINE])
{
    const char *number = shared_text(shared, which);
    if (number[0] != '\0') {
        text_append(line, LINE, "%s%s %s", line[0] != '\0' ? join : "", number,
                    strcmp(number, "1") == 0 ? one : many);
    }
}

/* "llama-3.1-8b on 4 x h100-sxm, 8192 tokens a sequence; 38 steps after 38 of warm-up". `asked` may call the
 * model by the name of other weights of its shape. */
static void runs_shared_print(const struct runs_shared *shared, const struct scenario *asked,
                              FILE *out)
{
    char line[LINE] = "";
    const struct node *model = node_get(asked->root, "model");
    const char *name = shared_text(shared, SHARED_MODEL);
    const char *typed = model != NULL && model->typed != NULL ? model->typed : name;
    bool same = name_holds(typed, name);
    const char *gpus = shared_text(shared, SHARED_GPUS);
    const char *machine = shared_text(shared, SHARED_HARDWARE);
    bool several = gpus[0] != '\0' && strcmp(gpus, "1") != 0;
    text_append(line, LINE, "%s%s%s%s", same ? "" : typed, same ? "" : ", of the shape of ", name,
                same ? "" : ",");
    if (several || machine[0] != '\0') {
        text_append(line, LINE, "%son %s%s%s", line[0] != '\0' ? " " : "", several ? gpus : "",
                    several ? machine[0] != '\0' ? " x " : " GPUs" : "", machine);
    }
    append_number(shared, SHARED_CONTEXT, ", ", "token a sequence", "tokens a sequence", line);
    append_number(shared, SHARED_STEPS, "; ", "step", "steps", line);
    append_number(shared, SHARED_WARMUP, " after ", "of warm-up", "of warm-up", line);
    if (line[0] != '\0') {
        table_line("", line, out);
    }
}

/* ---- remarks ---- */

/* Notes, or texts, that runs have in common: each is kept once, with its systems, the first few. */
enum { REMARKS_MOST = NOTES_MOST };

struct runs_remarks {
    struct remark {
        char text[256];       /* "" of a note */
        json_t *least, *most; /* of a note, with the ranges of several; owned */
        char systems[1024];   /* "clo, litecache", each once */
        uint32_t runs;
    } items[REMARKS_MOST];
    uint32_t count;
    bool more; /* some are not kept */
};

static void runs_notes_add_run(struct runs_remarks *remarks, uint32_t index, const char *system)
{
    remarks->more = remarks->more || index == REMARKS_MOST;
    if (index < REMARKS_MOST) {
        struct remark *remark = &remarks->items[index];
        remarks->count += index == remarks->count;
        remark->runs++;
        name_list_add(remark->systems, sizeof remark->systems, system);
    }
}

static void runs_notes_add_text(struct runs_remarks *remarks, const char *text, const char *system)
{
    uint32_t i = 0;
    while (i < remarks->count && strcmp(remarks->items[i].text, text) != 0) {
        i++;
    }
    if (i == remarks->count && i < REMARKS_MOST) {
        text_copy(remarks->items[i].text, sizeof remarks->items[i].text, text);
    }
    runs_notes_add_run(remarks, i, system);
}

static void add_note(struct runs_remarks *remarks, const json_t *note, const char *system)
{
    uint32_t i = 0;
    while (i < remarks->count &&
           !note_join(remarks->items[i].least, remarks->items[i].most, note)) {
        i++;
    }
    if (i == remarks->count && i < REMARKS_MOST) {
        remarks->items[i].least = json_copy((json_t *)note);
        remarks->items[i].most = json_copy((json_t *)note);
    }
    runs_notes_add_run(remarks, i, system);
}

struct runs_notes {
    struct runs_shared shared;
    struct runs_remarks sources; /* what hit ratios rest on */
    struct runs_remarks masses;  /* what masses rest on where hit ratios rest on nothing */
    struct runs_remarks messages;
    struct runs_remarks bands;                    /* how far runs may be off */
    double least[BASIS_COUNT], most[BASIS_COUNT]; /* shares of a run's time by basis */
    char assumed[64]; /* the assumed figure of the run in which most time is assumed */
    uint32_t runs, timed, extrapolated; /* runs that succeeded; those of them with a time */
    bool decodes;                       /* some runs are of decode steps, not of a server */
    bool ranged, drawn,
        recorded; /* some runs are of several families: of drawn heads, of recordings */
};

struct runs_notes *runs_notes_create(struct error *why)
{
    return array_zeroed(1, sizeof(struct runs_notes), why);
}

void runs_notes_destroy(struct runs_notes *notes)
{
    for (uint32_t i = 0; notes != NULL && i < notes->messages.count; i++) {
        json_decref(notes->messages.items[i].least);
        json_decref(notes->messages.items[i].most);
    }
    free(notes);
}

static void note_trust(struct runs_notes *notes, const struct result *result, const char *system)
{
    char words[ERROR_WORDS];
    const struct cell *extrapolated = result_cell(result, COLUMN(extrapolated));
    const struct cell *assumed = result_cell(result, COLUMN(assumed_figure));
    for (uint32_t i = 0; i < result->basis_count && i < BASIS_COUNT; i++) {
        double share = result->basis[i].share;
        notes->least[i] = notes->timed == 0 ? share : fmin(notes->least[i], share);
        if (i == BASIS_ASSUMED && share > notes->most[i] && assumed->set) {
            text_copy(notes->assumed, sizeof notes->assumed, assumed->text);
        }
        notes->most[i] = fmax(notes->most[i], share);
    }
    notes->timed++;
    notes->extrapolated += extrapolated->set && extrapolated->integer != 0;
    error_words(result, words);
    runs_notes_add_text(&notes->bands, words, system);
}

/* A failed run has its reason in the table; its notes and basis are left out. */
void runs_notes_add(struct runs_notes *notes, const struct result *result)
{
    const struct cell *name = result_cell(result, COLUMN(system));
    const char *system = name->set ? name->text : "-";
    runs_shared_add(&notes->shared, result);
    bool served = result_cell(result, COLUMN(requests))->set && result_ok(result);
    if (!result_cell(result, COLUMN(step_us))->set && !served) {
        return;
    }
    notes->runs++;
    notes->decodes = notes->decodes || result_cell(result, COLUMN(step_us))->set;
    notes->ranged = notes->ranged || result->family_count > 0;
    if (result->family_count > 0) {
        bool drawn = strncmp(result->families[0].name, "draw ", 5) == 0;
        *(drawn ? &notes->drawn : &notes->recorded) = true;
    }
    for (size_t i = 0; i < json_array_size(result->notes); i++) {
        add_note(&notes->messages, json_array_get(result->notes, i), system);
    }
    if (result_cell(result, COLUMN(basis))->set) { /* not of a server that was not timed */
        /* Where KV is left out but nothing misses, as in HBM, only the mass rests on the trace. */
        const struct cell *source = result_cell(result, COLUMN(trace_source));
        const struct cell *trace = result_cell(result, COLUMN(trace));
        const struct cell *mass = result_cell(result, COLUMN(mass_recall));
        if (source->set) {
            runs_notes_add_text(&notes->sources, source->text, system);
        } else if (mass->set && mass->real < 1 && trace->set) {
            runs_notes_add_text(&notes->masses, trace->text, system);
        }
        note_trust(notes, result, system);
    }
}

void runs_notes_judge(struct runs_notes *notes, const struct result *answer)
{
    notes->bands = (struct runs_remarks){.count = 0};
    notes->timed = notes->extrapolated = 0;
    memset(notes->most, 0, sizeof notes->most);
    notes->assumed[0] = '\0';
    note_trust(notes, answer, "");
}

void runs_notes_add_note(struct runs_notes *notes, const char *system, json_t *note)
{
    add_note(&notes->messages, note, system);
    json_decref(note);
}

enum { SHARE = 64 };

/* The shares of time that rest on a basis, "0–57 %"; false if none does. */
static bool write_share(const struct runs_notes *notes, enum basis basis, char text[SHARE])
{
    long least = lround(100 * notes->least[basis]), most = lround(100 * notes->most[basis]);
    if (least < most) {
        snprintf(text, SHARE, "%ld–%ld %%", least, most);
    } else {
        snprintf(text, SHARE, "%ld %%", most);
    }
    return most > 0;
}

static void print_sources(const struct runs_notes *notes, FILE *out)
{
    const char *label = notes->ranged ? "demands: " : "hit ratio: ";
    const char *below = notes->ranged ? "         " : "           ";
    const struct runs_remarks *sources = &notes->sources;
    for (uint32_t i = 0; sources->count == 0 && i < notes->masses.count; i++) {
        table_line(i == 0 ? "attention mass: " : "                ", notes->masses.items[i].text,
                   out);
    }
    if (sources->count == 0 && notes->masses.count == 0 && notes->decodes) {
        table_line(label, "no trace needed: all KV stays on the GPU, or every step loads all of it",
                   out);
    }
    for (uint32_t i = 0; i < sources->count; i++) {
        char line[LINE];
        const char *over = !notes->drawn     ? "them"
                           : notes->recorded ? "them, or over three draws of what heads weigh"
                                             : "three draws of what heads weigh";
        bool told = notes->ranged && i + 1 == sources->count;
        snprintf(line, sizeof line,
                 told ? "%s; figures are medians over %s, in brackets ranges of 1 %% and more"
                      : "%s",
                 sources->items[i].text, over);
        table_line(i == 0 ? label : below, line, out);
    }
}

void runs_notes_print_sources(const struct runs_notes *notes, FILE *out)
{
    if (notes->sources.count > 0) {
        print_sources(notes, out);
        fputc('\n', out);
    }
}

void runs_notes_print_above(const struct runs_notes *notes, const struct scenario *asked, FILE *out)
{
    print_sources(notes, out);
    runs_shared_print(&notes->shared, asked, out);
    fputc('\n', out);
}

/* "(3 of 8 runs: clo, litecache)", unless it holds for all. */
static void append_whose(const struct remark *remark, uint32_t runs, char line[LINE])
{
    if (remark->runs < runs) {
        text_append(line, LINE, " (%u of %u runs: %s)", remark->runs, runs, remark->systems);
    }
}

/* "note: WORDS (3 of 8 runs: clo, litecache)", of notes that are always told, or of the others. */
static void runs_notes_print(const struct runs_notes *notes, bool told, FILE *out)
{
    const struct runs_remarks *remarks = &notes->messages;
    for (uint32_t i = 0; i < remarks->count; i++) {
        char line[LINE];
        const struct remark *remark = &remarks->items[i];
        if ((note_kind_of(remark->least)->when == NOTE_IS_TOLD) == told) {
            note_write(remark->least, remark->most, line, sizeof line);
            append_whose(remark, notes->runs, line);
            table_line("note: ", line, out);
        }
    }
    if (told && remarks->more) {
        table_line("note: ", "there are more notes: 'simulate' each run alone", out);
    }
}

/* How rough all figures are, in one line, and how many runs use a curve or a recording past its ends. */
static void print_sure(const struct runs_notes *notes, bool why, FILE *out)
{
    const struct runs_remarks *bands = &notes->bands;
    char line[LINE] = "";
    for (uint32_t i = 0; i < bands->count; i++) {
        text_append(line, LINE, "%s%s", i > 0 ? "; " : "", bands->items[i].text);
        append_whose(&bands->items[i], notes->timed, line);
    }
    uint32_t past = notes->extrapolated;
    if (past > 0 && past < notes->timed) {
        text_append(line, LINE, "; %u of %u runs", past, notes->timed);
    } else if (past > 0) {
        text_append(line, LINE, past == 1 ? "; it" : "; all runs");
    }
    if (past > 0) {
        text_append(line, LINE, " %s past what was recorded or measured",
                    past == 1 ? "goes" : "go");
    }
    text_append(line, LINE, "%s", why ? "" : "; --why tells more");
    table_line("sure: ", line, out);
}

void runs_notes_print_below(const struct runs_notes *notes, bool why, FILE *out)
{
    if (notes->timed == 0 && notes->messages.count == 0) {
        return;
    }
    fputc('\n', out);
    runs_notes_print(notes, true, out);
    if (why) {
        runs_notes_print(notes, false, out);
    }
    if (notes->timed > 0) {
        print_sure(notes, why, out);
    }
    if (notes->timed > 0 && why) {
        /* "step time by basis: published 0-57 %, datasheet 1-100 %, assumed 0-43 % (most: gpu.topk)" */
        const char *between = "";
        fputs("step time by basis: ", out);
        for (int i = 0; i < BASIS_COUNT; i++) {
            char share[SHARE];
            if (write_share(notes, (enum basis)i, share)) {
                fprintf(out, "%s%s %s", between, basis_names[i], share);
                between = ", ";
            }
        }
        fprintf(out, notes->assumed[0] != '\0' ? " (most: %s)\n" : "\n", notes->assumed);
    }
}
