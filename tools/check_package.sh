#!/bin/sh
# Installs the Debian packages into bare roots of Debian 12 and tries them: the command alone, then the
# library with an example that finds it by CMake and by pkg-config. Needs root, debootstrap and a mirror.
#
#   tools/check_package.sh BUILD_DIRECTORY [MIRROR]    (default: the one that apt uses)
set -eu
build=$1
mirror=${2:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)}
[ -n "$mirror" ] || { echo "check_package: no mirror of bookworm in apt's sources; name one" >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "check_package: debootstrap needs root" >&2; exit 2; }
command -v debootstrap >/dev/null || { echo "check_package: apt-get install debootstrap" >&2; exit 2; }
root=$(mktemp -d /tmp/orrery-root.XXXXXX)
trap 'rm -rf "$root"' EXIT
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

debootstrap --variant=minbase bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
  { tail -n 20 "$root.log" >&2; rm -f "$root.log"; exit 1; }
rm -f "$root.log"
cp "$build"/orrery_*.deb "$build"/liborrery-dev_*.deb "$root/tmp/"

echo "the command in a bare root:"
inside sh -c 'apt-get install -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root --no-install-recommends /tmp/orrery_*.deb >/dev/null'
inside orrery --version
inside orrery estimate llama-3.1-8b --on h100-sxm:64 --seq 8k --global-batch 128 --plan tp=2 -q |
  grep 'step time'
inside sh -c 'test -s /usr/share/man/man1/orrery-trace-diff.1.gz -o -s /usr/share/man/man1/orrery-trace-diff.1'
inside bash -c '. /usr/share/bash-completion/completions/orrery
  COMP_WORDS=(orrery trace dif) COMP_CWORD=2
  _orrery && test "${COMPREPLY[*]}" = diff'

echo "the library, found by CMake and by pkg-config:"
inside sh -c 'apt-get install -qq -o Dpkg::Use-Pty=0 -o APT::Sandbox::User=root --no-install-recommends g++ cmake make pkg-config /tmp/liborrery-dev_*.deb >/dev/null'
cp -r "$(dirname "$0")/../examples/cpp" "$root/tmp/cpp"
inside sh -c 'cmake -S /tmp/cpp -B /tmp/cpp/build -DCMAKE_BUILD_TYPE=Release >/dev/null &&
  cmake --build /tmp/cpp/build >/dev/null && /tmp/cpp/build/predict'
inside sh -c 'cd /tmp/cpp && g++ predict.cc $(pkg-config --cflags --libs orrery) -o predict && ./predict'
inside sh -c 'apt-get purge -qq orrery liborrery-dev >/dev/null && ! command -v orrery'
echo "check_package: all passed"
