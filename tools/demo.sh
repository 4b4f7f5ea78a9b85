#!/bin/sh
# A first question; then the main job: the best plan for Llama 3.1 405B on 16,384 H100s, with its
# report and its pipeline drawn, and beside it the plan of the published run (Llama 3 paper, arXiv
# 2407.21783, Table 4).
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/build/release/bin:$PATH"
out=build/demo
mkdir -p "$out"

run() {
  echo
  echo "\$ $*"
  "$@"
}

echo "How long does a step of Llama 3.1 8B take on 64 H100s, and where does the time go?"
run orrery estimate llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128 --plan tp=2
echo
echo "Which of all plans for Llama 3.1 405B on 16,384 H100s is best, and why?"
run orrery search llama-3.1-405b --on h100-sxm:16384 --seq 8192 --global-batch 2048 \
  --html "$out/report.html" --timeline "$out/timeline.json"

# Of the published GPUs a number, on the cluster of the paper: optimizer states and gradients are sharded.
achieved() {
  orrery --json estimate llama-3.1-405b --on "meta-h100-24k-roce:$1" --seq 8192 --global-batch 2048 \
    --plan tp=8,pp=16,chunks=8,zero=2 |
    sed -n 's/^ *"tflops_per_gpu": \([0-9.]*\).*/\1/p' | head -n 1
}
echo
echo "The published run of this model used tp 8, pp 16, dp 128 on 16,384 GPUs over RoCE and reached"
echo "400 TFLOP/s per GPU. The same plan on the same cluster, estimated:"
run orrery estimate llama-3.1-405b --on meta-h100-24k-roce:16384 --seq 8192 --global-batch 2048 \
  --plan tp=8,pp=16,chunks=8,zero=2
echo
awk -v more="$(achieved 16384)" -v less="$(achieved 8192)" 'BEGIN {
  print "TFLOP/s per GPU, predicted and published (arXiv 2407.21783, table 4):"
  printf "  16,384 GPUs: %.0f, published 400, %+.1f %%\n", more, 100 * (more / 400 - 1)
  printf "   8,192 GPUs: %.0f, published 430, %+.1f %%\n", less, 100 * (less / 430 - 1)
  print "Nothing was fitted to them. All three runs of the table, with memory: docs/calibrate.md;"
  print "how far off predictions are: docs/validation.md."
}'

echo
echo "Report:   $PWD/$out/report.html"
echo "Timeline: $PWD/$out/timeline.json (open it at https://ui.perfetto.dev)"
echo
echo "Ask for your own model and cluster next (the command is $PWD/build/release/bin/orrery):"
echo "  orrery catalog models                          what is known; also: accelerators, clusters, ..."
echo "  orrery search MODEL --on ACCELERATOR:COUNT     the best plan; MODEL may be a config.json"
echo "  orrery estimate MODEL --on ACCELERATOR:COUNT --plan ...   one plan; --explain, --html FILE"
echo "docs/tutorial.md goes on from here in ten minutes."
