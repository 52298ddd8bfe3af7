/* What a plan asks of its scenario, where options leave it open: the axis, and what any server has to
 * meet. */
#include "cli/plan/plan_report.h"

#include <string.h>

/* Serving metrics need a workload. */
static bool check_workload(const struct scenario *scenario, const struct targets *targets,
                           bool pareto, struct error *why)
{
    for (uint32_t i = 0; !scenario_serves(scenario) && i < targets->count; i++) {
        if (target_serves(&targets->all[i])) {
            error_usage(why, "--target", 0, "'%s' is a serving metric; it needs a 'workload'",
                        targets->all[i].column->name);
            return error_expect(why, pareto ? "a metric of a decode step, such as tpot_ms"
                                            : "--set workload=NAME, such as conversations; or a "
                                              "metric of a decode step, such as tpot_ms");
        }
    }
    return true;
}

/* Goodput needs objectives: stated in `slo`, or as the axis. */
static bool check_objectives(const struct scenario *scenario,
                             const struct planning_options *options, struct error *why)
{
    const struct node *slo = node_stated(scenario->root, "slo");
    bool said = slo != NULL && (slo->kind != NODE_MAP || slo->count > 0);
    bool walked = options->axis != NULL && strncmp(options->axis, "slo", 3) == 0;
    if (said || walked || !targets_judge(&options->targets, COLUMN(goodput))) {
        return true;
    }
    error_usage(why, "--target", 0,
                "'goodput' counts requests that meet objectives, and 'slo' sets none");
    return error_expect(why, "--set 'slo={ttft_ms: 1000, tpot_ms: 60}', or one of the two");
}

/* The default axis is the smallest budget, or for a server the largest rate. */
static void choose_axis(const struct scenario *scenario, struct planning_options *out)
{
    bool serves = scenario_serves(scenario) && !out->by_figure;
    out->axis = out->axis == NULL && out->by_figure ? "batch" : out->axis;
    out->maximise = out->maximise || (out->axis == NULL && serves);
    out->axis = out->axis != NULL ? out->axis : serves ? "rate" : "budget";
}

/* A server also has to answer every request, and to keep its queue bounded: while more arrive than
 * are answered, a few requests can meet every other target, and a full batch has the most tokens a
 * second. Without a clock there is no queue. */
static bool judge_service(const struct scenario *scenario, const char *axis, struct targets *out,
                          struct error *why)
{
    bool rate = strncmp(axis, "rate", 4) == 0 && strchr("=", axis[4]) != NULL;
    bool timed = true;
    if (!node_bool(scenario->root, "timed", &timed, why)) {
        return false;
    }
    if (!rate && !scenario_serves(scenario)) {
        return true;
    }
    return (!timed || targets_add_unjudged("queue_grows<=0", out, why)) &&
           targets_add_unjudged("requests_left_out<=0", out, why);
}

bool plan_question_read(const struct scenario *scenario, bool pareto, struct planning_options *out,
                        struct error *why)
{
    if (!pareto) {
        choose_axis(scenario, out);
    }
    return check_workload(scenario, &out->targets, pareto, why) &&
           check_objectives(scenario, out, why) &&
           (pareto || judge_service(scenario, out->axis, &out->targets, why));
}
