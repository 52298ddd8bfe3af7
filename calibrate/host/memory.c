/* MemFree counts neither caches that can be dropped nor memory that a hypervisor provides when it is
 * touched, so it is read only where there is no MemAvailable (before Linux 3.14). */
#include "calibrate/host/memory.h"

#include "calibrate/host/system_file.h"

static uint64_t bytes_after(const struct system_text *text, const char *key)
{
    return system_number(text, key) << 10;
}

/* What the cgroup uses, without pages of files that can be dropped. Its other files, in shared
 * memory, are neither active nor inactive ones. */
static uint64_t cgroup_used(const char *root)
{
    struct system_text text;
    uint64_t used =
        system_read(&text, root, "/sys/fs/cgroup/memory.current") ? system_number(&text, "") : 0;
    system_read(&text, root, "/sys/fs/cgroup/memory.stat");
    uint64_t cached =
        system_number(&text, "\ninactive_file ") + system_number(&text, "\nactive_file ");
    return used > cached ? used - cached : 0;
}

/* Lower the figures to what the cgroup leaves; its "max" reads as 0. */
static void apply_cgroup(struct host_memory *memory, const char *root)
{
    struct system_text text;
    uint64_t used = cgroup_used(root);
    uint64_t most =
        system_read(&text, root, "/sys/fs/cgroup/memory.max") ? system_number(&text, "") : 0;
    if (most > 0 && most < memory->all) {
        uint64_t left = most > used ? most - used : 0;
        memory->all = most;
        memory->free = left < memory->free ? left : memory->free;
    }
}

bool host_memory_read(const char *root, struct host_memory *out, struct error *why)
{
    struct system_text text;
    system_read(&text, root, "/proc/meminfo");
    out->all = bytes_after(&text, "MemTotal:");
    out->free = bytes_after(&text, "MemAvailable:");
    out->free = out->free > 0 ? out->free : bytes_after(&text, "MemFree:");
    if (out->all == 0 || out->free == 0) {
        return error_set(why, NULL, 0, "%s/proc/meminfo states no memory", root);
    }
    apply_cgroup(out, root);
    return true;
}
