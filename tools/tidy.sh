#!/bin/sh
# clang-tidy over every C++ source that the build knows; each warning is an error (.clang-tidy).
# A file that was clean is looked at again only when it, a header, .clang-tidy or its flags changed.
#
#   tools/tidy.sh BUILD_DIRECTORY [JOBS]
set -eu
build=$1
jobs=${2:-2}
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)
cd "$root"
mkdir -p "$build/tidy"
export build

# One hash of all that can change a verdict besides the file itself.
headers=$(git ls-files -co --exclude-standard -- '*.h' | LC_ALL=C sort | xargs cat | sha256sum)
rules=$(cat .clang-tidy "$build/compile_commands.json" | sha256sum)
around=$(echo "$headers $rules" | sha256sum | cut -d' ' -f1)
export around

sed -n 's/^ *"file": "\(.*\)",*$/\1/p' "$build/compile_commands.json" |
  grep "^$root/\(src\|apps\|tests\)/" | LC_ALL=C sort -u |
  xargs -P "$jobs" -I{} sh -c '
    key=$( (echo "$around"; cat "$1") | sha256sum | cut -d" " -f1)
    stamp="$build/tidy/$key"
    [ -e "$stamp" ] && exit 0
    if output=$(clang-tidy-22 --quiet -p "$build" "$1" 2>/dev/null); then
      touch "$stamp"
    else
      printf "%s\n" "$output"
      exit 1
    fi' tidy {}
