/* The result of one run: a cell for each stored column (column.h), null if it does not apply, and detail
 * tables. */
#pragma once

#include "core/error.h"
#include "predict/result/column.h"
#include "predict/result/note.h"

struct cell {
    bool set;
    union {
        int64_t integer; /* whole numbers; times in nanoseconds */
        double real;     /* other numbers */
        char *text;      /* owned by the result */
    };
};

/* A named time (parts, stalls) or share (basis). Names are [a-z0-9_] and shorter than RESULT_NAME.
 * They are static, or the result's own when it was read back. */
struct result_item {
    const char *name;
    int64_t ns;   /* of parts and stalls */
    double share; /* of basis_share */
};
#define RESULT_MOST_ITEMS 16
#define RESULT_NAME 32

struct result_layer {
    int64_t ns;       /* mean over steps */
    double hit_ratio; /* NaN: null */
    int64_t in_bytes;
};

struct result_step {
    int64_t ns;
    double hit_ratio; /* NaN: null */
    int64_t in_bytes;
    double mass_recall; /* of all heads at this step of their recording; NaN: null */
};

/* Tiers that keep prefixes, and their columns: prompt tokens found there, their share; below HBM also what
 * is kept there at the end, read and written. */
enum {
#define BELOW(tier, where) RESULT_TIER_##tier,
#include "predict/result/tiers.def"
    RESULT_TIERS
};
extern const struct tier_columns {
    const struct column *tokens, *share, *held, *read, *written;
} tier_columns[RESULT_TIERS];

/* A request of a server's workload; times since the first arrival; negative: it never happened. */
struct result_request {
    uint32_t replica; /* that served it, from 0 */
    uint32_t prompt, output, preemptions;
    uint64_t found[RESULT_TIERS]; /* tokens of the prompt in each tier */
    int64_t arrived_ns, scheduled_ns, first_token_ns, end_ns;
};

/* A part of a request's time, and its cause: "queue", "prefill", "link", ... */
struct result_wait {
    uint32_t request;
    const char *name; /* static */
    int64_t ns;
};

enum {
#define FIELD(name, type, what) RESULT_SERIES_##name,
#include "predict/result/series.def"
    RESULT_SERIES
};

/* All servers in one span of time. */
struct result_bin {
    int64_t start_ns, ns;
    double figures[RESULT_SERIES];
};

/* Replications of a run, in the order in which they were drawn (study/sweep/replication.h). */
struct result_draws {
    char ranges[17]; /* hash of the ranges drawn from, 16 hex digits */
    double (
        *values)[DRAWN_MOST]; /* owned; as result_number(), by the columns' `drawn`; NaN: null */
    uint32_t count;
};

/* What one family of recordings gave, where several were replayed (predict/answer.h). */
struct result_family {
    char name[RESULT_NAME];     /* of the recording */
    double values[RANGES_MOST]; /* as result_number(), by the columns' `range`; NaN: null */
};
enum { RESULT_MOST_FAMILIES = 8 };

/* The attention mass at a step of a family, which may have more steps or fewer than the run shown. */
struct result_mass {
    uint32_t family, step;
    double mass_recall; /* as in result_step, but never NaN */
};

