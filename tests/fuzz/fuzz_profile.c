/* Fuzzes hardware profiles: bytes are refused with a reason, or loaded. The checksum of a measured
 * profile is corrected first, because no fuzzer guesses it. A measured profile that is read is
 * written and read back to the same bytes. */
#include "calibrate/harness/profile_write.h"
#include "machine/measured.h"
#include "machine/profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* The text with its correct checksum, if it has a place for one. */
static char *mend(const uint8_t *data, size_t size)
{
    enum { DIGITS = 16 };
    static const char key[] = "\n  checksum: ";
    char digits[DIGITS + 1];
    char *text = calloc(size + 1, 1);
    require(text != NULL);
    memcpy(text, data, size);
    char *place = strstr(text, key);
    size_t start = place != NULL ? (size_t)(place - text) + strlen(key) : size;
    if (start + DIGITS < size) {
        snprintf(digits, sizeof digits, "%016" PRIx64,
                 measured_checksum(text + start + DIGITS + 1, size - start - DIGITS - 1));
        memcpy(text + start, digits, DIGITS);
    }
    return text;
}

/* The path of a file in memory that holds the text. */
static int open_text(const char *text, size_t size, char path[64])
{
    int file = memfd_create("profile", 0);
    require(file >= 0 && write(file, text, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

static char *written(const struct calibration *calibration)
{
    struct error why = {.found = ""};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    require(out != NULL);
    bool ok = profile_write(calibration, out, &why);
    require(ok || why.found[0] != '\0');
    require(fclose(out) == 0);
    if (!ok) {
        free(text);
        text = NULL;
    }
    return text;
}

static void load(char *path)
{
    struct error why = {.found = ""};
    struct profile profile;
    const struct node name = {.kind = NODE_SCALAR, .file = "fuzz", .text = path};
    if (profile_load(NULL, &name, &profile, &why)) {
        profile_release(&profile);
    } else {
        require(why.found[0] != '\0');
    }
}

static void read_and_write(const char *path)
{
    struct error why = {.found = ""};
    struct calibration calibration, again;
    char second_path[64];
    if (!profile_read(path, &calibration, &why)) {
        require(why.found[0] != '\0');
        return;
    }
    char *text = written(&calibration);
    if (text != NULL) {
        int file = open_text(text, strlen(text), second_path);
        require(profile_read(second_path, &again, &why));
        char *second = written(&again);
        require(second != NULL && strcmp(text, second) == 0);
        calibration_release(&again);
        free(second);
        close(file);
    }
    free(text);
    calibration_release(&calibration);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    char *text = mend(data, size);
    int file = open_text(text, size, path);
    load(path);
    read_and_write(path);
    close(file);
    free(text);
    return 0;
}
