/* Values on disk: found by their whole key, whole or not at all, and the least recently used leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/disk_cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
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

/* Every byte counts: none may change, and none may be missing or added. */
static void a_damaged_file_is_no_value(void **state)
{
    size_t size, unused;
    uint8_t *file = disk_cache_pack(text("key"), text("a value of some length"), &size);
    (void)state;
    assert_non_null(file);
    for (size_t i = 0; i < size; i++) {
        file[i] ^= 0x10;
        assert_null(disk_cache_unpack((struct disk_cache_bytes){file, size}, text("key"), &unused));
        file[i] ^= 0x10;
        assert_null(disk_cache_unpack((struct disk_cache_bytes){file, i}, text("key"), &unused));
    }
    assert_null(disk_cache_unpack((struct disk_cache_bytes){file, size}, text("kez"), &unused));
    uint8_t *value = disk_cache_unpack((struct disk_cache_bytes){file, size}, text("key"), &unused);
    assert_non_null(value);
    free(value);
    free(file);
}

/* ---- the folder ---- */

/* A file of a part: the first that is found, or with `count` the number of all. */
static uint32_t list_files(char path[320])
{
    uint32_t count = 0;
    for (int part = 0; part < 16; part++) {
        char inner[64];
        snprintf(inner, sizeof inner, "%s/%x", folder, part);
        DIR *open = opendir(inner);
        struct dirent *found;
        while (open != NULL && (found = readdir(open)) != NULL) {
            if (found->d_name[0] != '.') {
                snprintf(path, 320, "%s/%s", inner, found->d_name);
                count++;
            }
        }
        if (open != NULL) {
            closedir(open);
        }
    }
    return count;
}

static void what_is_not_a_value_is_replaced(void **state)
{
    struct disk_cache *cache = open_cache(1 << 20);
    char path[320];
    (void)state;
    disk_cache_put(cache, text("key"), text("value"));
    assert_int_equal(list_files(path), 1);
    assert_int_equal(truncate(path, 9), 0);
    expect(cache, "key", NULL);
    disk_cache_put(cache, text("key"), text("value"));
    expect(cache, "key", "value");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* must not hang */
    expect(cache, "key", NULL);
    disk_cache_close(cache);
}

/* Values that do not compress. */
static void fill(uint8_t *bytes, size_t size, uint32_t seed)
{
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
}

static uint64_t folder_bytes(uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < count; i++) {
        char path[320];
        struct stat state;
        if (list_files(path) > 0 && stat(path, &state) == 0) {
            bytes += (uint64_t)state.st_size;
            unlink(path);
        }
    }
    return bytes;
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

/* Six hundred values of 1 KB into 256 KB, the first one used all the time. */
static void the_least_recently_used_leave(void **state)
{
    struct disk_cache *cache = open_cache(MOST);
    uint32_t old = 0, young = 0;
    (void)state;
    for (uint32_t i = 0; i < VALUES; i++) {
        put_numbered(cache, i);
        assert_true(has_numbered(cache, 0));
    }
    for (uint32_t i = 1; i <= 100; i++) {
        old += has_numbered(cache, i);
        young += has_numbered(cache, VALUES - i);
    }
    assert_int_equal(old, 0);
    assert_true(young > 90);
    assert_true(folder_bytes(VALUES) <= MOST);
    disk_cache_close(cache);
}

static void too_large_a_value_is_not_kept(void **state)
{
    static uint8_t value[MOST / 16 / 4];
    struct disk_cache *cache = open_cache(MOST);
    char path[320];
    (void)state;
    fill(value, sizeof value, 1);
    disk_cache_put(cache, text("large"), (struct disk_cache_bytes){value, sizeof value});
    assert_int_equal(list_files(path), 0);
    disk_cache_close(cache);
}

/* ---- what is not the cache's own ---- */

/* The part in which list_files() finds the value of "key". */
static void find_part(char part[64])
{
    char found[320];
    assert_int_equal(list_files(found), 1);
    snprintf(part, 64, "%.*s", (int)(strrchr(found, '/') - found), found);
}

/* A file that nobody used for decades. */
static void put_old(const char *path, size_t size)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(close(open(path, O_CREAT | O_WRONLY, 0600)), 0);
    assert_int_equal(truncate(path, (off_t)size), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
}

/* Make the cache look at the part of "key". */
static void look_again(uint64_t most)
{
    struct disk_cache *cache = open_cache(most); /* its first value of a part makes it look there */
    disk_cache_put(cache, text("key"), text("value"));
    disk_cache_close(cache);
}

/* Of a writer that was killed; that of a living one stays. */
static void left_over_files_are_removed(void **state)
{
    char part[64], old[128], young[128];
    (void)state;
    look_again(1 << 20);
    find_part(part);
    char digit = part[strlen(part) - 1];
    snprintf(old, sizeof old, "%s/%c%031d.spillway-tmp", part, digit, 1);
    snprintf(young, sizeof young, "%s/%c%031d.spillway-tmp", part, digit, 2);
    put_old(old, 0);
    assert_int_equal(close(open(young, O_CREAT | O_WRONLY, 0600)), 0);
    look_again(1 << 20);
    assert_int_equal(access(old, F_OK), -1);
    assert_int_equal(access(young, F_OK), 0);
}

/* Far too large for the cache, and not used for decades. The last name is that of a value in another
 * part. */
