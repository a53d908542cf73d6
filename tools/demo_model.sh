#!/usr/bin/env bash
# demo_model.sh: the last part of demo.sh: sweeps a sample of forward problems on this machine, trains a model on them and on the committed
# rows of data/, evaluates it on layers of networks that it never saw, beside the analytic estimate, and lets it choose kernels without measuring.
# LightGBM is found or fetched by lightgbm.sh; where it cannot be had, the training and what follows is left out, and the estimate is evaluated
# alone.
set -eu
cd "$(dirname "$0")/.."
threads=${DEMO_THREADS:-1}
folder=build/demo
committed=data/x86-64-v4-bf16-fp32-wide.jsonl.gz
mkdir -p $folder

# sweep PROBLEMS COUNT STORE: all kernels of set default; a store that is there is resumed.
sweep() {
    build/kwright sweep --quiet --threads "$threads" --op conv_fwd --dtype fp32 --set default --problems "$1" --sample "$2" \
        --max-gflop 0.3 --max-mb 32 --batches 7 --seed 1 --out "$3" | tail -n 3
}

# verdict: what the comparison says in one line and, where the model is worse, why that may be.
verdict() {
    awk '
        /^regret by time/ { estimate = $4; sub(/^[^]]*\] */, ""); model = $1 }
        /^mean of the differences/ { sub(/^.*differences */, ""); differences = $0 }
        /loses most/ { loses = $0 }
        END {
            printf "its selections take %s %% more time than the fastest kernels, the estimate'\''s %s %%: ", model, estimate
            if (model + 0 <= estimate + 0) { print "the model is no worse"; exit }
            print "the model is worse here."
            print "Why: it knows 30 problems of this machine; its other rows are of the processor that data/README.md names. Differences of the scores,"
            print differences ", that reach across 0 are within the noise of 30 layers. " loses "."
            print "tools/data/dataset_wide.sh measures here what the model that is compiled in was trained on."
        }' "$1"
}

echo "== a sample of 30 forward problems of the lists, every kernel of set default on each: $folder/train.db"
sweep forward_2d 30 $folder/train.db
echo
echo "== 30 layers of networks to be evaluated by: $folder/layers.db"
sweep demo 30 $folder/layers.db
echo
if library=$(tools/lightgbm.sh library 2>$folder/lightgbm.log); then
    echo "== a model of the first and of $committed, which must not have seen the second"
    KW_LIGHTGBM=${library%% *} build/kwright train $folder/train.db $committed --op conv_fwd --dtype fp32 --folds 3 --rounds 0 --holdout demo \
        --quiet --out $folder/forward
    echo
    echo "== what its selections are worth on these layers (B), beside the analytic estimate's (A)"
    build/kwright compare estimate $folder/forward --stores $folder/layers.db --quiet | tee $folder/compare.txt
    verdict $folder/compare.txt
    build/kwright evaluate $folder/layers.db --model $folder/forward --quiet --html $folder/selections.html >/dev/null
    echo "charts: $folder/selections.html"
    model=$folder/forward
else
    echo "== no LightGBM, so no model is trained: $(tail -n 1 $folder/lightgbm.log)"
    echo "   what the analytic estimate's selections are worth on these layers instead"
    build/kwright evaluate $folder/layers.db --by estimate --quiet --html $folder/selections.html | head -n 8
    echo "charts: $folder/selections.html"
    model=
fi
echo
echo "== layers with the kernel that is expected to be fastest, nothing measured to choose it (mode predict)"
for layer in 'n1 c64 k64 i56x56 f3 p1' 'n1 c96 k576 i14x14 f1' 'n1 g144 c144 k144 i56x56 f3 p1'; do
    build/kwright run --quiet --threads "$threads" --mode predict --model "$model" --wisdom '' --check "conv_fwd fp32 $layer"
    build/kwright explain --quiet --threads "$threads" --mode predict --model "$model" --wisdom '' "conv_fwd fp32 $layer" | grep ' by '
done
