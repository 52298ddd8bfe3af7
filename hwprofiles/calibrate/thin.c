#include "calibrate/thin.h"

#include "base/array.h"

#include <math.h>
#include <stdlib.h>

/* How the fewest points that lead to one get there. */
struct step {
    uint32_t from, points;
    double worst; /* on the whole way */
};

static double line_at(const struct found_point *left, const struct found_point *right, double size)
{
    double share = (size - left->size) / (right->size - left->size);
    return left->median + share * (right->median - left->median);
}

/* The largest distance of the line from the points that it passes; infinite from one that is 0. */
static double distance_of_line(const struct found_point *points, uint32_t from, uint32_t to)
{
    double worst = 0;
    for (uint32_t i = from + 1; i < to; i++) {
        double off = fabs(line_at(&points[from], &points[to], points[i].size) - points[i].median);
        worst = fmax(worst, off > 0 ? off / points[i].median : 0);
    }
    return worst;
}

static bool is_better(uint32_t points, double worst, const struct step *step)
{
    return points < step->points || (points == step->points && worst < step->worst);
}

static void find_steps(const struct found_point *points, uint32_t count, double share,
                       struct step *steps)
{
    steps[0] = (struct step){0, 1, 0};
    for (uint32_t to = 1; to < count; to++) {
        steps[to] = (struct step){0, UINT32_MAX, 0};
        for (uint32_t from = 0; from < to; from++) {
            double here = distance_of_line(points, from, to);
            double worst = fmax(here, steps[from].worst);
            if (here <= share && is_better(steps[from].points + 1, worst, &steps[to])) {
                steps[to] = (struct step){from, steps[from].points + 1, worst};
            }
        }
    }
}

bool points_thin(const struct found_point *points, uint32_t count, double share,
                 struct thinned *out, struct error *why)
{
    *out = (struct thinned){.kept = array_zeroed(count, sizeof *out->kept, why)};
    struct step *steps = out->kept == NULL ? NULL : array_zeroed(count, sizeof *steps, why);
    if (steps == NULL) {
        thinned_release(out);
        return false;
    }
    if (count > 0) {
        find_steps(points, count, share, steps);
        out->count = steps[count - 1].points;
        out->worst = steps[count - 1].worst;
        uint32_t at = count - 1;
        for (uint32_t i = out->count; i-- > 0; at = steps[at].from) {
            out->kept[i] = at;
        }
    }
    free(steps);
    return true;
}

void thinned_release(struct thinned *thinned)
{
    free(thinned->kept);
    *thinned = (struct thinned){.kept = NULL};
}
