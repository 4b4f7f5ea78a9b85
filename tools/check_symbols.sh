#!/bin/sh
# The library never prints, exits, aborts, reads the environment or draws global random numbers:
# looks for such symbols in its object files. A temporary of the standard library is no exception.
#
#   tools/check_symbols.sh BUILD_DIRECTORY
set -eu
build=$1
banned='stdout|stderr|_ZSt4cout|_ZSt4cerr|_ZSt4clog|printf|vprintf|puts|putchar|exit|_exit|_Exit|quick_exit|abort|getenv|secure_getenv|setenv|putenv|rand|srand|random|srandom|drand48|_ZNSt13random_device7_M_initE.*|_ZN3fmt.*vprintE.*'
archives=$(find "$build/src" -name 'liborrery_*.a')
[ -n "$archives" ] || { echo "check_symbols: no library in $build; build it first" >&2; exit 2; }
found=0
for archive in $archives; do
  if nm --undefined-only --print-file-name "$archive" |
      grep -E "[ ]U ($banned)(@.*)?\$"; then
    found=1
  fi
done
if [ $found -ne 0 ]; then
  echo "check_symbols: the library must return a Result instead (CONTRIBUTING.md, 'Errors')" >&2
  exit 1
fi
