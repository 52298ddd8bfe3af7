/* A file of figures that a paper publishes, and of the runs that predict them.
 *
 *   paper: "CLO, 2025"
 *   figure: a decode layer at 128K tokens
 *   scenario: {model: llama-3-8b, hardware: a40, trace: llama-3-8b-like, context: 131072}
 *   rows:
 *     - what: RetroInfer over all KV in HBM
 *       set: {system: retroinfer}      # laid over the scenario
 *       take: layer_us                 # the predicted figure (formula.h)
 *       against: {system: fullattn}    # divide by the same figure of another run
 *       published: 137%                # or 1490us..1517us
 *       note: "..."                    # what would settle a miss
 *
 * `against` is laid over the scenario and `set`. A list of runs divides by the best of them, so
 * `take` must be the time of a step or a rate. `over`: other figures to divide by, of the `against`
 * run or, without one, of the run itself. `minus`: a run to subtract. `sweep`: one key and a list;
 * it makes a row for each value, and `published` is a list too.
 *
 * `across`: a list of maps, each laid over `set` in turn, for papers that publish only the ends of
 * what they saw. `published` is then {least: 2.08x, most: 3.24x}, or one of both, and each end is a
 * row. What does not fit the memory is left out: the map if its own run does not fit or none of
 * `against` does, otherwise the run in question.
 *
 * `served`: a map of figures that a server's benchmark printed, in place of `take` and `published`:
 *
 *     - what: Llama-3-8B, 32 requests a second
 *       set: {model: llama-3-8b, hardware: h100-pcie, system: vllm, rate: 32, workload: ...}
 *       served: {ttft_ms: 40.44ms, tpot_ms: 16.26ms, decode_tokens_per_s: 2692.8}
 *
 * Each figure is a row; `not_comparable` holds for all. The TTFT of a server that holds requests
 * back is the length of its queue: leave it out.
 *
 * `assumed`: keys of the scenario that no source states, each with both ends of its range, such as
 * {mechanisms.operators: [30, 80]}; an `assumed` of the file applies to rows without their own,
 * except those of `across` and `rank`.
 * `rank`: runs in published order, best `take` first; `take` is decode_tokens_per_s by default.
 * `not_comparable`: the reason. Such a row is not counted and needs only `what` and `published`.
 * `used`: names of figures that were read off the row, so that it is not comparable. `later: yes`:
 * the row is not one of the first 62 and is counted apart.
 */
#ifndef STUDY_PAPERS_PAPER_H
#define STUDY_PAPERS_PAPER_H

#include "decode/error_band.h"
#include "scenario/scenario.h"
#include "study/papers/formula.h"

enum {
    PAPER_MOST_AGAINST = 4,
    PAPER_MOST_CASES = 16,
    PAPER_MOST_RANKED = 8,
    PAPER_MOST_ASSUMED = 4
};

/* The runs of a case by role; PAPER_AGAINST is the first of up to PAPER_MOST_AGAINST. A row has one
 * case, or one for each map of `across`: the run of a role is at case * PAPER_ROLES + role. A rank
 * has all of its runs in a row, best first. */
enum paper_role {
    PAPER_RUN,
    PAPER_MINUS,
    PAPER_AGAINST,
    PAPER_ROLES = PAPER_AGAINST + PAPER_MOST_AGAINST
};
enum { PAPER_MOST_RUNS = PAPER_MOST_CASES * PAPER_ROLES };

/* Which value of several cases is published. */
enum paper_end { PAPER_ONLY, PAPER_LEAST, PAPER_MOST };

/* A key at both ends of its range, in all runs of a row. */
struct paper_assumed {
    const char *key, *values[2];
    struct scenario runs[2][PAPER_ROLES]; /* root NULL: the row has no such run */
};

struct paper_row {
    char what[160];
    bool served;                /* a server's figure */
    enum band_figure figure;    /* which, if it is */
    char published[64];         /* as written */
    enum unit unit;             /* of `published` */
    double least, most;         /* of `published`, in its base unit */
    const char *not_comparable; /* the reason; NULL: the row is comparable */
    const char *used;           /* the figures that were read off it, also its reason; NULL: none */
    bool later;
    const char *note; /* NULL: none */
    bool rank;
    enum paper_end end;
    const struct node *across; /* the maps of the cases; NULL: one case */
    uint32_t case_count;
    struct formula take, over;
    struct scenario runs[PAPER_MOST_RUNS]; /* root NULL: the row has no such run */
    struct paper_assumed assumed[PAPER_MOST_ASSUMED];
    uint32_t assumed_count;
};

struct paper {
    struct node *tree;
    const char *title, *figure;
    bool used; /* some row is */
    struct paper_row *rows;
    size_t row_count, row_capacity;
};

bool paper_load(const char *path, struct paper *out, struct error *why);
void paper_release(struct paper *paper);

/* The case as text, "context 32768, batch 4"; "" if the row has only one. */
void paper_case_name(const struct paper_row *row, uint32_t which, char *text, size_t size);

#endif
