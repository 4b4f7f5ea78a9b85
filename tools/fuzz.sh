#!/bin/sh
# Runs every fuzzer of a build for some seconds each, several at a time; a crash fails and leaves
# its input behind.
#
#   tools/fuzz.sh BUILD_DIRECTORY [SECONDS] [JOBS] [NAME...]
#
# The first lines of x_fuzz.cc name its seeds, files or folders from the repository root:
#   // seeds: catalog/models examples/configs
# What it discovers is kept in BUILD_DIRECTORY/corpus/x_fuzz and used again.
set -eu
build=$(CDPATH= cd -- "$1" && pwd)
seconds=${2:-60}
jobs=${3:-2}
[ $# -ge 3 ] && shift 3 || shift $#
cd "$(dirname "$0")/.."

sources=$(find src apps -name '*_fuzz.cc' | LC_ALL=C sort)
if [ $# -gt 0 ]; then
  chosen=
  for name in "$@"; do
    chosen="$chosen $(echo "$sources" | grep "/$name\.cc\$")"
  done
  sources=$chosen
fi
[ -n "$sources" ] || { echo "fuzz: no *_fuzz.cc found" >&2; exit 2; }
export build seconds

# shellcheck disable=SC2086  # one word a source
printf '%s\n' $sources | xargs -P "$jobs" -I{} sh -c '
  source=$1
  name=$(basename "$source" .cc)
  seeds=$(sed -n "s|^// seeds: ||p" "$source")
  for seed in $seeds; do
    [ -e "$seed" ] || { echo "fuzz: $source names seeds that do not exist: $seed" >&2; exit 1; }
  done
  corpus=$build/corpus/$name
  crashes=$build/crashes/$name
  mkdir -p "$corpus" "$crashes"
  # libFuzzer takes seeds only as files of flat or nested folders, so single files are gathered.
  gathered=$build/seeds/$name
  rm -rf "$gathered"
  mkdir -p "$gathered"
  for seed in $seeds; do
    find "$seed" -type f -size -64k | while read -r file; do
      cp "$file" "$gathered/$(echo "$file" | tr / _)"
    done
  done
  [ -n "$(ls -A "$gathered")" ] ||
    { echo "fuzz: $source has no seed below 64 KiB" >&2; exit 1; }
  log=$build/crashes/$name.log
  if "$build/bin/$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=4096 \
      -max_len=65536 -print_final_stats=1 -artifact_prefix="$crashes/" \
      "$corpus" "$gathered" >"$log" 2>&1; then
    runs=$(sed -n "s/^stat::number_of_executed_units: *//p" "$log")
    echo "fuzz: $name: ${runs:-?} inputs in $seconds s, no crash"
  else
    tail -n 60 "$log"
    echo "fuzz: $name FAILED; the input is in $crashes" >&2
    exit 1
  fi' fuzz {}
