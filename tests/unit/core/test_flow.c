/* Flows: max-min fair rates, by hand, by their definition and against brute force. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "core/engine/flow.h"

#include <math.h>
#include <string.h>

enum { MOST_FLOWS = 8 };

struct crossing {
    int channel; /* from 1; 0 ends the list */
    double weight;
    enum engine_use_kind kind;
};

/* Crosses `channel` at so many of its units, for each moved or at the flow's cap. */
// clang-format off
#define UNIT(channel, units) {channel, units, ENGINE_PER_UNIT}
#define AT_CAP(channel, units) {channel, units, ENGINE_AT_CAP}
// clang-format on

/* Flows over channels of the given capacities and the rates worked out by hand. */
static const struct {
    const char *name;
    double capacities[3];
    double withheld; /* of channel 1 */
    struct {
        double cap; /* 0 ends the list */
        struct crossing crossings[3];
        double rate;
    } flows[MOST_FLOWS];
} by_hand[] = {
    {"alone", {10}, 0, {{INFINITY, {UNIT(1, 1)}, 10}}},
    {"alone below its cap", {10}, 0, {{4, {UNIT(1, 1)}, 4}}},
    {"no channel: its cap", {10}, 0, {{1e9, {{0}}, 1e9}}},
    {"equal shares",
     {12},
     0,
     {{20, {UNIT(1, 1)}, 4}, {20, {UNIT(1, 1)}, 4}, {20, {UNIT(1, 1)}, 4}}},
    {"what a capped flow leaves",
     {12},
     0,
     {{2, {UNIT(1, 1)}, 2}, {20, {UNIT(1, 1)}, 5}, {20, {UNIT(1, 1)}, 5}}},
    {"a unit of one takes two of the channel",
     {12},
     0,
     {{20, {UNIT(1, 2)}, 4}, {20, {UNIT(1, 1)}, 4}}},
    {"the slower of two channels",
     {10, 3},
     0,
     {{20, {UNIT(1, 1), UNIT(2, 1)}, 3}, {20, {UNIT(1, 1)}, 7}}},
    /* The classic line network: one long flow against one short flow a link. */
    {"a long flow",
     {6, 4},
     0,
     {{9, {UNIT(1, 1), UNIT(2, 1)}, 2}, {9, {UNIT(1, 1)}, 4}, {9, {UNIT(2, 1)}, 2}}},
    {"the same channel twice", {12}, 0, {{20, {UNIT(1, 1), UNIT(1, 2)}, 3}, {20, {UNIT(1, 1)}, 3}}},
    {"at its cap 5 of the channel", {10}, 0, {{2, {AT_CAP(1, 5)}, 2}, {20, {UNIT(1, 1)}, 5}}},
    {"below its cap in proportion", {10}, 0, {{2, {AT_CAP(1, 15)}, 4.0 / 3.0}}},
    {"withheld", {10}, 4, {{20, {UNIT(1, 1)}, 3}, {20, {UNIT(1, 1)}, 3}}},
    {"more withheld than there is", {10}, 11, {{20, {UNIT(1, 1)}, 10 * FLOW_FLOOR}}},
};

static uint32_t add_route(struct flow_set *set, const struct crossing *crossings)
{
    struct error why;
    struct engine_route route = {.count = 0};
    for (; crossings->channel > 0; crossings++) {
        route.uses[route.count++] = (struct engine_use){(uint32_t)crossings->channel - 1,
                                                        crossings->weight, crossings->kind};
    }
    uint32_t id = flow_route_add(set, &route, &why);
    assert_int_not_equal(id, ENGINE_NONE);
    return id;
}

static void init(struct flow_set *set, const double *capacities, size_t count)
{
    struct error why;
    flow_init(set);
    for (size_t i = 0; i < count && capacities[i] > 0.0; i++) {
        assert_int_equal(flow_channel_add(set, capacities[i]), i);
    }
    assert_true(flow_reserve(set, MOST_FLOWS, &why));
}

static void rates_are_those_worked_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof by_hand / sizeof by_hand[0]; i++) {
        struct flow_set set;
        init(&set, by_hand[i].capacities, 3);
        if (by_hand[i].withheld > 0.0) {
            struct crossing held[] = {{1, by_hand[i].withheld, ENGINE_WITHHELD}, {0}};
            flow_hold(&set, add_route(&set, held), 1);
        }
        for (uint32_t f = 0; by_hand[i].flows[f].cap > 0.0; f++) {
            uint32_t route = add_route(&set, by_hand[i].flows[f].crossings);
            flow_begin(&set, f, route, 1000.0, by_hand[i].flows[f].cap, 0);
        }
        flow_refresh(&set, 0);
        for (uint32_t f = 0; f < set.count; f++) {
            double expected = by_hand[i].flows[f].rate;
            if (fabs(set.flows[f].rate - expected) > 1e-12 * expected) {
                fail_msg("%s: flow %u at %g, not %g", by_hand[i].name, f, set.flows[f].rate,
                         expected);
            }
        }
        flow_release(&set);
    }
}

