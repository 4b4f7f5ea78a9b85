#!/bin/sh
# Writes docs/strategy-lines.md: how many production lines each strategy takes in files of its own. Counted
# are lines that are neither blank nor comments alone. Strategies that split a model are those of
# tools/strategy_files.txt, pipeline schedules the files of src/schedule/published.
#
#   tools/strategy_lines.sh >docs/strategy-lines.md
set -eu
LC_ALL=C # the order of files and of rows
export LC_ALL
cd "$(dirname "$0")/.."

rows=$(mktemp)
trap 'rm -f "$rows"' EXIT
count() { # FILE...
  awk '!/^[[:space:]]*(\/\/.*)?$/ { lines++ } END { print lines + 0 }' "$@"
}
row() { # STRATEGY SOURCE FILE...
  strategy=$1
  source=$2
  shift 2
  named= all=
  for file; do
    [ -e "src/$file" ] || {
      echo "strategy_lines: src/$file, a file of '$strategy', does not exist; correct tools/strategy_files.txt" >&2
      exit 1
    }
    all="$all src/$file"
    named="$named${named:+, }\`$file\`"
    header=${file%.cc}.h
    if [ "$header" != "$file" ] && [ -e "src/$header" ]; then all="$all src/$header"; fi
  done
  # shellcheck disable=SC2086  # words on purpose
  echo "$(count $all)|$strategy|$source|$named" >>"$rows"
}
while IFS='|' read -r strategy source files; do
  case $strategy in '#'* | ' '* | '') continue ;; esac
  case $files in '') continue ;; esac
  # shellcheck disable=SC2086  # words on purpose
  row "${strategy% }" "$(echo $source)" $files
done <tools/strategy_files.txt
for path in src/schedule/published/*.cc; do
  file=${path#src/}
  name=$(basename "$file" .cc | tr _ ' ')
  source=$(sed -n 's/.*arXiv \([0-9][0-9.]*[0-9]\).*/arXiv \1/p' "$path" | head -n 1)
  row "schedule: $name" "$source" "$file"
done
middle=$(sort -t '|' -n "$rows" | awk -F '|' '{ n[NR] = $1 } END {
  print NR % 2 ? n[(NR + 1) / 2] : (n[NR / 2] + n[NR / 2 + 1]) / 2 }')
longest=$(sort -t '|' -n "$rows" | tail -n 1 | cut -d '|' -f 1)
cat <<END
# Lines of each strategy

Written by \`make strategy-lines\`. Production lines of the files that a strategy has to itself, without blank lines and
comments; what all of them share (the lowering of a block, the graph of a step, the memory of a stage) is not counted.

**Median of $(wc -l <"$rows" | tr -d ' ') rows: $middle lines; the longest has $longest.**

| strategy | source | files | lines |
| --- | --- | --- | ---: |
END
while IFS='|' read -r lines strategy source named; do
  echo "| $strategy | $source | $named | $lines |"
done <"$rows"
