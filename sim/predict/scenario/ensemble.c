#include "predict/scenario/ensemble.h"

#include "core/named.h"
#include "core/text.h"
#include "decode/replay/replay.h"
#include "server/requests/requests.h"

#include <assert.h>
#include <stdio.h>

const struct ensemble_family ensemble_families[ENSEMBLE_FAMILIES] = {
    {"smollm2-135m", "SmolLM2-135M"},
    {"qwen2.5-coder-0.5b", "Qwen2.5-Coder-0.5B"},
    {"gemma-3-270m", "Gemma-3-270M"},
};

enum { PATH_SIZE = 4096 };

static struct trace *open_family(struct sources *sources, const char *name, struct error *why)
{
    char path[PATH_SIZE];
    return named_file(&named_trace, name, NULL, 0, path, sizeof path, why)
               ? sources_recording(sources, path, why)
               : NULL;
}

bool ensemble_open(struct sources *sources, struct point *out, struct error *why)
{
    struct setup *setup = &out->setup;
    for (uint32_t i = 0; i < ENSEMBLE_FAMILIES; i++) {
        const char *name = ensemble_families[i].recording;
        out->families[i] = (struct point_family){name, open_family(sources, name, why)};
        if (out->families[i].trace == NULL) {
            point_close_families(out);
            return false;
        }
        out->family_count = i + 1;
    }
    snprintf(setup->trace_name, sizeof setup->trace_name, "%s", ENSEMBLE_NAME);
    setup->trace = trace_hold(out->families[0].trace);
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        setup->cohorts[i].trace = setup->trace;
    }
    return true;
}

static bool ensemble_any_selects(const struct setup *setup)
{
    bool selects = false;
    for (uint32_t l = 0; l < setup->model.layer_count; l++) {
        selects = selects || !setup_attends_all(setup, l);
    }
    return selects;
}

/* Does a recording keep what heads want at this context, for hits or for the mass? Where a policy
 * chooses by itself, it makes do with what rows keep. */
static bool keeps_enough(const struct trace *trace, const struct setup *setup, struct error *why)
{
    uint32_t wanted;
    return (!setup_asks_trace(setup) && !ensemble_any_selects(setup)) ||
           setup->mechanisms.policy->chooses_own ||
           replay_wanted(trace, setup_share(setup, &setup->mechanisms.selection), &wanted, why);
}

static bool has_steps(const struct trace *trace, const struct setup *setup, struct error *why)
{
    int64_t recorded = trace_header(trace)->steps;
    int64_t warmup = setup->warmup == SETUP_WARMUP_AUTO ? recorded / 2 : setup->warmup;
    int64_t steps = setup->steps == SETUP_STEPS_ALL ? 1 : setup->steps;
    return steps <= recorded - warmup ||
           error_set(why, trace_path(trace), 0, "the recording has %lld steps",
                     (long long)recorded);
}

/* A server's sequences are at least as long as the shortest prompt; of a selection in tokens, their
 * share of the context is the largest there. 0: there are no requests. */
static uint64_t shortest_prompt(const struct point *point)
{
    uint64_t shortest = 0;
    for (size_t i = 0; point->requests != NULL && i < point->requests->count; i++) {
        uint64_t prompt = point->requests->all[i].prompt;
        shortest = shortest == 0 || prompt < shortest ? prompt : shortest;
    }
    return shortest;
}

bool ensemble_suffices(const struct point *point, struct error *why)
{
    const struct setup *setup = &point->setup;
    uint64_t prompt = shortest_prompt(point);
    for (uint32_t i = 0; i < point->family_count; i++) {
        const struct trace *trace = point->families[i].trace;
        if (!has_steps(trace, setup, why)) {
            return false;
        }
        for (uint32_t c = 0; c < setup_cohort_count(setup); c++) {
            struct setup own = setup_at(setup, setup_cohort(setup, c).context);
            if (!keeps_enough(trace, &own, why)) {
                return false;
            }
        }
        struct setup shortest = setup_at(setup, prompt);
        if (prompt > 0 && !keeps_enough(trace, &shortest, why)) {
            return false;
        }
    }
    return true;
}

/* " carried to 131072 tokens", " carried to 4096…131072 tokens"; "" at the recordings' own context.
 */
static void ensemble_describe_carrying(const struct setup *setup, char *text, size_t size)
{
    unsigned long long context = setup->context;
    text[0] = '\0';
    if (setup->cohorts != NULL) {
        snprintf(text, size, " carried to %llu…%llu tokens",
                 (unsigned long long)setup->cohorts[0].context,
                 (unsigned long long)setup->cohorts[setup->cohort_count - 1].context);
    } else if (trace_header(setup->trace)->context != context) {
        snprintf(text, size, " carried to %llu tokens", context);
    }
}

void ensemble_describe(const struct point *point, char *text, size_t size)
{
    static_assert(ENSEMBLE_FAMILIES == 3, "the text says three");
    char carried[96];
    text_copy(text, size, "recordings of three small models (");
    for (uint32_t i = 0; i < ENSEMBLE_FAMILIES; i++) {
        text_append(text, size, "%s%s", i > 0 ? ", " : "", ensemble_families[i].model);
    }
    ensemble_describe_carrying(&point->setup, carried, sizeof carried);
    text_append(text, size, ")%s", carried);
}
