#!/usr/bin/env bash
# python_memory.sh [BUILD]: the Python extension on good and bad arrays under the tools that see memory: its tests under PYTHONMALLOC=debug, and with the
# extension built by AddressSanitizer and UndefinedBehaviorSanitizer, LeakSanitizer among them. Each has to find a mistake that is made for it
# first. Leaks are also counted by python/tests/test_leaks.py in every run of the tests.
# Needs the wheel and the tools of `make python` in BUILD (build).
set -eu
cd "$(dirname "$0")/../.."
build=$(realpath "${1:-build}")
place=$build/python-memory
python=$build/python-env/bin/python

die() {
    echo "python_memory.sh: $1" >&2
    exit 1
}

wheel=$(echo "$build"/python-wheel/kernelwright-*manylinux*.whl)
[ -f "$wheel" ] && [ -x "$python" ] || die "no wheel in $build/python-wheel; run make python first"
rm -rf "$place"
mkdir -p "$place"
"$python" -m zipfile -e "$wheel" "$place"
chmod +x "$place/kernelwright/kwright"
export PYTHONPATH=$place XDG_CACHE_HOME=$build/python-cache XDG_DATA_HOME=$build/python-cache/data
tests() { "$python" -m pytest -s --rootdir python -c python/pyproject.toml -p no:cacheprovider "$@"; }

# Python's own guards: bytes beyond a block, blocks freed twice, calls without the interpreter's lock.
PYTHONMALLOC=debug "$python" - 2>/dev/null <<'PY' && die "PYTHONMALLOC=debug does not see a byte beyond a block"
import ctypes
malloc, free = ctypes.pythonapi.PyMem_Malloc, ctypes.pythonapi.PyMem_Free
malloc.restype, malloc.argtypes, free.argtypes = ctypes.c_void_p, [ctypes.c_size_t], [ctypes.c_void_p]
block = malloc(8)
ctypes.memset(block + 8, 1, 1)
free(block)
PY
PYTHONMALLOC=debug tests python/tests/test_plan.py python/tests/test_dlpack.py python/tests/test_leaks.py

# The extension with sanitizers; the libraries are as they are, for their own tests run sanitised.
gcc -shared -fPIC -std=gnu11 -g -O1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined -DPy_LIMITED_API=0x030B0000 \
    -I "$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')" -I include -o "$place/kernelwright/_kw.abi3.so" python/ext/*.c \
    "$build/src/libkernelwright.so.0" "-Wl,-rpath,\$ORIGIN"
sanitized() { LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)" PYTHONMALLOC=malloc "$@"; }
export ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1
sanitized "$python" - 2>/dev/null <<'PY' && die "AddressSanitizer does not see memory that was freed"
import ctypes
libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
block = libc.malloc(64)
libc.free(block)
libc.memset(ctypes.c_void_p(block), 1, 64)
PY
sanitized tests python/tests/test_plan.py python/tests/test_dlpack.py python/tests/test_leaks.py

# What nothing points to any more while Python still runs: at its end it leaves much behind itself. tracemalloc, which test_leaks.py uses, keeps
# addresses where no word lies. Compilers and workers that tests start are not looked at.
echo leak:traceback_new >"$place/known"
lost() {
    ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=0 LSAN_OPTIONS=suppressions=$place/known:print_suppressions=0 sanitized "$python" - "$@" <<'PY'
import ctypes, gc, os, sys

del os.environ["LD_PRELOAD"]
code = 0
if sys.argv[1:] == ["plant"]:
    import kernelwright as kw
    from kernelwright._native import ffi, lib

    text, config = ffi.new("char **"), str(kw.configs(set="tiny")[0]).encode()
    assert not lib.kw_config_source(text, config, b"", ffi.new("kw_error *"))
    text[0] = ffi.NULL
else:
    import pytest

    code = pytest.main(["-s", "--rootdir", "python", "-c", "python/pyproject.toml", "-p", "no:cacheprovider", *sys.argv[1:]])
gc.collect()
if ctypes.CDLL(None).__lsan_do_recoverable_leak_check():
    code = code or 23
sys.stdout.flush()
os._exit(code)
PY
}
lost plant 2>"$place/planted" && die "LeakSanitizer does not see a text that is never freed"
grep -q 'in kw_config_source' "$place/planted" || die "LeakSanitizer sees no text that is never freed: $(head -n 5 "$place/planted")"
# One test loses an object for its own check.
lost python/tests/test_plan.py python/tests/test_dlpack.py python/tests/test_leaks.py -k "not what_is_left_behind_is_found"
echo "no memory is touched that is not an array's own, and none is lost"
