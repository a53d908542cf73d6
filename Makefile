# The front door: each target does its own set-up. `make help` lists the targets; CMakePresets.json has the build variants.
# As many jobs as make was given by -j, else one a core.
JOBS ?= $(or $(patsubst -j%,%,$(filter -j%,$(MAKEFLAGS))),$(shell nproc))
PRODUCTS = kwright kernelwright kernelwright_tune kernelwright_shared kernelwright_tune_shared
PREFIX ?= /usr/local
MAKEFLAGS += --no-print-directory

.PHONY: all setup gfx950 test test-gpu-full check-legal check-numbers check-growth check-kills check-memory memcheck mutate device-faults test-slurm test-forest test-torch python-memory site lightgbm demo bench bench-cpu repeat dataset fuzz hunt format install clean help golden

all: setup
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target $(PRODUCTS)
	@echo "built build/kwright and the libraries"

setup:
	@tools/setup.sh build

gfx950:
	@tools/setup.sh gfx950

python: all
	@tools/setup.sh python
	@tools/python.sh build

test:
	@tools/setup.sh test
	@tools/setup.sh python
	@JOBS=$(JOBS) tools/test.sh

test-gpu-full:
	@tools/setup.sh test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target kwright gpu_pairs
	@JOBS=$(JOBS) SET=full-tests ARCHS="$${ARCHS:-gfx90a gfx942 gfx950 sm_90}" BUDGET=$${BUDGET:-1800} tools/stage/gpu_check.sh

check-legal:
	@tools/setup.sh test
	@JOBS=$(JOBS) tools/long/check_legal.sh

check-numbers:
	@tools/setup.sh numbers
	@JOBS=$(JOBS) tools/long/check_numbers.sh

memcheck:
	@tools/setup.sh memcheck
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS)
	@tools/long/memcheck.sh

mutate:
	@tools/setup.sh mutate
	@for kind in c cpu gpu; do tools/mutate/mutate.py $$kind --jobs $(JOBS) --seed $${KW_MUTATE_SEED:-1} --each $${KW_MUTATE_EACH:-1} || exit; done

device-faults: all
	@tools/device/device_faults.sh build/kwright

check-growth:
	@tools/setup.sh test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target test_growth
	@KW_GROWTH_ROWS=$${KW_GROWTH_ROWS:-1000000} build/tests/unit/store/test_growth

check-kills: all
	@nice -n 10 tools/long/check_kills.py build/kwright $$KILL_SEED

check-memory:
	@tools/setup.sh test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target test_memory
	@KW_MEMORY_SEED=$${KW_MEMORY_SEED:-$$(date +%s)} KW_MEMORY_POINTS=$${KW_MEMORY_POINTS:-200} build/tests/fault/test_memory

test-slurm: all
	@tools/long/test_slurm.sh build/kwright

test-forest:
	@tools/setup.sh test
	@JOBS=$(JOBS) tools/long/test_forest.sh

test-torch:
	@tools/setup.sh python
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target kernelwright_shared kernelwright_tune_shared kwright
	@tools/long/torch.sh build

python-memory: python
	@tools/long/python_memory.sh build

site:
	@tools/setup.sh python
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target kernelwright_shared kernelwright_tune_shared kwright
	@tools/site.sh build

lightgbm:
	@tools/lightgbm.sh

demo: all
	@cmake --build build -j $(JOBS) --target network
	@tools/demo.sh

bench:
	@tools/setup.sh bench
	@JOBS=$(JOBS) tools/bench.sh

bench-cpu:
	@tools/setup.sh bench
	@tools/bench_cpu.sh $(BENCH_CPU)

repeat:
	@tools/setup.sh bench
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target bench_repeat
	@mkdir -p docs/results/$$(date +%F)
	@build/bench/bench_repeat | tee docs/results/$$(date +%F)/bench-repeat.md

dataset: all
	@tools/data/dataset.sh

fuzz:
	@tools/setup.sh test
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-60} JOBS=$(JOBS) tools/stage/fuzz.sh

