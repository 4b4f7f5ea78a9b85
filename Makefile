# The front door. `make help` lists what it does; each target prints its steps and can be repeated.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := build
.DELETE_ON_ERROR:

JOBS := $(shell nproc)

# ---- packages and presets ------------------------------------------------------------------------

# Debian packages are looked at again only when packages.txt changed.
build/packages.%: packages.txt tools/install_packages.sh
	@mkdir -p build
	tools/install_packages.sh $*
	@touch $@

build/release/build.ninja: | build/packages.build
build/asan/build.ninja build/tsan/build.ninja build/lint/build.ninja build/fuzz-coverage/build.ninja: | build/packages.build build/packages.check

build/%/build.ninja: CMakePresets.json
	cmake --preset $*
	@touch $@

# ---- what people use -----------------------------------------------------------------------------

.PHONY: help build demo install package check-package test check bench bench-large validate calibrate schedule-pictures strategy-lines format clean
help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)$$/make \1|\2/p' Makefile | \
	  while IFS='|' read -r name what; do printf '%-20s %s\n' "$$name" "$$what"; done

build: build/packages.build build/release/build.ninja ## the command: build/release/bin/orrery
	cmake --build --preset release -j $(JOBS)

demo: build/packages.build build/release/build.ninja ## the best plan for Llama 3.1 405B on 16,384 H100s
	cmake --build --preset release -j $(JOBS) --target orrery
	tools/demo.sh

PREFIX ?= /usr/local
install: build/packages.build build/release/build.ninja ## the command and the library, below PREFIX (/usr/local)
	cmake --build --preset release -j $(JOBS) --target orrery orrery_documents orrery_library
	cmake --install build/release --prefix $(PREFIX)

package: build/packages.build build/release/build.ninja ## Debian packages: build/release/*.deb
	cmake --build --preset release -j $(JOBS) --target orrery orrery_documents orrery_library
	cd build/release && cpack

check-package: package build/packages.check ## the packages in a bare root of Debian 12, as root
	tools/check_package.sh build/release

test: build ## every test of the release build
	ctest --test-dir build/release --output-on-failure -j $(JOBS)

# The module is linked from the libraries of the command; its tests compare the answers of both.
python: build/packages.python build/release/build.ninja ## the Python module, built in build/release/python and tested
	cmake --preset python
	cmake --build --preset release -j $(JOBS) --target python_module orrery
	PYTHONPATH=build/release/python /usr/bin/python3 -m unittest discover -s python/tests
.PHONY: python

bench: build ## the benchmarks, with ratios to their baselines
	tools/bench.sh

bench-large: build ## the trace commands on made recordings of 1 and 8 GB, left in build/bench
	mkdir -p build/bench
	build/release/bin/large_recordings build/bench 1 8

