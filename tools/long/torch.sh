#!/usr/bin/env bash
# torch.sh [BUILD] [pytest options]: kernelwright.torch, tested with a PyTorch of its own in BUILD/torch-env (BUILD: build). The version is pinned in
# python/requirements-torch.txt; the wheel is 531 MB and comes from PyPI once, without CUDA, whose libraries torch_stubs.py stands in for.
# KW_TORCH=fetch makes the environment and no more, KW_TORCH=env has the package in it too; KW_TORCH=FILE.py runs a program there.
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")
env=$build/torch-env
python=${PYTHON:-python3}

die() {
    echo "torch.sh: $1" >&2
    exit 1
}

stamp=$("$python" --version; cat python/requirements-torch.txt tools/long/torch_stubs.py)
if [ "$(cat "$env/stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$env"
    "$python" -m venv "$env"
    "$env/bin/pip" install --quiet --no-compile --disable-pip-version-check --no-deps -r python/requirements-torch.txt
    "$python" tools/long/torch_stubs.py "$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')"
    "$env/bin/python" -W ignore -c 'import torch' || die "PyTorch does not load; the line above names the symbol, which tools/long/torch_stubs.py has to make"
    echo "$stamp" >"$env/stamp"
fi
[ "${KW_TORCH:-test}" != fetch ] || exit 0

# The package as a wheel, whose libraries find each other.
rm -rf "$env/wheel"
PATH=$env/bin:$PATH "$env/bin/pip" wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w "$env/wheel" ./python \
    -C "cmake.define.KW_BUILT=$build" -C "build-dir=$env/build"
"$env/bin/pip" install --quiet --disable-pip-version-check --no-deps --force-reinstall "$env"/wheel/*.whl
case "${KW_TORCH:-test}" in
env) exit 0 ;;
test) ;;
*) exec "$env/bin/python" "$KW_TORCH" ;;
esac
export XDG_CACHE_HOME="$env/cache" XDG_DATA_HOME="$env/cache/data" TORCHINDUCTOR_CACHE_DIR="$env/inductor"
# PyTorch warns of itself, so warnings are no errors here.
"$env/bin/python" -m pytest -o filterwarnings=default --rootdir python -c python/pyproject.toml -p no:cacheprovider python/tests_torch \
    "python/tests/test_notebooks.py::test_notebook[pytorch-faster]" "${@:2}"
