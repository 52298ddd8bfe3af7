/* Rows share runs: a run is looked up by its identity. */
#include "study/papers/comparison.h"

#include "base/array.h"
#include "base/parallel.h"
#include "scenario/identity.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static bool comparison_find_run(struct comparison *comparison, const struct scenario *scenario,
                                uint32_t *out, struct error *why)
{
    struct comparison_run run = {.ran = false};
    if (!scenario_point(scenario, 0, &run.point, why)) {
        return false;
    }
    bool good = run_identity(&run.point, run.run, why);
    for (size_t i = 0; good && i < comparison->run_count; i++) {
        if (strcmp(comparison->runs[i].run, run.run) == 0) {
            *out = (uint32_t)i;
            point_release(&run.point);
            return true;
        }
    }
    if (!good || !array_reserve(&comparison->runs, &comparison->run_capacity,
                                comparison->run_count + 1, sizeof run, why)) {
        point_release(&run.point);
        return false;
    }
    *out = (uint32_t)comparison->run_count;
    comparison->runs[comparison->run_count++] = run;
    return true;
}

static bool find_runs(struct comparison *comparison, const struct scenario *scenarios,
                      uint32_t count, uint32_t *out, struct error *why)
{
    for (uint32_t i = 0; i < count; i++) {
        out[i] = COMPARISON_NO_RUN;
        if (scenarios[i].root != NULL &&
            !comparison_find_run(comparison, &scenarios[i], &out[i], why)) {
            return false;
        }
    }
    return true;
}

static bool comparison_add_row(struct comparison *comparison, const struct paper *paper,
                               const struct paper_row *row, struct error *why)
{
    if (!array_reserve(&comparison->rows, &comparison->row_capacity, comparison->row_count + 1,
                       sizeof *comparison->rows, why)) {
        return false;
    }
    struct comparison_row *added = &comparison->rows[comparison->row_count++];
    *added = (struct comparison_row){.paper = paper, .row = row};
    if (!find_runs(comparison, row->runs, PAPER_MOST_RUNS, added->runs, why)) {
        return false;
    }
    for (uint32_t i = 0; i < row->assumed_count; i++) {
        for (int end = 0; end < 2; end++) {
            if (!find_runs(comparison, row->assumed[i].runs[end], PAPER_ROLES,
                           added->assumed[i][end], why)) {
                return false;
            }
        }
    }
    return true;
}

static bool comparison_collect(struct comparison *comparison, const char *const *files,
                               uint32_t count, struct error *why)
{
    comparison->papers = array_zeroed(count, sizeof *comparison->papers, why);
    if (comparison->papers == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct paper *paper = &comparison->papers[i];
        if (!paper_load(files[i], paper, why)) {
            return false;
        }
        comparison->paper_count++;
        for (size_t r = 0; r < paper->row_count; r++) {
            if (!comparison_add_row(comparison, paper, &paper->rows[r], why)) {
                return false;
            }
        }
    }
    return true;
}

/* All runs, in progress. */
struct comparison_course {
    struct comparison *comparison;
    struct run_context context;
    comparison_progress *on_progress;
    atomic_uint done;
};

static bool comparison_run_one(uint32_t index, uint32_t thread, void *context, struct error *why)
{
    struct comparison_course *course = context;
    struct comparison *comparison = course->comparison;
    struct comparison_run *run = &comparison->runs[index];
    (void)thread;
    const struct point *point = &run->point;
    run->ran = point_serves(point) /* a server has no ranges */
                   ? answer_run(point, &course->context, &run->result, why)
                   : answer_ranges(point, 0, &course->context, &run->result, &run->ranges, why);
    if (course->on_progress != NULL) {
        uint32_t done = atomic_fetch_add(&course->done, 1) + 1;
        course->on_progress(done, (uint32_t)comparison->run_count, NULL);
    }
    return run->ran;
}

bool comparison_create(const char *const *files, uint32_t count, uint32_t threads,
                       comparison_progress *on_progress, struct comparison *out, struct error *why)
{
    struct comparison_course course = {.comparison = out, .on_progress = on_progress};
    *out = (struct comparison){.papers = NULL};
    bool good = run_context_init(&course.context, parallel_threads(threads), NULL, why);
    course.context.threads = 1; /* the runs are parallel already */
    good = good && comparison_collect(out, files, count, why) &&
           parallel_for((uint32_t)out->run_count, threads, comparison_run_one, &course, why);
    run_context_release(&course.context);
    if (!good) {
        comparison_release(out);
        return false;
    }
    for (size_t i = 0; i < out->row_count; i++) {
        judge_row(out, &out->rows[i]);
    }
    return true;
}

void comparison_release(struct comparison *comparison)
{
    for (size_t i = 0; i < comparison->run_count; i++) {
        struct comparison_run *run = &comparison->runs[i];
        if (run->ran) {
            result_release(&run->result);
            run_ranges_release(&run->ranges);
        }
        point_release(&run->point);
    }
    for (size_t i = 0; i < comparison->paper_count; i++) {
        paper_release(&comparison->papers[i]);
    }
    free(comparison->runs);
    free(comparison->rows);
    free(comparison->papers);
    *comparison = (struct comparison){.papers = NULL};
}

const struct result *comparison_result(const struct comparison *comparison,
                                       const struct comparison_row *row, int run)
{
    return row->runs[run] == COMPARISON_NO_RUN ? NULL : &comparison->runs[row->runs[run]].result;
}

const struct result *comparison_decides(const struct comparison *comparison,
                                        const struct comparison_row *row, int role)
{
    return comparison_result(comparison, row, (int)row->at.which * PAPER_ROLES + role);
}

uint32_t comparison_unfit(const struct comparison *comparison, const struct comparison_row *row,
                          uint32_t *runs)
{
    uint32_t unfit = 0;
    *runs = 0;
    for (int i = 0; i < PAPER_MOST_RUNS; i++) {
        const struct result *result = comparison_result(comparison, row, i);
        *runs += result != NULL;
        unfit += result != NULL && !result->cells[COLUMN_STEP].set;
    }
    return unfit;
}
