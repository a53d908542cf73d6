#!/usr/bin/env bash
# python.sh [BUILD]: the Python package as its users get it, from the libraries of a build tree (build): a wheel, made fit for other Linux hosts by
# auditwheel, installed into a fresh environment where nothing is but what it asks for, and tested there. What builds and tests it comes from PyPI
# once, into BUILD/python-env. KW_PYTHON=wheel makes the wheel and tests nothing.
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
env=$build/python-env
fresh=$build/python-fresh
wheels=$build/python-wheel
python=${PYTHON:-python3}

die() {
    echo "python.sh: $1" >&2
    exit 1
}

# The tools, made anew when the list or the Python changes.
stamp=$("$python" --version; cat python/requirements.txt)
if [ "$(cat "$env/stamp" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$env"
    "$python" -m venv "$env"
    "$env/bin/pip" install --quiet --no-compile --disable-pip-version-check -r python/requirements.txt
    echo "$stamp" >"$env/stamp"
fi
export PATH="$env/bin:$PATH"

rm -rf "$wheels" "$fresh"
pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation -w "$wheels/raw" ./python -C "cmake.define.KW_BUILT=$build" -C "build-dir=$build/python"
auditwheel repair --wheel-dir "$wheels" "$wheels"/raw/*.whl >"$wheels/auditwheel" 2>&1 || die "auditwheel: $(tail -n 3 "$wheels/auditwheel")"
wheel=$(echo "$wheels"/kernelwright-*-cp311-abi3-manylinux*.whl)
[ -f "$wheel" ] || die "no wheel of the stable ABI for manylinux in $wheels"

# One copy of the library, or a process would have two states; and no more than 4 MB besides the program.
python - "$wheel" <<'EOF' || die "the wheel is not as it should be"
import sys, zipfile
entries = zipfile.ZipFile(sys.argv[1]).infolist()
copies = [e.filename for e in entries if "libkernelwright" in e.filename and "tune" not in e.filename]
size = sum(e.compress_size for e in entries if not e.filename.endswith("/kwright"))
assert len(copies) == 1, copies
assert size <= 4e6, size
print(f"{sys.argv[1].rsplit('/')[-1]}: {size / 1e6:.2f} MB and kwright {sum(e.compress_size for e in entries) / 1e6 - size / 1e6:.2f} MB")
EOF

[ "${KW_PYTHON:-test}" = test ] || exit 0

# What trains models; without it that test says that it is skipped.
KW_LIGHTGBM=$(timeout 180 tools/lightgbm.sh library 2>/dev/null | cut -d ' ' -f 1) || true
export KW_LIGHTGBM

# A fresh environment with what the wheel itself asks for.
"$python" -m venv --without-pip "$fresh"
pip --quiet --disable-pip-version-check --python "$fresh/bin/python" install "$wheel"
cd python/tests
export XDG_CACHE_HOME="$build/python-cache" XDG_DATA_HOME="$build/python-cache/data"
"$fresh/bin/python" -W error fresh.py
"$fresh/bin/kwright" --version >/dev/null

# What the tests themselves need lies beside it.
"$python" -c 'import sys; print(sys.argv[1])' "$("$env/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')" \
    >"$("$fresh/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')/tests.pth"
"$fresh/bin/python" -m pytest --rootdir .. -c ../pyproject.toml -p no:cacheprovider . "${@:2}"
