/* Speed of generating traces on one core: wanted units a second (rows keep the wanted units, a
 * tenth of the context), compared with a bare pass that hashes each unit of the context once a
 * step. */
#include "bench.h"
#include "trace/generate/scores.h"
#include "trace/hash.h"
#include "unit/fixture/make_profile.h"

#include <math.h>

enum { ROUNDS = 3 }; /* the best counts, as others may use the machine too */

/* Heads that resemble fits of recordings. */
static void make_heads(struct trace_profile_head heads[8])
{
    static const double shares[PROFILE_PARTS] = {0.12, 0.12, 0.1, 0.06, 0.18, 0.2, 0.22};
    for (uint32_t i = 0; i < 8; i++) {
        heads[i] = make_plain_head();
        heads[i].knots = 6;
        for (uint32_t o = 0; o < 6; o++) {
            heads[i].level[o] = -1.2 * o;
            heads[i].spread[o] = 2.5;
        }
        memcpy(heads[i].score, shares, sizeof shares);
        memcpy(heads[i].query, shares, sizeof shares);
        heads[i].slope = -2;
        heads[i].own = 0.25;
        heads[i].novelty = 0.3;
        heads[i].anchor_share = 0.005;
        heads[i].anchor_level = 4;
        heads[i].recent = heads[i].born = 0.2;
    }
}

static double generate(const struct trace *trace, uint64_t *units)
{
    const struct trace_header *header = trace_header(trace);
    struct trace_frame frame = {0};
    struct error why;
    double start = seconds();
    *units = 0;
    for (uint32_t tile = 0; tile < trace_tiles(header); tile++) {
        for (uint32_t layer = 0; layer < header->layers; layer++) {
            make_check(trace_read(trace, 0, tile, layer, &frame, &why), &why);
            *units += (uint64_t)header->kv_heads * frame.steps * header->keep;
        }
    }
    double took = seconds() - start;
    trace_frame_release(&frame);
    return took;
}

static double hash_all(const struct trace_header *header)
{
    volatile uint64_t sink;
    uint64_t sum = 0, rows = (uint64_t)header->layers * header->kv_heads * header->steps;
    double start = seconds();
    for (uint64_t row = 0; row < rows; row++) {
        for (uint32_t unit = 0; unit < header->units; unit++) {
            sum += hash_at(row, unit);
        }
    }
    sink = sum;
    (void)sink;
    return seconds() - start;
}

/* The scores of one head, by each version of the loops that runs here, beside the plain one. */
static void compare_versions(const struct trace_profile_head *head)
{
    enum { UNITS = 1 << 17, STEPS = 16 };
    struct latent latent;
    const struct latent_keys keys = {.head = 1, .layer = 2};
    const struct profile_locality alone = {.alike = 0};
    latent_init(&latent, head, &keys, 0, STEPS);
    const struct candidates asked = {.head = head,
                                     .latent = &latent,
                                     .locality = &alone,
                                     .first_octave = 6,
                                     .key = 1,
                                     .context = UNITS,
                                     .end_unit = UNITS,
                                     .steps = STEPS};
    uint16_t *buckets = malloc(STEPS * scores_row(UNITS) * sizeof *buckets);
    void *scratch = malloc(scores_scratch());
    double took[8];
    size_t count = 0;
    for (const struct scores_version *v = scores_versions; v->name != NULL; v++, count++) {
        took[count] = INFINITY;
        for (int round = 0; v->runs_here() && round < 3 * ROUNDS; round++) {
            double start = seconds();
            scores_make(v, &asked, scratch, buckets);
            took[count] = fmin(took[count], seconds() - start);
        }
    }
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "scores, %s", scores_versions[i].name);
        if (scores_versions[i].runs_here()) {
            print_row(name, (double)UNITS * STEPS, "units", took[i], "the plain loops",
                      took[count - 1]);
        }
    }
    free(scratch);
    free(buckets);
}

int main(void)
{
    static const struct {
        uint32_t context, layers, steps;
    } cases[] = {{3840, 8, 192}, {32768, 4, 64}, {131072, 2, 32}, {524288, 1, 32}};
    struct trace_profile_head heads[8];
    make_heads(heads);
    struct trace_profile profile = make_profile(heads, 1, 8);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trace_geometry geometry =
            make_geometry(cases[i].layers, 8, cases[i].context, cases[i].steps);
        geometry.query_heads = 32;
        geometry.head_dim = 128;
        struct trace *trace = make_generated(&profile, &geometry);
        double best = INFINITY, bare = INFINITY;
        uint64_t units;
        for (int round = 0; round < ROUNDS; round++) {
            best = fmin(best, generate(trace, &units));
            bare = fmin(bare, hash_all(trace_header(trace)));
        }
        char name[32];
        snprintf(name, sizeof name, "generate at %u", cases[i].context);
        print_row(name, (double)units, "wanted units", best, "bare hashes", bare);
        trace_close(trace);
    }
    compare_versions(&heads[0]);
    return 0;
}
