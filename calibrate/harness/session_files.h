/* The files of a session: PROFILE, and PROFILE.part beside it until all groups were tried
 * (session.h). */
#pragma once

#include "calibrate/harness/profile_write.h"

struct session_files {
    char *profile; /* owned, as are the others; where a link leads */
    char *part;    /* what is measured so far */
    char *fresh;   /* written, and not yet the part */
};

/* Name the files. Fails if the profile could not be written, or if a file that calibrate did not
 * write has one of the names. Release the files after a failure, too. */
bool session_files_init(const char *profile, struct session_files *files, struct error *why);
void session_files_release(struct session_files *files);

/* Replace the part; it stays as it was if that fails. */
bool session_files_save(const struct session_files *files, const struct calibration *calibration,
                        struct error *why);

/* The part becomes the profile. */
bool session_files_finish(const struct session_files *files, struct error *why);
