#!/bin/sh
# clang-tidy over the C++ sources that changed, or all of them; each warning is an error (.clang-tidy).
#
#   tools/tidy.sh BUILD_DIRECTORY [JOBS] [all]
#
# Looks at what the build compiles at once: a source or, in unity builds, a dozen sources of a folder,
# which take as long as two sources alone. Changed is what differs from where this branch left origin/main,
# or, where it is origin/main itself as in a fresh clone, from the last commit that is more than four
# hours older: sources, and of changed headers the source beside them or, where there is none, one that
# includes them. Everything is looked at when .clang-tidy changed or when there is nothing to compare
# with. What was clean is looked at again only when it, a header, .clang-tidy or its flags changed.
set -eu
build=$1
jobs=${2:-2}
which=${3:-changed}
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
mkdir -p "$build/tidy"
export build

# One hash of all that can change a verdict besides the file itself.
headers=$(git ls-files -co --exclude-standard -- '*.h' | LC_ALL=C sort | xargs cat | sha256sum)
rules=$(cat .clang-tidy "$build/compile_commands.json" | sha256sum)
around=$(echo "$headers $rules" | sha256sum | cut -d' ' -f1)
export around

# Each source of the build from the repository root, a space, and the file that is compiled for it.
known() {
  sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" | while read -r unit; do
    case $unit in
      */Unity/*) sed -n "s|^#include \"$root/\(.*\)\"|\1 $unit|p" "$unit" ;;
      *) echo "${unit#"$root"/} $unit" ;;
    esac
  done | grep '^\(src\|apps\|tests\)/' | LC_ALL=C sort
}

base=$(git merge-base HEAD origin/main 2>/dev/null || true)
[ "$base" != "$(git rev-parse HEAD)" ] || base=
[ -n "$base" ] || base=$(git rev-list -1 --before="$(($(git log -1 --format=%ct) - 14400))" HEAD)
if [ -n "$base" ]; then
  changes=$(git diff --name-only --diff-filter=d "$base"
            git ls-files -o --exclude-standard -- '*.cc' '*.h')
  case $changes in *.clang-tidy*) which=all ;; esac
else
  which=all
fi

chosen() {
  if [ "$which" = all ]; then
    known
    return
  fi
  for file in $changes; do
    case $file in
      *.cc) echo "$file" ;;
      *.h)
        name=${file#*/}
        if [ -e "${file%.h}.cc" ]; then
          echo "${file%.h}.cc"
        else
          git grep -l --untracked "^#include \"${name#cli/}\"" -- '*.cc' | head -n 1
        fi ;;
    esac
  done | LC_ALL=C sort -u >"$build/tidy/changed"
  known | LC_ALL=C join - "$build/tidy/changed"
}

chosen | cut -d' ' -f2 | sort -u >"$build/tidy/chosen"
echo "tidy: $(wc -l <"$build/tidy/chosen") of $(known | cut -d' ' -f2 | sort -u | wc -l) compiled files"
  xargs -P "$jobs" -I{} sh -c '
    key=$( (echo "$around"; sed -n "s|^#include \"\(/.*\)\"|\1|p" "$1" | xargs cat "$1") |
      sha256sum | cut -d" " -f1)
    stamp="$build/tidy/$key"
    [ -e "$stamp" ] && exit 0
    checks=
    case $1 in */Unity/*) checks=-bugprone-suspicious-include ;; esac  # it is made of sources
    if output=$(clang-tidy-22 --quiet -p "$build" --checks="$checks" "$1" 2>/dev/null); then
      touch "$stamp"
    else
      printf "%s\n" "$output"
      exit 1
    fi' tidy {} <"$build/tidy/chosen"
