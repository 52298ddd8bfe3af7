#include "core/version.h"

#ifndef SPILLWAY_SOURCES
#error "the Makefile defines SPILLWAY_SOURCES, a hash of the sources that decide a result"
#endif

const char spillway_program[] = SPILLWAY_VERSION "+" SPILLWAY_SOURCES;
