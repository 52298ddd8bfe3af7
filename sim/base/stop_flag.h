/* A flag that one thread raises for others to see. Headers that C++ includes only declare the
 * struct, because C++ does not know the atomics of C. */
#ifndef BASE_STOP_FLAG_H
#define BASE_STOP_FLAG_H

#include <stdatomic.h>

struct stop_flag {
    atomic_bool raised;
};

#endif
