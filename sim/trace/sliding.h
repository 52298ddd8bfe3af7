/* Layers with sliding windows. Their heads attend only to the last tokens, so their KV stays in HBM
 * and no policy has anything to decide. Counted with the others, they would raise every hit ratio.
 */
#ifndef TRACE_SLIDING_H
#define TRACE_SLIDING_H

#include "trace/format/trace.h"

/* Does `layer` have a sliding window? It has if each row of the first tile has fewer units than
 * rows keep, and its units behind the sinks are all tokens from one of them to the end of the
 * prefix: the row then holds everything that the head could attend to. A window of more tokens
 * than rows keep is not recognised. */
bool trace_layer_slides(const struct trace *trace, uint32_t layer, bool *slides, struct error *why);

#endif
