/* Fuzzes the import of tables: the first line of the input assigns the columns, the others are the
 * file. */
#include "import_any.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char columns[256];
    const uint8_t *end = memchr(data, '\n', size);
    size_t length = end != NULL ? (size_t)(end - data) : size;
    if (length >= sizeof columns || memchr(data, '\0', length) != NULL) {
        return 0;
    }
    memcpy(columns, data, length);
    columns[length] = '\0';
    length += end != NULL;
    const struct import_options plain = {.columns = columns}, full = {.columns = columns,
                                                                      .context = 20,
                                                                      .unit_tokens = 3,
                                                                      .share = 2,
                                                                      .mass = IMPORT_RANK};
    import_any(&import_csv, data + length, size - length, &plain);
    import_any(&import_csv, data + length, size - length, &full);
    return 0;
}
