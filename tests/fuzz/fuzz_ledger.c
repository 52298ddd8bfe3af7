/* Fuzzes ledgers that are kept on disk: bytes that are a ledger are the same when it is packed again. The
 * first two bytes are its steps and layers. */
#include "decode/replay/ledger.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ledger ledger;
    ledger_init(&ledger);
    if (size >= 2 && ledger_unpack(data + 2, size - 2, data[0], data[1], &ledger)) {
        size_t packed;
        uint8_t *again = ledger_pack(&ledger, &packed);
        if (again == NULL || packed != size - 2 || memcmp(again, data + 2, packed) != 0) {
            abort();
        }
        free(again);
    }
    ledger_release(&ledger);
    return 0;
}
