/* The numbers of the options of `calibrate`, for the program that reads them and the harness that
 * carries them out. */
#pragma once

enum calibrate_option {
    CALIBRATE_HOST,
    CALIBRATE_DISK,
    CALIBRATE_QUICK,
    CALIBRATE_WITHIN,
    CALIBRATE_BASE,
    CALIBRATE_FROM,
    CALIBRATE_GROUP,
    CALIBRATE_OUTPUT,
};
