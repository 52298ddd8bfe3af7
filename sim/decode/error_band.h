/* How far published figures lay from predicted ones: rates, by class of system; and time to first
 * token, time per output token and rate of servers, by kind of model, load and machine.
 *
 * python/spillway/papers.py writes the file: for each of these the largest factor between a
 * published figure and the predicted one, and whether that band stands. It is not a confidence
 * interval. A result carries the band on a machine with such a figure, and of a class of
 * systems only if one of these figures is of its own system: others of the class may err otherwise.
 * predict/scenario/point.h and predict/answer.c have the other conditions.
 */
#pragma once

#include "core/error.h"
#include "decode/setup.h"
#include "decode/system.h"

#include <stdint.h>

struct files;

/* What a band is of. A class of systems has one of rates only. */
enum band_figure { BAND_RATE, BAND_TTFT, BAND_TPOT, BAND_FIGURE_COUNT };

/* The machines of a server's band: all; or those whose GPUs exchange over NVLink, or over PCI
 * Express, as GPUs of this kind do that are alone, too. */
enum band_machines { BAND_MACHINES_ALL, BAND_NVLINK, BAND_PCIE, BAND_MACHINES_COUNT };

/* A saturated server holds requests back (serving_saturated()). */
enum band_load { BAND_LOW, BAND_SATURATED, BAND_LOADS };

struct band_server {
    enum band_load load;
    bool experts; /* its model is a mixture of them */
    enum band_machines machines;
    enum band_figure figure;
};

/* Bands in the order of the file: the classes of systems, then the figures of servers by load, kind
 * of model and machines. */
enum {
    ERROR_BAND_COUNT =
        SYSTEM_CLASS_COUNT + 2 * BAND_LOADS * (int)BAND_MACHINES_COUNT * (int)BAND_FIGURE_COUNT
};
extern const char *const error_band_names[ERROR_BAND_COUNT + 1]; /* ends with NULL */

/* The place of a server's band. */
int error_band_of_server(struct band_server server);

struct error_band {
    uint64_t rows;      /* figures compared; 0: none */
    double factor;      /* 1.25: from 1 / 1.25 of the predicted rate to 1.25 times it */
    bool falls;         /* it does not stand; then these, too: */
    double median;      /* of the figures' factors */
    uint64_t below;     /* figures whose prediction lies below the published one */
    char machines[128]; /* of these figures: "a40-no-ecc, h100-sxm" */
    char systems[256];  /* likewise: "retroinfer, flexgen"; "" of servers */
};

/* Its ends as shares of the predicted rate: 1.25 gives -0.2, 0.25. */
void error_band_ends(const struct error_band *band, double ends[2]);

/* Does the band stand? */
bool error_band_stands(const struct error_band *band);

/* Read scenarios/error-bands.yaml; `files` keeps it (NULL: nothing is kept). A band that the file
 * lacks has 0 rows. */
bool error_band_load(struct files *files, struct error_band out[ERROR_BAND_COUNT],
                     struct error *why);

/* The machine of a setup as a band names it: "rtx-4090", or "8 b200" if several GPUs share the
 * model. ERROR_BAND_MACHINE bytes hold any. */
enum { ERROR_BAND_MACHINE = 96 };
void error_band_machine(const struct setup *setup, char *text, size_t size);

/* The system of a setup as a band names it. Systems that keep weights and KV in HBM and attend to
 * all of it do the same work, so they are one: "full attention". The name is the setup's, or static. */
const char *error_band_system(const struct setup *setup);

/* Is one of the band's figures of that machine, or of that system? */
bool error_band_covers(const struct error_band *band, const char *machine);
bool error_band_covers_system(const struct error_band *band, const char *system);
