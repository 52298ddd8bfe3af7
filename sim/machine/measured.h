/* Measured profiles: they state their provenance and are used unchanged or not at all.
 *
 *   # Measured by 'spillway calibrate'. ...
 *   provenance:
 *     format: 1
 *     checksum: 0123456789abcdef     # XXH64 of all that follows this line
 *     gpu: "NVIDIA H200"
 *     ...                            # more texts, as calibrate chooses
 *   extends: h100-sxm
 *   gpu: ...
 *   observed: ...                    # what was measured, also what no curve has
 *   ...                              # the end: three dots on a line of their own
 *
 * To use another figure, state it in a file of your own that extends this one: a profile called
 * measured then holds only what was measured. A cut or changed file is refused. */
#pragma once

#include "core/node.h"

enum { MEASURED_FORMAT = 1 };

/* Without its newline. */
extern const char measured_first_line[];

uint64_t measured_checksum(const char *text, size_t size);

/* Set `*measured`: is the profile's text a measured one? If so, check it as above; messages say `path`. */
bool measured_check_text(const char *text, size_t size, const char *path, bool *measured,
                         struct error *why);

/* Only a measured profile may have `provenance` and `observed`, of which the simulator computes nothing. */
bool measured_check_tree(const struct node *profile, bool measured, struct error *why);
