/* A drive that reads several blocks at a time.
 *
 * A machine's file states two rates for each size of a block: of one read at a time
 * (disk.read_one, the tier's `read_one`), and of many (disk.read, DRIVE_DEPTH of them). The time of
 * a block with `depth` reads in flight lies between: a part that other reads hide, and a part that
 * they do not.
 *
 *     t(depth) = hidden / depth + served,  t(1) from disk.read_one,  t(DRIVE_DEPTH) from disk.read
 */
#ifndef PLACE_DRIVE_H
#define PLACE_DRIVE_H

#include "place/tier.h"

/* So many reads are enough: more do not make a drive of today faster. */
enum { DRIVE_DEPTH = 32 };

/* Bytes a second from a tier to the host, in reads of `bytes` each, `depth` at a time, at least 1.
 * More than DRIVE_DEPTH count as so many. Without a rate of one read any depth is enough. `trust`
 * is lowered to that of the figures. The machine states the way to the host. */
double drive_read_rate(const struct profile *profile, enum tier_id tier, double bytes,
                       uint32_t depth, struct trust *trust);

#endif
