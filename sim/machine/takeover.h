/* What a GPU's profile takes over from another GPU's by `extends`, and what it must not take over.
 * Private to this folder; profile.h describes the result.
 *
 * Kernels belong to an architecture: their times, their shares of the peaks, the threads of a
 * multiprocessor, whether there is fp8. Two rules keep them there:
 *
 *   - A GPU that states another `compute_capability` than the GPU that it extends is refused.
 *   - A GPU that states flops_fp8 equal to its flops_bf16 has no fp8 (curves.def). It takes over no
 *     figure of fp8.
 *
 * The compute capability is not a curve: no time depends on it, and a profile's hash does not.
 */
#pragma once

#include "machine/profile.h"

/* "compute_capability" */
extern const char takeover_capability_key[];

/* Check the compute capability of `stated`, a map of figures that is to be laid over the figures of
 * `gpu` (NULL or empty: none). */
bool takeover_check(const struct node *gpu, const struct node *stated, struct error *why);

/* After `stated` was laid over `gpu`: remove the figures of fp8 that it must not take over. */
void takeover_drop_fp8(struct node *gpu, const struct node *stated);

/* Is the GPU that a user's file states another one than `gpu`, which it extends: has it, by a
 * figure that was not measured, another bandwidth, peak, number of multiprocessors or L2? */
bool takeover_of_another(const struct node *gpu, const struct node *stated);

/* After `stated` was laid over such a GPU: what was measured of the other GPU counts as assumed,
 * within its range, and its sources say whose it is. Figures of nvidia.yaml hold for every GPU. */
bool takeover_assume(struct node *gpu, const struct node *stated, struct error *why);

/* Count the figures of `gpu` that the file `own` did not state. `own` (NULL: none) is the user's
 * file nearest to the machine that states figures of the GPU. Figures from the scenario's own
 * file `scenario`, from overrides, and from the base of all GPUs, nvidia.yaml, do not count. */
void takeover_count(const struct node *gpu, const char *own, const char *scenario,
                    struct takeover *out);
