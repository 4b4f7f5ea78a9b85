#!/bin/sh
# clang-tidy over the C++ sources that changed, or all of them; each warning is an error (.clang-tidy).
#
#   tools/tidy.sh BUILD_DIRECTORY [JOBS] [all]
#
# Changed is what differs from where this branch left origin/main, or, where it is origin/main itself
# as in a fresh clone, from the last commit that is more than four hours older: sources, and of changed
# headers the source beside them or, where there is none, one that includes them. All sources are
# looked at when .clang-tidy changed or when there is nothing to compare with. A file that was clean is
# looked at again only when it, a header, .clang-tidy or its flags changed.
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

known() { # every source of the build, from the repository root
  sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" |
    sed -n "s|^$root/||p" | grep '^\(src\|apps\|tests\)/' | LC_ALL=C sort -u
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
  known | LC_ALL=C comm -12 - "$build/tidy/changed"
}

chosen >"$build/tidy/chosen"
echo "tidy: $(wc -l <"$build/tidy/chosen") of $(known | wc -l) sources"
  xargs -P "$jobs" -I{} sh -c '
    key=$( (echo "$around"; cat "$1") | sha256sum | cut -d" " -f1)
    stamp="$build/tidy/$key"
    [ -e "$stamp" ] && exit 0
    if output=$(clang-tidy-22 --quiet -p "$build" "$1" 2>/dev/null); then
      touch "$stamp"
    else
      printf "%s\n" "$output"
      exit 1
    fi' tidy {} <"$build/tidy/chosen"
