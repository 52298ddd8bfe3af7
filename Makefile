# Spillway: `make demo` shows it, `make test` checks it, `make help` lists the rest.

# ---- settings: on the command line or in the environment -------------------------------------

PREFIX  ?= /usr/local
DESTDIR ?=
# address, undefined, thread, or several with commas between
SANITIZE ?=
# for each fuzz target
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
# 1 shows the commands
V ?=
# how often `make kills` kills
KILLS ?= 1000
# 1 keeps what `make bench` measures in tests/bench/RESULTS.md
RECORD ?=

OPTIMIZE ?= -O2 -g
# for test programs: mostly checks, which take longer to compile than to run
OPTIMIZE_TESTS ?= -O1 -g1
WARNINGS ?= -Wall -Wextra -Wconversion
WERROR   ?= -Werror
# starts programs that were built for another machine, such as an emulator
RUN      ?=
MACHINE  ?= $(shell uname -m)
NVCC     ?= $(or $(shell command -v nvcc),/usr/local/cuda/bin/nvcc)
LIBS     ?= -lgsl -lgslcblas -lsqlite3 -lcsv -lyaml -ljansson -lzstd -lxxhash -luring -lm -pthread

# ---- machinery -------------------------------------------------------------------------------

comma := ,
VARIANT := $(subst address,asan,$(subst undefined,ubsan,$(subst thread,tsan,$(SANITIZE))))
VARIANT := $(or $(subst $(comma),+,$(VARIANT)),release)
OUT     := build/$(VARIANT)
LIBRARY := $(OUT)/libspillway.a
PROGRAM := $(if $(filter release,$(VARIANT)),build/spillway,$(OUT)/spillway)

HARNESS := $(PROGRAM)-calibrate
MEASURE := $(OUT)/libcalibrate.a
# What policies in Python are asked through; beside the program.
PYTHON_POLICY := $(dir $(PROGRAM))python_policy.so

