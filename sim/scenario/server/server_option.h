/* The options of vLLM and SGLang that no setting takes (server_setting.h): which of them cannot
 * change what is predicted, and which have a name near that of a setting. */
#ifndef SCENARIO_SERVER_SERVER_OPTION_H
#define SCENARIO_SERVER_SERVER_OPTION_H

#include <stdbool.h>
#include <stddef.h>

/* Is it an option that changes neither times, memory nor hits: about names, the network, secrets,
 * logs, how text is parsed, how weights are found? `name` is without dashes in front, with '_' for
 * '-'; "no_" in front does not matter. */
bool server_option_harmless(const char *name);

/* Has one of the programs an option of this name? Only names that could be taken for a setting's
 * are sure to be known. */
bool server_option_known(const char *name);

/* Name number `index` of those known; NULL after the last. A final '*' stands for any end. */
const char *server_option_row(size_t index);

#endif