static void files_of_other_names_stay(void **state)
{
    static const char *const formats[] = {
        "%s/photo.jpg", "%s/1.spillway-tmp", "%s/%c%031d.jpg",
        "%s/%c%030d",   "%s/%c%031d0",       "%s/%c%031d.spillway-tmp2",
        "%s/%c%030dF",  "%s/.%c%031d",       "%s/%c%030d.spillway-tmp",
        "%s/%c%031d",
    };
    enum { FORMATS = sizeof formats / sizeof formats[0] };
    char part[64], paths[FORMATS][128];
    (void)state;
    look_again(1 << 20);
    find_part(part);
    char own = part[strlen(part) - 1];
    for (size_t i = 0; i < FORMATS; i++) {
        char digit = i + 1 < FORMATS ? own : own == '0' ? '1' : '0';
        snprintf(paths[i], sizeof paths[i], formats[i], part, digit, 7);
        put_old(paths[i], 1 << 20);
    }
    look_again(MOST);
    for (size_t i = 0; i < FORMATS; i++) {
        assert_int_equal(access(paths[i], F_OK), 0);
    }
}

/* Not even files whose names the cache could have written: the folder is not its own. */
static void a_part_that_is_a_link_is_not_followed(void **state)
{
    char part[64], other[64], path[128];
    (void)state;
    look_again(1 << 20);
    find_part(part);
    snprintf(other, sizeof other, "%s/photos", folder);
    snprintf(path, sizeof path, "%s/%c%031d", other, part[strlen(part) - 1], 7);
    assert_int_equal(rename(part, other), 0);
    assert_int_equal(symlink("photos", part), 0);
    put_old(path, 1 << 20);
    struct disk_cache *cache = open_cache(MOST);
    expect(cache, "key", NULL);
    disk_cache_put(cache, text("key"), text("value"));
    expect(cache, "key", NULL);
    disk_cache_close(cache);
    assert_int_equal(access(path, F_OK), 0);
}

/* The file that a value's name links to is neither read, nor touched, nor written. */
static void a_value_that_is_a_link_is_replaced(void **state)
{
    char path[320], other[64];
    struct stat before, linked;
    (void)state;
    look_again(1 << 20);
    assert_int_equal(list_files(path), 1);
    snprintf(other, sizeof other, "%s/other", folder);
    assert_int_equal(rename(path, other), 0);
    assert_int_equal(symlink("../other", path), 0);
    assert_int_equal(stat(other, &before), 0);
    put_old(other, (size_t)before.st_size);
    struct disk_cache *cache = open_cache(1 << 20);
    expect(cache, "key", NULL);
    disk_cache_put(cache, text("key"), text("value"));
    expect(cache, "key", "value");
    disk_cache_close(cache);
    assert_int_equal(stat(other, &linked), 0);
    assert_int_equal(linked.st_size, before.st_size);
    assert_int_equal(linked.st_mtim.tv_sec, 1000);
}

/* Neither a FIFO that nobody reads, nor one that somebody does: both would block or swallow. */
static void a_fifo_in_the_way_does_not_hang(void **state)
{
    char path[320], unfinished[340];
    (void)state;
    look_again(1 << 20);
    assert_int_equal(list_files(path), 1);
    assert_int_equal(unlink(path), 0);
    snprintf(unfinished, sizeof unfinished, "%s.spillway-tmp", path);
    assert_int_equal(mkfifo(unfinished, 0600), 0);
    for (int read = 0; read < 2; read++) {
        int reader = read ? open(unfinished, O_RDONLY | O_NONBLOCK) : -1;
        struct disk_cache *cache = open_cache(1 << 20);
        disk_cache_put(cache, text("key"), text("value"));
        expect(cache, "key", NULL);
        disk_cache_close(cache);
        close(reader);
    }
    assert_int_equal(access(unfinished, F_OK), 0);
}

/* Four processes put and get the same values in a cache that is too small for them, one of them
 * killed in the midst of it: no value is ever another one. */
static void processes_share_a_folder(void **state)
{
    pid_t children[4];
    (void)state;
    for (int child = 0; child < 4; child++) {
        children[child] = fork();
        assert_true(children[child] >= 0);
        if (children[child] == 0) {
            struct disk_cache *cache = disk_cache_open(folder, MOST);
            for (uint32_t i = 0; cache != NULL && (child == 0 || i < 500); i++) {
                put_numbered(cache, i * 7 % 400);
                has_numbered(cache, i * 13 % 400);
            }
            _exit(cache == NULL);
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
        cmocka_unit_test(a_damaged_file_is_no_value),
        cmocka_unit_test_setup_teardown(what_is_not_a_value_is_replaced, enter, leave),
        cmocka_unit_test_setup_teardown(the_least_recently_used_leave, enter, leave),
        cmocka_unit_test_setup_teardown(too_large_a_value_is_not_kept, enter, leave),
        cmocka_unit_test_setup_teardown(left_over_files_are_removed, enter, leave),
        cmocka_unit_test_setup_teardown(files_of_other_names_stay, enter, leave),
        cmocka_unit_test_setup_teardown(a_part_that_is_a_link_is_not_followed, enter, leave),
        cmocka_unit_test_setup_teardown(a_value_that_is_a_link_is_replaced, enter, leave),
        cmocka_unit_test_setup_teardown(a_fifo_in_the_way_does_not_hang, enter, leave),
        cmocka_unit_test_setup_teardown(processes_share_a_folder, enter, leave),
        cmocka_unit_test_setup_teardown(the_last_two_folders_are_made, enter, leave),
        cmocka_unit_test(without_a_folder_there_is_no_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
