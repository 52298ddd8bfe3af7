/* Speed of each policy alone: accesses (wanted blocks) a second over a stream of demands that
 * resembles decoding, with a cache of 30 %, compared with the same policy by hand (bare.h). */
#include "bare.h"
#include "policy/next_use.h"
#include "policy/policy.h"

enum { ROUNDS = 15 /* taken in turns; the best counts, as others may use the machine too */ };

static const struct {
    const char *policy;
    uint64_t (*bare)(const struct request_stream *stream); /* NULL: none */
    const char *hand;                                      /* what it is */
} rows[] = {
    {"lru", bare_lru, "a bare loop"},
    {"fifo", bare_fifo, "a bare loop"},
    {"clock", bare_clock, "a bare loop"},
    {"sieve", bare_sieve, "a bare loop"},
    {"arc", bare_arc, "a bare loop"},
    {"s3fifo", bare_s3fifo, "a bare loop"},
    {"lfu", bare_lfu_heap, "a bare heap"},
    {"lecar", NULL, NULL},
    {"opt", NULL, NULL},
    {"opt:bypass", NULL, NULL},
    {"qsac", NULL, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct demand stream_demand(const struct request_stream *stream, uint32_t step)
{
    return (struct demand){.units = stream->units[step],
                           .mass = stream->mass[step],
                           .wanted = WANTED,
                           .recorded = WANTED,
                           .query = stream->query[step][0],
                           .query_heads = GROUP,
                           .head_dim = DIM,
                           .query_stride = 1};
}

static struct next_use stream_future(const struct request_stream *stream)
{
    struct error why;
    struct next_use future = {0};
    bool good = true;
    for (uint32_t step = 0; good && step < STEPS; step++) {
        struct demand demand = stream_demand(stream, step);
        good = next_use_add(&future, &demand, &why);
    }
    if (!good || !next_use_resolve(&future, UNITS, &why)) {
        die(&why);
    }
    return future;
}

static uint64_t run_policy(const struct request_stream *stream, const char *name,
                           const struct next_use *future)
{
    struct error why;
    struct policy_env env = {.blocks = UNITS,
                             .capacity = CAPACITY,
                             .wanted = WANTED,
                             .query_heads = GROUP,
                             .head_dim = DIM,
                             .next_use = future->access};
    struct policy *policy = policy_create(policy_find(name, NULL, 0, &why), NULL, &env, &why);
    if (policy == NULL) {
        die(&why);
    }
    uint64_t hits = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = stream_demand(stream, step);
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
        hits += outcome.hit;
    }
    policy_destroy(policy);
    return hits;
}

/* Seconds of each policy and of its bare loop, the best of all rounds. Returns whether each pair
 * hits the same. */
static bool measure(const struct request_stream *stream, double (*best)[2], uint64_t (*hits)[2])
{
    struct next_use future = stream_future(stream);
    bool same = true;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (uint32_t r = 0; r < ROWS; r++) {
            double start = seconds();
            hits[r][0] = run_policy(stream, rows[r].policy, &future);
            double middle = seconds();
            hits[r][1] = rows[r].bare ? rows[r].bare(stream) : hits[r][0];
            double took[] = {middle - start, seconds() - middle};
            for (int i = 0; i < 2; i++) {
                best[r][i] = round == 0 || took[i] < best[r][i] ? took[i] : best[r][i];
            }
            same = same && hits[r][0] == hits[r][1];
        }
    }
    next_use_release(&future);
    return same;
}

int main(void)
{
    static struct request_stream stream;
    double best[ROWS][2];
    uint64_t hits[ROWS][2];
    struct error why;
    gsl_rng *random = random_stream(1, "bench.policies", 0, &why);
    if (random == NULL) {
        die(&why);
    }
    stream_fill(&stream, random);
    gsl_rng_free(random);
    bool same = measure(&stream, best, hits);
    for (uint32_t r = 0; r < ROWS; r++) {
        print_row(rows[r].policy, (double)STEPS * WANTED, "accesses", best[r][0], rows[r].hand,
                  best[r][1]);
    }
    return same ? 0 : 1;
}
