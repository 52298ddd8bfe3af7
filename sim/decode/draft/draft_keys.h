/* The keys of a scenario's map `drafts`: read into struct drafts, and written canonically.
 *
 *     drafts: {count: 3, method: eagle3, acceptance: 70%}
 *     drafts: {count: 3, method: eagle3, acceptance: [74%, 53%, 36%]}
 *     drafts: {count: 3, method: eagle3, lengths: mt-bench}
 *     drafts: {count: 3, method: model, model: qwen3-1.7b, acceptance: 70%}
 */
#pragma once

#include "core/node.h"
#include "decode/draft/drafts.h"

struct files;

/* Read `map`, which may be NULL or the word "none": no drafts. A count of 0 means the same, whatever
 * else is said. `target` is the model that verifies. The caller releases `out` with drafts_release(); after a
 * failure there is nothing to release. */
bool drafts_read(const struct node *map, struct files *files, const struct model *target,
                 struct drafts *out, struct error *why);

/* Write the map `drafts` of the resolved scenario `all`, from which it was read, so that it
 * reproduces `drafts`; without drafts it is removed. */
bool drafts_put(struct node *all, const struct drafts *drafts, struct error *why);
