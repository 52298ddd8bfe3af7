#!/bin/bash
# NVML says what link and clocks a GPU had. It is started before the GPU gets busy, and a driver that lacks
# one of its functions still says the rest. The GPU is emulated, and NVML a stand-in that is built here.
set -eu
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
program=${EMULATED:-build/release/spillway-calibrate-emulated}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$PWD

# FLAG...: functions that this driver has
stand_in() {
    gcc -shared -fPIC "$@" -x c -o "$scratch/libnvidia-ml.so.1" - <<'END'
#include <string.h>
#define SAYS(name, number) int name(void *device, unsigned *value) { *value = number; return 0; }
#define CLOCK(name, number) int name(void *device, int domain, unsigned *value) { *value = number + domain; return 0; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) { *device = 0; return strcmp(bus, "eeee:00:00.0"); }
int nvmlSystemGetDriverVersion(char *text, unsigned size) { return strcpy(text, "999.1") == 0; }
SAYS(nvmlDeviceGetCurrPcieLinkGeneration, 5)
SAYS(nvmlDeviceGetMaxPcieLinkGeneration, 5)
SAYS(nvmlDeviceGetCurrPcieLinkWidth, 16)
SAYS(nvmlDeviceGetMaxPcieLinkWidth, 16)
CLOCK(nvmlDeviceGetClockInfo, 1000)
CLOCK(nvmlDeviceGetMaxClockInfo, 2000)
#ifdef OLD
int nvmlDeviceGetCurrentClocksThrottleReasons(void *device, unsigned long long *reasons) { *reasons = 4; return 0; }
#elif defined NEW
int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *reasons) { *reasons = 32; return 0; }
#endif
END
}

# LINE: what the profile says of clocks
says() {
    rm -f "$scratch/p.yaml"
    LD_LIBRARY_PATH=$scratch EMULATOR_MEMORY=128 "$program" calibrate --quick --group flags -o "$scratch/p.yaml" \
        >"$scratch/said" 2>&1 && cp "$scratch/p.yaml" "$scratch/said" &&
        grep -q '^  link: "generation 5, 16 lanes; at most generation 5, 16 lanes"$' "$scratch/p.yaml" &&
        grep -q '^  driver: "999.1 (CUDA 13.0)"$' "$scratch/p.yaml" && grep -qF "$1" "$scratch/p.yaml"
}

echo 1..3
clocks='GPU SM 1001 of 2001 MHz, memory 1002 of 2002 MHz, held back by'
stand_in -DOLD
check 'a driver with the older functions says all' says "$clocks power cap"
stand_in -DNEW
check 'and one with the newer functions' says "$clocks heat"
stand_in
check 'a driver that lacks a function says the rest' says "$clocks nothing"
exit $failed
