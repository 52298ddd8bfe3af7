/* What a command says on standard error, besides the line of its progress on a terminal.
 *
 * With --json it is said to a program, as JSON objects, one a line. What is unknown is left out:
 *
 *   {"error":"a.yaml:12: unknown key 'polcy' ...","key":"polcy","file":"a.yaml","line":12,
 *    "found":"unknown key 'polcy'","expected":"policy, budget","nearest":"policy","status":1}
 *   {"note":"serve.log:3: not used: --swap-space"}
 *   {"progress":"3 of 12 runs, 40 s left","done":3,"total":12}
 *
 * "unmet" is true where standard output has the whole answer, and the answer is no. */
#pragma once

#include "core/error.h"

#include <stdint.h>

/* From now on messages are JSON. */
void message_use_json(void);
bool message_is_json(void);

/* Say why the program ends with this exit status. */
void message_error(const struct error *why, int status);

/* Say a line about the input that changes nothing. */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Say in JSON how far a command is; `total` 0: unknown. */
void message_progress(uint32_t done, uint32_t total, const char *text);
