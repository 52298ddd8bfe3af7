/* The operand TRACE of the trace commands: a path, or the name of a shipped trace. */
#pragma once

#include "cli/frame/arguments.h"

/* Open the trace of this name or path. */
struct trace *trace_named(const char *name, struct error *why);

/* Open the trace that the first operand names. */
struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why);

/* The option --selection: the share of the context in each demand; usually a tenth. */
bool selection_from_arguments(const struct arguments *arguments, double *share, struct error *why);

/* The option --layers of commands that read a recording: which of its layers count. */

extern const char layer_choice_summary[]; /* for the row of the option */

/* What was chosen, for a heading. */
struct layer_choice {
    uint32_t layers;  /* that the recording has */
    uint32_t sliding; /* that are left out because their windows slide; 0 with a list */
};

/* Show only the layers that the option lists, by the model's numbers; "all" shows all. Without it, show those that
 * offload: all but those with sliding windows (trace/demand.h). If every layer slides, none is left out. */
bool layer_choice_apply(const struct arguments *arguments, struct trace *trace,
                        struct layer_choice *out, struct error *why);

/* Write ", 3 of 18 layers, without 15 with sliding windows"; "" if all layers count. */
enum { LAYER_CHOICE_TEXT = 96 };
void layer_choice_write(const struct layer_choice *choice, const struct trace *trace,
                        char text[LAYER_CHOICE_TEXT]);
