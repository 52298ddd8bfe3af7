/* The CPU's time to launch a step kernel by kernel: where no CUDA graph holds it, a fast GPU waits
 * for its next kernel, however few tokens there are.
 *
 * SGLang computes prompts so, and vLLM every step with --enforce-eager. vLLM's compiled prompts are
 * graphs up to 512 tokens, with attention between them; longer ones keep the GPU busy for longer
 * than their launches take.
 */
#pragma once

#include "decode/setup.h"

/* In ns: host.launch for each kernel of the layers of one stage. The kernels of a dense layer are
 * the system's `operators`; others have as many more or fewer as the model has operators. */
double step_launch_ns(const struct setup *setup, struct trust *trust);
