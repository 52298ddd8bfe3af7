/* Does a server sustain the load of a run? */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "server/server.h"

/* Write the rate at which requests came, and whether the queue grows at it. The result has its times
 * already. */
bool serving_write_load(const struct point *point, const struct requests *requests,
                        const struct served *all, struct result *result, struct error *why);

/* Does the server hold requests back? It does if the median wait in the queue is more than half of
 * the median TTFT, and more than four times the median TPOT: then TTFT is the length of a queue.
 * (Four, assumed: a request that finds room waits for the step under way, and perhaps for one or
 * two that are scheduled already.) False for a result without these times. */
bool serving_saturated(const struct result *result);

/* The load whose error bands a result has. */
enum band_load serving_band_load(const struct result *result);

/* Are the run's sessions too few to bring the rate that was asked for, and are they served? Then it
 * is unknown whether the queue grows at that rate. */
bool serving_sessions_lack(const struct result *result);

/* Seconds that sessions go on after the last of them began, of a run with requests at `rate` a
 * second: by so much longer the requests took to come. 0 if they came as fast; NaN without rates. */
double serving_session_s(const struct result *result, double rate);

/* Requests that arrive at this rate for ten times as long as one takes (of sessions: as a session
 * takes, so that 10 of 11 come at the rate): fewer do not show what a server sustains. */
uint64_t serving_lasting(double rate, double taken_s);

/* The same at the rate of a result. 0: it has as many, or the result has no times. Not for clients,
 * who set the rate themselves. */
uint64_t serving_requests_wanted(const struct result *result);
