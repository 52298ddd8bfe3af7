/* Values on disk: found by their whole key, whole or not at all, and the least recently used leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/disk_cache.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[32], command[64];

static int enter(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/test_cache.XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static struct disk_cache_bytes text(const char *text)
{
    return (struct disk_cache_bytes){(const uint8_t *)text, strlen(text)};
}

static struct disk_cache *open_cache(uint64_t most)
{
    struct disk_cache *cache = disk_cache_open(folder, most);
    assert_non_null(cache);
    return cache;
}

static void expect(struct disk_cache *cache, const char *key, const char *value)
{
    size_t size = 0;
    uint8_t *found = disk_cache_get(cache, text(key), &size);
    if (value == NULL) {
        assert_null(found);
        return;
    }
    assert_non_null(found);
    assert_int_equal(size, strlen(value));
    assert_memory_equal(found, value, size);
    free(found);
}

/* ---- the file ---- */

static void a_value_is_found_by_its_key_alone(void **state)
{
    struct disk_cache *cache = open_cache(1 << 20);
    (void)state;
    expect(cache, "key", NULL);
    disk_cache_put(cache, text("key"), text("value"));
    disk_cache_put(cache, text("empty"), text(""));
    expect(cache, "key", "value");
    expect(cache, "empty", "");
    expect(cache, "ke", NULL);
    expect(cache, "kez", NULL);
    disk_cache_put(cache, text("key"), text("another"));
    expect(cache, "key", "another");
    disk_cache_close(cache);
    cache = open_cache(1 << 20);
    expect(cache, "key", "another");
    disk_cache_close(cache);
}

/* ---- the file ---- */

static const char *file_path(const char *ending)
{
    static char path[96];
    snprintf(path, sizeof path, "%s/replays.db%s", folder, ending);
    return path;
}

static off_t file_bytes(void)
{
    struct stat state;
    assert_int_equal(stat(file_path(""), &state), 0);
    return state.st_size;
}

/* A value is the one that was put, or none, wherever the file is damaged; and it can be put again. */
static void a_damaged_file_gives_no_other_value(void **state)
{
    (void)state;
    for (off_t at = 0; at < 3 * 4096;
         at += 61) { /* pages of the schema, the rows and their index */
        struct disk_cache *cache = open_cache(1 << 20);
        disk_cache_put(cache, text("key"), text("value"));
        disk_cache_close(cache);
        int file = open(file_path(""), O_RDWR);
        char byte;
        assert_int_equal(pread(file, &byte, 1, at), 1);
        byte ^= 0x10;
        assert_int_equal(pwrite(file, &byte, 1, at), 1);
        close(file);
        size_t size = 0;
        cache = disk_cache_open(folder, 1 << 20);
        uint8_t *found = disk_cache_get(cache, text("key"), &size);
        assert_true(found == NULL || (size == 5 && memcmp(found, "value", 5) == 0));
        free(found);
        disk_cache_close(cache);
        if (found == NULL) {
            unlink(file_path(""));
        }
    }
}

static void a_cut_file_is_made_anew(void **state)
{
    (void)state;
    for (off_t size = 1; size < 8192; size += 1000) {
        struct disk_cache *cache = open_cache(1 << 20);
        disk_cache_put(cache, text("key"), text("value"));
        disk_cache_close(cache);
        assert_int_equal(truncate(file_path(""), size), 0);
        cache = open_cache(1 << 20);
        expect(cache, "key", NULL);
        disk_cache_close(cache);
        cache = open_cache(1 << 20);
        disk_cache_put(cache, text("key"), text("value"));
        expect(cache, "key", "value");
        disk_cache_close(cache);
    }
}

