/* Dispatch of the commands. */
#include "cli/frame/program.h"

/* In the order of help; a group's commands stand together. */
/* clang-format off */
static const struct command *const commands[] = {
    &command_advise,
    &command_simulate,
    &command_whatif,
    &command_ablate,
    &command_plan,
    &command_compare,
    &command_timeline,
    &command_validate,
    &command_curve,
    &command_merge,
    &command_plot,
    &command_report,
    &command_trace_info,
    &command_trace_stats,
    &command_trace_verify,
    &command_trace_fit,
    &command_trace_generate,
    &command_calibrate,
    &command_kernels,
    &command_list,
    &command_completion,
    NULL,
};
/* clang-format on */

int main(int argc, char **argv)
{
    const struct program program = {commands, SPILLWAY_COMMIT};
    return program_run(&program, argc, argv);
}
