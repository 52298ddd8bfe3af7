/* As plots/requests.sql says a run's: a share of requests for a time, by some two hundred points.
 */
#include "cli/report/plot_measured.h"

#include "cli/frame/output.h"
#include "study/papers/measured.h"

#include <inttypes.h>

enum { POINTS = 200 };

static void add_times(const struct picture *picture, uint32_t place, int panel,
                      const struct measured_times *times)
{
    for (size_t rank = 1; rank <= times->count; rank++) {
        bool steps = rank * POINTS / times->count > (rank - 1) * POINTS / times->count;
        if (rank == 1 || steps) {
            fprintf(picture->rows, "point\t%" PRIu32 "\t%.6f\t%.6f\t%d\tmeasured\t-\n", place,
                    times->ms[rank - 1], 100 * (double)rank / (double)times->count, panel);
        }
    }
}

bool plot_add_measured(struct picture *picture, const char *path, struct error *why)
{
    struct measured measured;
    if (!measured_read(path, &measured, why)) {
        return false;
    }
    bool ok = measured.ttft.count > 0;
    if (ok) {
        uint32_t place = picture->count + 1;
        fprintf(picture->rows, "measured\t%" PRIu32 "\t0\t0\t0\tmeasured\t-\n", place);
        add_times(picture, place, 1, &measured.ttft);
        add_times(picture, place, 2, &measured.tpot);
        ok = output_flush(picture->rows, "rows of a picture", why);
    } else {
        error_set(why, path, 0, "sums requests up: there is no distribution to draw");
        error_expect(why, "a JSON line a request (queued_ts, first_token_ts, ...)");
    }
    measured_release(&measured);
    return ok;
}
