#!/usr/bin/env bash
# demo_model.sh: the last part of demo.sh: sweeps a sample of forward problems, trains a model on them, judges it on layers of networks that it
# never saw, beside the analytic estimate, and lets it choose kernels without measuring. About three minutes. LightGBM is found or fetched by
# lightgbm.sh; where it cannot be had, the training and what follows is left out, and the estimate is judged alone.
set -eu
cd "$(dirname "$0")/.."
threads=${DEMO_THREADS:-1}
folder=build/demo
mkdir -p $folder
sweep() { # PROBLEMS COUNT STORE
    build/kwright sweep --quiet --threads "$threads" --op conv_fwd --dtype fp32 --set default --problems "$1" --sample "$2" \
        --max-gflop 0.3 --max-mb 32 --batches 7 --seed 1 --out "$3" | tail -n 3
}
echo "== a sample of 80 forward problems of the lists, every kernel of set default on each: $folder/train.db"
sweep forward_2d 80 $folder/train.db
echo
echo "== 40 layers of networks to be judged by: $folder/layers.db"
sweep demo 40 $folder/layers.db
echo
if library=$(tools/lightgbm.sh library 2>$folder/lightgbm.log); then
    echo "== a model of the first, which must not have seen the second"
    KW_LIGHTGBM=${library%% *} build/kwright train $folder/train.db --holdout demo --quiet --out $folder/forward
    echo
    echo "== what its picks are worth on these layers (B), beside the analytic estimate's (A)"
    build/kwright compare estimate $folder/forward --stores $folder/layers.db --quiet
    build/kwright evaluate $folder/layers.db --model $folder/forward --quiet --html $folder/picks.html >/dev/null
    echo "charts: $folder/picks.html"
    model=$folder/forward
else
    echo "== no LightGBM, so no model is trained: $(tail -n 1 $folder/lightgbm.log)"
    echo "   what the analytic estimate's picks are worth on these layers instead"
    build/kwright evaluate $folder/layers.db --selector estimate --quiet --html $folder/picks.html | head -n 8
    echo "charts: $folder/picks.html"
    model=
fi
echo
echo "== layers with the kernel that is expected to be fastest, nothing measured to choose it (mode predict)"
for layer in 'n1 c64 k64 i56x56 f3 p1' 'n1 c96 k576 i14x14 f1' 'n1 g144 c144 k144 i56x56 f3 p1'; do
    build/kwright run --quiet --threads "$threads" --mode predict --model "$model" --wisdom '' --check "conv_fwd fp32 $layer"
    build/kwright explain --quiet --threads "$threads" --mode predict --model "$model" --wisdom '' "conv_fwd fp32 $layer" | grep ' by '
done
