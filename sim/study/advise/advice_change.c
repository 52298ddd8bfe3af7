/* What one could do instead of offloading, tried with plain vLLM. */
#include "study/advise/advice_search.h"

#include "core/node.h"
#include "decode/draft/draft_lengths.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>

/* GPUs of a machine that states no number, as servers come; and the least useful context. */
enum { MOST_GPUS = 8, LEAST_CONTEXT = 1024 };

/* What the scenario is before the change. */
struct before {
    enum dtype weights, kv;
    uint64_t context; /* 0: of requests, or of several contexts */
    struct advice_form form;
    uint32_t tensor_parallel, most_gpus; /* of a server */
    uint64_t requests;                   /* of plain vLLM's search; 0: as stated */
    char drafts[96]; /* for the model, by published lengths; "": none, or the scenario drafts */
};

static bool read_before(const struct advice *advice, struct before *out, struct error *why)
{
    struct point point;
    const struct candidate *plain = advice_plain(advice)->candidate;
    if (!scenario_point(&plain->scenario, 0, &point, why)) {
        return false;
    }
    const struct setup *setup = &point.setup;
    uint64_t there = setup->profile.gpus > 0 ? setup->profile.gpus : MOST_GPUS;
    bool one = setup_cohort_count(setup) == 1 && !advice->serves &&
               node_stated(plain->scenario.root, "context") != NULL;
    *out = (struct before){.weights = setup->model.weights,
                           .kv = setup->model.kv,
                           .context = one ? setup->context : 0,
                           .form = advice->form,
                           .tensor_parallel = setup->model.tensor_parallel,
                           .most_gpus = (uint32_t)(there < MOST_GPUS ? there : MOST_GPUS),
                           .requests = advice->trials[advice->plain].planning.requests};
    if (setup->drafts.count > 0 ||
        !draft_lengths_usual(setup->model.name, out->drafts, sizeof out->drafts)) {
        out->drafts[0] = '\0';
    }
    point_release(&point);
    return true;
}

/* A key of the scenario and its changed value. */
struct laid {
    const char *key;
    char value[96];
    struct advice_form form;
};

/* Apply a change `times` times. Returns false if there is no room for it. */
static bool choose_value(enum advice_change change, const struct before *before, uint32_t times,
                         struct laid *out)
{
    uint64_t context = before->context >> times;
    uint64_t gpus = (uint64_t)before->form.gpus << times;
    out->form = before->form;
    switch (change) {
    case ADVICE_FP8_KV:
    case ADVICE_FP8_WEIGHTS:
        out->key = change == ADVICE_FP8_KV ? "dtype.kv" : "dtype.weights";
        snprintf(out->value, sizeof out->value, "fp8");
        return times == 1 && (change == ADVICE_FP8_KV ? before->kv : before->weights) == DTYPE_BF16;
    case ADVICE_MORE_GPUS:
        out->form.gpus = (uint32_t)gpus;
        out->key = "tensor_parallel";
        snprintf(out->value, sizeof out->value, "%" PRIu64,
                 (uint64_t)before->tensor_parallel << times);
        return gpus <= before->most_gpus;
    case ADVICE_SHORTER:
        out->key = "context";
        snprintf(out->value, sizeof out->value, "%" PRIu64, context);
        return context >= LEAST_CONTEXT;
    case ADVICE_DRAFTS:
        out->key = "drafts";
        snprintf(out->value, sizeof out->value, "%s", before->drafts);
        return times == 1 && before->drafts[0] != '\0';
    default:
        return false;
    }
}

/* Lay the form, then the change. */
static bool lay_change(const struct scenario *scenario, const struct advice_options *options,
                       const struct before *before, const struct laid *change, struct scenario *out,
                       struct error *why)
{
    return scenario_copy(scenario, out, why) &&
           (options->gpus == 0 || advice_set_form(out, &before->form, why)) &&
           advice_set_count(out, before->requests, why) &&
           node_set(out->root, change->key, change->value, why);
}

/* Fill `trial`, which is empty. False if the change cannot be: then it stays empty. */
static bool try_once(const struct scenario *scenario, const struct advice_options *options,
                     const struct before *before, const struct laid *change,
                     struct advice_trial *trial, bool *interrupted)
{
    struct scenario laid;
    struct error refused;
    trial->form = change->form;
    bool good = lay_change(scenario, options, before, change, &laid, &refused) &&
                advice_try(&laid, options, trial, interrupted, &refused);
    if (!good) {
        advice_trial_release(trial);
        *interrupted = *interrupted || !stop_flag_check(options->runs->stop, &refused);
    }
    scenario_release(&laid);
    return good;
}

/* Do drafts win by more than what published rates with drafts were off? */
static bool drafts_win(const struct advice *advice, const struct advice_trial *trial)
{
    struct point point;
    struct error unseen;
    const struct search *search = advice_trial_search(trial), *plain = advice_plain(advice);
    if (advice_result(search) == NULL || advice_result(plain) == NULL ||
        advice_ties(search, plain) ||
        !scenario_point(&search->candidate->scenario, 0, &point, &unseen)) {
        return false;
    }
    const struct error_band *missed = &point.bands[BAND_LOW].missed;
    double off = missed->rows > 0 ? missed->factor : 1;
    point_release(&point);
    return advice_rate(advice, search, &trial->form) >
           off * advice_rate(advice, plain, &advice->form);
}

/* Drafts that win by no more are not mentioned. */
static void drop_drafts(struct advice *advice)
{
    uint32_t last = advice->trial_count - 1;
    struct advice_trial *trial = &advice->trials[last];
    if (trial->change == ADVICE_DRAFTS && !drafts_win(advice, trial)) {
        advice_trial_release(trial);
        advice->trial_count = last;
    }
}

/* Try a change until something fits, or once if something fits without it. */
static void try_change(const struct scenario *scenario, const struct advice_options *options,
                       const struct before *before, enum advice_change change, struct advice *out,
                       bool *interrupted)
{
    struct advice_trial *trial = &out->trials[out->trial_count];
    uint32_t most = advice_result(advice_plain(out)) != NULL ? 1 : UINT32_MAX;
    struct laid laid;
    bool tried = false, more = true;
    for (uint32_t times = 1; more && times <= most && !*interrupted; times++) {
        more = choose_value(change, before, times, &laid);
        if (more) {
            advice_trial_release(trial);
            tried = try_once(scenario, options, before, &laid, trial, interrupted);
            more = tried && advice_result(advice_trial_search(trial)) == NULL;
        }
    }
    trial->change = change;
    out->trial_count += tried;
    drop_drafts(out);
}

bool advice_try_changes(const struct scenario *scenario, const struct advice_options *options,
                        struct advice *out, bool *interrupted, struct error *why)
{
    struct before before;
    bool good = read_before(out, &before, why);
    bool fits = advice_result(advice_plain(out)) != NULL;
    for (int i = ADVICE_FP8_KV; good && !*interrupted && i < ADVICE_CHANGES; i++) {
        enum advice_change change = (enum advice_change)i;
        bool enough = fits && out->serves && options->gpus > 0; /* as many GPUs as one has */
        bool idle = (change == ADVICE_FP8_WEIGHTS && fits) || (change == ADVICE_DRAFTS && !fits) ||
                    (change == ADVICE_MORE_GPUS && enough);
        if (!idle) {
            try_change(scenario, options, &before, change, out, interrupted);
        }
    }
    return good;
}
