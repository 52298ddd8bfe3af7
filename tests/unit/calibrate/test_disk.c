/* The drive below the working folder: what is found, what it leaves and what it moves, never how
 * fast. Where that folder is on no drive, or io_uring is not allowed, there is nothing to test. */
#include "unit/fixture/load_profile.h"

#include "calibrate/disk/groups.h"
#include "calibrate/disk/reads.h"
#include "calibrate/harness/session.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES = SCRATCH_LEAST, PAGE = SCRATCH_ALIGN };

static const struct effort one_sample = {"test", 0, 1, 1, 1, 0};

static char folder[] = "build/spillway-disk.XXXXXX";

/* Whatever a run left in the folder. */
static uint32_t entries(void)
{
    uint32_t count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    while (readdir(open) != NULL) {
        count++;
    }
    closedir(open);
    return count - 2; /* . and .. */
}

static void open_scratch(struct scratch *scratch)
{
    struct error why;
    if (!scratch_open(scratch, folder, FILE_BYTES, &why)) {
        fail_msg("%s", why.found);
    }
}

/* ---- the scratch file ---- */

static void scratch_file_has_no_name_and_random_bytes(void **state)
{
    (void)state;
    struct scratch scratch;
    struct stat info;
    char page[2][PAGE];
    open_scratch(&scratch);
    assert_int_equal(entries(), 0);
    assert_int_equal(fstat(scratch.cached, &info), 0);
    assert_int_equal(info.st_size, FILE_BYTES);
    assert_int_equal(info.st_nlink, 0);
    assert_int_equal(pread(scratch.cached, page[0], PAGE, 0), PAGE);
    assert_int_equal(pread(scratch.cached, page[1], PAGE, FILE_BYTES / 2), PAGE);
    assert_memory_not_equal(page[0], page[1], PAGE);
    assert_true(scratch.drive[0] != '\0' && scratch.capacity > FILE_BYTES);
    scratch_close(&scratch);
}

static void scratch_file_goes_with_a_process_that_is_killed(void **state)
{
    (void)state;
    struct scratch scratch;
    struct error why;
    int status;
    pid_t child = fork();
    if (child == 0) {
        if (scratch_open(&scratch, folder, FILE_BYTES, &why)) {
            raise(SIGKILL);
        }
        _exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(entries(), 0);
}

/* As on a drive that is full. */
static void drive_without_room_is_said_and_left_as_it_was(void **state)
{
    (void)state;
    struct scratch scratch;
    struct error why;
    struct rlimit before, small = {.rlim_cur = 1 << 20};
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool opened = scratch_open(&scratch, folder, FILE_BYTES, &why);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_false(opened);
    assert_string_equal(why.found, "the scratch file cannot be written: File too large");
    assert_int_equal(entries(), 0);
}

static void folder_without_a_drive_is_refused(void **state)
{
    (void)state;
    struct error why;
    assert_false(scratch_check("build/none", &why));
    assert_string_equal(why.found, "--disk: 'build/none' takes no file: No such file or directory");
    assert_false(scratch_check("/proc", &why));
    assert_non_null(strstr(why.found, "--disk: '/proc' takes no file"));
}

/* ---- requests ---- */

/* 20 pages are written in one order and read in another, with few and with many in flight. */
static void blocks_come_back_as_they_were_written(void **state)
{
    (void)state;
    enum { BLOCKS = 20 };
    static const uint32_t depths[] = {1, 3, READS_DEPTH};
    struct scratch scratch;
    struct error why;
    struct disk_request requests[BLOCKS];
    double ns;
    open_scratch(&scratch);
    struct disk_ring *ring = disk_ring_create(&why);
    char *memory = scratch_memory((size_t)2 * BLOCKS * PAGE, &why);
    assert_true(ring != NULL && memory != NULL);
    for (size_t d = 0; d < COUNT(depths); d++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            memset(memory + (size_t)i * PAGE, (int)(1 + i + 20 * d), PAGE);
            requests[i] = (struct disk_request){(uint64_t)PAGE * (7 * i % BLOCKS),
                                                memory + (size_t)i * PAGE, true};
        }
        assert_true(
            disk_ring_run(ring, scratch.direct, PAGE, requests, BLOCKS, depths[d], &ns, &why));
        for (uint32_t i = 0; i < BLOCKS; i++) {
            requests[i].memory += (size_t)BLOCKS * PAGE;
            requests[i].write = false;
        }
        assert_true(
            disk_ring_run(ring, scratch.direct, PAGE, requests, BLOCKS, depths[d], &ns, &why));
        assert_memory_equal(memory, memory + (size_t)BLOCKS * PAGE, (size_t)BLOCKS * PAGE);
        assert_true(ns > 0);
    }
    disk_ring_destroy(ring);
    free(memory);
    scratch_close(&scratch);
}

static void block_past_the_end_is_an_error(void **state)
{
    (void)state;
    struct scratch scratch;
    struct error why;
    double ns;
    open_scratch(&scratch);
    struct disk_ring *ring = disk_ring_create(&why);
    char *memory = scratch_memory((size_t)2 * PAGE, &why);
    const struct disk_request past = {FILE_BYTES - PAGE, memory, false};
    assert_false(disk_ring_run(ring, scratch.cached, (size_t)2 * PAGE, &past, 1, 1, &ns, &why));
    assert_string_equal(why.found, "4096 of 8192 bytes of the scratch file were moved");
    disk_ring_destroy(ring);
    free(memory);
    scratch_close(&scratch);
}

