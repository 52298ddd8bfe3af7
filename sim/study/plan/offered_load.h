/* The requests of a fleet's runs: how many come, and how; and cheap runs, which say where any search begins.
 *
 * Requests that all come at once show how many a server answers at most; how few then show whether it
 * holds a rate follows from that. Of requests that are made up and whose number nobody stated there can be
 * more: a rate that is found over less than ten times as long as a request takes may not be sustained
 * (predict/server/serving_load.h). */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

/* ---- cheap runs, of which only guesses follow ---- */

/* A limit on times is mostly met up to this share of what a server answers at most. */
#define ROUGH_USUAL 0.7

enum { ROUGH_LEAST = 100 }; /* requests of a cheap run */

struct rough {
    double most; /* requests a second that are answered when all come at once; 0: cannot run */
    double held; /* requests that it has in work then */
};

/* Let all requests come at once, or each find its server without another: as many clients as there are
 * servers. */
bool load_at_once(struct scenario *scenario, struct error *why);
bool load_alone(struct scenario *scenario, uint64_t servers, struct error *why);

/* Read a run whose requests all come at once. */
void rough_read(const struct result *at_once, struct rough *out);

/* Requests of a cheap run at a rate of one server: they arrive for three times as long as one
 * takes. At least `least`, at most `there`. */
uint64_t rough_requests(const struct rough *rough, double rate, uint64_t least, uint64_t there);

/* ---- more requests ---- */

/* A fleet has at least half as many requests again as its answer needs, and at most LENGTHEN_MOST. While
 * the first sessions go on and the last ones end, fewer requests come than were asked for: of sessions
 * there are LENGTHEN_SESSIONS at least. */
enum { LENGTHEN_MOST = 100000, LENGTHEN_SESSIONS = 2500 };

/* Are the requests made up, as many as there are by default? */
bool lengthen_may(const struct scenario *scenario);

bool lengthen_has_sessions(const struct scenario *scenario);

/* `needed` requests and the spare ones. */
uint64_t lengthen_spare(uint64_t needed);

/* Give the scenario so many requests. */
bool lengthen_set(struct scenario *scenario, uint64_t requests, struct error *why);
