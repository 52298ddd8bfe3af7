/* What people call keys of a scenario elsewhere: on servers' command lines, in papers, in short. */
#ifndef SCENARIO_SCENARIO_MEANT_H
#define SCENARIO_SCENARIO_MEANT_H

/* The path of the key that `given`, which is no key, probably means: "tensor_parallel" for "tp" or
 * "--gpus", "mechanisms.budget" for "budget", "hardware.gpu.hbm_capacity" for "hbm_capacity". NULL
 * if nothing is known of it. The text is static. */
const char *scenario_key_meant(const char *given);

#endif
