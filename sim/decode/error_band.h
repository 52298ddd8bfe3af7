/* How far predictions are off: eight of ten figures that a new source measures lie between two multiples of
 * the predicted one. python/spillway/papers.py writes the file, from measured figures by class: the rate of
 * decode of systems ("system"), and TTFT, TPOT and tokens a second of servers ("dense TPOT", "other TPOT"). A
 * class that the file lacks is unknown: nothing of the kind was measured. */
#pragma once

#include "core/error.h"
#include "decode/setup.h"
#include "decode/system.h"

struct files;
struct node;

/* What a band is of. Systems have one of rates only. */
enum band_figure { BAND_RATE, BAND_TTFT, BAND_TPOT, BAND_FIGURE_COUNT };
extern const char *const band_figure_names[BAND_FIGURE_COUNT]; /* of servers: "tok/s", ... */

/* A saturated server holds requests back (serving_saturated()). */
enum band_load { BAND_LOW, BAND_SATURATED, BAND_LOADS };

extern const char *const error_band_classes[SYSTEM_CLASS_COUNT]; /* "bandwidth-bound", ... */

struct error_band {
    uint64_t figures, sources; /* that it is made of; 0: it is unknown */
    double least, most;        /* as parts of the predicted figure: 0.8, 1.25 */
    const char *systems; /* of these figures: "retroinfer, flexgen", in the file; NULL of servers */
};

enum { ERROR_BAND_NAME = 64 };

/* scenarios/error-bands.yaml, which the caller gives back by files_drop(); NULL if it is invalid. */
const struct node *error_bands_open(struct files *files, struct error *why);

/* Read the band of that name from the file, all zeros if it has none. Fails if it is invalid. */
bool error_band_read(const struct node *file, const char *name, struct error_band *out,
                     struct error *why);

/* Narrow a band to a server of which a run is known, whose figure was `measured` times the predicted
 * one. In logarithms figures of one server correlate, by `alike` of the file
 * (python/spillway/error_model.py): the band becomes that of a normal variable beside a known one. */
bool error_band_know(const struct node *file, double measured, struct error_band *band,
                     struct error *why);

/* The system of a setup as a band names it. Systems that keep weights and KV in HBM and attend to
 * all of it do the same work, so they are one: "full attention". The name is the setup's, or static. */
const char *error_band_system(const struct setup *setup);
