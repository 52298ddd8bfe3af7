/* Fuzzes files of systems: whatever one states, a batch of decode steps and a server with requests
 * are refused with a reason, or give a run whose time or failure is told. */
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

static void run_point(const struct point *point)
{
    struct run_context runs;
    struct result result;
    struct error why = {.found = ""};
    require(run_context_init(&runs, 1, NULL, &why));
    runs.threads = 1;
    if (answer_run(point, &runs, &result, &why)) {
        bool ok = strcmp(result_cell(&result, COLUMN(status))->text, "ok") == 0;
        require(ok || result.message[0] != '\0');
        result_release(&result);
    } else {
        require(why.found[0] != '\0');
    }
    run_context_release(&runs);
}

/* The scenario is short, so the system's file decides what it does not state. */
static void ask(const char *system, const char *const *stated)
{
    const char *overrides[] = {"model=llama-3-8b", "hardware=a40", "trace=assumed:hit=90%", system,
                               stated[0],          stated[1]};
    struct scenario scenario;
    struct point point;
    struct error why = {.found = ""};
    if (!scenario_load(NULL, 0, overrides, 6, &scenario, &why)) {
        require(why.found[0] != '\0');
        return;
    }
    if (scenario_point(&scenario, 0, &point, &why)) {
        run_point(&point);
        point_release(&point);
    } else {
        require(why.found[0] != '\0');
    }
    scenario_release(&scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const workload = "workload=synthetic:prompt=100,output=4,requests=2";
    static const char *const questions[][2] = {
        {"context=4000", "steps=1"}, {"context=4000", "prompt=context"}, {workload, "rate=1"},
        {workload, "timed=no"},      {workload, "engine=none"},
    };
    char system[64];
    int file = memfd_create("system", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(system, sizeof system, "system=/proc/self/fd/%d", file);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        ask(system, questions[i]);
    }
    close(file);
    return 0;
}
