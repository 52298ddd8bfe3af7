#include "calibrate/harness/thin.h"

#include "core/array.h"

#include <math.h>
#include <stdlib.h>

/* The best way to a point: the fewest points that lead to it. */
struct step {
    uint32_t from, points;
    double worst;     /* largest distance on the whole way */
    uint32_t culprit; /* the point that was too far from the last line that began here */
};

static double thin_line_at(const struct found_point *left, const struct found_point *right,
                           double size)
{
    double share = (size - left->size) / (right->size - left->size);
    return left->median + share * (right->median - left->median);
}

static double distance_at(const struct found_point *points, uint32_t from, uint32_t to, uint32_t i)
{
    double off = fabs(thin_line_at(&points[from], &points[to], points[i].size) - points[i].median);
    return off > 0 ? off / points[i].median : 0;
}

/* The largest distance of the line from the points that it passes, or any distance over `most` if
 * the largest is over `most`. The distance from a point of value 0 is infinite. `*culprit` is tried
 * first: the point that was too far from the last line that began here is mostly too far from this
 * line, too, so that most lines cost one point. */
static double distance_of_line(const struct found_point *points, uint32_t from, uint32_t to,
                               double most, uint32_t *culprit)
{
    if (*culprit > from && *culprit < to) {
        double distance = distance_at(points, from, to, *culprit);
        if (distance > most) {
            return distance;
        }
    }
    double worst = 0;
    for (uint32_t i = from + 1; i < to && worst <= most; i++) {
        double distance = distance_at(points, from, to, i);
        *culprit = distance > most ? i : *culprit;
        worst = fmax(worst, distance);
    }
    return worst;
}

static bool thin_is_better(uint32_t points, double worst, const struct step *step)
{
    return points < step->points || (points == step->points && worst < step->worst);
}

/* A step that cannot lower the number of points is skipped without looking at its line. */
static void try_step(const struct found_point *points, uint32_t from, uint32_t to, double share,
                     struct step *steps)
{
    uint32_t count = steps[from].points + 1;
    bool ties = count == steps[to].points;
    if (count > steps[to].points || (ties && steps[from].worst >= steps[to].worst)) {
        return;
    }
    double most = ties ? fmin(share, steps[to].worst) : share;
    double here = distance_of_line(points, from, to, most, &steps[from].culprit);
    double worst = fmax(here, steps[from].worst);
    if (here <= share && thin_is_better(count, worst, &steps[to])) {
        steps[to].from = from;
        steps[to].points = count;
        steps[to].worst = worst;
    }
}

static void find_steps(const struct found_point *points, uint32_t count, double share,
                       struct step *steps)
{
    steps[0] = (struct step){.points = 1};
    for (uint32_t to = 1; to < count; to++) {
        steps[to] = (struct step){.points = UINT32_MAX};
        for (uint32_t from = 0; from < to; from++) {
            try_step(points, from, to, share, steps);
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
