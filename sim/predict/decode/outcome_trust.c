/* What a result rests on: the trace of its hits, and the basis of its times. */
#include "predict/decode/outcome.h"

#include "decode/setup.h"
#include "trace/demand.h"

#include <stdio.h>

/* The contexts to which the trace is carried: "", "→131072" or "→4096…131072". */
static void outcome_trust_describe_carrying(const struct setup *setup, uint64_t recorded,
                                            char *text, size_t size)
{
    if (setup->cohorts != NULL) {
        snprintf(text, size, "→%llu…%llu", (unsigned long long)setup->cohorts[0].context,
                 (unsigned long long)setup->cohorts[setup->cohort_count - 1].context);
    } else if (recorded != setup->context) {
        snprintf(text, size, "→%llu", (unsigned long long)setup->context);
    }
}

/* "SmolLM2-135M-Instruct 3840→131072 tokens", or "→4096…131072"; without `carrying` only the first
 * context. A generated trace is named as the twin of a recording, or after the basis of its
 * profile. */
static void describe_trace(const struct setup *setup, bool carrying, char *text, size_t size)
{
    if (setup->trace == NULL) {
        snprintf(text, size, "assumed: %.4g%% hits, spread %.4g%%", 100 * setup->assumed_hit,
                 100 * setup->assumed_spread);
        return;
    }
    const struct trace_header *header = trace_header(setup->trace);
    struct trace_source source;
    trace_source_read(header, &source);
    const char *model = source.model[0] != '\0' ? source.model : "?";
    char name[160], to[64] = "";
    if (source.basis != BASIS_MEASURED) {
        snprintf(name, sizeof name, "%s profile %.100s", basis_name(source.basis), model);
    } else {
        snprintf(name, sizeof name, "%s%.100s", source.twin ? "twin of " : "", model);
    }
    uint64_t context = source.twin ? source.fitted_context : header->context;
    if (carrying) {
        outcome_trust_describe_carrying(setup, context, to, sizeof to);
    }
    snprintf(text, size, "%s %llu%s tokens", name, (unsigned long long)context, to);
}

void outcome_trace_source(const struct setup *setup, char *text, size_t size)
{
    describe_trace(setup, false, text, size);
}

/* Were hits recorded with another model, or at another context? */
static bool is_carried(const struct setup *setup)
{
    bool carried = setup->trace != NULL && !setup->trace_is_model;
    for (uint32_t i = 0; setup->trace != NULL && i < setup_cohort_count(setup); i++) {
        struct setup_cohort cohort = setup_cohort(setup, i);
        carried = carried || trace_header(cohort.trace)->context != cohort.context;
    }
    return carried;
}

struct trust outcome_whole_trust(const struct setup *setup, const struct plan *plan,
                                 const struct timing *timing, struct trust trust)
{
    bool asked = outcome_asks_trace(setup, plan);
    trust_add(&trust, timing->trust);
    trust_add(&trust, (struct trust){.basis = asked ? setup->trace_basis : BASIS_MEASURED,
                                     .extrapolated = asked && is_carried(setup)});
    return trust;
}

bool outcome_trust(const struct setup *setup, const struct plan *plan, const struct timing *timing,
                   struct trust trust, struct result *result, struct error *why)
{
    char text[256];
    trust = outcome_whole_trust(setup, plan, timing, trust);
    for (size_t i = 0; i < BASIS_COUNT; i++) {
        result->basis[i] = (struct result_item){
            basis_name((enum basis)i), 0, (double)timing->basis_ns[i] / (double)timing->total_ns};
    }
    result->basis_count = BASIS_COUNT;
    result_integer(result, COLUMN(extrapolated), trust.extrapolated);
    if (!result_text(result, COLUMN(basis), basis_name(trust.basis), why) ||
        (timing->assumed != NULL &&
         !result_text(result, COLUMN(assumed_figure), timing->assumed, why))) {
        return false;
    }
    describe_trace(setup, true, text, sizeof text);
    return !outcome_asks_trace(setup, plan) ||
           (result_text(result, COLUMN(trace_basis), basis_name(setup->trace_basis), why) &&
            result_text(result, COLUMN(trace_source), text, why));
}
