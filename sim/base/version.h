/* The program's version; part of every stored run. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define SPILLWAY_VERSION "0.1.0"

#endif
