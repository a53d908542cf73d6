#!/usr/bin/env bash
# device_python.sh WHEELS [STEP...]: the Python package on a machine with a GPU and PyTorch, as its users have it: the wheels in the folder WHEELS
# (kernelwright's, and cffi's where it is not there) are installed beside what Python has, and each step prints a table. Everything goes into the
# folder OUT (device_python.out where it is not set).
#
#   steps      check (python/tests_device/check.py), inference, training (python/examples/torch_models.py, five models before and after)
#   LIMITS     seconds of each of these steps (60 120 150)
#   CHECKS     names of checks (all)
#   MODELS     names of models (all), MODEL_OPTIONS their options (--dtype bf16 --batch 32 --threads 8 --plans shortlist)
set -u
cd "$(dirname "$0")/../.." || exit 3
wheels=$(realpath "$1")
shift
out=${OUT:-device_python.out}
read -r check_s inference_s training_s <<<"${LIMITS:-60 120 150}"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! python3 -m pip install --quiet --no-index --no-deps --target "$work/site" "$wheels"/*.whl; then # no pip: a wheel is an archive
    for wheel in "$wheels"/*.whl; do python3 -m zipfile -e "$wheel" "$work/site"; done
    chmod +x "$work/site/kernelwright/kwright"
fi
export PYTHONPATH=$work/site KW_CACHE_DIR=$work/cache KW_DATA_DIR=$work/data
export TORCHINDUCTOR_CACHE_DIR=$work/inductor

models() {
    # shellcheck disable=SC2086 # words
    timeout "$2" python3 python/examples/torch_models.py --device cuda --mode "$1" ${MODEL_OPTIONS:---dtype bf16 --batch 32 --threads 8} ${MODELS:-}
}

for step in "${@:-check}"; do
    echo "== $step ($SECONDS s)"
    # shellcheck disable=SC2086 # words
    case $step in
    check) timeout "$check_s" python3 python/tests_device/check.py ${CHECKS:-} ;;
    inference) models inference "$inference_s" ;;
    training) models training "$training_s" ;;
    *) echo "device_python.sh: $step is none of check, inference, training" && exit 2 ;;
    esac >"$out/$step.md" 2>"$out/$step.err"
    echo "exit code $? ($SECONDS s)"
    grep '^|' "$out/$step.md"
done
