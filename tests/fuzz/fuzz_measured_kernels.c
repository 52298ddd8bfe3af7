/* Fuzzes files of measured kernels: bytes are refused with a reason, or give errors of a profile
 * that can have come from them. */
#include "core/node.h"
#include "study/kernels/kernel_errors.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char machine[] =
    "gpu: {hbm_bandwidth: 1TB/s, hbm_share: 90%, flops_bf16: 1PFLOP/s, flops_fp8: 2PFLOP/s,"
    " flops_share: 50%, graph_node: 1us, l2: 50MiB}";

static void require(bool holds)
{
    if (!holds) {
        abort();
    }
}

static void require_class(const struct kernel_class_errors *class)
{
    require(class->median > -1 && isfinite(class->median));
    require(class->median_abs >= 0 && class->p90_abs >= class->median_abs);
    require(fabs(class->worst) >= class->p90_abs && class->worst_line > 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    struct profile profile;
    struct kernel_errors errors;
    struct error why;
    struct node *node = node_parse(machine, strlen(machine), "machine", &why);
    require(node != NULL && profile_load(NULL, node, &profile, &why));
    node_destroy(node);
    int file = memfd_create("kernels", 0);
    require(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (kernel_errors_judge(&profile, path, &errors, &why)) {
        size_t rows = 0;
        for (int i = 0; i < KERNEL_CLASSES; i++) {
            rows += errors.classes[i].count;
            if (errors.classes[i].count > 0) {
                require_class(&errors.classes[i]);
            }
        }
        require(rows > 0);
        kernel_errors_release(&errors);
    } else {
        require(why.found[0] != '\0');
    }
    profile_release(&profile);
    close(file);
    return 0;
}
