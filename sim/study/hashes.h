/* The hashes that are stored with a run. */
#ifndef STUDY_HASHES_H
#define STUDY_HASHES_H

#include "decode/setup.h"

/* Each 16 hex digits; `run` covers all of them, the model and the program's version. */
struct run_hashes {
    char run[17], scenario[17], profile[17], trace[17];
};

/* Of a profile's curves alone. */
void profile_hash(const struct profile *profile, char text[17]);

bool run_hashes(const struct setup *setup, struct run_hashes *out, struct error *why);

#endif
