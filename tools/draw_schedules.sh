#!/bin/sh
# Draws every pipeline schedule into docs/images/schedules/, four devices each, for docs/schedules.md.
#
#   tools/draw_schedules.sh COMMAND [FOLDER]
set -eu
cd "$(dirname "$0")/.."
command=$1
folder=${2:-docs/images/schedules}
mkdir -p "$folder"
for name in $("$command" schedule list --json | sed -n 's/.*"schedule": "\(.*\)".*/\1/p'); do
  case $name in
    zeropp) shape='--microbatches 14 --chunks 2' ;;
    dualpipev) shape='--microbatches 10' ;;
    pipeoffload_*) shape='--microbatches 8 --chunks 2 --times f=1,b=1,w=1,offload=0.8,reload=0.8' ;;
    vocab_* | v_half_vocab_*) shape='--microbatches 8 --times f=1,b=1,w=1,s=0.3,t=0.3,i=0.1,g=0.1' ;;
    *) shape='--microbatches 8' ;;
  esac
  # shellcheck disable=SC2086  # words on purpose
  "$command" schedule "$name" --stages 4 $shape --svg "$folder/$name.svg" >/dev/null
done
