/* A machine with small caches, in place of topology_init(), by the linker's --wrap: groups of the
 * host and miniatures take many times the machine's caches, which may be 480 MiB. No test asks how
 * fast the machine is. */
#include "calibrate/host/topology.h"

#define CACHE_BYTES (2 << 20)

bool __real_topology_init(struct topology *topology, const char *root, struct error *why);
bool __wrap_topology_init(struct topology *topology, const char *root, struct error *why);

bool __wrap_topology_init(struct topology *topology, const char *root, struct error *why)
{
    bool ok = __real_topology_init(topology, root, why);
    topology->cache = CACHE_BYTES;
    return ok;
}
