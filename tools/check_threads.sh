#!/bin/sh
# Builds and runs the tests that use threads under the thread sanitizer.
#
#   tools/check_threads.sh BUILD_DIRECTORY [JOBS]
#
# Libraries of Debian are not instrumented, so what happens inside them is not judged
# (ignore_noninstrumented_modules); what our own code does between its calls is.
set -eu
build=$1
jobs=${2:-2}
tests='parallel search simulate validate'

targets=
for name in $tests; do
  targets="$targets ${name}_test"
done
# shellcheck disable=SC2086  # one word a target
cmake --build "$build" -j "$jobs" --target $targets
export TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1"
ctest --test-dir "$build" --output-on-failure --no-tests=error -R "^($(echo "$tests" | tr ' ' '|'))\$"
