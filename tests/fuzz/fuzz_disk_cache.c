/* Fuzzes files of the disk cache and the ledgers in them: bytes that are no file of this key give
 * nothing; a value that is put into a file is found there; bytes that are a ledger are the same when
 * it is packed again. */
#include "core/disk_cache.h"
#include "decode/replay/ledger.h"

#include <stdlib.h>
#include <string.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static const struct disk_cache_bytes key = {(const uint8_t *)"key", 3};

/* The first two bytes are the ledger's steps and layers. */
static void read_ledger(struct disk_cache_bytes bytes)
{
    struct ledger ledger;
    ledger_init(&ledger);
    if (bytes.size >= 2 &&
        ledger_unpack(bytes.at + 2, bytes.size - 2, bytes.at[0], bytes.at[1], &ledger)) {
        size_t size;
        uint8_t *again = ledger_pack(&ledger, &size);
        require(again != NULL && size == bytes.size - 2 && memcmp(again, bytes.at + 2, size) == 0);
        free(again);
    }
    ledger_release(&ledger);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct disk_cache_bytes bytes = {data, size};
    size_t found_size, packed_size;
    uint8_t *found = disk_cache_unpack(bytes, key, &found_size);
    free(found);
    uint8_t *packed = disk_cache_pack(key, bytes, &packed_size);
    require(packed != NULL);
    found = disk_cache_unpack((struct disk_cache_bytes){packed, packed_size}, key, &found_size);
    require(found != NULL && found_size == size && (size == 0 || memcmp(found, data, size) == 0));
    free(found);
    free(packed);
    read_ledger(bytes);
    return 0;
}