struct result {
    struct cell cells[COLUMNS_MOST];
    struct result_item parts[RESULT_MOST_ITEMS], stalls[RESULT_MOST_ITEMS];
    uint32_t part_count, stall_count;
    struct result_item basis[RESULT_MOST_ITEMS];
    uint32_t basis_count;
    double band[COLUMN_BANDS]
               [2];              /* by BANDED_RATE and so on, where the column of the band is set */
    char (*names)[RESULT_NAME];  /* owned; NULL unless read back */
    struct result_layer *layers; /* owned */
    struct result_step *steps;   /* owned */
    uint32_t layer_count, step_count;
    struct result_request *requests; /* owned; none when it was read back */
    struct result_wait *waits;       /* owned; as requests */
    struct result_bin *bins;         /* owned; as requests */
    uint32_t request_count, wait_count, bin_count;
    struct result_draws draws;
    struct result_family families[RESULT_MOST_FAMILIES];
    uint32_t family_count;      /* 0: there is one trace, or hits need none */
    struct result_mass *masses; /* owned; of all families, in order; none when it was read back */
    uint32_t mass_count;
    /* Hashes of the inputs, as 16 hex digits; "" if there is no such input. Stored with the run. */
    char scenario_hash[17], trace_hash[17], profile_hash[17], plan_hash[17];
    char model_hash[17], requests_hash[17]; /* not stored: answer_seal() writes them again */
    char scenario[8192]; /* canonical text of the resolved scenario, for reproduction */
    char expected[256];  /* of a failed run, what would have been right; "" if nothing says */
    char nearest[64];    /* of a failed run, the nearest valid name; "" if none is near */
    bool invalid;        /* of a failed run: the request is, by what was typed */
    json_t *notes;       /* a list of notes (note.h), owned; NULL: none */
    char message[512];   /* of a failed run, why; else its notes in words, joined by "; "; or "" */
};

void result_init(struct result *result);
void result_release(struct result *result);

/* Did the run fail? Its message is then the reason. */
bool result_failed(const struct result *result);

/* Did the run succeed? */
bool result_ok(const struct result *result);

/* Was there too little memory? */
bool result_out_of_memory(const struct result *result);

/* Does this column have a value? Items (or a band) count as set whether their cell is set or not; the cell
 * tells an empty list from a null one. Notes always have one, an empty list if there are none. */
bool result_has(const struct result *result, const struct column *column);

static inline const struct cell *result_cell(const struct result *result,
                                             const struct column *column)
{
    return &result->cells[column->index];
}

/* A number in the unit of its column; NaN for null. Not for texts and items. */
double result_number(const struct result *result, const struct column *column);

/* The ends of its range over families of recordings. Returns false if it has none. */
bool result_range(const struct result *result, const struct column *column, double *low,
                  double *high);

/* The same number with one family's demands; without families, its only one. */
double result_number_with(const struct result *result, const struct column *column,
                          uint32_t family);

/* The longest item of parts_us or stalls_us, the first of equals; NULL if there is none. */
const struct result_item *result_largest(const struct result *result, const struct column *column);

/* Take over a note, and add its words to the message of a run that did not fail. NOTES_MOST are kept. */
void result_note(struct result *result, json_t *note);

/* Write why the run has no times, "HBM: needs 352 GiB, has 40.5 GiB". Returns `text`. */
const char *result_reason(const struct result *result, char *text, size_t size);

void result_drop_notes(struct result *result);

/* Set a cell. A real that is not finite leaves null. */
void result_integer(struct result *result, const struct column *column, int64_t value);
void result_real(struct result *result, const struct column *column, double value);
bool result_text(struct result *result, const struct column *column, const char *text,
                 struct error *why);

/* ---- a cell as text: one spelling for the database and the JSON.
 *
 *   text        as it is (JSON quotes and escapes it: cell_text() does not)
 *   whole       123
 *   number      the shortest decimals that read back as the same double: 0.931
 *   US, MS      exact decimals of whole nanoseconds: 1490.125 and 1.490125
 *   items       {"compute":1398.000,"link":92.125}, {"published":0.25,"assumed":0.75}
 *   a band      [-0.2,0.25]
 *   notes       [{"note":"refused","refused":3,...},...] (note.h)
 * ---- */
#define CELL_SIZE 8192

/* The text of a cell, in `buffer` or the result's own; NULL when the cell is null. */
const char *cell_text(const struct result *result, const struct column *column,
                      char buffer[CELL_SIZE]);

/* Read the text of items (into `names` [RESULT_MOST_ITEMS]), a band or notes; false for any other. */
bool cell_parse(struct result *result, const struct column *column, const char *text,
                char (*names)[RESULT_NAME]);

/* A double in units of `scale` ns back to nanoseconds, exact below 2^51 of them. False past 64 bits. */
bool cell_read_ns(double value, double scale, int64_t *ns);
