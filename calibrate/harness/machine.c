#include "calibrate/harness/machine.h"

#include "calibrate/device/facts.h"
#include "calibrate/harness/apart.h"

#include <glob.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The value in a line "key   : value"; NULL if the line has another key. */
static const char *machine_value_of(char *line, const char *key)
{
    char *colon = strchr(line, ':');
    if (strncmp(line, key, strlen(key)) != 0 || colon == NULL) {
        return NULL;
    }
    colon[strcspn(colon, "\n")] = '\0';
    return colon + 1 + strspn(colon + 1, " \t");
}

struct machine_processor {
    char model[256];
    double mhz_sum;
    uint32_t mhz_count;
};

/* Linux states model and clocks on x86, and neither on some other architectures. */
static struct machine_processor read_processor(void)
{
    struct machine_processor processor = {.model = ""};
    char line[1024];
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value;
        if (processor.model[0] == '\0' && (value = machine_value_of(line, "model name")) != NULL) {
            snprintf(processor.model, sizeof processor.model, "%s", value);
        } else if ((value = machine_value_of(line, "cpu MHz")) != NULL) {
            processor.mhz_sum += strtod(value, NULL);
            processor.mhz_count++;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return processor;
}

static size_t numa_nodes(void)
{
    glob_t found;
    bool any = glob("/sys/devices/system/node/node[0-9]*", 0, NULL, &found) == 0;
    size_t count = any ? found.gl_pathc : 1;
    if (any) {
        globfree(&found);
    }
    return count;
}

static void describe_host(const struct machine_processor *processor, struct provenance *out)
{
    cpu_set_t usable;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    long ours = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : online;
    provenance_set(out, FACT_CPU, "%s", processor->model[0] != '\0' ? processor->model : "unnamed");
    provenance_set(out, FACT_CORES, "%ld of %ld", ours, online);
    provenance_set(out, FACT_NUMA, "%zu", numa_nodes());
}

static void describe_gpu(const struct gpu_facts *facts, struct provenance *out)
{
    char now[40], most[40];
    provenance_set(out, FACT_GPU, "%s", facts->name);
    provenance_set(out, FACT_DRIVER, "%s (CUDA %s)",
                   facts->state.driver[0] != '\0' ? facts->state.driver : "unknown",
                   facts->supports);
    provenance_set(out, FACT_TOOLKIT, "CUDA %s", facts->toolkit);
    provenance_set(out, FACT_LINK, "%s; at most %s", pcie_format(facts->state.now, now, sizeof now),
                   pcie_format(facts->state.most, most, sizeof most));
}

static void describe_clocks(const struct machine_processor *processor,
                            const struct gpu_facts *facts, enum fact clocks, struct provenance *out)
{
    char text[256] = "CPU not stated", reasons[160];
    if (processor->mhz_count > 0) {
        snprintf(text, sizeof text, "CPU %.0f MHz", processor->mhz_sum / processor->mhz_count);
    }
    if (facts == NULL) {
        provenance_set(out, clocks, "%s", text);
    } else if (facts->unsaid[0] != '\0') {
        provenance_set(out, clocks, "%s; GPU not stated: %s", text, facts->unsaid);
    } else {
        provenance_set(out, clocks, "%s; GPU SM %u of %u MHz, memory %u of %u MHz, held back by %s",
                       text, facts->state.sm_mhz, facts->state.most_sm_mhz, facts->state.memory_mhz,
                       facts->state.most_memory_mhz,
                       nvml_reasons(facts->state.held_back, reasons, sizeof reasons));
    }
}

/* What a description is asked for, and room for it. */
struct description {
    enum machine_part most;
    enum fact clocks;
    struct provenance provenance;
};

static bool machine_write_provenance(void *state, struct error *why)
{
    struct description *description = state;
    struct gpu_facts facts;
    struct machine_processor processor = read_processor();
    bool gpu = description->most == MACHINE_GPU;
    if (gpu && (!gpu_find(why) || !gpu_facts_read(&facts, why))) {
        return false;
    }
    describe_host(&processor, &description->provenance);
    if (gpu) {
        describe_gpu(&facts, &description->provenance);
    }
    describe_clocks(&processor, gpu ? &facts : NULL, description->clocks, &description->provenance);
    return true;
}

/* A GPU is looked at in a process of its own. This process never uses one: it starts others, which
 * could not use the GPU after it. */
bool machine_describe(enum machine_part most, enum fact clocks, double seconds,
                      struct provenance *out, struct error *why)
{
    if (most == MACHINE_NOTHING) {
        return true;
    }
    struct description *description = apart_memory(sizeof *description, why);
    if (description == NULL) {
        return false;
    }
    *description = (struct description){most, clocks, *out};
    const struct apart apart = {.name = "describe",
                                .seconds = seconds,
                                .run = machine_write_provenance,
                                .state = description};
    bool ok =
        most == MACHINE_GPU ? apart_run(&apart, why) : machine_write_provenance(description, why);
    if (ok) {
        *out = description->provenance;
    }
    apart_release(description, sizeof *description);
    return ok;
}
