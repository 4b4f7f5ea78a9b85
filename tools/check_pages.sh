#!/bin/sh
# Opens every kind of HTML report in a headless browser, at the widths of a desk and of a phone:
# no script may fail, no request leave the page, nothing stick out, overlap or say NaN. The only
# fonts are DejaVu's, which are wide: what fits in them fits elsewhere, and every machine measures
# the same.
#
#   tools/check_pages.sh ORRERY DIRECTORY
#
# The reports are written to DIRECTORY.
set -eu
orrery=$(CDPATH= cd -- "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
pages=$(CDPATH= cd -- "$2" && pwd)
cd "$(dirname "$0")/.."
traces=validation/traces

write() { # NAME ARGUMENT...
  page=$1
  shift
  "$orrery" "$@" -q --html "$pages/$page.html" >/dev/null
}
write estimate estimate llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128 --plan tp=2,pp=4
write estimate-one-gpu estimate examples/tiny-llama/config.json --on h100-sxm:1 --seq 512 \
  --global-batch 1
write search search llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128
write forecast forecast examples/llama-3.1-405b-run.yaml
write forecast-without-failures forecast llama-3-8b --on h100-sxm:8 --seq 8192 --global-batch 128 \
  --steps 1000
write forecast-step forecast llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128 \
  --plan tp=2,pp=4 --exceeds 3.6s
write forecast-log forecast --log validation/faults/infinitehbd-faults-days-0-175.json --log-nodes 400
write compare compare llama-3.1-8b --on h100-sxm:64,b200-sxm:64 --global-batch 128,256
write numerics-attention numerics attention --length 256 --sweep tile=16,32,64,128,256
write numerics-train numerics train --steps 16 --seeds 2 --learning-rate 1e-4
write analysis trace analyze "$traces/astra-sim/megatron-tp8"
write analysis-one-rank trace analyze \
  "$traces/TraceLens/h100/google_owlv2-large-patch14-ensemble__1016001.json.gz"
write whatif trace whatif "$traces/megatron-lm-fork/tp2" --no-stragglers --edit "bandwidth by 2"
write difference trace diff "$traces/HolisticTraceAnalysis/trace_compare/base" \
  --against "$traces/HolisticTraceAnalysis/trace_compare/test"

profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
mkdir "$profile/fonts"
ln -s /usr/share/fonts/truetype/dejavu/DejaVuSans.ttf /usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf \
  /usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf "$profile/fonts"
cat >"$profile/fonts.conf" <<EOF
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>$profile/fonts</dir><cachedir>$profile/fonts</cachedir></fontconfig>
EOF
export FONTCONFIG_FILE="$profile/fonts.conf"
faults=0
for page in "$pages"/*.html; do
  case $page in *.probed.html) continue ;; esac
  probed=${page%.html}.probed.html
  awk '
    FNR == NR { probe = probe $0 "\n"; next }
    !done && (at = index($0, "<head>")) {
      printf "%s<script>%s</script>%s\n", substr($0, 1, at + 5), probe, substr($0, at + 6)
      done = 1
      next
    }
    { print }' tools/page_probe.js "$page" >"$probed"
  for width in 1400 500; do
    problems=$(chromium --headless --no-sandbox --disable-gpu --no-first-run \
      --disable-background-networking --disable-component-update --disable-sync \
      --user-data-dir="$profile" --window-size="$width",1000 \
      --virtual-time-budget=5000 --dump-dom "file://$probed" 2>/dev/null |
      tr '\n' '\r' | sed -n 's/^[^>]*>\r<html[^>]*data-problems="\([^"]*\)".*/\1/p' | tr '\r' '\n')
    if [ "$problems" = inspected ]; then
      echo "check_pages: $(basename "$page") at $width px: good"
    else
      echo "check_pages: $(basename "$page") at $width px:" >&2
      echo "${problems:-the browser did not inspect it}" | sed '/^inspected$/d; s/^/  /' >&2
      faults=1
    fi
  done
  rm "$probed"
done
exit "$faults"