/* A random network: four channels, up to eight flows over up to three of them. */
static void begin_random_flows(struct flow_set *set, gsl_rng *random)
{
    double capacities[4];
    for (int c = 0; c < 4; c++) {
        capacities[c] = 1.0 + (double)gsl_rng_uniform_int(random, 20);
    }
    init(set, capacities, 4);
    struct crossing held[] = {{1 + (int)gsl_rng_uniform_int(random, 4),
                               (double)gsl_rng_uniform_int(random, 12) + 0.5, ENGINE_WITHHELD},
                              {0}};
    flow_hold(set, add_route(set, held), 1);
    uint32_t count = 1 + (uint32_t)gsl_rng_uniform_int(random, MOST_FLOWS);
    for (uint32_t f = 0; f < count; f++) {
        struct crossing crossings[4] = {{0}};
        uint32_t uses = (uint32_t)gsl_rng_uniform_int(random, 4);
        bool capped = uses == 0 || gsl_rng_uniform_int(random, 3) > 0;
        for (uint32_t use = 0; use < uses; use++) {
            bool at_cap = capped && gsl_rng_uniform_int(random, 3) == 0;
            crossings[use] = (struct crossing){1 + (int)gsl_rng_uniform_int(random, 4),
                                               1.0 + (double)gsl_rng_uniform_int(random, 3),
                                               at_cap ? ENGINE_AT_CAP : ENGINE_PER_UNIT};
        }
        double cap = capped ? 0.25 + 4.0 * gsl_rng_uniform(random) : INFINITY;
        flow_begin(set, f, add_route(set, crossings), 1.0, cap, 0);
    }
}

/* Channel units that flow `f` takes of the channel for each unit it moves. */
static double weight_on(const struct flow_set *set, uint32_t f, uint32_t channel)
{
    const struct flow *flow = &set->flows[f];
    const struct flow_route *route = &set->routes[flow->route];
    double weight = 0.0;
    for (uint32_t use = 0; use < route->crossing_count; use++) {
        if (route->crossing[use] == channel) {
            weight += route->weight[use] / (route->at_cap[use] ? flow->cap : 1.0);
        }
    }
    return weight;
}

static double room_on(const struct flow_set *set, const double *rates, uint32_t channel)
{
    double room = set->channel_capacity[channel];
    const struct flow_route *held = &set->routes[0];
    room -= held->holding[0] == channel ? held->withheld[0] : 0.0;
    room = fmax(room, FLOW_FLOOR * set->channel_capacity[channel]);
    for (uint32_t f = 0; f < set->count; f++) {
        room -= weight_on(set, f, channel) * rates[f];
    }
    return room;
}

/* Rates are max-min fair if and only if each flow is at its cap, or on a full channel
 * on which none is faster. */
static bool has_bottleneck(const struct flow_set *set, const double *rates, uint32_t f)
{
    if (rates[f] >= set->flows[f].cap) {
        return true;
    }
    for (uint32_t c = 0; c < set->channel_count; c++) {
        bool full = room_on(set, rates, c) <= 1e-9 * set->channel_capacity[c];
        for (uint32_t other = 0; other < set->count; other++) {
            full = full && (weight_on(set, other, c) == 0.0 || rates[other] <= rates[f] + 1e-9);
        }
        if (full && weight_on(set, f, c) > 0.0) {
            return true;
        }
    }
    return false;
}

static void every_flow_of_a_random_network_has_its_bottleneck(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct error why;
        struct flow_set set;
        double rates[MOST_FLOWS];
        gsl_rng *random = random_stream(seed, "test.flow", 0, &why);
        assert_non_null(random);
        begin_random_flows(&set, random);
        flow_refresh(&set, 0);
        for (uint32_t f = 0; f < set.count; f++) {
            rates[f] = set.flows[f].rate;
            if (!(rates[f] > 0.0) || rates[f] > set.flows[f].cap) {
                fail_msg("seed %d: flow %u at %g", (int)seed, f, rates[f]);
            }
        }
        for (uint32_t c = 0; c < set.channel_count; c++) {
            if (room_on(&set, rates, c) < -1e-9) {
                fail_msg("seed %d: channel %u is overfull", (int)seed, c);
            }
        }
        for (uint32_t f = 0; f < set.count; f++) {
            if (!has_bottleneck(&set, rates, f)) {
                fail_msg("seed %d: nothing holds flow %u at %g", (int)seed, f, rates[f]);
            }
        }
        gsl_rng_free(random);
        flow_release(&set);
    }
}

