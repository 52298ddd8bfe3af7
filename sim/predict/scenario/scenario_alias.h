/* What people call keys of a scenario elsewhere: on servers' command lines, in papers, in short. */
#pragma once

enum { SCENARIO_PATH = 96 }; /* bytes of a key's path */

/* The path of the key of which the user's text, which is no key, is an alias: "tensor_parallel" for
 * "tp" or "--gpus", "mechanisms.budget" for "budget", "hardware.gpu.hbm_capacity" for
 * "hbm_capacity". NULL if there is none. It is static, or written to `path`. */
const char *scenario_alias(const char *text, char path[SCENARIO_PATH]);

/* The same, else the path of the nearest key. */
const char *scenario_suggest(const char *text, char path[SCENARIO_PATH]);
