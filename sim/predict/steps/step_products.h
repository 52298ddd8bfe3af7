/* The time that prompts add to a step by the matrix products of the model's layers and by what its
 * GPUs exchange, read off surfaces (server/surface.h).
 *
 * One surface is by the rows of a pass. Where ranks share experts there are two: what a rank's own
 * rows determine, and what the rows of all ranks add. The time is the sum of these, because no
 * operator depends on both.
 */
#pragma once

#include "machine/profile.h"
#include "model/model.h"
#include "predict/scenario/point.h"

/* A time, and how much of it rests on which basis; in ns. */
struct added {
    double ns, basis_ns[BASIS_COUNT];
};
void added_time(struct added *added, double ns, enum basis basis);

struct step_products;

/* Of the servers of `point`, which must outlive it. NULL when memory is out. */
struct step_products *step_products_create(const struct point *point, struct error *why);
void step_products_destroy(struct step_products *products); /* NULL is fine */

/* Add the time by which the products of `rows` exceed those of `already`. */
bool step_products_add(struct step_products *products, struct model_rows rows,
                       struct model_rows already, struct added *added, struct error *why);

/* The worst trust of all products so far. */
struct trust step_products_trust(const struct step_products *products);
