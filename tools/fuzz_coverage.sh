#!/bin/sh
# How many lines of its parser each fuzzer reaches with its seeds and what it discovered so far.
#
#   tools/fuzz_coverage.sh COVERAGE_BUILD FUZZ_BUILD [AT_LEAST_PERCENT]
#
# COVERAGE_BUILD is the preset fuzz-coverage; FUZZ_BUILD holds the corpus that tools/fuzz.sh kept.
# The parser of x_fuzz.cc is x.cc beside it, or what its first lines name:
#   // parser: src/model/transformer/hugging_face.cc src/model/transformer/hugging_face_llama.cc
set -eu
coverage=$1
fuzz=$2
least=${3:-80}
cd "$(dirname "$0")/.."

printf '%-36s %10s %10s %8s\n' fuzzer lines reached share
failed=0
for source in $(find src apps -name '*_fuzz.cc' | LC_ALL=C sort); do
  name=$(basename "$source" .cc)
  parser=$(sed -n 's|^// parser: ||p' "$source")
  [ -n "$parser" ] || parser=${source%_fuzz.cc}.cc
  for file in $parser; do
    [ -f "$file" ] || { echo "$source: its parser $file does not exist" >&2; exit 2; }
  done
  inputs=$(for seed in $(sed -n 's|^// seeds: ||p' "$source") "$fuzz/corpus/$name"; do
    [ -e "$seed" ] && find "$seed" -type f -size -64k; done)
  profile=$coverage/$name.profraw
  # libFuzzer replays files that are named one by one; xargs may need several runs.
  rm -f "$coverage/$name".*.profraw
  echo "$inputs" | LLVM_PROFILE_FILE="$coverage/$name.%p.profraw" \
    xargs -n 2000 "$coverage/bin/$name" >/dev/null 2>&1 ||
    { echo "$name fails on an input of its corpus" >&2; failed=1; }
  llvm-profdata-22 merge -sparse "$coverage/$name".*.profraw -o "${profile%.profraw}.profdata"
  # shellcheck disable=SC2086  # one word a file
  report=$(llvm-cov-22 export --summary-only --instr-profile "${profile%.profraw}.profdata" \
    "$coverage/bin/$name" $parser | tr ',' '\n' | tr -d '{}"' |
    awk -F: '/totals/ { totals = 1 } totals && /lines:count/ { count = $NF; lines = 1 }
             lines && /^covered/ { covered = $2; lines = 0 }
             END { printf "%d %d", count, covered }')
  count=${report% *}
  covered=${report#* }
  if [ "$count" -eq 0 ]; then
    echo "$name: no lines of $parser are in it" >&2
    failed=1
    continue
  fi
  share=$((100 * covered / count))
  printf '%-36s %10d %10d %7d%%\n' "$name" "$count" "$covered" "$share"
  [ "$share" -ge "$least" ] || failed=1
done
[ $failed -eq 0 ] || { echo "a fuzzer reaches less than $least % of its parser" >&2; exit 1; }
