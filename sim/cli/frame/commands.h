/* The commands, each in the file of its name. */
#pragma once

#include "cli/frame/command.h"

extern const struct command command_advise;
extern const struct command command_simulate;
extern const struct command command_whatif;
extern const struct command command_ablate;
extern const struct command command_plan;
extern const struct command command_compare;
extern const struct command command_timeline;
extern const struct command command_validate;
extern const struct command command_trace_info;
extern const struct command command_trace_stats;
extern const struct command command_trace_verify;
extern const struct command command_trace_export;
extern const struct command command_trace_fit;
extern const struct command command_trace_generate;
extern const struct command command_curve;
extern const struct command command_merge;
extern const struct command command_plot;
extern const struct command command_report;
extern const struct command command_calibrate;
extern const struct command command_kernels;
extern const struct command command_list;
extern const struct command command_schema;
extern const struct command command_completion;
