/* How large a buffer may be where memory is short, and what the notes then say; by hand. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/memory.h"
#include "calibrate/measure/room.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT(cases) (sizeof(cases) / sizeof(cases)[0])
#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)

static void buffers_are_halved_until_they_fit_all_memories(void **state)
{
    (void)state;
    static const struct {
        size_t wanted, gpu, host, found;
        const char *tight;
    } cases[] = {
        {GIB, 80 * GIB, 128 * GIB, GIB, "the GPU"},
        {GIB, 8 * GIB, 128 * GIB, GIB, "the GPU"},
        {GIB, 8 * GIB - 1, 128 * GIB, GIB / 2, "the GPU"},
        {GIB, 80 * GIB, GIB, 128 * MIB, "the host"},
        {GIB, 80 * GIB, 128 * MIB, 16 * MIB, "the host"},
        {GIB, 80 * GIB, 32 * MIB, 16 * MIB, "the host"}, /* more than an eighth, as the least */
        {16 * MIB, 33 * MIB, GIB, 16 * MIB, "the GPU"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        struct room room;
        const struct room_memory memories[] = {{"the GPU", cases[i].gpu},
                                               {"the host", cases[i].host}};
        print_message("# %zu\n", i);
        assert_true(room_find(cases[i].wanted, 16 * MIB, 8, memories, 2, &room, &why));
        assert_int_equal(room.bytes, cases[i].found);
        assert_int_equal(room.wanted, cases[i].wanted);
        assert_string_equal(room.tight.name, cases[i].tight);
    }
}

static void too_little_memory_is_refused_with_its_size(void **state)
{
    (void)state;
    struct error why;
    struct room room;
    const struct room_memory host[] = {{"the GPU", 80 * GIB}, {"the host", 20 * MIB}};
    assert_false(room_find(GIB, 16 * MIB, 8, host, 2, &room, &why));
    assert_string_equal(why.found, "too little room: the host has 20.0 MiB free");
    assert_string_equal(why.expected, "32.0 MiB or more free");
    assert_false(room_find(50 * MIB, 16 * MIB, 8, host, 2, &room, &why));
    assert_string_equal(why.expected, "50.0 MiB or more free"); /* 12.5 would be less than 16 */
    const struct room_memory none[] = {{"the GPU", 0}};
    assert_false(room_find(GIB, 0, 2, none, 1, &room, &why));
}

static void add(struct findings *findings, const char *name, const char *note)
{
    struct error why;
    assert_true(findings_note(findings, name, note, &why));
}

static void what_was_cut_is_in_the_notes(void **state)
{
    (void)state;
    struct findings findings = {.all = NULL};
    struct room room = {256 * MIB, 256 * MIB, {"the host", 600 * MIB}};
    char longest[sizeof findings.all->note];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    add(&findings, "earlier", "of another group");
    add(&findings, "link.h2d", "copies of 64 MiB");
    add(&findings, "long", longest);
    room_note(&room, &findings, 1);
    assert_string_equal(findings_get(&findings, "link.h2d")->note, "copies of 64 MiB");
    room.bytes = 64 * MIB;
    room_note(&room, &findings, 1);
    const char *addition = "; buffer of 64.0 MiB, not 256 MiB: the host has 600 MiB free";
    assert_string_equal(findings_get(&findings, "earlier")->note, "of another group");
    assert_string_equal(findings_get(&findings, "link.h2d")->note,
                        "copies of 64 MiB"
                        "; buffer of 64.0 MiB, not 256 MiB: the host has 600 MiB free");
    const char *note = findings_get(&findings, "long")->note;
    assert_int_equal(strlen(note), sizeof longest - 1);
    assert_string_equal(note + strlen(note) - strlen(addition), addition);
    assert_memory_equal(note, longest, strlen(note) - strlen(addition));
    findings_release(&findings);
}

/* ---- the host's free memory ---- */

struct folder {
    char path[64];
};

static int folder_make(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    char path[128];
    assert_non_null(folder);
    snprintf(folder->path, sizeof folder->path, "/tmp/room.XXXXXX");
    assert_non_null(mkdtemp(folder->path));
    for (const char *const *name =
             (const char *const[]){"proc", "sys", "sys/fs", "sys/fs/cgroup", NULL};
         *name != NULL; name++) {
        snprintf(path, sizeof path, "%s/%s", folder->path, *name);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    *state = folder;
    return 0;
}

static int folder_remove(void **state)
{
    char command[128];
    struct folder *folder = *state;
    snprintf(command, sizeof command, "rm -r %s", folder->path);
    free(folder);
    return system(command);
}

static void write_file(const char *root, const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* As in a virtual machine that provides memory when it is touched: little is unused, much is
 * available. */
static void available_memory_counts_not_unused_memory(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct host_memory memory;
    struct error why;
    write_file(root, "proc/meminfo",
               "MemTotal: 1048576 kB\nMemFree: 1024 kB\nMemAvailable:  524288 kB\n");
    assert_true(host_memory_read(root, &memory, &why));
    assert_int_equal(memory.all, GIB);
    assert_int_equal(memory.free, GIB / 2);
}

static void unused_memory_counts_where_an_old_kernel_states_no_other(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct host_memory memory;
    struct error why;
    write_file(root, "proc/meminfo", "MemTotal: 1048576 kB\nMemFree: 1024 kB\nBuffers: 7 kB\n");
    assert_true(host_memory_read(root, &memory, &why));
    assert_int_equal(memory.free, MIB);
}

static void a_cgroup_leaves_less(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct host_memory memory;
    struct error why;
    write_file(root, "proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable:  524288 kB\n");
    write_file(root, "sys/fs/cgroup/memory.max", "268435456\n");
    write_file(root, "sys/fs/cgroup/memory.current", "134217728\n");
    assert_true(host_memory_read(root, &memory, &why));
    assert_int_equal(memory.all, 256 * MIB);
    assert_int_equal(memory.free, 128 * MIB);
    write_file(root, "sys/fs/cgroup/memory.current", "368435456\n");
    assert_true(host_memory_read(root, &memory, &why));
    assert_int_equal(memory.free, 0);
}

/* As after a large file was copied: the cgroup is full of pages that nobody needs. */
static void caches_of_a_cgroup_count_as_free(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct host_memory memory;
    struct error why;
    write_file(root, "proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable:  524288 kB\n");
    write_file(root, "sys/fs/cgroup/memory.max", "268435456\n");
    write_file(root, "sys/fs/cgroup/memory.current", "268435456\n");
    write_file(root, "sys/fs/cgroup/memory.stat",
               "anon 67108864\nfile 201326592\ninactive_anon 1\nactive_anon 2\n"
               "inactive_file 134217728\nactive_file 33554432\n");
    assert_true(host_memory_read(root, &memory, &why));
    assert_int_equal(memory.free, 160 * MIB);
}

static void a_machine_that_states_no_memory_is_refused(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct host_memory memory;
    struct error why;
    assert_false(host_memory_read(root, &memory, &why));
    assert_non_null(strstr(why.found, "/proc/meminfo states no memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buffers_are_halved_until_they_fit_all_memories),
        cmocka_unit_test(too_little_memory_is_refused_with_its_size),
        cmocka_unit_test(what_was_cut_is_in_the_notes),
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
        IN_FOLDER(available_memory_counts_not_unused_memory),
        IN_FOLDER(unused_memory_counts_where_an_old_kernel_states_no_other),
        IN_FOLDER(a_cgroup_leaves_less),
        IN_FOLDER(caches_of_a_cgroup_count_as_free),
        IN_FOLDER(a_machine_that_states_no_memory_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
