/* Fuzzes the import of streams of ids, with one access or three a step. */
#include "import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct import_options plain = {.per_step = 0}, three = {.per_step = 3, .unit_tokens = 16};
    import_any(&import_u32, data, size, &plain);
    import_any(&import_u32, data, size, &three);
    return 0;
}
