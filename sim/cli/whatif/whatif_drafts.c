/* Below a grid of drafts and something else: up to where drafts pay. They do where some number of them
 * is faster than none, by more than what is unknown about both (predict/result/tie.h). */
#include "cli/whatif/whatif_report.h"

#include "core/text.h"

#include <math.h>
#include <string.h>

enum { LINE = WHATIF_LINE };

/* The axis of drafts in a grid, and the values of the other axis. */
struct drafts_grid {
    const struct whatif *whatif;
    uint32_t drafts, other; /* axes */
    uint32_t none;          /* the value of no drafts */
};

static bool find_grid(const struct whatif *whatif, struct drafts_grid *out)
{
    bool first = strcmp(whatif->axes[0].key, AXIS_DRAFTS) == 0;
    bool second = whatif->axis_count > 1 && strcmp(whatif->axes[1].key, AXIS_DRAFTS) == 0;
    *out = (struct drafts_grid){whatif, first ? 0 : 1, first ? 1 : 0, WHATIF_NONE};
    if (whatif->axis_count < 2 || !(first || second)) {
        return false;
    }
    const struct axis *drafts = &whatif->axes[out->drafts];
    for (uint32_t i = 0; i < drafts->count; i++) {
        out->none = drafts->values[i].number == 0 ? i : out->none;
    }
    return out->none != WHATIF_NONE && whatif->axes[out->other].numeric &&
           whatif->count == whatif->axes[0].count * whatif->axes[1].count;
}

static uint32_t point_at(const struct drafts_grid *grid, uint32_t drafts, uint32_t other)
{
    uint32_t across = grid->whatif->axes[1].count;
    return grid->drafts == 0 ? drafts * across + other : other * across + drafts;
}

/* The point of the best number of drafts at a value of the other axis; WHATIF_NONE if the rate without
 * drafts is not known there. */
static uint32_t best_of(const struct drafts_grid *grid, uint32_t other)
{
    uint32_t best = point_at(grid, grid->none, other);
    double most = whatif_worth(grid->whatif, best);
    for (uint32_t i = 0; i < grid->whatif->axes[grid->drafts].count; i++) {
        uint32_t point = point_at(grid, i, other);
        double worth = whatif_worth(grid->whatif, point);
        if (worth > most) {
            best = point;
            most = worth;
        }
    }
    return isnan(most) ? WHATIF_NONE : best;
}

/* How many times as fast as without drafts; 1 where that ties. */
static double gain_at(const struct drafts_grid *grid, uint32_t other)
{
    uint32_t best = best_of(grid, other), none = point_at(grid, grid->none, other);
    bool pays =
        best != WHATIF_NONE && best != none && whatif_tie(grid->whatif, best, none) == TIE_NONE;
    return pays ? whatif_worth(grid->whatif, best) / whatif_worth(grid->whatif, none) : 1;
}

/* Values of the other axis, or WHATIF_NONE: the first and the last at which drafts pay, and the first
 * behind them at which they do not. */
struct paying {
    uint32_t first, last, behind;
};

static struct paying find_paying(const struct drafts_grid *grid)
{
    struct paying paying = {WHATIF_NONE, WHATIF_NONE, WHATIF_NONE};
    for (uint32_t i = 0; i < grid->whatif->axes[grid->other].count; i++) {
        bool known = best_of(grid, i) != WHATIF_NONE;
        if (known && gain_at(grid, i) > 1) {
            paying.first = paying.first == WHATIF_NONE ? i : paying.first;
            paying.last = i;
            paying.behind = WHATIF_NONE;
        } else if (known && paying.behind == WHATIF_NONE) {
            paying.behind = i;
        }
    }
    return paying;
}

/* "drafts pay: 1.6 times at batch 1, 1.1 times at 16; not from 32 on". */
static void write_paying(const struct drafts_grid *grid, struct paying paying, char line[LINE])
{
    const struct axis *axis = &grid->whatif->axes[grid->other];
    char value[WHATIF_TEXT];
    text_append(line, LINE, "drafts pay: %.3g times at %s %s", gain_at(grid, paying.first),
                axis_title(axis), axis_label(axis, paying.first, value, sizeof value));
    if (paying.last != paying.first) {
        text_append(line, LINE, ", %.3g times at %s", gain_at(grid, paying.last),
                    axis_label(axis, paying.last, value, sizeof value));
    }
    if (paying.behind != WHATIF_NONE) {
        text_append(line, LINE, "; not from %s on",
                    axis_label(axis, paying.behind, value, sizeof value));
    }
}

void whatif_report_drafts(const struct whatif *whatif, FILE *out)
{
    struct drafts_grid grid;
    char line[LINE] = "";
    if (!find_grid(whatif, &grid)) {
        return;
    }
    struct paying paying = find_paying(&grid);
    if (paying.first == WHATIF_NONE) {
        text_append(line, LINE, "drafts pay at no %s", axis_title(&whatif->axes[grid.other]));
    } else {
        write_paying(&grid, paying, line);
    }
    table_line("", line, out);
}
