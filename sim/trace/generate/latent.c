#include "trace/generate/latent.h"

#include "trace/hash.h"

#include <math.h>

/* The purpose of a hash: no two purposes share a number. */
enum purpose { PHASE, SIGN, NORMAL, NOVELTY, STILL, MOVING, ALIKE };

#define SHARED UINT32_MAX /* in place of a query head */
#define DIM_MOST 1024

static uint64_t stream_of(uint64_t key, enum purpose purpose, uint32_t query_head)
{
    return hash_at(key, (uint64_t)purpose << 32 | query_head);
}

static uint64_t stream(const struct latent *latent, enum purpose purpose, uint32_t query_head)
{
    return stream_of(latent->keys.head, purpose, query_head);
}

static void set_amplitudes(double out[PROFILE_PARTS], const double shares[PROFILE_PARTS],
                           uint32_t parts)
{
    double sum = 0;
    for (uint32_t k = 0; k < parts; k++) {
        sum += shares[k];
    }
    for (uint32_t k = 0; k < parts; k++) {
        out[k] = sum > 0 ? sqrt(shares[k] / sum) : 0;
    }
}

static void set_weights(struct latent *latent, double decay)
{
    double squares = 0, weight = 1;
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++, weight *= decay) {
        latent->weight[i] = weight;
        squares += weight * weight;
    }
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        latent->weight[i] /= sqrt(squares);
    }
}

/* A log-normal amplitude; the mean of its square is 1. */
static void set_novelty(struct latent *latent, double novelty)
{
    uint64_t key = stream(latent, NOVELTY, SHARED);
    for (uint32_t s = 0; s < latent->steps; s++) {
        double normal = hash_normal(hash_at(key, latent->first_step + s));
        latent->novelty[s] = exp(novelty * normal - novelty * novelty);
    }
}

/* Part k of direction i: a sign that lasts, starting from its own phase. */
static void latent_draw_lasting(const struct latent *latent, uint32_t k, uint32_t i,
                                uint64_t phases, uint64_t signs, struct latent_parts *out)
{
    uint32_t lasts = profile_lasts[k];
    uint64_t place = (uint64_t)k << 32 | i, key = hash_at(signs, place);
    uint64_t from = latent->first_step + hash_at(phases, place) % lasts;
    uint64_t period = from / lasts;
    uint32_t left = lasts - (uint32_t)(from % lasts);
    double sign = hash_at(key, period) >> 63 ? -1 : 1;
    for (uint32_t s = 0; s < latent->steps; s++, left--) {
        if (left == 0) {
            sign = hash_at(key, ++period) >> 63 ? -1 : 1;
            left = lasts;
        }
        out->value[s][k][i] = sign;
    }
}

/* The key of direction i: the head's, or the layer's. What query heads do not share is the head's.
 */
static uint64_t latent_key_of(const struct latent *latent, uint32_t query_head, uint32_t i)
{
    uint64_t chance = hash_at(stream(latent, ALIKE, SHARED), i) >> 32;
    bool is_alike = query_head == SHARED && (double)chance < latent->keys.alike * 0x1p32;
    return is_alike ? latent->keys.layer : latent->keys.head;
}

static void draw_parts(const struct latent *latent, uint32_t query_head, struct latent_parts *out)
{
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        uint64_t key = latent_key_of(latent, query_head, i);
        uint64_t phases = stream_of(key, PHASE, query_head);
        uint64_t signs = stream_of(key, SIGN, query_head);
        uint64_t normals = stream_of(key, NORMAL, query_head);
        for (uint32_t s = 0; s < latent->steps; s++) {
            uint64_t place = (uint64_t)(latent->first_step + s) * PROFILE_LATENTS + i;
            out->value[s][0][i] = latent->novelty[s] * hash_normal(hash_at(normals, place));
        }
        for (uint32_t k = 1; k < LATENT_PARTS; k++) {
            latent_draw_lasting(latent, k, i, phases, signs, out);
        }
    }
}