/* ---- the group ---- */

/* Bytes that this process read and wrote below the page cache; false where the system does not
 * say. */
static bool moved(unsigned long long *read, unsigned long long *written)
{
    char line[128];
    FILE *file = fopen("/proc/self/io", "r");
    bool found = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        found = sscanf(line, "read_bytes: %llu", read) == 1 || found;
        (void)sscanf(line, "write_bytes: %llu", written);
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

static void group_finds_every_size_and_stays_in_its_bounds(void **state)
{
    (void)state;
    static const char *const figures[] = {
        "disk.read",  "disk.read_one",    "disk.write",       "disk.cached",
        "disk.mixed", "disk.cached_cold", "disk.read.depth4", "disk.write.depth1"};
    struct findings findings = {.all = NULL};
    struct error why;
    unsigned long long read[2] = {0}, written[2] = {0};
    bool counted = moved(&read[0], &written[0]);
    if (!disk_run(&one_sample, 1, &findings, &why)) {
        fail_msg("%s", why.found);
    }
    for (size_t i = 0; i < COUNT(figures); i++) {
        const struct finding *finding = findings_get(&findings, figures[i]);
        assert_non_null(finding);
        assert_int_equal(finding->count, 6);
        assert_true(finding->points[0].size == 4096 && finding->points[5].size == 4 << 20);
        assert_true(finding->points[0].median > 0 && finding->note[0] != '\0');
    }
    assert_true(findings_get(&findings, "disk.latency")->points[0].median > 0);
    assert_true(findings_get(&findings, "disk.capacity")->points[0].median > FILE_BYTES);
    /* A sample moves 16 MiB at most. Three figures of six sizes write. */
    if (counted && moved(&read[1], &written[1])) {
        assert_true(written[1] - written[0] <= FILE_BYTES + (3 * 6ULL * (16 << 20)));
        assert_true(read[1] - read[0] <= 2 * 8 * 6ULL * (16 << 20));
    }
    assert_true(disk_most_written <= 8ULL << 30 && disk_most_read <= 41ULL << 30);
    assert_int_equal(entries(), 0);
    findings_release(&findings);
}

/* ---- the profile ---- */

static void run_session(const char *path, char **log)
{
    const struct group *const groups[] = {&disk_groups[0], NULL};
    struct calibration calibration = {.base = "h100-sxm"};
    struct error why;
    uint32_t failed;
    size_t size;
    struct session session = {.path = path,
                              .groups = groups,
                              .effort = &one_sample,
                              .terms = {.patience = 60},
                              .seed = 1,
                              .machine = MACHINE_HOST,
                              .log = open_memstream(log, &size)};
    assert_true(machine_describe(MACHINE_HOST, FACT_CLOCKS_START, DESCRIBE_SECONDS,
                                 &calibration.provenance, &why));
    if (!session_run(&session, &calibration, &failed, &why) || failed > 0) {
        fail_msg("%s: %s", why.file, failed > 0 ? "failed" : why.found);
    }
    assert_int_equal(fclose(session.log), 0);
    calibration_release(&calibration);
}

static void profile_has_the_drive_and_is_not_measured_twice(void **state)
{
    (void)state;
    static const enum curve_id curves[] = {CURVE_DISK_CAPACITY, CURVE_DISK_READ,
                                           CURVE_DISK_READ_ONE, CURVE_DISK_WRITE,
                                           CURVE_DISK_LATENCY,  CURVE_DISK_CACHED};
    char path[96], *log;
    snprintf(path, sizeof path, "%s/p.yaml", folder);
    run_session(path, &log);
    assert_non_null(strstr(log, "1/1 disk: "));
    free(log);
    struct profile profile = load_well(path);
    for (size_t i = 0; i < COUNT(curves); i++) {
        assert_true(profile_states(&profile, curves[i]));
        assert_int_equal(profile.curves[curves[i]].basis, BASIS_MEASURED);
    }
    profile_release(&profile);
    run_session(path, &log);
    assert_null(strstr(log, "1/1 disk: "));
    free(log);
    unlink(path);
    assert_int_equal(entries(), 0);
}

/* ---- all ---- */

static int set_up(void **state)
{
    (void)state;
    disk_where = (struct disk_where){folder, FILE_BYTES};
    return mkdtemp(folder) == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    return rmdir(folder);
}

/* Has this machine a drive here, and io_uring? */
static bool can_test(void)
{
    struct error why;
    struct disk_ring *ring = NULL;
    bool can = scratch_check("build", &why) && (ring = disk_ring_create(&why)) != NULL;
    if (!can) {
        print_message("skipped: %s\n", why.found);
    }
    disk_ring_destroy(ring);
    return can;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scratch_file_has_no_name_and_random_bytes),
        cmocka_unit_test(scratch_file_goes_with_a_process_that_is_killed),
        cmocka_unit_test(drive_without_room_is_said_and_left_as_it_was),
        cmocka_unit_test(folder_without_a_drive_is_refused),
        cmocka_unit_test(blocks_come_back_as_they_were_written),
        cmocka_unit_test(block_past_the_end_is_an_error),
        cmocka_unit_test(group_finds_every_size_and_stays_in_its_bounds),
        cmocka_unit_test(profile_has_the_drive_and_is_not_measured_twice),
    };
    return can_test() ? cmocka_run_group_tests(tests, set_up, tear_down) : 0;
}
