/* Notes on what a scenario asks for and its machine lacks. The run goes on as an engine would: with
 * products in another type, or beyond one machine. */
#ifndef RUN_LACKS_H
#define RUN_LACKS_H

#include "decode/setup.h"
#include "result/result.h"

/* Add a note for weights of a type that the GPU cannot multiply, and for more GPUs in an exchange
 * than one machine has. */
void lacks_note(const struct setup *setup, struct result *result);

#endif
