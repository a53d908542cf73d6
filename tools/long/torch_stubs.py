#!/usr/bin/env python3
"""torch_stubs.py SITE: libraries in place of those of CUDA, so that PyTorch's wheel runs on a machine without a GPU.

PyPI has no PyTorch for the CPU alone, and what its wheel asks for beside itself is 2.2 GB. Its libraries name CUDA's, whose functions are bound when
they are first called. So each library that is named and not there is made here, in PyTorch's own folder, where it is looked for: every symbol that is
wanted of it becomes a function that returns 100, which is CUDA's "no device". SITE is the folder of site-packages.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

LIBRARY = re.compile(r"lib(cu|nccl|nv)")
SYMBOL = re.compile(r"(cu|nccl|nvshmem|nvtx|nvrtc|nvJitLink)")


def readelf(option: str, file: pathlib.Path) -> str:
    return subprocess.run(["readelf", "-W", option, str(file)], check=True, capture_output=True, text=True).stdout


def main() -> int:
    folder = pathlib.Path(sys.argv[1], "torch", "lib")
    files = [f for f in folder.glob("*.so*") if not f.is_symlink()]
    there = {f.name for f in files}
    wanted: dict[str, dict[str, set[str]]] = {}  # library, version ("" for none), symbols
    defined: set[str] = set()
    loose: set[str] = set()
    for file in files:
        for name in re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d", file)):
            if LIBRARY.match(name) and name not in there:
                wanted.setdefault(name, {})
        home = {}  # of a version, by its name
        for part in readelf("-V", file).split("File: ")[1:]:
            library = part.split(" ", 1)[0]
            home.update({version: library for version in re.findall(r"Name: (\S+)", part)})
        for line in readelf("--dyn-syms", file).splitlines():
            words = line.split()
            if len(words) < 8 or not words[0].endswith(":"):
                continue
            name, _, version = words[7].partition("@")
            if words[6] != "UND":
                defined.add(name)
            elif version:
                wanted.get(home.get(version, ""), {}).setdefault(version, set()).add(name)
            elif SYMBOL.match(name):
                loose.add(name)
    loose -= defined
    if not wanted:
        print("torch_stubs.py: nothing is missing")
        return 0
    # Which library symbols without a version belong to is not written down, so each has them all.
    for versions in wanted.values():
        versions.setdefault("", set()).update(loose)
    with tempfile.TemporaryDirectory() as work:
        for library, versions in wanted.items():
            source, script = pathlib.Path(work, "stub.c"), pathlib.Path(work, "stub.map")
            names = sorted({n for symbols in versions.values() for n in symbols})
            source.write_text("".join(f"int {n}(void) {{ return 100; }}\n" for n in names) or "int kw_no_symbol;\n")
            script.write_text("".join(f"{v} {{ {' '.join(f'{n};' for n in sorted(symbols))} }};\n" for v, symbols in versions.items() if v))
            command = ["cc", "-shared", "-fPIC", "-w", "-fno-builtin", f"-Wl,-soname,{library}", "-o", str(folder / library), str(source)]
            if script.stat().st_size:
                command.append(f"-Wl,--version-script={script}")
            made = subprocess.run(command, capture_output=True, text=True)
            if made.returncode:
                print(f"torch_stubs.py: {library}: {made.stderr.strip().splitlines()[-1]}", file=sys.stderr)
                return 1
    print(f"torch_stubs.py: {len(wanted)} libraries, {sum(len(s) for v in wanted.values() for s in v.values())} functions")
    return 0


sys.exit(main())
