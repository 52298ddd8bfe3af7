/* Fuzzes PROFILE.part, which calibrate resumes from: the same machine's is taken over whole, and
 * anything else is left alone. The input stands behind the checksum, which no fuzzer guesses. */
#include "calibrate/harness/session.h"
#include "machine/measured.h"

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

static int open_part(const uint8_t *data, size_t size, char path[64])
{
    int file = memfd_create("part", 0);
    require(file >= 0);
    dprintf(file, "%s\nprovenance:\n  format: %d\n  checksum: %016" PRIx64 "\n",
            measured_first_line, MEASURED_FORMAT, measured_checksum((const char *)data, size));
    require(write(file, data, size) == (ssize_t)size);
    snprintf(path, 64, "/proc/self/fd/%d", file);
    return file;
}

/* This machine as the part has it, if it can be read: `*expected` is the number of its findings. */
static void be_its_machine(const char *path, struct calibration *now, uint32_t *expected)
{
    struct error why = {.found = ""};
    struct calibration left;
    *expected = 0;
    if (profile_read(path, &left, &why)) {
        memcpy(now->base, left.base, sizeof now->base);
        now->provenance = left.provenance;
        *expected = left.findings.count;
        calibration_release(&left);
    } else {
        require(why.found[0] != '\0');
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calibration now;
    static FILE *log;
    const struct group *const none[] = {NULL};
    struct error why = {.found = ""};
    char path[64];
    uint32_t expected;
    log = log != NULL ? log : fopen("/dev/null", "w");
    memset(&now, 0, sizeof now);
    int file = open_part(size > 0 ? data : (const uint8_t *)"", size, path);
    be_its_machine(path, &now, &expected);
    const struct session session = {.path = "/proc/self/no-profile", .groups = none, .log = log};
    require(session_adopt(&session, path, &now, &why));
    require(now.findings.count == expected);
    calibration_release(&now);
    close(file);
    return 0;
}