/* Values that do not compress. */
static void fill(uint8_t *bytes, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

enum { VALUE = 1000, VALUES = 600, MOST = 256 << 10 };

static void put_numbered(struct disk_cache *cache, uint32_t number)
{
    uint8_t value[VALUE];
    char key[16];
    snprintf(key, sizeof key, "%u", number);
    fill(value, sizeof value, number);
    disk_cache_put(cache, text(key), (struct disk_cache_bytes){value, sizeof value});
}

/* Is it there, and whole? Using it makes it young. */
static bool has_numbered(struct disk_cache *cache, uint32_t number)
{
    uint8_t value[VALUE];
    char key[16];
    size_t size;
    snprintf(key, sizeof key, "%u", number);
    uint8_t *found = disk_cache_get(cache, text(key), &size);
    fill(value, sizeof value, number);
    if (found != NULL) {
        assert_int_equal(size, VALUE);
        assert_memory_equal(found, value, VALUE);
    }
    free(found);
    return found != NULL;
}

/* Six hundred values of 1 KB into 256 KB. */
static void the_oldest_leave(void **state)
{
    struct disk_cache *cache = open_cache(MOST);
    uint32_t old = 0, young = 0;
    (void)state;
    for (uint32_t i = 0; i < VALUES; i++) {
        put_numbered(cache, i);
    }
    for (uint32_t i = 1; i <= 100; i++) {
        old += has_numbered(cache, i);
        young += has_numbered(cache, VALUES - i);
    }
    assert_int_equal(old, 0);
    assert_true(young > 90);
    assert_true(file_bytes() <= MOST);
    disk_cache_close(cache);
}

static void too_large_a_value_is_not_kept(void **state)
{
    static uint8_t value[MOST / 16 / 4];
    struct disk_cache *cache = open_cache(MOST);
    (void)state;
    fill(value, sizeof value, 1);
    disk_cache_put(cache, text("large"), (struct disk_cache_bytes){value, sizeof value});
    expect(cache, "large", NULL);
    disk_cache_close(cache);
}

/* ---- what is not the cache's own ---- */

/* Nothing is waited for, read, touched or written where the file or its journal is of another kind. */
static void links_and_fifos_stay_as_they_are(void **state)
{
    static const char *const endings[] = {"", "-journal"};
    char other[96];
    (void)state;
    snprintf(other, sizeof other, "%s/other", folder);
    assert_int_equal(close(open(other, O_CREAT | O_WRONLY, 0600)), 0);
    for (int i = 0; i < 2; i++) {
        const char *path = file_path(endings[i]);
        assert_int_equal(symlink("other", path), 0);
        assert_null(disk_cache_open(folder, 1 << 20));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkfifo(path, 0600), 0);
        assert_null(disk_cache_open(folder, 1 << 20));
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        assert_null(disk_cache_open(folder, 1 << 20));
        assert_int_equal(rmdir(path), 0);
    }
    struct stat linked;
    assert_int_equal(stat(other, &linked), 0);
    assert_int_equal(linked.st_size, 0);
}

/* Four processes put and get the same values in a cache that is too small for them, one of them
 * killed in the midst of it: no value is ever another one. A process to which the others leave no
 * turn in time goes without the cache. */
static void processes_share_a_folder(void **state)
{
    pid_t children[4];
    (void)state;
    for (int child = 0; child < 4; child++) {
        children[child] = fork();
        assert_true(children[child] >= 0);
        if (children[child] == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL); /* nor does it outlive a test that fails */
            struct disk_cache *cache = disk_cache_open(folder, MOST);
            for (uint32_t i = 0; cache != NULL && (child == 0 || i < 500); i++) {
                put_numbered(cache, i * 7 % 400);
                has_numbered(cache, i * 13 % 400);
            }
            for (; child == 0; pause()) {
            }
            _exit(0);
        }
    }
    for (int child = 3; child >= 0; child--) {
        int status;
        if (child == 0) {
            kill(children[0], SIGKILL);
        }
        assert_int_equal(waitpid(children[child], &status, 0), children[child]);
        assert_true(child == 0 ? WIFSIGNALED(status)
                               : WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
    struct disk_cache *cache = open_cache(MOST);
    uint32_t found = 0;
    for (uint32_t i = 0; i < 400; i++) {
        found += has_numbered(cache, i);
    }
    assert_true(found > 100);
    disk_cache_close(cache);
}

static void the_last_two_folders_are_made(void **state)
{
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/home/.cache/spillway", folder);
    assert_null(disk_cache_open(path, 1 << 20));
    snprintf(path, sizeof path, "%s/home", folder); /* a home is never made */
    assert_int_equal(access(path, F_OK), -1);
    snprintf(path, sizeof path, "%s/one//two/", folder);
    struct disk_cache *cache = disk_cache_open(path, 1 << 20);
    disk_cache_put(cache, text("key"), text("value"));
    expect(cache, "key", "value");
    disk_cache_close(cache);
}

static void without_a_folder_there_is_no_cache(void **state)
{
    size_t size;
    char path[64];
    (void)state;
    assert_null(disk_cache_open("/dev/null/spillway", 1 << 20));
    assert_null(disk_cache_get(NULL, text("key"), &size));
    disk_cache_put(NULL, text("key"), text("value"));
    disk_cache_close(NULL);
    setenv("XDG_CACHE_HOME", "relative", 1);
    setenv("HOME", "/home/someone", 1);
    assert_true(disk_cache_folder(path, sizeof path));
    assert_string_equal(path, "/home/someone/.cache/spillway");
    assert_false(disk_cache_folder(path, 8));
    setenv("XDG_CACHE_HOME", "/elsewhere", 1);
    assert_true(disk_cache_folder(path, sizeof path));
    assert_string_equal(path, "/elsewhere/spillway");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
    assert_false(disk_cache_folder(path, sizeof path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_value_is_found_by_its_key_alone, enter, leave),
        cmocka_unit_test_setup_teardown(a_damaged_file_gives_no_other_value, enter, leave),
        cmocka_unit_test_setup_teardown(a_cut_file_is_made_anew, enter, leave),
        cmocka_unit_test_setup_teardown(the_oldest_leave, enter, leave),
        cmocka_unit_test_setup_teardown(too_large_a_value_is_not_kept, enter, leave),
        cmocka_unit_test_setup_teardown(links_and_fifos_stay_as_they_are, enter, leave),
        cmocka_unit_test_setup_teardown(processes_share_a_folder, enter, leave),
        cmocka_unit_test_setup_teardown(the_last_two_folders_are_made, enter, leave),
        cmocka_unit_test(without_a_folder_there_is_no_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
