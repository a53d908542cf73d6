#!/usr/bin/env bash
# check_numbers.sh: kernels on random legal problems against NumPy in doubles: `make check-numbers`. With a library and options it is the
# CI's short piece, whose exit code 77 says that there is no Python with NumPy.
#
#   KW_NUMBERS_SEED     what is drawn (the day)
#   KW_NUMBERS_RUNS     runs (20000), and a third as many with NaNs and infinities among the values
#   KW_NUMBERS_DEVICE   device (cpu)
set -eu
cd "$(dirname "$0")/../.."
. tools/common.sh
python=""
for candidate in ${KW_PYTHON:-} python3 /usr/bin/python3 build/lightgbm/bin/python; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
[ -n "$python" ] || { echo "skipped: no Python with NumPy (Debian: python3-numpy)"; exit 77; }
if [ $# -gt 0 ]; then
    exec "$python" -B tools/long/check_numbers.py "$@"
fi
seed=${KW_NUMBERS_SEED:-$(date +%Y%m%d)}
runs=${KW_NUMBERS_RUNS:-20000}
build release kernelwright_shared >/dev/null
set -- build/src/libkernelwright.so --device "${KW_NUMBERS_DEVICE:-cpu}" --seed "$seed" --jobs "${JOBS:-2}" --cache build-kernels
"$python" -B tools/long/check_numbers.py "$@" --runs "$runs"
"$python" -B tools/long/check_numbers.py "$@" --runs "$((runs / 3))" --special
