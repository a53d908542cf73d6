#!/usr/bin/env bash
# demo.sh: tunes real network layers (problems/demo.txt) with rule set default, prints the table, then runs every layer once through the
# public C API; then learns from a small sweep and lets the model choose (demo_model.sh). The second run answers from wisdom and cache, and
# measures nothing again.
#
#   DEMO_LAYERS    one of how many layers of each network is taken (5), or all
#   DEMO_THREADS   threads of a kernel (1)
set -eu
cd "$(dirname "$0")/.."
threads=${DEMO_THREADS:-1}
every=${DEMO_LAYERS:-5}
[ "$every" != all ] || every=1
[[ $every =~ ^[1-9][0-9]*$ ]] || { echo "demo.sh: DEMO_LAYERS=$every is neither a number nor all" >&2; exit 2; }
folder=build/demo
mkdir -p $folder
start=$(date +%s)

# layers DIR DTYPE: the problems of every Nth layer of each network.
layers() {
    build/kwright problems --problems demo --dir "$1" --dtype "$2" | awk -v every="$every" '
        /^#/ { next }
        { network = $1; sub(/[.].*/, "", network) }
        !($1 in place) { place[$1] = count[network]++ }
        place[$1] % every == 0'
}

build/kwright doctor
echo
# What is tuned: layers forward in fp32 and bf16, convolutions backward in fp32.
: >$folder/problems.txt
for pass in "all fp32" "conv_fwd bf16"; do
    read -r dir dtype <<<"$pass"
    layers "$dir" "$dtype" >$folder/pass.txt
    cat $folder/pass.txt >>$folder/problems.txt
    which="every layer"
    [ "$every" = 1 ] || which="1 of $every layers of each network (DEMO_LAYERS=all takes all)"
    echo "== problems/demo.txt, $which, $dir, $dtype, $threads thread(s)"
    build/kwright tune --threads "$threads" --problems $folder/pass.txt
    echo
done
echo "== all of it once through the C API (examples/network.c)"
KW_THREADS=$threads build/examples/network $folder/problems.txt frozen
echo
build/kwright wisdom --threads "$threads" --limit 0
build/kwright doctor | grep -E '^(cache|wisdom)'
echo
tools/demo_model.sh
echo
echo "demo: $(($(date +%s) - start)) s; run \`make demo\` again to see it answer from wisdom"
