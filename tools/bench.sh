#!/bin/sh
# Runs every benchmark and prints one table; the raw results are in build/bench/*.json.
#
#   tools/bench.sh [FILTER]      a regular expression over the names of benchmarks
#
# A benchmark `x_baseline` is what `x` is measured against, in the same run: on a shared machine
# seconds wander by a factor, a ratio of one run does not. The table gives it as "vs baseline".
set -eu
cd "$(dirname "$0")/.."
filter=${1:-.}
mkdir -p build/bench
: >build/bench/all.csv
for program in build/release/bin/*_benchmark; do
  [ -x "$program" ] || { echo "bench: no benchmark was built" >&2; exit 2; }
  name=$(basename "$program" _benchmark)
  echo "bench: $name" >&2
  "$program" --benchmark_filter="$filter" --benchmark_format=csv \
    --benchmark_out="build/bench/$name.json" --benchmark_out_format=json \
    2>"build/bench/$name.log" >"build/bench/$name.csv" ||
    { cat "build/bench/$name.log" >&2; exit 1; }
  cat "build/bench/$name.csv" >>build/bench/all.csv
done

awk -F, '
  /^name,/ { delete extra; for (i = 11; i <= NF; ++i) { gsub(/"/, "", $i); extra[i] = $i }; next }
  /^"/ {
    name = $1; gsub(/"/, "", name); sub(/\/manual_time$/, "", name)
    sub(/\/iterations:[0-9]+/, "", name); sub(/\/manual_time$/, "", name)
    if ($9 == "true" || NF < 5 || $3 == "") { print name ": FAILED" > "/dev/stderr"; bad = 1; next }
    order[++n] = name; time[name] = $3; unit[name] = $5; rate[name] = $7
    for (i in extra) if (i <= NF && $i != "") more[name] = more[name] sprintf("  %s %.4g", extra[i], $i)
  }
  END {
    printf "%-44s %14s %16s %12s\n", "benchmark", "time", "items/s", "vs baseline"
    for (i = 1; i <= n; ++i) {
      name = order[i]
      base = name
      if (!sub(/\//, "_baseline/", base)) base = base "_baseline"
      ratio = (base in time) ? sprintf("%.2fx", time[base] / time[name]) : ""
      items = rate[name] == "" ? "" : sprintf("%.4g", rate[name])
      printf "%-44s %11.4g %s %16s %12s%s\n", name, time[name], unit[name], items, ratio, more[name]
    }
    exit bad
  }' build/bench/all.csv | tee build/bench/table.txt
