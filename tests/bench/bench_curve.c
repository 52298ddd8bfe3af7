/* Speed of `spillway curve` on a stream: accesses a second over 8 million ids of 16 384 blocks, read from a
 * file, of some policies at one size. */
#include "stream.h"
#include "study/sweep/miss_curve.h"

#include <unistd.h>

enum { ACCESSES = 8000000, BLOCKS = 16384, ROUNDS = 3 };

static uint32_t ids[ACCESSES];

/* Small ids are more frequent: a third of all accesses go to 4 % of the blocks. */
static void fill_ids(gsl_rng *random)
{
    for (uint32_t i = 0; i < ACCESSES; i++) {
        double where = gsl_rng_uniform(random);
        ids[i] = (uint32_t)(BLOCKS * where * where * where);
    }
}

/* Read the file and replay a policy at one size. */
static void run_file(const char *path, const char *policy, uint32_t size)
{
    struct error why;
    struct ids read;
    struct miss_curve curve;
    struct miss_request request = {
        .policy = policy_find(policy, NULL, 0, &why), .sizes = &size, .count = 1};
    curve = (struct miss_curve){0};
    if (!ids_read(path, &read, &why) || !miss_curve_of_ids(&read, &request, 1, &curve, &why)) {
        die(&why);
    }
    miss_curve_release(&curve);
    ids_release(&read);
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
    static const char *const names[] = {"lru", "fifo", "arc", "opt"};
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
    for (size_t p = 0; p < sizeof names / sizeof *names; p++) {
        char row[32];
        double best = 1e9;
        snprintf(row, sizeof row, "%s at one size", names[p]);
        for (uint32_t round = 0; round < ROUNDS; round++) {
            double start = seconds();
            run_file(path, names[p], SIZE);
            double took = seconds() - start;
            best = took < best ? took : best;
        }
        print_row(row, ACCESSES, "accesses", best, NULL, 0);
    }
    unlink(path);
    return 0;
}
