/* The operand TRACE of the trace commands: a path, or the name of a shipped trace. */
#pragma once

#include "cli/frame/arguments.h"
#include "trace/format/trace.h"

/* Open the trace of this name or path. */
struct trace *trace_named(const char *name, struct error *why);

/* Open the trace that the first operand names. */
struct trace *trace_from_arguments(const struct arguments *arguments, struct error *why);