/* Brute force: raise whatever can still rise, a little at a time. */
static void fill_slowly(const struct flow_set *set, double step, double *rates)
{
    bool stopped[MOST_FLOWS] = {false};
    for (uint32_t f = 0; f < set->count; f++) {
        rates[f] = 0.0;
    }
    for (bool risen = true; risen;) {
        risen = false;
        for (uint32_t f = 0; f < set->count; f++) {
            rates[f] += stopped[f] ? 0.0 : step;
            stopped[f] = stopped[f] || rates[f] >= set->flows[f].cap;
            risen = risen || !stopped[f];
        }
        for (uint32_t c = 0; c < set->channel_count; c++) {
            for (uint32_t f = 0; f < set->count && room_on(set, rates, c) <= 0.0; f++) {
                stopped[f] = stopped[f] || weight_on(set, f, c) > 0.0;
            }
        }
    }
}

static void rates_match_slow_filling(void **state)
{
    (void)state;
    const double step = 1e-3;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct error why;
        struct flow_set set;
        double rates[MOST_FLOWS];
        gsl_rng *random = random_stream(seed, "test.flow", 1, &why);
        assert_non_null(random);
        begin_random_flows(&set, random);
        flow_refresh(&set, 0);
        fill_slowly(&set, step, rates);
        for (uint32_t f = 0; f < set.count; f++) {
            /* Each of the other flows may have gone a step too far on each crossing. */
            if (fabs(rates[f] - set.flows[f].rate) > 40.0 * step) {
                fail_msg("seed %d: flow %u at %g, slowly filled %g", (int)seed, f,
                         set.flows[f].rate, rates[f]);
            }
        }
        gsl_rng_free(random);
        flow_release(&set);
    }
}

static void a_flow_ends_at_the_first_whole_nanosecond(void **state)
{
    (void)state;
    static const struct {
        double amount, capacity;
        int64_t end_ns;
    } cases[] = {
        {100, 0.1, 1000},         {100, 10, 10}, {100.001, 10, 11}, {99.999, 10, 10}, {0.5, 1, 1},
        {1e9 + 1, 1, 1000000001}, {7, 0.7, 10},  {1e-3, 1e6, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct flow_set set;
        struct crossing crossings[] = {{1, 1, ENGINE_PER_UNIT}, {0}};
        init(&set, &cases[i].capacity, 1);
        flow_begin(&set, 0, add_route(&set, crossings), cases[i].amount, INFINITY, 0);
        flow_refresh(&set, 0);
        assert_int_equal(set.next_ns, cases[i].end_ns);
        flow_end_due(&set, set.next_ns - 1);
        assert_int_equal(set.ended_count, 0);
        flow_refresh(&set, cases[i].end_ns - 1);
        flow_end_due(&set, set.next_ns);
        assert_int_equal(set.ended_count, 1);
        flow_release(&set);
    }
}

/* A channel of 1, of which 0.9 is withheld for 7 ns in 10: 3.7 units in 10 ns. Neither 0.1 nor 3.7
 * nor what is left to move is exact. */
static void rounding_costs_no_nanosecond(void **state)
{
    (void)state;
    for (int64_t periods = 1; periods < 300; periods++) {
        struct flow_set set;
        struct crossing crossings[] = {{1, 1, ENGINE_PER_UNIT}, {0}},
                        held[] = {{1, 0.9, ENGINE_WITHHELD}, {0}};
        init(&set, (const double[]){1.0}, 1);
        uint32_t route = add_route(&set, crossings), holder = add_route(&set, held);
        flow_begin(&set, 0, route, 3.7 * (double)periods, INFINITY, 0);
        for (int64_t now_ns = 0; now_ns < 10 * periods; now_ns += 10) {
            flow_hold(&set, holder, 1);
            flow_refresh(&set, now_ns);
            flow_hold(&set, holder, -1);
            flow_refresh(&set, now_ns + 7);
        }
        if (set.next_ns != 10 * periods) {
            fail_msg("%d periods end at %d", (int)periods, (int)set.next_ns);
        }
        flow_release(&set);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_are_those_worked_by_hand),
        cmocka_unit_test(every_flow_of_a_random_network_has_its_bottleneck),
        cmocka_unit_test(rates_match_slow_filling),
        cmocka_unit_test(a_flow_ends_at_the_first_whole_nanosecond),
        cmocka_unit_test(rounding_costs_no_nanosecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
