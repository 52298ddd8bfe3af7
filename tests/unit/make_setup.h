/* Setups, plans and schedules in a test, from the overrides of a scenario. */
#ifndef MAKE_SETUP_H
#define MAKE_SETUP_H

#include "decode/plan/plan.h"
#include "scenario/scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

enum { MOST_OVERRIDES = 32 };

/* What every setup of a test says, unless an override says otherwise. */
static const char *const usual_overrides[] = {"model=llama-3-8b", "hardware=a40", "system=fullattn",
                                              "context=131072", "trace=assumed:hit=93%,spread=5%"};

/* The message a person would read. */
static inline const char *message_of(const struct error *why)
{
    static char text[1024];
    error_format(why, text, sizeof text);
    return text;
}

/* cmocka compares no doubles. */
static inline void assert_near(double got, double wish, double within)
{
    if (!(got >= wish - within && got <= wish + within)) {
        fail_msg("%.17g, not %.17g", got, wish);
    }
}

/* The setup of these overrides ("key=value", up to a NULL), laid over the usual ones. */
static inline bool try_setup(const char *const *overrides, struct setup *out, struct error *why)
{
    const char *all[MOST_OVERRIDES];
    uint32_t count = 0;
    struct scenario scenario;
    for (; count < COUNT(usual_overrides); count++) {
        all[count] = usual_overrides[count];
    }
    for (size_t i = 0; overrides[i] != NULL; i++) {
        assert_true(count < MOST_OVERRIDES);
        all[count++] = overrides[i];
    }
    if (!scenario_load(NULL, 0, all, count, &scenario, why)) {
        return false;
    }
    bool good = scenario_point(&scenario, 0, out, why);
    scenario_release(&scenario);
    return good;
}

static inline struct setup make_setup(const char *const *overrides)
{
    struct setup setup;
    struct error why;
    if (!try_setup(overrides, &setup, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return setup;
}

/* SETUP("system=clo", "batch=2"), to be released with setup_release(). */
#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SETUP(...) make_setup(OVERRIDES(__VA_ARGS__))

static inline struct plan make_plan(const struct setup *setup)
{
    struct plan plan;
    struct trust trust = {BASIS_MEASURED, false};
    struct error why;
    if (!plan_resolve(setup, NULL, &plan, &trust, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return plan;
}

#endif
