/* The rows behind a server's figures: its requests, the times they waited, and the servers over
 * time.
 */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "server/requests/requests.h"
#include "server/record.h"
#include "server/server.h"

/* Add these rows to `result`. The series ends at `end_ns`. */
bool serving_write_detail(const struct point *point, const struct requests *requests,
                          const struct served *served, const struct series *series, int64_t end_ns,
                          struct result *result, struct error *why);
