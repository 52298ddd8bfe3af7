/* The profile that a measurement extends when --base names none. */
#pragma once

/* A GPU by the name that its driver gives it, and the profile of a machine with it. */
struct known_gpu {
    const char *device, *profile;
};
extern const struct known_gpu known_gpus[]; /* ends with device NULL */

/* The profile of that GPU, or the one for any machine ("h100-sxm"). */
const char *default_base(const char *device);
