#!/usr/bin/env bash
# test_forest.sh: `make test-forest`: trains models of every kind with LightGBM and demands that it and Kernelwright score a million random
# rows alike to the last bit. Needs PyPI, or KW_LIGHTGBM and KW_PYTHON; so it is no part of `make test`, whose models are kept as files.
set -eu
cd "$(dirname "$0")/../.."
read -r library python <<<"$(tools/lightgbm.sh)"
models=build/forest-live
. tools/common.sh
build release forest_live >/dev/null
[ -f $models/large.lgbm ] || "$python" tools/long/make_forest_data.py live $models
set -- $models/*.lgbm
OMP_NUM_THREADS=1 build/tests/live/forest_live "$library" $((1000000 / $# + 1)) "$@"
echo "equal to the last bit"
