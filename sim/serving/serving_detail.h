/* The rows behind a server's figures: its requests, where their time went, and the servers over
 * time.
 */
#ifndef SERVING_SERVING_DETAIL_H
#define SERVING_SERVING_DETAIL_H

#include "result/result.h"
#include "serve/requests.h"
#include "serve/series.h"
#include "serve/server.h"

/* Give `result` these rows; times of the series end at `end_ns`. */
bool serving_write_detail(const struct requests *requests, const struct served *served,
                          const struct series *series, int64_t end_ns, struct result *result,
                          struct error *why);

#endif
