#!/bin/sh
# Accepts what the commands print now as the expected text of every golden test, page and example.
# Review the diff; a changed prediction belongs into CHANGELOG.md.
set -eu
cd "$(dirname "$0")/.."
find tests -name '*.test' >build/golden_files
find ./*.md docs examples -name '*.md' >>build/golden_files
xargs build/release/bin/golden_runner --bless --bin build/release/bin --root . <build/golden_files
tools/draw_schedules.sh build/release/bin/orrery
git --no-pager diff --stat -- tests docs examples ./*.md