SOURCES := $(sort $(wildcard sim/*/*.c sim/*/*/*.c))
MEASURES := $(filter-out %/main.c,$(wildcard calibrate/*/*.c))
KERNELS := $(wildcard calibrate/kernels/*.cu)
DEVICES := $(filter-out $(KERNELS),$(wildcard calibrate/*/*.cu))
UNITS   := $(patsubst %.c,$(OUT)/%,$(wildcard tests/unit/*/test_*.c))
TARGETS := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZERS := $(TARGETS:%=$(OUT)/tests/fuzz/fuzz_%)
BENCHES := $(patsubst %.c,$(OUT)/%,$(wildcard tests/bench/bench_*.c))
SCRIPTS := $(filter-out %/emulated_groups.sh,$(wildcard tests/script/*.sh tests/script/*/*.sh)) # that one runs sanitized
CASES   := $(sort $(patsubst tests/cli/%/,%,$(dir $(wildcard tests/cli/*/*.case))) \
                  $(patsubst tests/cli/%.case,%,$(wildcard tests/cli/*.case)))
# The test that compares kernels with their twins, and the whole harness, both in an emulator of a GPU.
KERNEL_TEST := $(OUT)/tests/kernels/test_kernels
KERNEL_TESTS := $(wildcard tests/kernels/*.cu)
EMULATED := $(OUT)/spillway-calibrate-emulated
EMULATOR := $(KERNELS) $(DEVICES) $(wildcard tests/kernels/emulator/*.cu)

# Contracted multiply-adds would make results differ between machines.
ALL_CFLAGS = -std=c17 -D_GNU_SOURCE -Isim -Itests -I. $(OPTIMIZE) -ffp-contract=off $(WARNINGS) $(WERROR) \
             $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all) \
             $(CPPFLAGS) $(CFLAGS)
ALL_CXXFLAGS = -std=c++17 -D_GNU_SOURCE -Itests/kernels/emulator -Isim -Itests -I. $(OPTIMIZE) \
               -fno-strict-aliasing -Wall -Wextra -Wno-unknown-pragmas $(WERROR) \
               $(if $(SANITIZE),-fsanitize=$(SANITIZE) -fno-sanitize-recover=all) $(CXXFLAGS)
# Code for sm_80 (A100), 86 (A40, RTX 30), 89 (RTX 40), 90 (H100, H200), and PTX for later GPUs.
CUDA_ARCHITECTURES = $(foreach sm,80 86 89 90,-gencode arch=compute_$(sm),code=sm_$(sm)) \
                     -gencode arch=compute_90,code=compute_90
CUDA_FLAGS = -std=c++17 -O2 -lineinfo -Isim -I. -D_GNU_SOURCE $(CUDA_ARCHITECTURES) \
             -Xcompiler -Wall,-Wextra,-ffp-contract=off
# Where `make bundle` puts libraries. An RPATH also serves the libraries that those need; a RUNPATH does not.
NEARBY = --disable-new-dtags,-rpath='$$ORIGIN/../lib'
# A libstdc++ in a bundle could be too old for what is loaded later. The unused part of a static one needs glibc 2.36.
CUDA_LIBS = -cudart static -Xcompiler -static-libstdc++ -Xlinker --gc-sections,$(NEARBY) \
            $(patsubst -pthread,-Xcompiler -pthread,$(LIBS))
QUIET = $(if $(V),,@echo '  $@';)
LINK = $(QUIET) mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@
# For the wheel: the C library alone is shared. See tools/wheel/old_hypot.c.
STATIC_LIBS = $(OUT)/tools/wheel/old_hypot.o -Wl,-Bstatic $(filter-out -lm -pthread,$(LIBS)) -Wl,-Bdynamic -lm -pthread
SUBMAKE = +@$(MAKE) --no-print-directory $(if $(findstring -j,$(MAKEFLAGS)),,-j$(JOBS))
CHECKED = build/asan+ubsan
# What the address sanitizer finds by itself, and addresses that this machine need not have aligned. Looking for them
# costs a fifth of the compilation; `make fuzz` does.
TWICE = -fno-sanitize=null,object-size,pointer-overflow,alignment
SANITIZED = SANITIZE=address,undefined OPTIMIZE='-O1 -g1' OPTIMIZE_TESTS='-O0 -g1' WARNINGS= WERROR= \
            CFLAGS='$(TWICE)' CXXFLAGS='$(TWICE)'
# What runs under the sanitizers: every_study, which walks through all commands, and families whose inputs are wrong,
# hostile or cut off. The other cases run without them, a quarter as long. Unit tests run under them but for those
# listed, which cost seconds there and walk through code that others walk through; those with ROUNDS() run both ways,
# all rounds without the sanitizers.
CHECKED_CASES = calibrate_from database_errors database_older disk_cache errors_as_json every_study \
                failing_point from_server full_disk hostile_database hostile_export interrupt measured messages models \
                names output_errors parallel policy_parameter request_files seal shards trace usage_errors
OPTIMIZED_CASES = $(filter-out $(CHECKED_CASES),$(CASES))
OPTIMIZED_UNITS = $(patsubst %,tests/unit/%, decode/test_timing predict/test_outcome predict/test_replays \
                    predict/test_decode_surface predict/test_growth predict/test_one_clock predict/test_step_rises \
                    predict/test_surface_error study/test_ablation \
                    decode/test_contexts decode/test_system model/test_ids model/test_model model/test_parallel \
                    predict/test_identity predict/test_one_memory predict/test_stated_keys \
                    core/test_theory study/test_advice study/test_candidates study/test_difference study/test_explain \
                    predict/test_backlog predict/test_connectors predict/test_mass predict/test_step_cost decode/test_likeness \
                    study/test_fleet_size study/test_planning study/test_replication study/test_start_lines \
                    study/test_sweep study/test_whatif trace/test_fit trace/test_fit_locality)
FULL_UNITS = $(sort $(OPTIMIZED_UNITS) $(patsubst %.c,%,$(shell grep -l 'unit/fixture/rounds.h' tests/unit/*/test_*.c)))
CHECKED_UNITS = $(filter-out $(OPTIMIZED_UNITS),$(UNITS:$(OUT)/%=%))
# Nothing of calibrate/ is in them.
RACES = SANITIZE=thread OPTIMIZE=-O0 OPTIMIZE_TESTS=-O0 WARNINGS= WERROR= MEASURES=
# clang alone complains of an empty list that begins at NULL + 0, which the next C allows.
FUZZED = VARIANT=fuzz CC=clang SANITIZE=fuzzer-no-link,address,undefined WARNINGS= WERROR= \
         CFLAGS=-fno-sanitize=pointer-overflow

.PHONY: format-check analyze tsan
.PHONY: all calibrate bundle demo check test test-slurm test-deb test-wheel differential kills bench limits fuzz capture
.PHONY: study papers accuracy site host-example install wheel wheel-aarch64 deb compile_commands.json help clean
.PHONY: FORCE packages units kernel-tests fuzzers toolkit
.DELETE_ON_ERROR:
.SECONDARY:

all: $(PROGRAM) $(HARNESS) $(PYTHON_POLICY) ## build the program (the default)
	@[ ! -e $(HARNESS)-cuda ] || \
	    [ -z "$$(find sim calibrate -name '*.[ch]*' -newer $(HARNESS)-cuda | head -1)" ] || \
	    echo '$(HARNESS)-cuda is older than what it is made of: make calibrate'

calibrate: $(PROGRAM) $(HARNESS) toolkit ## build the part that measures GPU and link (needs nvcc)
	$(SUBMAKE) $(HARNESS)-cuda

bundle: calibrate ## pack build/bundle/quarter for a GPU machine on which nothing can be installed (needs nvcc)
	$(SUBMAKE) $(HARNESS)-test-kernels
	@tools/bundle.sh build/bundle/quarter $(PROGRAM) $(HARNESS)-cuda $(HARNESS)-test-kernels

demo: packages ## compare systems on a recorded trace: table, database, pictures
	$(SUBMAKE) all
	@tools/demo.sh build/demo

# Families that walk through most of the program, and unit tests that cost little.
QUICK_CASES = bands calibrate completion explain help lists measured messages model_page models names output_errors \
              plan_best policies seal streams tiers timeline usage_errors
check: packages ## run the unit tests and twenty families of cases, without sanitizers (a minute, once all is built)
	$(SUBMAKE) all $(filter-out $(FULL_UNITS:%=$(OUT)/%),$(UNITS))
	@PROGRAM=$(PROGRAM) tests/run.sh tests/script/folder_order.sh tests/script/names.sh \
	    $(QUICK_CASES:%='tests/cli/run.sh %') $(filter-out $(FULL_UNITS:%=$(OUT)/%),$(UNITS))

test: packages ## run every test, most of them under the address and undefined sanitizers
	$(SUBMAKE) all kernel-tests $(FULL_UNITS:%=$(OUT)/%)
	$(SUBMAKE) $(SANITIZED) all kernel-tests fuzzers $(CHECKED_UNITS:%=$(CHECKED)/%)
	@PROGRAM=$(PROGRAM) tests/run.sh $(SCRIPTS) $(OPTIMIZED_CASES:%='tests/cli/run.sh %') \
	    $(CHECKED_CASES:%='PROGRAM=$(CHECKED)/spillway tests/cli/run.sh %') \
	    'cd / && EMULATOR_REVERSE=1 $(CURDIR)/$(KERNEL_TEST)' \
	    $(KERNEL_TEST:$(OUT)/%=$(CHECKED)/%) \
	    'EMULATED=$(EMULATED:$(OUT)/%=$(CHECKED)/%) tests/script/emulated_groups.sh' \
	    $(FULL_UNITS:%=$(OUT)/%) $(CHECKED_UNITS:%=$(CHECKED)/%) \
	    $(foreach target,$(TARGETS), \
	      '$(CHECKED)/tests/fuzz/fuzz_$(target) tests/fuzz/corpus/$(target)/*')

test-slurm: packages ## run shards of a sweep in a Slurm started here, and merge them
	@tools/packages.sh munge slurmctld slurmd slurm-client
	$(SUBMAKE) all
	@PROGRAM=$(PROGRAM) tests/run.sh tests/script/slurm.sh

test-deb: packages ## install the Debian package in a fresh Debian made here, and run its demo there (minutes)
	@tools/packages.sh dpkg-dev mmdebstrap
	$(SUBMAKE) all
	@TEST_DEB=1 PROGRAM=$(PROGRAM) tests/run.sh tests/script/package/deb.sh

test-wheel: packages ## install the wheel in a bare virtual environment and beside a bare C library, and try it there
	$(SUBMAKE) all
	@TEST_WHEEL=1 PROGRAM=$(PROGRAM) tests/run.sh tests/script/package/wheel.sh

differential: all ## hold 300 answers of 'advise' against 'simulate', intervals against 200 runs, and Python against the program
	@tests/differential/python.py --count 300 $(PROGRAM)
	@tests/differential/advise.py --count 300 $(PROGRAM)
	@tests/differential/intervals.py $(PROGRAM)

kills: packages ## kill every command that writes a file, KILLS times in all (1000 take some ten minutes)
	$(SUBMAKE) all
	@KILLS=$(KILLS) TEST_TIMEOUT=7200 PROGRAM=$(PROGRAM) tests/run.sh tests/script/kills.sh

limits: all ## measure memory and the answer to Ctrl-C over models, machines and systems (half an hour; PAIRS=0: over all)
	@tests/bench/limits.py $(PROGRAM) $(PAIRS)

bench: $(BENCHES) all ## measure speed, beside bare loops
	@CC='$(CC)' FLAGS='$(OPTIMIZE)' RECORD='$(RECORD)' tests/bench/run.sh $(BENCHES) tests/bench/bench_python.py

fuzz: ## search for crashes, FUZZ_SECONDS a target (needs clang)
	@command -v clang >/dev/null || \
	    { echo 'make fuzz needs clang: apt-get install clang libclang-rt-14-dev' >&2; exit 1; }
	$(SUBMAKE) $(FUZZED) fuzzers
	@failed=; for target in $(TARGETS); do \
	    mkdir -p build/fuzz/corpus/$$target && \
	    build/fuzz/tests/fuzz/fuzz_$$target -max_total_time=$(FUZZ_SECONDS) -timeout=10 \
	      -artifact_prefix=build/fuzz/$$target- -print_final_stats=1 \
	      build/fuzz/corpus/$$target tests/fuzz/corpus/$$target || failed="$$failed $$target"; done; \
	    [ -z "$$failed" ] || { echo "make fuzz: inputs that fail are in build/fuzz, of:$$failed" >&2; exit 1; }

format-check: ## name the places that clang-format would change (clang-format-14)
	@tools/format_check.sh

# Leaks are left to the address sanitizer: the analyzer takes a pointer that an array keeps for a leak, and a value that
# a refused call did not write for one that is read. It counts the bits of a vector's element wrongly.
analyze: packages ## follow pointers through functions: null, freed, closed twice (minutes)
	$(SUBMAKE) VARIANT=analyze PROGRAM=build/analyze/spillway OPTIMIZE='-O1 -g1' CFLAGS='$(CFLAGS) -fanalyzer \
	    -Wno-analyzer-malloc-leak -Wno-analyzer-use-of-uninitialized-value -Wno-analyzer-shift-count-overflow' all

# Two families of runs: with a recording, and with a trace that threads generate and share.
tsan: packages ## look for data races in the disk cache and in small sweeps (minutes, most of them to build)
	$(SUBMAKE) $(RACES) build/tsan/spillway build/tsan/tests/unit/core/test_disk_cache
	@TSAN_OPTIONS=halt_on_error=1 build/tsan/tests/unit/core/test_disk_cache
	@cd build/tsan && for trace in smollm2-135m "$(CURDIR)/traces/smollm2-135m.yaml"; do \
	    TSAN_OPTIONS=halt_on_error=1 XDG_CACHE_HOME=cache ./spillway simulate --set model=smollm2-135m --set hardware=a40 --set context=512 \
	      --set steps=2 --set 'sweep={system: [fullattn, retroinfer-10pct, clo], batch: [1, 2]}' --set "trace=$$trace" \
	      --replications 2 --jobs 4 >sweep.txt || exit 1; done

capture: ## record the shipped decode traces again, from nothing
	traces/capture/recreate.sh

study: ## hold other families, and generated traces, against recordings (records what is missing)
	$(SUBMAKE) all
	traces/families.py
	traces/study.sh

site: ## make a site of the pages, with a search: build/site (needs mkdocs-material)
	@tools/packages.sh mkdocs mkdocs-material
	@tools/site.py build/site

papers: all ## hold predictions against published and measured figures (UPDATE=1 rewrites their table)
	@scenarios/papers/run.sh

accuracy: all ## hold predictions against measured servers alone, and draw them (build/accuracy.svg)
	@PYTHONPATH=python SPILLWAY_PROGRAM=$(abspath $(PROGRAM)) python3 -B -m spillway.papers scenarios/measured/*.yaml \
	    --points build/accuracy.tsv | sed '/^# Every published/,$$d'
	@gnuplot -e "points='build/accuracy.tsv'; picture='build/accuracy.svg'" scenarios/measured/accuracy.gp

host-example: all ## measure the host that ships as an example again, and its table in docs/calibrate.md
	@tools/host_example.sh

# An empty file comes first where output is redirected: with a umask of 077 it would be unreadable.
install: all ## install program, header, data, pages, man page and completion below PREFIX
	install -D $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/spillway
	install -D -t $(DESTDIR)$(PREFIX)/bin $(HARNESS) $(wildcard $(HARNESS)-cuda)
	install -Dm644 sim/policy/spillway_policy.h $(DESTDIR)$(PREFIX)/include/spillway_policy.h
	find README.md docs models hwprofiles engines scenarios plots traces completion -type f \
	    -not -path '*/capture/*' -not -name '*.py*' -not -name '*.sh' \
	    -exec install -Dm644 {} $(DESTDIR)$(PREFIX)/share/spillway/{} \;
	install -Dm644 -t $(DESTDIR)$(PREFIX)/lib/spillway $(PYTHON_POLICY)
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/spillway/python/spillway python/spillway/*.py python/spillway/py.typed
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/spillway/traces traces/swt.py
	install -D -t $(DESTDIR)$(PREFIX)/share/spillway/traces traces/twin_bands.py
	install -D -t $(DESTDIR)$(PREFIX)/share/spillway/traces/convert traces/convert/*.py
	install -Dm644 -t $(DESTDIR)$(PREFIX)/share/spillway/examples/notebooks examples/notebooks/*.ipynb
	install -D -t $(DESTDIR)$(PREFIX)/share/spillway/tools tools/demo.sh
	install -D -t $(DESTDIR)$(PREFIX)/share/spillway/scenarios/slurm scenarios/slurm/*.sh
	install -Dm644 /dev/null $(DESTDIR)$(PREFIX)/share/man/man1/spillway.1
	tools/man.sh $(RUN) $(PROGRAM) >$(DESTDIR)$(PREFIX)/share/man/man1/spillway.1
	install -Dm644 /dev/null $(DESTDIR)$(PREFIX)/share/bash-completion/completions/spillway
	$(RUN) $(PROGRAM) completion bash >$(DESTDIR)$(PREFIX)/share/bash-completion/completions/spillway
	install -Dm644 /dev/null $(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_spillway
	$(RUN) $(PROGRAM) completion zsh >$(DESTDIR)$(PREFIX)/share/zsh/vendor-completions/_spillway
	install -Dm644 /dev/null $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/spillway.fish
	$(RUN) $(PROGRAM) completion fish >$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/spillway.fish

wheel: ## make a Python wheel with all that is needed: build/spillway_sim-*.whl
	@rm -rf build/wheel build/spillway_sim-*_$(MACHINE).whl
	$(SUBMAKE) -s $(OUT)/tools/wheel/old_hypot.o
	$(SUBMAKE) -s PROGRAM=build/wheel/spillway LIBS='$(STATIC_LIBS)' LDFLAGS='-s -Wl,--wrap=hypot $(LDFLAGS)' \
	    DESTDIR=$(CURDIR)/build/wheel/root PREFIX= install
	@tools/wheel.py build/wheel/root build

wheel-aarch64: ## the same for aarch64, cross-built, and tried in an emulator (downloads Debian packages; minutes)
	@tools/packages.sh gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
	@tools/wheel/aarch64.sh build/aarch64-libraries
	$(SUBMAKE) wheel VARIANT=aarch64 MACHINE=aarch64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
	    RUN='qemu-aarch64-static -L /usr/aarch64-linux-gnu' \
	    CPPFLAGS=-I$(CURDIR)/build/aarch64-libraries/usr/include \
	    LDFLAGS=-L$(CURDIR)/build/aarch64-libraries/usr/lib/aarch64-linux-gnu
	$(SUBMAKE) all
	@TEST_WHEEL=1 PROGRAM=$(PROGRAM) tests/run.sh tests/script/package/wheel_aarch64.sh

deb: ## make a Debian package of what `make install` installs: build/spillway_*.deb
	@tools/packages.sh dpkg-dev
	@rm -rf build/deb build/spillway_*.deb
	$(SUBMAKE) -s install DESTDIR=$(CURDIR)/build/deb PREFIX=/usr
	@tools/deb.sh build/deb

compile_commands.json: ## write build/compile_commands.json for editors
	@mkdir -p build
	@{ echo '['; for source in $(SOURCES) $(wildcard sim/*.c calibrate/*/*.c tests/*/*.c tests/*/*/*.c); do \
	    printf '{"directory": "%s", "file": "%s", "command": "%s"},\n' \
	      '$(CURDIR)' "$$source" "$(CC) $(ALL_CFLAGS) -c $$source"; done; } | \
	    sed '$$ s/,$$/\n]/' >build/compile_commands.json

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z_.-]+:.*## /{printf "  %-22s %s\n", $$1, $$2}' Makefile

clean: ## remove build/
	rm -rf build

packages:
	@tools/packages.sh

toolkit:
	@command -v $(NVCC) >/dev/null || { echo 'make calibrate needs nvcc, which is not on the PATH and not' \
	    'in /usr/local/cuda/bin: install cuda-nvcc-13-0 and cuda-cudart-dev-13-0 from' \
	    "NVIDIA's repository (or Debian's nvidia-cuda-toolkit, in non-free), or say NVCC=PATH." \
	    "Without it, 'spillway calibrate --host' measures the host alone." >&2; exit 1; }

units: $(UNITS)
kernel-tests: $(KERNEL_TEST) $(EMULATED)
fuzzers: $(FUZZERS)

$(PROGRAM): $(OUT)/sim/main.o $(LIBRARY)
	$(LINK) -Wl,$(NEARBY)

$(HARNESS): $(OUT)/calibrate/harness/main.o $(MEASURE) $(LIBRARY)
	$(LINK) -Wl,$(NEARBY)

# In Python's process tree, not in a test's: without sanitizers.
$(PYTHON_POLICY): python/python_policy.c sim/policy/spillway_policy.h
	$(QUIET) mkdir -p $(@D) && $(CC) -std=c17 -D_GNU_SOURCE -Isim/policy -O2 $(WARNINGS) $(WERROR) -fPIC -shared \
	    $< -pthread -o $@

# gpu_groups.o precedes the library, so that the linker does not take the library's no_gpu.o.
$(HARNESS)-cuda: $(OUT)/calibrate/harness/main.o \
                 $(KERNELS:%.cu=$(OUT)/%.cu.o) $(DEVICES:%.cu=$(OUT)/%.cu.o) $(MEASURE) $(LIBRARY)
	$(QUIET) $(NVCC) $^ $(CUDA_LIBS) -o $@

# The tests of the kernels on a GPU.
$(HARNESS)-test-kernels: $(KERNEL_TESTS:%.cu=$(OUT)/%.cu.o) \
                         $(KERNELS:%.cu=$(OUT)/%.cu.o) $(DEVICES:%.cu=$(OUT)/%.cu.o) \
                         $(MEASURE) $(LIBRARY)
	$(QUIET) $(NVCC) $^ $(CUDA_LIBS) -o $@

$(LIBRARY): $(SOURCES:%.c=$(OUT)/%.o)
	$(QUIET) rm -f $@ && $(AR) rcs $@ $^

$(MEASURE): $(MEASURES:%.c=$(OUT)/%.o)
	$(QUIET) rm -f $@ && $(AR) rcs $@ $^

$(OUT)/%.cu.o: %.cu Makefile
	$(QUIET) mkdir -p $(@D) && $(NVCC) $(CUDA_FLAGS) -MMD -MP -MF $(@:.o=.d) -c $< -o $@

$(KERNEL_TEST): $(KERNEL_TESTS:%.cu=$(OUT)/%.emulated.o) $(EMULATOR:%.cu=$(OUT)/%.emulated.o) \
                $(OUT)/tests/kernels/emulator/tests/window.emulated.o $(MEASURE) $(LIBRARY)
	$(QUIET) $(CXX) $(ALL_CXXFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

$(EMULATED): $(OUT)/calibrate/harness/main.o $(EMULATOR:%.cu=$(OUT)/%.emulated.o) \
             $(OUT)/tests/kernels/emulator/harness/hurries.emulated.o $(MEASURE) $(LIBRARY)
	$(QUIET) $(CXX) $(ALL_CXXFLAGS) $(LDFLAGS) $^ $(LIBS) -o $@

# What the emulator itself does is most of the time of its kernels.
$(OUT)/tests/kernels/emulator/%.emulated.o: override OPTIMIZE := -O2 $(filter -g%,$(OPTIMIZE))

# These would fill the caches of the machine many times: they see small ones.
SMALL := $(KERNEL_TEST) $(EMULATED) $(patsubst %,$(OUT)/tests/unit/calibrate/%,test_host_groups test_mini)
$(SMALL): override LDFLAGS += -Wl,--wrap=topology_init
$(SMALL): $(OUT)/tests/small_caches.o

$(OUT)/%.emulated.o: %.cu Makefile
	$(QUIET) mkdir -p $(@D) && $(CXX) $(ALL_CXXFLAGS) -MMD -MP -x c++ -c $< -o $@

$(OUT)/tests/unit/%: $(OUT)/tests/unit/%.o $(MEASURE) $(LIBRARY)
	$(LINK) -lcmocka

# With a fuzzer, its main(); otherwise a main() that replays the corpus.
$(OUT)/tests/fuzz/fuzz_%: $(OUT)/tests/fuzz/fuzz_%.o $(MEASURE) $(LIBRARY) \
                          $(if $(filter-out fuzz,$(VARIANT)),$(OUT)/tests/fuzz/replay.o)
	$(LINK) $(if $(filter fuzz,$(VARIANT)),-fsanitize=fuzzer)

$(OUT)/tests/bench/%: $(OUT)/tests/bench/%.o $(LIBRARY)
	$(LINK)

# A replay that is kept on disk belongs to the sources that made it.
REPLAYING := $(sort $(wildcard sim/core/*.[ch] sim/trace/*.[ch] sim/trace/*/*.[ch] sim/policy/*.[ch] \
                               sim/decode/replay/*.[ch]))
$(OUT)/sim/decode/replay/replay_kept.o: override CPPFLAGS += -DREPLAY_SOURCES='"$(shell cat $(REPLAYING) | sha256sum | cut -c1-32)"'
$(OUT)/sim/decode/replay/replay_kept.o: $(REPLAYING)

# The program's identity, in files that change only when it does.
$(OUT)/sources $(OUT)/commit: FORCE
	@mkdir -p $(@D) && tools/identity.sh $(@F) >$@.new && \
	    if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi
$(OUT)/sim/core/version.o: $(OUT)/sources
$(OUT)/sim/core/version.o: override CPPFLAGS += -DSPILLWAY_SOURCES='"$(shell cat $(OUT)/sources)"'
$(OUT)/sim/main.o $(OUT)/calibrate/harness/main.o: $(OUT)/commit
$(OUT)/sim/main.o $(OUT)/calibrate/harness/main.o: override CPPFLAGS += -DSPILLWAY_COMMIT='"$(shell cat $(OUT)/commit)"'

# The loops of generated traces are worth vectorising at any length.
$(OUT)/sim/server/%.o: OPTIMIZE += $(if $(SANITIZE),,-O3)
$(OUT)/sim/trace/generate/scores.o: OPTIMIZE += $(if $(SANITIZE),,-O3)

$(OUT)/tests/unit/%.o: override OPTIMIZE = $(OPTIMIZE_TESTS)

# Undefined behaviour is looked for in what is tested, not in tests and the emulator: a third of their compilation.
DEFINED = $(if $(findstring undefined,$(SANITIZE)),-fno-sanitize=undefined)
$(OUT)/tests/%.o: override CFLAGS += $(DEFINED)
$(OUT)/tests/%.o: override CXXFLAGS += $(DEFINED)
# Nothing here computes for long, but for vectors, which take ten seconds to optimise under the sanitizers.
UNHURRIED := $(filter sim/cli/% sim/store/% sim/study/% sim/tables/%,$(SOURCES)) calibrate/host/attention.c
$(UNHURRIED:%.c=$(CHECKED)/%.o): override OPTIMIZE = -O0 -g1

$(OUT)/%.o: %.c Makefile
	$(QUIET) mkdir -p $(@D) && $(CC) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

-include $(shell test ! -d $(OUT) || find $(OUT) -name '*.d')
