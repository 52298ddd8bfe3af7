/* The time that prompts add to a step by the matrix products of the model's layers and by what its
 * GPUs exchange, read off surfaces (server/surface.h).
 *
 * One surface is by the rows of a pass. Where ranks share experts there are two: what a rank's own
 * rows determine, and what the rows of all ranks add. The time is the sum of these, because no
 * operator depends on both.
 */
#pragma once

#include "decode/setup.h"
#include "machine/profile.h"
#include "model/model.h"
#include "predict/scenario/point.h"
#include "server/server.h"
#include "server/server_engine.h"

/* A time, and how much of it rests on which basis; in ns. */
struct added {
    double ns, basis_ns[BASIS_COUNT];
};

struct step_products;

/* Of the servers of `point`, which must outlive it, and so must `trust`: it is lowered to that of all
 * products. NULL when memory is out. */
struct step_products *step_products_create(const struct point *point, struct trust *trust,
                                           struct error *why);
void step_products_destroy(struct step_products *products); /* NULL is fine */

/* Add the time by which the products of `rows` exceed those of `already`. */
bool step_products_add(struct step_products *products, struct model_rows rows,
                       struct model_rows already, struct added *added, struct error *why);

/* The chunks of prompts in a step: which pass computes which, and what their attention adds.
 *
 * Each chunk goes to the pass that has fewest rows so far; the pass with most decides. An engine
 * that attends to prompts and decodes in one call (server_engine.h) takes, on a GPU with such a
 * kernel, longer for its decodes as well: what that call takes beyond decodes alone is added.
 */

struct step_prompts;

/* For steps of `passes` passes. `setup`, `path` and `trust`, as above, must outlive it. NULL when memory is
 * out. */
struct step_prompts *step_prompts_create(const struct setup *setup, const struct server_path *path,
                                         uint32_t passes, struct trust *trust, struct error *why);
void step_prompts_destroy(struct step_prompts *prompts); /* NULL is fine */

/* Add the attention of the chunks in `load`, which has some, of the pass with most rows; returns
 * these rows. `pass` is the part of the load that decodes in that pass. */
uint64_t step_prompts_add(struct step_prompts *prompts, const struct step_load *load,
                          const struct step_load *pass, struct added *added);
