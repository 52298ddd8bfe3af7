/* The options of `calibrate` by number, for the program that takes them and the harness that obeys
 * them. */
#ifndef CLI_CALIBRATE_H
#define CLI_CALIBRATE_H

enum calibrate_option {
    CALIBRATE_HOST,
    CALIBRATE_QUICK,
    CALIBRATE_BASE,
    CALIBRATE_FROM,
    CALIBRATE_GROUP,
    CALIBRATE_OUTPUT,
};

#endif
