/* A PCI Express link as the machine states it: generation, lanes, and the rate that follows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "core/error.h"

/* 0: unknown. */
struct pcie_link {
    uint32_t generation, lanes;
};

/* The generation of a speed as Linux writes it: "32.0 GT/s PCIe" is 5; any other text gives 0. */
uint32_t pcie_generation(const char *speed);

/* Bytes a second each way, after the line code and before packet headers; 0 if the link is unknown.
 * Large copies reach 80 to 90 % of it. */
double pcie_rate(struct pcie_link link);

/* Read the link of device "0000:17:00.0" below `root`/bus/pci/devices (`root` is "/sys"): as it
 * runs now, and its maximum. Returns false, with {0, 0} in `now` and `most`, if sysfs does not say.
 */
bool pcie_read(const char *root, const char *device, struct pcie_link *now, struct pcie_link *most);

/* "generation 5, 16 lanes", or "not known". Returns `text`; 40 bytes suffice. */
char *pcie_format(struct pcie_link link, char *text, size_t size);

#ifdef __cplusplus
}
#endif
