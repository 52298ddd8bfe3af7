/* Scores of generated heads: every version of the loops that this processor can run gives the same
 * ones, and appends the same units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/generate/scores.h"
#include "unit/fixture/make_profile.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 3 };

/* A head with all that a unit's kind depends on. */
static struct trace_profile_head make_rich_head(void)
{
    struct trace_profile_head head = make_plain_head();
    static const double shares[PROFILE_PARTS] = {0.12, 0.12, 0.1, 0.06, 0.18, 0.2, 0.22};
    memcpy(head.score, shares, sizeof shares);
    head.knots = 6;
    for (uint32_t o = 0; o < head.knots; o++) {
        head.level[o] = -1.2 * o;
        head.spread[o] = 6 - 0.5 * o;
    }
    head.slope = -2;
    head.anchor_share = 0.01;
    head.anchor_level = 4;
    head.anchor_spread = 2;
    head.anchor_drift = 6;
    return head;
}

static uint16_t *make_buckets(const struct scores_version *version, struct candidates asked)
{
    uint32_t units = asked.end_unit - asked.first_unit;
    uint16_t *buckets = calloc(STEPS * scores_row(units), sizeof *buckets);
    void *scratch = malloc(scores_scratch());
    assert_non_null(buckets);
    assert_non_null(scratch);
    scores_make(version, &asked, scratch, buckets);
    free(scratch);
    return buckets;
}

/* Units [first, end) of a context, from the next token back. */
static const struct {
    uint32_t context, first, end, step;
} cases[] = {{1, 0, 1, 0},
             {300, 0, 300, 0},
             {300, 7, 263, 5},
             {70000, 4, 69936, 16},
             {1u << 20, 1020000, 1u << 20, 0},
             {UINT32_MAX, 0, 700, 0}};

static void all_versions_score_alike(void **state)
{
    struct trace_profile_head head = make_rich_head();
    const struct scores_version *plain = scores_versions;
    (void)state;
    while (plain[1].name != NULL) {
        plain++;
    }
    assert_string_equal(plain->name, "plain");
    static const struct profile_locality localities[] = {{{0}, 0}, {{.5, .8, 0, .9}, .7}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        size_t c = i / 2;
        const struct latent_keys keys = {77 + c, 99 + c, localities[i % 2].alike};
        struct latent latent;
        latent_init(&latent, &head, &keys, cases[c].step, STEPS);
        struct candidates asked = {.head = &head,
                                   .latent = &latent,
                                   .locality = &localities[i % 2],
                                   .layer_key = 3 + c,
                                   .first_octave = 6,
                                   .key = 5 + c,
                                   .context = cases[c].context,
                                   .first_unit = cases[c].first,
                                   .end_unit = cases[c].end,
                                   .first_step = cases[c].step,
                                   .steps = STEPS};
        uint32_t units = asked.end_unit - asked.first_unit;
        uint16_t *expected = make_buckets(plain, asked);
        for (const struct scores_version *version = scores_versions; version < plain; version++) {
            if (!version->runs_here()) {
                print_message("%s does not run here\n", version->name);
                continue;
            }
            uint16_t *found = make_buckets(version, asked);
            for (uint32_t s = 0; s < STEPS; s++) {
                size_t row = s * scores_row(units);
                assert_memory_equal(found + row, expected + row, units * sizeof *found);
            }
            free(found);
        }
        free(expected);
    }
}

static void all_versions_append_alike(void **state)
{
    enum { UNITS = 1000 };
    uint16_t bucket[UNITS];
    uint32_t found[UNITS + CANDIDATES_SLACK];
    (void)state;
    for (uint32_t u = 0; u < UNITS; u++) {
        bucket[u] = (uint16_t)(u * 2654435761u >> 20);
    }
    for (const struct scores_version *version = scores_versions; version->name; version++) {
        for (uint32_t from = 0; version->runs_here() && from < 40; from++) {
            uint32_t end = from * 100, to = UNITS - from * 3, kept = 2;
            uint32_t count = version->append(bucket, from, to, end, kept, found);
            for (uint32_t u = from; u < to; u++) {
                if (bucket[u] < end) {
                    assert_int_equal(found[kept++], u);
                }
            }
            assert_int_equal(count, kept);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_versions_score_alike),
        cmocka_unit_test(all_versions_append_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
