/* Any bytes as a scenario: refused with a reason, or a run whose resolved scenario is the same run
 * again, and whose parts add up to its step. */
#include "scenario/scenario.h"
#include "study/run.h"

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

/* No recording, and one step: what a fuzzer can run often. */
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

static void require_round_trip(const struct setup *setup)
{
    struct scenario scenario;
    struct setup again;
    struct error why;
    char first[17], second[17];
    require(load(setup->scenario, strlen(setup->scenario), &scenario, &why));
    require(scenario.points == 1 && scenario_point(&scenario, 0, &again, &why));
    require(strcmp(setup->scenario, again.scenario) == 0);
    require(run_identity(setup, first, &why) && run_identity(&again, second, &why));
    require(strcmp(first, second) == 0);
    setup_release(&again);
    scenario_release(&scenario);
}

static void require_result(const struct result *result)
{
    int64_t parts = 0;
    bool ok = strcmp(result->cells[COLUMN_STATUS].text, "ok") == 0;
    for (uint32_t i = 0; i < result->part_count; i++) {
        require(result->parts[i].ns >= 0);
        parts += result->parts[i].ns;
    }
    require(result->cells[COLUMN_STEP].set == ok);
    require(!ok || parts == result->cells[COLUMN_STEP].integer);
    require(ok || result->message[0] != '\0');
}

static void run_point(const struct scenario *scenario, uint32_t point)
{
    struct setup setup;
    struct result result;
    struct error why = {.found = ""};
    if (!scenario_point(scenario, point, &setup, &why)) {
        require(why.found[0] != '\0');
        return;
    }
    require_round_trip(&setup);
    struct shared *shared = shared_create(1, &why);
    require(shared != NULL);
    if (run_setup(&setup, 1, shared, &result, &why)) {
        require_result(&result);
        result_release(&result);
    } else {
        require(why.found[0] != '\0');
    }
    shared_destroy(shared);
    setup_release(&setup);
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
