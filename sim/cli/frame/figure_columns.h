/* The columns of a run's figures that several tables have: title, name and meaning are the same
 * everywhere; a table adds when it shows the column. For initialisers of struct table_column. */
#ifndef CLI_FRAME_FIGURE_COLUMNS_H
#define CLI_FRAME_FIGURE_COLUMNS_H

#include "answer/table.h"

#define FIGURE_COLUMN(heading, key, meaning)                                                       \
    .title = (heading), .right = true, .name = (key), .what = (meaning)

#define KV_COLUMN                                                                                  \
    FIGURE_COLUMN("KV in HBM", "kv",                                                               \
                  "HBM of a GPU that KV takes: the cache, resident heads, recent tokens")
#define CACHE_COLUMN                                                                               \
    FIGURE_COLUMN("cache", "cache", "the part of it that the cache takes, which the budget grants")
#define HBM_COLUMN FIGURE_COLUMN("HBM", "hbm", "HBM of a GPU in all")
#define HIT_COLUMN                                                                                 \
    FIGURE_COLUMN("hit %", "hit", "share of the wanted KV that need not cross the link")
#define MASS_COLUMN                                                                                \
    FIGURE_COLUMN("mass %", "mass", "share of the attention mass that the system attends to")
#define STEP_COLUMN FIGURE_COLUMN("step ms", "step", "one decode step")
#define TPOT_COLUMN FIGURE_COLUMN("tpot ms", "tpot", "time per output token")
#define RATE_COLUMN FIGURE_COLUMN("tok/s", "rate", "tokens a second, all sequences")
#define STALLED_COLUMN                                                                             \
    FIGURE_COLUMN("stall", "stall", "share of the step in which the GPU's main stream waits")
#define LINK_COLUMN FIGURE_COLUMN("link/step", "link", "bytes over the link to the GPU in a step")
#define COST_COLUMN FIGURE_COLUMN("$/M tok", "cost", "dollars per million output tokens")

#endif
