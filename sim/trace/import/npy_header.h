/* The header of a numpy array file (numpy.org, "NPY format", versions 1 and 2): a Python
 * dictionary with the type of the items, their order and the shape. Internal to this folder. */
#ifndef TRACE_IMPORT_NPY_HEADER_H
#define TRACE_IMPORT_NPY_HEADER_H

#include "trace/import/import_bytes.h"

enum { NPY_DIMENSIONS_MOST = 8 };

/* Types of indices. */
struct npy_type {
    const char *name; /* "<i4" */
    size_t size;      /* bytes */
    bool is_signed;
};

struct npy_header {
    const struct npy_type *type;
    uint64_t shape[NPY_DIMENSIONS_MOST]; /* each at most 2^32 - 1 */
    size_t dimensions;
};

/* Read the header; the data follow it. Refused: other types, other byte orders, Fortran order. */
bool npy_header_read(struct import_bytes *bytes, struct npy_header *header, struct error *why);

/* Parse the text of the dictionary. */
bool npy_header_parse(const char *text, const char *path, struct npy_header *header,
                      struct error *why);

#endif
