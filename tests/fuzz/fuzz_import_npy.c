/* Fuzzes the import of numpy arrays, twice: without options, and with all options. */
#include "import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct import_options plain = {.per_step = 0}, full = {.mass = IMPORT_RANK,
                                                                 .context = 20,
                                                                 .unit_tokens = 3,
                                                                 .share = 2};
    import_any(&import_npy, data, size, &plain);
    import_any(&import_npy, data, size, &full);
    return 0;
}
