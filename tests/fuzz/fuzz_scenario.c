/* Fuzzes scenarios: bytes are refused with a reason, or give a run. Its resolved scenario is the
 * same run again, and its parts add up to its step. */
#include "predict/scenario/point.h"
#include "predict/scenario/scenario.h"
#include "predict/answer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* No recording, and one step, so that the fuzzer can run it often. */
static const char *const overrides[] = {"trace=assumed:hit=90%,spread=5%", "steps=1"};

/* Load the text as a file. */
static bool load(const void *text, size_t size, struct scenario *out, struct error *why)
{
    char path[64];
    const char *files[] = {path};
    int file = memfd_create("scenario", 0);
    require(file >= 0 && write(file, text, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    bool good = scenario_load(files, 1, overrides, 2, out, why);
    close(file);
    return good;
}

static void require_round_trip(const struct point *point)
{
    struct scenario scenario;
    struct point again;
    struct error why;
    char first[17], second[17];
    require(load(point->scenario, strlen(point->scenario), &scenario, &why));
    require(scenario.points == 1 && scenario_point(&scenario, 0, &again, &why));
    require(strcmp(point->scenario, again.scenario) == 0);
    require(run_identity(point, first, &why) && run_identity(&again, second, &why));
    require(strcmp(first, second) == 0);
    point_release(&again);
    scenario_release(&scenario);
}

static void require_result(const struct result *result)
{
    int64_t parts = 0;
    bool ok = strcmp(result_cell(result, COLUMN(status))->text, "ok") == 0;
    for (uint32_t i = 0; i < result->part_count; i++) {
        require(result->parts[i].ns >= 0);
        parts += result->parts[i].ns;
    }
    require(result_cell(result, COLUMN(step_us))->set == ok);
    require(!ok || parts == result_cell(result, COLUMN(step_us))->integer);
    require(ok || result->message[0] != '\0');
}

static void run_point(const struct scenario *scenario, uint32_t index)
{
    struct point point;
    struct result result;
    struct error why = {.found = ""};
    if (!scenario_point(scenario, index, &point, &why)) {
        require(why.found[0] != '\0');
        return;
    }
    require_round_trip(&point);
    struct run_context runs;
    require(run_context_init(&runs, 1, NULL, &why));
    runs.threads = 1;
    if (answer_run(&point, &runs, &result, &why)) {
        require_result(&result);
        result_release(&result);
    } else {
        require(why.found[0] != '\0');
    }
    run_context_release(&runs);
    point_release(&point);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scenario scenario;
    struct error why = {.found = ""};
    if (!load(data, size, &scenario, &why)) {
        require(why.found[0] != '\0' && scenario.root == NULL);
        return 0;
    }
    require(scenario.points > 0);
    run_point(&scenario, 0);
    run_point(&scenario, scenario.points - 1);
    scenario_release(&scenario);
    return 0;
}
