/* Profiles that were measured, not written: they say on what, and are used whole or not at all.
 *
 *   # Measured by 'spillway calibrate'. ...
 *   provenance:
 *     format: 1
 *     checksum: 0123456789abcdef     # XXH64 of all that follows this line
 *     gpu: "NVIDIA H200"
 *     ...                            # texts; what stands here is calibrate's choice
 *   extends: h100-sxm
 *   gpu: ...
 *   observed: ...                    # observed.h
 *   ...                              # the end: three dots on a line of their own
 *
 * Whoever wants another figure states it in a file of his own, so that what is called measured was
 * measured. A cut or changed file is refused.
 */
#ifndef HARDWARE_MEASURED_H
#define HARDWARE_MEASURED_H

#include "base/error.h"
#include "base/node.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MEASURED_FORMAT = 1 };

/* Its first line, without the end of the line, and its last with it. */
extern const char measured_first_line[], measured_last_line[];

uint64_t measured_checksum(const char *text, size_t size);

/* Check the text of a profile as above, if it is one, which `*measured` says. `path` is what
 * messages call it. */
bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why);

/* Check what the profile's tree has under `provenance` and `observed`, which only a measured
 * profile may have. */
bool measured_check_tree(const struct node *profile, bool measured, struct error *why);

#endif
