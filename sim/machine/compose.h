/* Puts a machine together from the files that its description names. Private to this folder. */
#pragma once

#include <stddef.h>

#include "core/named.h"
#include "core/node.h"
#include "machine/profile.h"

struct files;
struct takeover;

/* Resolve `hardware` (a name, or a map of extends, gpu, link, host) by replacing every name with
 * what its file states. The result is a map of parts, each a map of figures as written; the caller
 * destroys it. `name` gets the machine's name, `takeover` what its GPU takes over from another (see
 * struct profile).
 * `files` keeps the files that are read (NULL: none). NULL with `why` on failure. */
struct node *machine_compose(struct files *files, const struct node *hardware, char *name,
                             size_t size, struct takeover *takeover, struct error *why);

/* Finds the file that the name of a profile stands for. Private to this folder. */

/* The parts of a machine. MACHINE stands for the whole machine. */
enum profile_part {
#define PART(id, ...) PART_##id,
#include "core/machine_parts.def"
    PART_COUNT,
    MACHINE = PART_COUNT
};

/* "gpu", "link", ... */
extern const char *const part_names[PART_COUNT];

/* The file of the part or machine that the scalar `name` names: a path, a part's file, or a
 * machine's. A path need not exist. A name must; otherwise the error names the nearest. */
bool locate_profile(const struct node *name, enum profile_part part, char *path, size_t size,
                    struct error *why);

/* The canonical name (core/named.h) of the part or machine that `name` means; false for a path and
 * for a name that means none. */
bool locate_canonical(const char *name, enum profile_part part, char out[NAMED_SIZE]);

/* Is `path` a file of the data folder for this part, such as hwprofiles/gpus/l40s.yaml? */
bool located_in_data(const char *path, enum profile_part part);

/* Append the name of a profile, without folder and suffix, to `text`; a '+' separates it from what
 * `text` already holds. */
void append_profile_name(const char *name, char *text, size_t size);

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
