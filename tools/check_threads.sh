#!/bin/sh
# Builds and runs the tests that start several threads under the thread sanitizer.
#
#   tools/check_threads.sh BUILD_DIRECTORY [JOBS]
#
# Libraries of Debian are not instrumented, so what happens inside them is not judged
# (ignore_noninstrumented_modules); what our own code does between its calls is.
set -eu
build=$1
jobs=${2:-2}
# Test programs, each with its cases of several threads. Others use the same parallel_for on data that
# no thread writes; building their libraries once more would take longer than all of this.
cases='parallel_test *
search_test Search.TheResultDoesNotDependOnTheNumberOfThreads
forecast_test SimulatedRun.GivesTheSameBytesForAnyNumberOfThreads:StepSamples.AreTheSameForAnyNumberOfThreads'

# shellcheck disable=SC2046  # one word a target
cmake --build "$build" -j "$jobs" --target $(echo "$cases" | cut -d' ' -f1)
export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1"
echo "$cases" | while read -r program filter; do
  # A renamed case must not leave a filter that finds nothing.
  for name in $(echo "$filter" | tr ':' ' ' | tr -d '*'); do
    "$build/bin/$program" --gtest_list_tests --gtest_filter="$name" | grep -q "${name#*.}" ||
      { echo "check_threads: $program has no $name" >&2; exit 1; }
  done
  before=$(date +%s)
  "$build/bin/$program" --gtest_brief=1 --gtest_filter="$filter"
  echo "threads: $program: $(($(date +%s) - before)) s"
done
