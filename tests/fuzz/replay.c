/* Feeds the files of a corpus to a fuzz target, as one test each, so that findings of a fuzzer are
 * tested with compilers that have none. A crash ends the program before its TAP plan is done. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LARGEST = 1 << 20 };

static bool replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        printf("# %s: %s\n", path, strerror(errno));
        return false;
    }
    uint8_t *data = malloc(LARGEST);
    size_t size = data != NULL ? fread(data, 1, LARGEST, file) : 0;
    bool whole = data != NULL && feof(file) && !ferror(file);
    fclose(file);
    /* A block of the exact size lets the address sanitizer see a read past its end. */
    uint8_t *exact = whole ? realloc(data, size > 0 ? size : 1) : NULL;
    if (exact == NULL) {
        printf("# %s: cannot be read, or is larger than %d bytes\n", path, LARGEST);
        free(data);
        return false;
    }
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return true;
}

int main(int count, char **paths)
{
    int failures = 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("1..%d\n", count - 1);
    for (int i = 1; i < count; i++) {
        bool done = replay(paths[i]);
        failures += !done;
        printf("%s %d - %s\n", done ? "ok" : "not ok", i, paths[i]);
    }
    return failures > 0;
}
