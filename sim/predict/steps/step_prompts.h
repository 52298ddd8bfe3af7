/* The chunks of prompts in a step: which pass computes which, and what their attention adds.
 *
 * Each chunk goes to the pass that has fewest rows so far; the pass with most decides. An engine
 * that attends to prompts and decodes in one call (server_engine.h) takes, on a GPU with such a
 * kernel, longer for its decodes as well: what that call takes beyond decodes alone is added.
 */
#pragma once

#include "decode/setup.h"
#include "server/server.h"
#include "server/server_engine.h"
#include "predict/steps/step_products.h"

struct step_prompts;

/* For steps of `passes` passes. `setup` and `path` must outlive it. NULL when memory is out. */
struct step_prompts *step_prompts_create(const struct setup *setup, const struct server_path *path,
                                         uint32_t passes, struct error *why);
void step_prompts_destroy(struct step_prompts *prompts); /* NULL is fine */

/* Add the attention of the chunks in `load`, which has some, of the pass with most rows; returns
 * these rows. `pass` is the part of the load that decodes in that pass. */
uint64_t step_prompts_add(struct step_prompts *prompts, const struct step_load *load,
                          const struct step_load *pass, struct added *added);

/* The worst trust of all attention so far. */
struct trust step_prompts_trust(const struct step_prompts *prompts);
