#include "predict/server/stream_question.h"

#include "core/units.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

/* Half-widths of an interval by which a figure lies off its bound; of few requests. */
static const double clearly = 1.5, clearly_of_few = 3;

/* How wide an interval is taken to be that nobody knows: then four times as many requests are next. */
static const double unknown = 1.8;

uint64_t stream_question_hash(const struct stream_question *question)
{
    uint64_t hash = 2 * question->most + question->figures;
    for (uint32_t i = 0; i < question->count; i++) {
        const struct stream_bound *bound = &question->all[i];
        const double numbers[] = {bound->at_most, bound->value};
        hash = XXH64(bound->column->name, strlen(bound->column->name),
                     XXH64(numbers, sizeof numbers, hash));
    }
    return hash | 1;
}

enum side { SIDE_OPEN, SIDE_MET, SIDE_MISSED };

/* A figure without an interval is open until the run ends; how many requests are too long is known. */
static enum side find_side(const struct stream_bound *bound, const struct stream_load *load,
                           struct stream_times *times, double *wide)
{
    struct estimate figure;
    double halves = load->few ? clearly_of_few : clearly;
    *wide = unknown;
    if (bound->column == COLUMN(queue_grows)) {
        return load->overloaded ? SIDE_MISSED : load->calm ? SIDE_MET : SIDE_OPEN;
    }
    if (bound->column == COLUMN(requests_left_out)) {
        return SIDE_MET;
    }
    double value = bound->value * unit_ns(bound->column->unit), limit = value;
    if (!stream_times_beyond(times, bound->column, value, &figure, &limit) &&
        !stream_times_of(times, bound->column, &figure)) {
        return SIDE_OPEN;
    }
    double off = limit - figure.value;
    *wide = isfinite(figure.half) ? halves * figure.half / fabs(off) : unknown;
    return !(*wide < 1) ? SIDE_OPEN : (off > 0) == bound->at_most ? SIDE_MET : SIDE_MISSED;
}

bool stream_question_answered(const struct stream_question *question,
                              const struct stream_load *load, struct stream_times *times,
                              double *wide)
{
    bool all = true;
    *wide = 1;
    for (uint32_t i = 0; i < question->count; i++) {
        double own;
        enum side side = find_side(&question->all[i], load, times, &own);
        if (side == SIDE_MISSED) {
            return true;
        }
        all = all && side == SIDE_MET;
        *wide = fmax(*wide, side == SIDE_OPEN ? own : 1);
    }
    return all && !load->few;
}
