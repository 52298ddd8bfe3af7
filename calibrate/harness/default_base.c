#include "calibrate/harness/default_base.h"

#include <stddef.h>
#include <string.h>

/* Names as nvidia-smi -L prints them. Boards that differ in clocks or memory have names of their own:
 * those without a profile (H100 NVL, A100 80GB PCIe, RTX PRO 6000 Max-Q) are left out. */
const struct known_gpu known_gpus[] = {
    {"NVIDIA A10", "a10"},
    {"NVIDIA A100-PCIE-40GB", "a100-pcie-40gb"},
    {"NVIDIA A100-SXM4-80GB", "a100-sxm-80gb"},
    {"NVIDIA A40", "a40"},
    {"NVIDIA B200", "b200"},
    {"NVIDIA B300 SXM6 AC", "b300"},
    {"NVIDIA GB200", "gb200"},
    {"NVIDIA GB300", "gb300"},
    {"NVIDIA GH200 480GB", "gh200"},
    {"NVIDIA GeForce RTX 3090", "rtx-3090"},
    {"NVIDIA GeForce RTX 4090", "rtx-4090"},
    {"NVIDIA GeForce RTX 5090", "rtx-5090"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H100 PCIe", "h100-pcie"},
    {"NVIDIA H20", "h20"},
    {"NVIDIA H200", "h200"},
    {"NVIDIA L4", "l4"},
    {"NVIDIA L40S", "l40s"},
    {"NVIDIA RTX A6000", "rtx-a6000"},
    {"NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx-pro-6000-server"},
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
