/* The program's version, and the identity of what it computes. */
#pragma once

#define SPILLWAY_VERSION "0.2.0"

/* "0.2.0+0123456789abcdef": the version, and a hash of all sources that decide a result (tools/identity.sh),
 * so that no stored figure outlives the code that computed it. */
extern const char spillway_program[];
