/* Fuzzes the import of libCacheSim's binary traces, plain or compressed, with one access or three a
 * step. */
#include "import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct import_options plain = {.per_step = 0}, three = {.per_step = 3};
    import_any(&import_oracle_general, data, size, &plain);
    import_any(&import_oracle_general, data, size, &three);
    return 0;
}
