/* Speed of the whole LRU curve: accesses a second over 8 million ids of 16 384 blocks, from the
 * stack alone and from a file as `spillway curve` reads it. It is compared with the usual algorithm
 * by hand, a Fenwick tree over the times of last touches. Then other policies at one size. */
#include "policy/stack.h"
#include "stream.h"
#include "study/sweep/miss_curve.h"

#include <unistd.h>

enum { ACCESSES = 8000000, BLOCKS = 16384, AT_ONCE = 400, ROUNDS = 3 };

static uint32_t ids[ACCESSES];

/* Small ids are more frequent: a third of all accesses go to 4 % of the blocks. */
static void fill_ids(gsl_rng *random)
{
    for (uint32_t i = 0; i < ACCESSES; i++) {
        double where = gsl_rng_uniform(random);
        ids[i] = (uint32_t)(BLOCKS * where * where * where);
    }
}

/* Misses of a cache of `size`, from depths that a tree of marked times counts. */
static uint64_t run_fenwick(uint32_t size)
{
    enum { TIMES = 4 * BLOCKS };
    static uint32_t tree[TIMES + 1], last[BLOCKS], at[TIMES + 1];
    static uint64_t deep[BLOCKS + 1];
    uint32_t now = 0, marked = 0;
    memset(tree, 0, sizeof tree);
    memset(last, 0, sizeof last);
    memset(deep, 0, sizeof deep);
    for (uint32_t i = 0; i < ACCESSES; i++) {
        uint32_t block = ids[i], before = 0;
        if (now == TIMES) {
            memset(tree, 0, sizeof tree);
            now = 0;
            for (uint32_t t = 1; t <= TIMES; t++) {
                if (last[at[t]] == t) {
                    at[last[at[t]] = ++now] = at[t];
                    for (uint32_t n = now; n <= TIMES; n += n & -n) {
                        tree[n]++;
                    }
                }
            }
        }
        if (last[block] != 0) {
            for (uint32_t n = last[block] - 1; n > 0; n &= n - 1) {
                before += tree[n];
            }
            deep[marked - before]++;
            for (uint32_t n = last[block]; n <= TIMES; n += n & -n) {
                tree[n]--;
            }
        } else {
            marked++;
        }
        at[last[block] = ++now] = block;
        for (uint32_t n = now; n <= TIMES; n += n & -n) {
            tree[n]++;
        }
    }
    uint64_t misses = ACCESSES;
    for (uint32_t depth = 1; depth <= size; depth++) {
        misses -= deep[depth];
    }
    return misses;
}

static uint64_t run_stack(enum policy_order order, uint32_t size)
{
    static uint64_t misses[BLOCKS + 1];
    struct error why;
    struct stack *stack = stack_create(BLOCKS, order, &why);
    if (stack == NULL) {
        die(&why);
    }
    for (uint32_t i = 0; i < ACCESSES; i += AT_ONCE) {
        uint32_t units[AT_ONCE];
        for (uint32_t j = 0; j < AT_ONCE; j++) {
            units[j] = ids[i + AT_ONCE - 1 - j];
        }
        struct demand demand = {.units = units, .wanted = AT_ONCE};
        stack_access(stack, &demand, true);
    }
    stack_misses(stack, misses);
    stack_destroy(stack);
    return misses[size];
}

/* Read the file and compute the curve of a policy: for LRU all sizes, for others one. */
static uint64_t run_file(const char *path, const char *policy, uint32_t size)
{
    static uint32_t sizes[BLOCKS];
    struct error why;
    struct ids read;
    struct miss_curve curve;
    bool all = strcmp(policy, "lru") == 0;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        sizes[i] = all ? i + 1 : size;
    }
    struct miss_request request = {
        .policy = policy_find(policy, NULL, 0, &why), .sizes = sizes, .count = all ? BLOCKS : 1};
    miss_curve_init(&curve);
    if (!ids_read(path, &read, &why) || !miss_curve_of_ids(&read, &request, 1, &curve, &why)) {
        die(&why);
    }
    uint64_t misses = curve.misses[all ? size - 1 : 0];
    miss_curve_release(&curve);
    ids_release(&read);
    return misses;
}

enum way { FENWICK, STACK, STACK_BATCH, FILE_ALL, FILE_ONE };

static const struct {
    const char *name;
    enum way way;
    const char *policy;
} rows[] = {
    {"curve by hand", FENWICK, "lru"},
    {"curve, stack alone", STACK, "lru"},
    {"curve, stack, batches", STACK_BATCH, "lru"},
    {"curve of a file", FILE_ALL, "lru"},
    {"fifo at one size", FILE_ONE, "fifo"},
    {"arc at one size", FILE_ONE, "arc"},
    {"opt at one size", FILE_ONE, "opt"},
};

static uint64_t run_row(size_t r, const char *path, uint32_t size)
{
    switch (rows[r].way) {
    case FENWICK:
        return run_fenwick(size);
    case STACK:
        return run_stack(POLICY_SEQUENTIAL, size);
    case STACK_BATCH:
        return run_stack(POLICY_BATCH, size);
    case FILE_ALL:
    case FILE_ONE:
        return run_file(path, rows[r].policy, size);
    }
    return 0;
}

static void write_ids(char *path)
{
    int descriptor = mkstemp(path);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (file == NULL || fwrite(ids, sizeof *ids, ACCESSES, file) != ACCESSES || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

int main(void)
{
    enum { SIZE = BLOCKS * 3 / 10 };
    struct error why;
    char path[] = "/tmp/bench-curve-XXXXXX";
    gsl_rng *random = random_stream(1, "bench.curve", 0, &why);
    if (random == NULL) {
        die(&why);
    }
    fill_ids(random);
    gsl_rng_free(random);
    write_ids(path);
    uint64_t misses[sizeof rows / sizeof *rows];
    double by_hand = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        double best = 1e9;
        for (uint32_t round = 0; round < ROUNDS; round++) {
            double start = seconds();
            misses[r] = run_row(r, path, SIZE);
            double took = seconds() - start;
            best = took < best ? took : best;
        }
        by_hand = r == 0 ? best : by_hand;
        bool is_curve = r > 0 && rows[r].way != FILE_ONE;
        print_row(rows[r].name, ACCESSES, "accesses", best, is_curve ? "a Fenwick tree" : NULL,
                  by_hand);
    }
    unlink(path);
    return misses[0] == misses[1] && misses[0] == misses[3] ? 0 : 1;
}
