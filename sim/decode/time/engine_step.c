#include "decode/time/engine_step.h"

#include "decode/mechanism_values.h"

#include <math.h>

bool engine_step_pads(const struct setup *setup)
{
    return !mechanisms_offload(setup->mechanisms) && !mechanisms_select(setup->mechanisms);
}

uint32_t engine_step_rows(const struct setup *setup, uint32_t sequences)
{
    const struct setup_engine *engine = &setup->engine;
    const struct graph_sizes *size = engine->sizes, *end = size + engine->size_count;
    while (size < end && sequences > size->to) {
        size++;
    }
    if (size == end || engine->launches || !engine_step_pads(setup)) {
        return sequences;
    }
    uint64_t rows = (sequences + size->step - 1) / size->step * size->step;
    rows = engine->most_rows > 0 && rows > engine->most_rows ? engine->most_rows : rows;
    return rows > sequences ? (uint32_t)rows : sequences;
}

bool engine_step_launched(const struct setup *setup, uint64_t sequences)
{
    const struct setup_engine *engine = &setup->engine;
    uint64_t sized = engine->size_count > 0 ? engine->sizes[engine->size_count - 1].to : 0;
    uint64_t captured = engine->most_rows > 0 ? engine->most_rows : sized;
    return engine->launches || (captured > 0 && sequences > captured);
}

/* A kernel of decode attention has finished when its longest sequence has: it takes as long as if
 * all were longer than their mean by this share of the way to the longest. LLMServingSim's tables of
 * uneven batches (profiler/perf, skew.csv) on an RTX 4090 and an RTX PRO 6000 Server, vLLM 0.19.0;
 * hwprofiles/import/uneven.py. */
static const double uneven = 0.03;

double engine_step_tokens(const struct setup *setup, double sequences, double mean, double longest)
{
    double beyond = engine_step_pads(setup) ? uneven * fmax(0, longest - mean) : 0;
    return sequences * (mean + beyond);
}

/* norm, qkv, rope, kv_write, attention, o, norm, gate_up, activation, down (model/operators.c). */
enum { DENSE_OPERATORS = 10 };

double engine_step_launch_ns(const struct setup *setup, struct trust *trust)
{
    double kernels = 0;
    for (uint32_t layer = 0; layer < setup->model.layer_count; layer++) {
        struct model_operator operators[MODEL_MOST_OPERATORS];
        const struct model_rows rows = model_rows(&setup->model, 1);
        double count = (double)model_row_operators(&setup->model, layer, rows, 1, operators);
        uint64_t exchanges;
        cost_exchanges(setup, layer, rows, &exchanges);
        double dense = (double)setup->mechanisms->operators - DENSE_OPERATORS;
        kernels += fmax(1, dense + count) + (double)exchanges;
    }
    return kernels / setup->model.parallel.pipeline * setup->mechanisms->launch_cost *
           profile_value(&setup->profile, CURVE_HOST_LAUNCH, 0, trust);
}

static double cpu_ns(const struct setup *setup, double sequences)
{
    return (double)setup->mechanisms->step_overhead + (double)setup->engine.sequence_ns * sequences;
}

double engine_step_waits_ns(const struct setup *setup, const struct engine_step_cpu *cpu,
                            double gpu_ns)
{
    double before = cpu_ns(setup, cpu->sequences) + cpu->copies_ns, late = cpu->launch_ns - gpu_ns;
    return setup->engine.overlaps && !cpu->alone ? fmax((double)setup->engine.gap_ns, before + late)
                                                 : before + fmax(0, late);
}

void engine_step_add(const struct setup *setup, uint32_t sequences, struct timing *timing)
{
    bool launched = engine_step_launched(setup, sequences);
    double launch = launched ? engine_step_launch_ns(setup, TRUST_UNSEEN) : 0;
    const struct engine_step_cpu cpu = {.sequences = sequences, .launch_ns = launch};
    int64_t sum = 0;
    for (uint32_t s = 0; s < timing->steps; s++) {
        int64_t waits = llround(engine_step_waits_ns(setup, &cpu, (double)timing->step[s].ns));
        timing->step[s].ns += waits;
        sum += waits;
    }
    timing->total_ns += sum;
    timing->part_ns[PART_OVERHEAD] += sum;
    timing->stall_ns[PART_OVERHEAD] += sum;
    timing->basis_ns[BASIS_ASSUMED] += sum;
    *timing->cpu_ns += llround((cpu_ns(setup, sequences) + launch) * timing->steps);
    if (sum > 0) {
        trust_add(&timing->trust, (struct trust){.basis = BASIS_ASSUMED});
    }
    if (sum > timing->assumed_ns) {
        bool gap = setup->engine.overlaps && sum == setup->engine.gap_ns * timing->steps;
        timing->assumed_figure = gap ? "engine path.gap" : "mechanisms.step_overhead";
        timing->assumed_ns = sum;
    }
}