validate: build/packages.build build/release/build.ninja ## predictions against published measurements
	cmake --build --preset release -j $(JOBS) --target orrery
	build/release/bin/orrery validate validation/measured/*.csv validation/held-out-steps.csv \
	  --markdown docs/validation.md --figures validation/figures.csv \
	  --strategies docs/strategies.md

schedule-pictures: build/packages.build build/release/build.ninja ## the pictures of docs/schedules.md
	cmake --build --preset release -j $(JOBS) --target orrery
	tools/draw_schedules.sh build/release/bin/orrery

strategy-lines: ## how many lines each strategy takes: docs/strategy-lines.md
	tools/strategy_lines.sh >docs/strategy-lines.md.new
	mv docs/strategy-lines.md.new docs/strategy-lines.md

# The date is that of the fit; with the same date the files are the same to the byte.
CALIBRATION_DATE ?= 2026-11-27
KERNEL_MEASUREMENTS := $(addprefix validation/kernels/,gemm-measured.csv \
  attention-prefill-measured.csv layer-ops-measured.csv flash-attention-published.csv \
  simumax-operator-efficiency.csv expert-layers-measured.csv)
calibrate: build/packages.build build/release/build.ninja ## cost parameters of the catalog from measurements
	cmake --build --preset release -j $(JOBS) --target orrery
	build/release/bin/orrery calibrate $(KERNEL_MEASUREMENTS) --catalog catalog --cross-validate \
	  --date $(CALIBRATION_DATE) --out catalog --markdown docs/models/kernel-errors.md
	build/release/bin/orrery calibrate validation/measured/*.csv --catalog catalog --cross-validate \
	  --date $(CALIBRATION_DATE) --out build/calibration
	cp build/calibration/step/*.yaml catalog/step/
	cp build/calibration/held-out-steps.csv validation/

format: build/packages.check ## clang-format on every C++ file
	git ls-files -co --exclude-standard -- '*.cc' '*.h' | xargs clang-format-22 -i

clean: ## remove everything that was built
	rm -rf build

# ---- make check ----------------------------------------------------------------------------------

check: check-format check-symbols check-docs check-pages check-tidy check-asan check-tsan check-fuzz ## sanitizers, fuzzers, lint, documentation
	@echo "make check: all passed"

.PHONY: check-format check-symbols check-docs check-pages check-tidy check-asan check-tsan check-fuzz
check-format: build/packages.check ## is every C++ file formatted?
	git ls-files -co --exclude-standard -- '*.cc' '*.h' | xargs clang-format-22 --dry-run -Werror

check-symbols: build ## does the library print, exit, or read the environment?
	tools/check_symbols.sh build/release

check-docs: build/packages.check ## the documentation site, warnings as errors
	PYTHONPATH= /usr/bin/python3 -m mkdocs build --strict --quiet --site-dir build/site

check-pages: build build/packages.check ## the HTML reports in a browser: nothing fails, sticks out or overlaps
	tools/check_pages.sh build/release/bin/orrery build/pages

# Other builds compile the sources of a folder a dozen at a time; this looks at each alone, which proves
# that each includes what it uses. Of its build only what clang-tidy reads is made: precompiled headers.
check-tidy: build/packages.check build/lint/build.ninja ## clang-tidy over every source, warnings as errors
	cmake --build --preset lint -j $(JOBS)
	tools/tidy.sh build/lint $(JOBS) all

# A dozen sources at a time, with the flags and the precompiled headers of check-asan.
lint: build/packages.check build/asan/build.ninja ## clang-tidy over the sources that changed
	cmake --build --preset asan -j $(JOBS) --target \
	  orrery_headers orrery_cold_headers orrery_test_headers embedded
	tools/tidy.sh build/asan $(JOBS)
.PHONY: lint

# Whether documented commands still print what the documentation says, whether folders include only
# what they may, and whether threads change a byte is settled by `make test`; here their speed would be
# that of the sanitizer.
check-asan: build/packages.check build/asan/build.ninja ## every test under the address and undefined-behaviour sanitizers
	cmake --build --preset asan -j $(JOBS)
	LSAN_OPTIONS=suppressions=$(CURDIR)/tools/leak_suppressions.txt:print_suppressions=0 \
	  ctest --test-dir build/asan --output-on-failure -j $(JOBS) -LE documentation -E '^layers$$|determinism.test'

check-tsan: build/packages.check build/tsan/build.ninja ## the threaded tests under the thread sanitizer
	tools/check_threads.sh build/tsan $(JOBS)

FUZZ_SECONDS := 40
# The fuzzers are linked from the libraries of check-asan.
check-fuzz: build/packages.check build/asan/build.ninja ## 40 seconds of each fuzzer; FUZZ_SECONDS=600 for longer
	cmake --build --preset asan -j $(JOBS) --target fuzzers
	tools/fuzz.sh build/asan $(FUZZ_SECONDS) $(JOBS)

fuzz-coverage: build/packages.check build/fuzz-coverage/build.ninja ## how much of its parser each fuzzer reaches
	cmake --build --preset fuzz-coverage -j $(JOBS) --target fuzzers
	tools/fuzz_coverage.sh build/fuzz-coverage build/asan
.PHONY: fuzz-coverage

# ---- documents ----------------------------------------------------------------------------------

schema: build ## write docs/schema and docs/json-keys.md from the tables of keys
	build/release/bin/write_documents .
.PHONY: schema

# ---- re-blessing ---------------------------------------------------------------------------------

bless: build ## accept what the commands print now as golden text; review the diff
	tools/bless_golden.sh
.PHONY: bless
