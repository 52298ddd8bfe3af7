#include "calibrate/harness/default_base.h"

#include <stddef.h>
#include <string.h>

/* Names as nvidia-smi -L prints them. The H100 has other names for other boards (PCIe, NVL), and so
 * has the RTX PRO 6000 (Server Edition, Max-Q): those differ in clocks or memory, and are left out.
 */
const struct known_gpu known_gpus[] = {
    {"NVIDIA A40", "a40"},
    {"NVIDIA GeForce RTX 4090", "rtx-4090"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H200", "h200"},
    {"NVIDIA RTX A6000", "rtx-a6000"},
    {"NVIDIA RTX PRO 6000 Blackwell Workstation Edition", "rtx-pro-6000"},
    {NULL, NULL},
};

/* A machine of today that states every curve. */
static const char any[] = "h100-sxm";

const char *default_base(const char *device)
{
    for (const struct known_gpu *gpu = known_gpus; gpu->device != NULL; gpu++) {
        if (strcmp(gpu->device, device) == 0) {
            return gpu->profile;
        }
    }
    return any;
}
