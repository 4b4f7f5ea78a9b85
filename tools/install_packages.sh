#!/bin/sh
# Installs the packages of one section of packages.txt that are missing; touches nothing otherwise.
#
#   tools/install_packages.sh build|python|check
set -eu
section=$1
root=$(CDPATH= cd -- "$(dirname -- "$0")/.." && pwd)

wanted=$(sed -n "/^\[$section\]/,/^\[/p" "$root/packages.txt" | grep -v -e '^\[' -e '^#' -e '^$')
missing=
for package in $wanted; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  exit 0
fi

echo "Installing Debian packages ($section):$missing"
become_root=
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "These packages are missing and only root can install them. Run as root:" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends$missing" >&2
    exit 1
  fi
  become_root=sudo
fi
$become_root apt-get update -q
# shellcheck disable=SC2086  # one word a package
if ! $become_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -q --no-install-recommends $missing; then
  echo "apt-get could not install:$missing" >&2
  echo "They are in Debian 12 (bookworm) and its security archive; are both in the sources?" >&2
  exit 1
fi
