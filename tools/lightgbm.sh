#!/usr/bin/env bash
# lightgbm.sh: prints the path of lib_lightgbm.so and of the Python that has LightGBM. Takes KW_LIGHTGBM and KW_PYTHON where they are set;
# otherwise installs LightGBM and NumPy from PyPI into build/lightgbm, once. "lightgbm.sh library": without NumPy and SciPy, which only Python
# needs; training does not.
set -eu
cd "$(dirname "$0")/.."
folder=$PWD/build/lightgbm
if [ -z "${KW_LIGHTGBM:-}" ]; then
    if [ "${1:-}" = library ]; then
        if [ -z "$(find "$folder" -name lib_lightgbm.so 2>/dev/null)" ]; then
            python3 -m venv "$folder" >&2
            "$folder/bin/pip" install -q --disable-pip-version-check --no-deps --retries 1 'lightgbm>=4,<5' >&2
        fi
    elif ! [ -x "$folder/bin/python" ] || ! "$folder/bin/python" -c 'import lightgbm, numpy' 2>/dev/null; then
        python3 -m venv "$folder" >&2
        "$folder/bin/pip" install -q --disable-pip-version-check 'lightgbm>=4,<5' numpy >&2
    fi
    KW_PYTHON=${KW_PYTHON:-$folder/bin/python}
    KW_LIGHTGBM=$(find "$folder" -name lib_lightgbm.so | head -n 1)
fi
[ -f "$KW_LIGHTGBM" ] || { echo "lightgbm.sh: no lib_lightgbm.so; set KW_LIGHTGBM" >&2; exit 3; }
echo "$KW_LIGHTGBM" "${KW_PYTHON:-python3}"