void latent_init(struct latent *latent, const struct trace_profile_head *head,
                 const struct latent_keys *keys, uint32_t first_step, uint32_t steps)
{
    latent->keys = *keys;
    latent->first_step = first_step;
    latent->steps = steps;
    latent->shared = sqrt(1 - head->own);
    latent->own = sqrt(head->own);
    set_amplitudes(latent->score, head->score, LATENT_PARTS);
    set_amplitudes(latent->query, head->query, PROFILE_PARTS);
    set_weights(latent, head->decay);
    set_novelty(latent, head->novelty);
    draw_parts(latent, SHARED, &latent->parts);
}

/* Add the parts at step `s`, each times its amplitude times `by`. */
static void latent_add_parts(const struct latent_parts *parts, uint32_t s, const double *amplitudes,
                             double by, double out[PROFILE_LATENTS])
{
    for (uint32_t k = 0; k < LATENT_PARTS; k++) {
        for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
            out[i] += by * amplitudes[k] * parts->value[s][k][i];
        }
    }
}

void latent_directions(const struct latent *latent, uint32_t s, double out[PROFILE_LATENTS])
{
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        out[i] = 0;
    }
    latent_add_parts(&latent->parts, s, latent->score, 1, out);
    for (uint32_t i = 0; i < PROFILE_LATENTS; i++) {
        out[i] *= latent->weight[i];
    }
}

/* The numbers that make up a query: four for each direction, one per combination of the signs of
 * its two parts. */
enum { SHADES = 4 * PROFILE_LATENTS };

/* Quantise to 8 bits, the largest value as 127. */
static float quantise(const double values[SHADES], int8_t out[SHADES])
{
    double most = 0;
    for (uint32_t i = 0; i < SHADES; i++) {
        most = fabs(values[i]) > most ? fabs(values[i]) : most;
    }
    double by = most > 0 ? 127 / most : 0;
    for (uint32_t i = 0; i < SHADES; i++) {
        out[i] = (int8_t)(values[i] * by + (values[i] < 0 ? -0.5 : 0.5));
    }
    return (float)(most / 127);
}

/* Dimension d shows direction d mod PROFILE_LATENTS, turned by a sign of its own, and the part that
 * never moves. So the mean cosine of two queries is the correlation of their parts. A shade that no
 * dimension has stays 0, so that the largest value belongs to the query. */
void latent_queries(const struct latent *latent, uint32_t number, uint32_t head_dim, float *scale,
                    int8_t *query)
{
    struct latent_parts own;
    double still[SHADES] = {0}, sign[SHADES] = {0}, values[SHADES];
    uint8_t shade[DIM_MOST];
    int8_t code[SHADES];
    uint64_t stills = stream(latent, STILL, number), moves = stream(latent, MOVING, number);
    for (uint32_t d = 0; d < head_dim; d++) {
        uint32_t i = d % PROFILE_LATENTS;
        uint32_t still_up = hash_at(stills, d / 64) >> d % 64 & 1;
        uint32_t moves_up = hash_at(moves, d / 64) >> d % 64 & 1;
        shade[d] = (uint8_t)(4 * i + 2 * still_up + moves_up);
        still[shade[d]] = latent->query[PROFILE_PARTS - 1] * (still_up ? 1 : -1);
        sign[shade[d]] = latent->weight[i] * sqrt(PROFILE_LATENTS) * (moves_up ? 1 : -1);
    }
    if (latent->own > 0) {
        draw_parts(latent, number, &own);
    }
    for (uint32_t s = 0; s < latent->steps; s++, query += head_dim) {
        double moving[PROFILE_LATENTS] = {0};
        latent_add_parts(&latent->parts, s, latent->query, latent->shared, moving);
        if (latent->own > 0) {
            latent_add_parts(&own, s, latent->query, latent->own, moving);
        }
        for (uint32_t i = 0; i < SHADES; i++) {
            values[i] = still[i] + sign[i] * moving[i / 4];
        }
        scale[s] = quantise(values, code);
        for (uint32_t d = 0; d < head_dim; d++) {
            query[d] = code[shade[d]];
        }
    }
}
