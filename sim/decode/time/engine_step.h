/* What a serving engine adds around the GPU's work of a step: its padded rows and the CPU's time that the
 * GPU waits for. Servers and steps without a workload have it from here, so that one is the other.
 *
 * For B sequences that decode, on a GPU that computes them in `gpu`:
 *
 *     rows = those of the engine's next larger CUDA graph, all computed
 *     cpu = step_overhead + sequence_ns B
 *     launch = host.launch for each kernel, in a step without CUDA graphs
 *     step = max(gpu, launch) + cpu; or, if the engine overlaps them, max(gpu + gap, cpu + launch)
 *
 * The cpu of a server's step has the calls of its copies of KV, too. A step that itself waits for copies is
 * prepared only when the one before has ended, whatever the engine overlaps. A system that runs in no engine
 * pads nothing and waits for all of its `step_overhead`. */
#pragma once

#include "decode/setup.h"
#include "decode/time/pipeline.h"

/* Does an engine compute decodes in the rows of its CUDA graphs? Not if the system selects or offloads. */
bool engine_step_pads(const struct setup *setup);

/* The rows that compute a step of `sequences` which all decode: those of the next size that the
 * engine has captured, and the rows beyond visit experts, too. `sequences` if no graph holds so many. */
uint32_t engine_step_rows(const struct setup *setup, uint32_t sequences);

/* Does the CPU launch a step in which `sequences` decode kernel by kernel, as no CUDA graph holds it? */
bool engine_step_launched(const struct setup *setup, uint64_t sequences);

/* The tokens that `sequences` of this mean length attend to, if all are padded to the `longest`. */
double engine_step_tokens(const struct setup *setup, double sequences, double mean, double longest);

/* The CPU's time to launch a step kernel by kernel, in ns: where no CUDA graph holds it, a fast GPU
 * waits for its next kernel, however few tokens there are. It is host.launch for each kernel of the
 * layers of one stage. The kernels of a dense layer are the system's `operators`; others have as many
 * more or fewer as the model has operators.
 *
 * SGLang computes prompts so, and vLLM every step with --enforce-eager. vLLM's compiled prompts are
 * graphs up to 512 tokens, with attention between them; longer ones keep the GPU busy for longer
 * than their launches take. */
double engine_step_launch_ns(const struct setup *setup, struct trust *trust);

/* Work of the CPU in a step, beside `step_overhead`. */
struct engine_step_cpu {
    double sequences; /* decodes, and chunks of prompts */
    double launch_ns; /* while earlier kernels run */
    double copies_ns; /* of calls that copy KV, before the launch */
    bool alone;       /* the step is not prepared while the one before runs */
};

/* The time in which the GPU waits for the CPU in a step that it computes in `gpu_ns`: all of the CPU's
 * time, or the gap between steps and what is left then. Its basis is assumed. */
double engine_step_waits_ns(const struct setup *setup, const struct engine_step_cpu *cpu,
                            double gpu_ns);

/* Add these waits to steps of `sequences` that the pipeline timed with no `step_overhead`. */
void engine_step_add(const struct setup *setup, uint32_t sequences, struct timing *timing);