hunt:
	@tools/setup.sh test
	@cmake --preset release >/dev/null
	@cmake --build build -j $(JOBS) --target gpu_hunt cpu_hunt
	@KW_CHECK_CACHE=build-kernels build/tests/check/cpu_hunt $${HUNT_SECONDS:-300} $${HUNT_SEED:-$$(date +%Y%m%d)}
	@build/tests/check/gpu/gpu_hunt $${HUNT_SECONDS:-300} $${HUNT_SEED:-$$(date +%Y%m%d)} $$ARCHS

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

golden: all
	@tools/golden.sh

# The prefix is compiled in: below it lies the system's wisdom.
install: setup
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX) >/dev/null
	@cmake --build build -j $(JOBS) --target $(PRODUCTS)
	cmake --install build

clean:
	rm -rf build build-*

help:
	@echo 'make            build build/kwright and the libraries; JOBS=N or -jN at a time (one a core)'
	@echo 'make python     the Python package as a wheel in build/python-wheel, installed into a fresh environment and tested there'
	@echo 'make gfx950     Debian'\''s clang 22, which kernels for gfx950 need; for other AMD GPUs clang 19 will do'
	@echo 'make demo       build, tune real network layers, run them through the C API; DEMO_LAYERS=all takes every layer'
	@echo 'make test       every check and test (CI runs this)'
	@echo 'make test-gpu-full every kernel of set full-tests for GPUs, compiled and played; BUDGET seconds a step (1800), goes on where it was'
	@echo 'make memcheck    the unit tests of what reads, stores and scores, under valgrind'
	@echo 'make mutate      plants faults in the texts of library and kernels and counts those that a test finds; KW_MUTATE_SEED, KW_MUTATE_EACH'
	@echo 'make device-faults  kernels that write astray, hang and trap on a GPU (DEVICE, cuda:0): recorded, and the device as good as before'
	@echo 'make check-numbers kernels on random legal problems against NumPy in doubles, KW_NUMBERS_RUNS (20000) and KW_NUMBERS_SEED (the day)'
	@echo 'make check-legal every kernel'\''s rules and launch on random legal problems, KW_LEGAL_SEED (the day) and KW_LEGAL_PAIRS (10^6) an architecture'
	@echo 'make check-growth a store of KW_GROWTH_ROWS (10^6) rows: a question takes no more work than with 500, a row no more room'
	@echo 'make check-kills sweep, tune, build and merge, 200 times each killed with kill -9 at random moments: KILL_SEED (the time)'
	@echo 'make check-memory every verb with one allocation refused, KW_MEMORY_POINTS (200; 0: all of the first 2000) a verb, drawn from KW_MEMORY_SEED (the time)'
	@echo 'make test-slurm a sweep as a job array under a real Slurm on this machine'
	@echo 'make test-forest scores of a million rows against LightGBM, which comes from PyPI'
	@echo 'make test-torch kernelwright.torch against PyTorch, whose wheel (531 MB, without CUDA) comes from PyPI once'
	@echo 'make python-memory  the Python extension on good and bad arrays under PYTHONMALLOC=debug and AddressSanitizer'
	@echo 'make site       docs, docstrings and notebooks, which are executed, as one site searched offline: build/site/index.html'
	@echo 'make lightgbm   LightGBM from PyPI into build/lightgbm, for kwright train'
	@echo 'make bench      benchmarks against oneDNN; results as docs/results/DATE/bench-*.md'
	@echo 'make bench-cpu  the library beside oneDNN, OpenBLAS and BLIS on problems drawn anew; BENCH_CPU="--seed 1 --count 3", KW_DNNL for another oneDNN'
	@echo 'make repeat     how well times repeat; docs/results/DATE/bench-repeat.md'
	@echo 'make dataset    measure the data set for learning anew (half an hour); data/*.jsonl.gz'
	@echo 'make fuzz       libFuzzer targets, FUZZ_SECONDS each (60); goes on from the corpus of the last run, FUZZ_CORPUS'
	@echo 'make hunt       random problems for CPU kernels of every architecture here, then random GPU kernels in the emulator; HUNT_SECONDS (300) each and HUNT_SEED (the day)'
	@echo 'make format     clang-format over all tracked C files'
	@echo 'make golden     remake the golden files and kernel samples after a wanted change'
	@echo 'make install    into PREFIX (/usr/local)'
