/* Trace profiles: the attention of a model, head by head, in few numbers.
 *
 * A recording says which units a KV head wanted. Its profile says how such demands arise, so that a
 * trace of another context, length or model can be generated (trace/generate/generate.h). The model
 * behind it, for one head at one step, in octaves (log2 of attention mass):
 *
 *     mass of a unit = level(distance) + spread(distance) * (its own part + the moving part)
 *
 * - level: how attention falls off with the distance of a unit, in tokens from the token that is
 *   being decoded; the mean of each octave of distances.
 * - spread: how much the units of an octave differ, as a standard deviation.
 * - score: how long a unit stays wanted: shares of the variance that are renewed after 1, 2, 8 ...
 *   steps, and the share that never is (the unit's own part).
 * - The moving part is a product of a few latent directions of the query with those of the unit, as
 *   in attention itself. The same directions make up the query vectors, in the shares `query`. So a
 *   query that resembles an earlier one wants the units of that time, and sets drift as queries
 *   turn.
 * - decay: weight of each latent direction relative to the one before. own: share of a query's
 *   moving part that other query heads of the group do not share. novelty: how unevenly steps renew
 *   the part that lasts one step (standard deviation of a log-normal amplitude).
 * - anchors: a share of all units, at any distance, with a level of its own: delimiters.
 * - sinks, recent, born: attention mass of the window and of tokens born while decoding.
 *
 * All other units share the rest of the mass. The demand is the units of most mass.
 * Neither a hit ratio nor an overlap is stored: they follow.
 *
 * **Neighbours and heads.** In recordings, units near a wanted unit are wanted more often than
 * others, and heads of a layer want the same units more often than by chance. Two numbers in
 * `locality` say how much. `near`: the context is cut into 1024 blocks, these into 256 groups of 4,
 * and so on (profile_blocks). A unit takes after its block with probability near[0]: then it has
 * the block's own part and latent directions. A block takes after its group with probability
 * near[1], and so on. `alike`: the probability with which a head takes a unit's (or its block's)
 * properties, and each latent direction of its query, from the layer instead of drawing its own.
 * Both leave the distribution of a single unit as it is. Without `locality` both are 0.
 *
 * **Another context.** `level` is a function of distance in tokens, not of the share of the
 * context: recordings of one text at 3840 and 7680 tokens have the same levels octave by octave.
 * Past the last recorded octave it goes on by `slope` octaves per octave; spread, shares and masses
 * stay. This explains why LRU's hits rise with the context in small recordings: the window and the
 * nearest octaves, where attention is nearly flat, are a smaller part of a longer context. It also
 * explains why papers see them flat from 4K on: with a constant slope, the profile over distance /
 * context no longer changes. A steeper fall farther out than the recording is long is missing from
 * its profile. The share of anchors is of all units, as delimiters are a share of all tokens.
 * Neighbourhoods are shares of the context, too: recordings of one text at 1920 to 7680 tokens are
 * more alike at equal shares than at equal numbers of tokens (docs/bands.md).
 *
 * The heads of a target model take parameters as a replay takes rows of a recording (traces/FORMAT.md):
 * target layer l reads source layer floor(l * L' / L), and so on. But each draws its own units and queries.
 */
#pragma once

#include "machine/profile.h"

struct files;

/* Octaves of distance that a profile can tell apart; components of the moving part; directions. */
enum { PROFILE_KNOTS = 24, PROFILE_PARTS = 7, PROFILE_LATENTS = 16 };

/* Sizes of neighbourhoods: the context is cut into this many blocks, the finest first. */
enum { PROFILE_WIDTHS = 4 };
extern const uint32_t profile_blocks[PROFILE_WIDTHS]; /* 1024, 256, 64, 16 */

/* Steps after which a component is renewed: 1, 2, 8, 32, 128, 512, and 0 for never. */
extern const uint32_t profile_lasts[PROFILE_PARTS];

struct trace_profile_head {
    uint32_t knots;               /* of level and spread, from octave first_octave on */
    double level[PROFILE_KNOTS];  /* octaves of mass; only differences count */
    double spread[PROFILE_KNOTS]; /* octaves */
    double slope;                 /* octaves of mass an octave of distance, at most 0 */
    double score[PROFILE_PARTS];  /* shares, sum 1 */
    double query[PROFILE_PARTS];  /* shares, sum 1 */
    double decay, own, novelty;
    double anchor_share;  /* of all units */
    double anchor_level;  /* on the scale of `level` */
    double anchor_spread; /* between anchors, octaves */
    double anchor_drift;  /* of one anchor in time, octaves */
    double sinks, recent, born;
};

/* Probabilities, 0 ... 1: see the essay. */
struct profile_locality {
    double near[PROFILE_WIDTHS];
    double alike;
};

struct trace_profile {
    char source[512]; /* the recording it was fitted to, one line */
    enum basis basis; /* measured: fitted to a recording; published: fitted to papers' figures */
    char model[128];  /* of the recording; "" without one */
    uint32_t layers, kv_heads, query_heads, head_dim; /* of the recording */
    uint32_t context;                                 /* tokens of the recording */
    uint32_t sinks, recent;                           /* tokens of the window of generated traces */
    struct profile_locality locality;                 /* of all heads */
    uint32_t first_octave;            /* level[0] is for distances from 2^first_octave on */
    struct trace_profile_head *heads; /* [layers * kv_heads] owned */
};

/* Read a profile; every key but `locality` must be there. After a failure, as of a `root` of NULL, there is
 * nothing to release. */
bool trace_profile_read(const struct node *root, struct trace_profile *out, struct error *why);
bool trace_profile_load(struct files *files, const char *path, struct trace_profile *out,
                        struct error *why);
void trace_profile_release(struct trace_profile *profile);

/* Write it as YAML of five digits, or `exact`: then equal texts mean equal profiles. */
void trace_profile_write(const struct trace_profile *profile, bool exact, FILE *out);

const struct trace_profile_head *trace_profile_head(const struct trace_profile *profile,
                                                    uint32_t layers, uint32_t kv_heads,
                                                    uint32_t layer, uint32_t head);

/* The mapping of traces/FORMAT.md from another model's heads to those of a trace or trace profile. */

/* Layers and KV heads of a model. */
struct mapping_size {
    uint32_t layers, kv_heads;
};

/* A source head, and the target head's place among its readers. */
struct mapping_source {
    uint32_t layer, head;
    uint64_t reader, readers; /* reader < readers */
};

struct mapping_source mapping_source(struct mapping_size source, struct mapping_size target,
                                     uint32_t layer, uint32_t head);

/* Item i of `items` goes to floor(i * places / items). This is the first item that goes to `place` or beyond.
 * Target layers are mapped to source layers this way, and sequences of a batch to shifts. */
static inline uint32_t mapping_first(uint64_t items, uint64_t places, uint64_t place)
{
    return (uint32_t)((place * items + places - 1) / places);
}
