/* Facts that a server's text states, once all of it is read, become keys of a scenario: what follows from several of
 * them, what another system alone has, and what has no value of its own. */
#pragma once

#include "core/error.h"

struct server_text;

/* Refuses, in the text, what its lines contradict. Fails if no version of the program is known. */
bool stated_complete(struct server_text *said, struct error *why);
