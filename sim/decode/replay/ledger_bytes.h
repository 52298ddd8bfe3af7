/* A ledger as bytes, and back: sizes and totals, then the rows column by column, which compress
 * better than row by row. In the machine's byte order; a sum of ledgers is not meant.
 */
#ifndef DECODE_REPLAY_LEDGER_BYTES_H
#define DECODE_REPLAY_LEDGER_BYTES_H

#include "decode/replay/ledger.h"

#include <stddef.h>

/* The bytes, in memory that the caller frees; NULL without memory. */
uint8_t *ledger_pack(const struct ledger *ledger, size_t *size);

/* The ledger with these steps and layers; false if the bytes are no such ledger, or without memory.
 * `ledger` was initialised; the caller releases it, on failure too. */
bool ledger_unpack(const uint8_t *bytes, size_t size, uint32_t steps, uint32_t layers,
                   struct ledger *ledger);

#endif
