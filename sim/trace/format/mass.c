/* Attention masses as 8-bit codes: code c is 2^(-c/10), steps of 7 % from 1 down to 2e-8. The table
 * is computed by the compiler, so it is the same on every machine and in every thread. */
#include "trace/format/trace.h"

#include <math.h>

/* Ten codes halve the mass: 2^0 ... 2^(-9/10), times the power of two of the first. */
#define SIX(start)                                                                                 \
    (float)(start), (float)(0.93303299153680742 * (start)),                                        \
        (float)(0.87055056329612414 * (start)), (float)(0.81225239635623552 * (start)),            \
        (float)(0.75785828325519910 * (start)), (float)(0.70710678118654752 * (start))
#define TEN(start)                                                                                 \
    SIX(start), (float)(0.65975395538644713 * (start)), (float)(0.61557220667245814 * (start)),    \
        (float)(0.57434917749851750 * (start)), (float)(0.53588673126814658 * (start))

const float trace_mass[256] = {
    TEN(0x1p0),   TEN(0x1p-1),  TEN(0x1p-2),  TEN(0x1p-3),  TEN(0x1p-4),  TEN(0x1p-5),
    TEN(0x1p-6),  TEN(0x1p-7),  TEN(0x1p-8),  TEN(0x1p-9),  TEN(0x1p-10), TEN(0x1p-11),
    TEN(0x1p-12), TEN(0x1p-13), TEN(0x1p-14), TEN(0x1p-15), TEN(0x1p-16), TEN(0x1p-17),
    TEN(0x1p-18), TEN(0x1p-19), TEN(0x1p-20), TEN(0x1p-21), TEN(0x1p-22), TEN(0x1p-23),
    TEN(0x1p-24), SIX(0x1p-25),
};

uint8_t trace_mass_code(double mass)
{
    if (!(mass > 0)) {
        return 255;
    }
    double code = -10.0 * log2(mass);
    return code <= 0 ? 0 : code >= 255 ? 255 : (uint8_t)lround(code);
}
