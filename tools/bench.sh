#!/bin/sh
# Runs every benchmark and prints one table; the raw results are in build/bench/*.json.
#
# A benchmark named x/baseline is measured in the same run as x/..., and the table gives their
# ratio: on a shared machine seconds wander by a factor, ratios of one run do not.
set -eu
cd "$(dirname "$0")/.."
mkdir -p build/bench
for program in build/release/bin/*_benchmark; do
  [ -x "$program" ] || { echo "bench: no benchmark was built" >&2; exit 2; }
  name=$(basename "$program" _benchmark)
  "$program" --benchmark_out="build/bench/$name.json" --benchmark_out_format=json \
    --benchmark_color=false --benchmark_counters_tabular=true
done
