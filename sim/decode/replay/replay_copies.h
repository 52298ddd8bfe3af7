/* The sequences of a batch that read one recorded sequence.
 *
 * Sequence b reads recorded sequence b modulo their number. They read one outcome many times,
 * shifted: a row is added once for each distinct shift, however large the batch.
 */
#ifndef DECODE_REPLAY_REPLAY_COPIES_H
#define DECODE_REPLAY_REPLAY_COPIES_H

#include "decode/replay/replay_job.h"

/* Add a target layer's `rows` [steps], moved by `shift`, once for each sequence of the part that
 * reads recorded sequence `sequence`. Of the `copies` sequences of the whole batch that read it,
 * number c is shifted by another floor(c * steps / copies). The mass is not moved. */
void replay_add_copies(const struct replay_part *part, uint32_t target,
                       const struct ledger_row *rows, uint32_t shift, uint32_t sequence);

/* The number of the part's sequences that read recorded sequence `sequence`; and whether any
 * sequence of any part reads it. */
uint32_t replay_copies(const struct replay_part *part, uint32_t sequence);
bool replay_is_read(const struct replay_job *job, uint32_t sequence);

#endif
