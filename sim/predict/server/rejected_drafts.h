/* What rejected drafts ask of offloaded KV is in no recording (decode/draft/drafts.h). A result stands on one
 * of two bounds; a note says what the other would make of it. */
#pragma once

#include "predict/result/result.h"
#include "predict/decode/run.h"

/* Add the note to the result of the setup's run: one more run, with the other bound. Nothing if no
 * draft was replayed, or if none is rejected. */
bool rejected_drafts_note(const struct setup *setup, const struct run_context *context,
                          struct result *result, struct error *why);
