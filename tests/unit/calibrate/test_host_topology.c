/* What may be used of a machine, read from trees of files written here. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static void write_file(const char *root, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Write a file below `root`, and the folders that it is in. */
static void write_file(const char *root, const char *text, const char *format, ...)
{
    char path[512];
    va_list arguments;
    va_start(arguments, format);
    int length = snprintf(path, sizeof path, "%s", root);
    vsnprintf(path + length, sizeof path - (size_t)length, format, arguments);
    va_end(arguments);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void write_cpu(const char *root, uint32_t cpu, uint32_t package, uint32_t core)
{
    char text[32];
    snprintf(text, sizeof text, "%u\n", package);
    write_file(root, text, "/sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    snprintf(text, sizeof text, "%u\n", core);
    write_file(root, text, "/sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
}

static void write_cache(const char *root, uint32_t cpu, uint32_t level, const char *size,
                        const char *sharers)
{
    char text[32];
    snprintf(text, sizeof text, "%u\n", level);
    write_file(root, text, "/sys/devices/system/cpu/cpu%u/cache/index%u/level", cpu, level);
    write_file(root, size, "/sys/devices/system/cpu/cpu%u/cache/index%u/size", cpu, level);
    write_file(root, sharers, "/sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu,
               level);
}

/* Two sockets of two cores of two threads each, a node and a cache of 32 MiB a socket; second
 * threads are CPUs 4 ... 7, as Linux numbers them. */
static void write_two_sockets(const char *root, const char *allowed)
{
    char status[128];
    snprintf(status, sizeof status, "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t%s\n",
             allowed);
    write_file(root, status, "/proc/self/status");
    write_file(root, "MemTotal: 1048576 kB\nMemFree: 1 kB\nMemAvailable:  524288 kB\n",
               "/proc/meminfo");
    for (uint32_t cpu = 0; cpu < 8; cpu++) {
        write_cpu(root, cpu, cpu / 2 % 2, cpu % 2);
        write_cache(root, cpu, 2, "1024K\n", "0\n");
        write_cache(root, cpu, 3, "32768K\n", cpu / 2 % 2 == 0 ? "0-1,4-5\n" : "2-3,6-7\n");
    }
    write_file(root, "0-1,4-5\n", "/sys/devices/system/node/node0/cpulist");
    write_file(root, "2-3,6-7\n", "/sys/devices/system/node/node1/cpulist");
}

struct folder {
    char path[64];
};

static int folder_make(void **state)
{
    struct folder *folder = calloc(1, sizeof *folder);
    assert_non_null(folder);
    snprintf(folder->path, sizeof folder->path, "/tmp/topology.XXXXXX");
    assert_non_null(mkdtemp(folder->path));
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

static void assert_cpus(const struct topology *topology, const uint32_t *cpus,
                        const uint32_t *nodes, uint32_t count)
{
    assert_int_equal(topology->count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(topology->cpus[i], cpus[i]);
        assert_int_equal(topology->nodes[i], nodes[i]);
    }
}

static void nodes_come_first_then_cores_then_second_threads(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    write_two_sockets(root, "0-7");
    assert_true(topology_init(&topology, root, &why));
    const uint32_t cpus[] = {0, 1, 4, 5, 2, 3, 6, 7}, nodes[] = {0, 0, 0, 0, 1, 1, 1, 1};
    assert_cpus(&topology, cpus, nodes, 8);
    assert_int_equal(topology.cores, 4);
    assert_int_equal(topology_node_end(&topology, 0), 4);
    assert_int_equal(topology_node_end(&topology, 4), 8);
    assert_int_equal(topology.cache, 64 << 20);
    assert_true(topology.cache_stated);
    assert_int_equal(topology.memory, 1 << 30);
    assert_int_equal(topology.free, 1 << 29);
    topology_release(&topology);
}

/* CPU 6 is the only one of its core that may be used: a core, and first of its node. */
static void only_processors_that_may_be_used_count(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    write_two_sockets(root, "1,5-6,4000-9999");
    assert_true(topology_init(&topology, root, &why));
    const uint32_t cpus[] = {1, 5, 6}, nodes[] = {0, 0, 1};
    assert_cpus(&topology, cpus, nodes, 3);
    assert_int_equal(topology.cores, 2);
    topology_release(&topology);
}

static void a_cgroup_leaves_fewer_processors_and_less_memory(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    write_two_sockets(root, "0-7");
    write_file(root, "350000 100000\n", "/sys/fs/cgroup/cpu.max");
    write_file(root, "268435456\n", "/sys/fs/cgroup/memory.max");
    write_file(root, "67108864\n", "/sys/fs/cgroup/memory.current");
    assert_true(topology_init(&topology, root, &why));
    const uint32_t cpus[] = {0, 1, 4}, nodes[] = {0, 0, 0};
    assert_cpus(&topology, cpus, nodes, 3);
    assert_int_equal(topology.cores, 2);
    assert_int_equal(topology.memory, 256 << 20);
    assert_int_equal(topology.free, 192 << 20);
    topology_release(&topology);
}

static void a_cgroup_without_limits_limits_nothing(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    write_two_sockets(root, "0-7");
    write_file(root, "max 100000\n", "/sys/fs/cgroup/cpu.max");
    write_file(root, "max\n", "/sys/fs/cgroup/memory.max");
    write_file(root, "67108864\n", "/sys/fs/cgroup/memory.current");
    assert_true(topology_init(&topology, root, &why));
    assert_int_equal(topology.count, 8);
    assert_int_equal(topology.memory, 1 << 30);
    assert_int_equal(topology.free, 1 << 29);
    topology_release(&topology);
}

/* A virtual machine may state neither nodes nor caches. */
static void what_is_not_stated_is_one_node_and_an_assumed_cache(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    write_file(root, "Cpus_allowed_list:\t0-1\n", "/proc/self/status");
    write_file(root, "MemTotal: 1024 kB\nMemAvailable: 1024 kB\n", "/proc/meminfo");
    write_cpu(root, 0, 0, 0);
    write_cpu(root, 1, 0, 1);
    assert_true(topology_init(&topology, root, &why));
    const uint32_t cpus[] = {0, 1}, nodes[] = {0, 0};
    assert_cpus(&topology, cpus, nodes, 2);
    assert_false(topology.cache_stated);
    assert_true(topology.cache > 0);
    topology_release(&topology);
}

static void a_machine_that_says_nothing_is_refused(void **state)
{
    const char *root = ((struct folder *)*state)->path;
    struct topology topology;
    struct error why;
    assert_false(topology_init(&topology, root, &why));
    assert_non_null(strstr(why.found, "states no processor"));
    write_two_sockets(root, "0-7");
    write_file(root, "", "/proc/meminfo");
    assert_false(topology_init(&topology, root, &why));
    assert_non_null(strstr(why.found, "states no memory"));
}

static void this_machine_has_processors_and_memory(void **state)
{
    (void)state;
    struct topology topology;
    struct error why;
    assert_true(topology_init(&topology, "", &why));
    assert_true(topology.count > 0 && topology.cores > 0 && topology.cores <= topology.count);
    assert_true(topology.free > 0 && topology.free <= topology.memory);
    topology_release(&topology);
}

static void thread_counts_double_and_end_with_all(void **state)
{
    (void)state;
    uint32_t counts[TOPOLOGY_MOST_COUNTS];
    assert_int_equal(topology_thread_counts(1, counts), 1);
    assert_int_equal(counts[0], 1);
    assert_int_equal(topology_thread_counts(12, counts), 5);
    const uint32_t twelve[] = {1, 2, 4, 8, 12};
    assert_memory_equal(counts, twelve, sizeof twelve);
    assert_int_equal(topology_thread_counts(16, counts), 5);
    assert_int_equal(counts[4], 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_make, folder_remove)
        IN_FOLDER(nodes_come_first_then_cores_then_second_threads),
        IN_FOLDER(only_processors_that_may_be_used_count),
        IN_FOLDER(a_cgroup_leaves_fewer_processors_and_less_memory),
        IN_FOLDER(a_cgroup_without_limits_limits_nothing),
        IN_FOLDER(what_is_not_stated_is_one_node_and_an_assumed_cache),
        IN_FOLDER(a_machine_that_says_nothing_is_refused),
        cmocka_unit_test(this_machine_has_processors_and_memory),
        cmocka_unit_test(thread_counts_double_and_end_with_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
