"""played.py: judges mutants of GPU kernel texts in the emulator. A mutant changes few kernels, so those alone are played: of the kernels whose
text has the mutant's line, those that the C compiler makes other code of. They are those of test_check_gpu, and of what tools/stage/gpu_check.sh
plays in CI, each on the problems that it has there; the cheapest first, and each chunk with kernels of all kinds."""
import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import time

from coverage import checks
from tree import Sandbox, run

ARCHS = ("sm_90", "gfx942")
CODE = ["-O1", "-S", "-w", "-x", "c", "-ftrivial-auto-var-init=pattern", "-fms-extensions", "-fno-asynchronous-unwind-tables"]
FIRST, CHUNK = 2, 6  # kernels that are played at once: most mutants are found by the first


class Kernel:
    """One of test_check_gpu (pairs None), or of gpu_check.sh, with its problems."""

    def __init__(self, name, flops, pairs=None):
        self.name, self.flops, self.pairs, self.lines, self.code = name, flops, pairs, {}, None

    def kind(self):
        words = dict(word.split("=", 1) for word in self.name.split() if "=" in word)
        own = ("pipe", "epi", "spec", "streamk", "layout", "vec_a")
        return (*self.name.split()[:3], "epilogue" in words, *(words.get(axis) for axis in own))


def numbers(word):
    first, _, last = word.partition("-")
    return range(int(first), int(last or first) + 1)


def pairs_of(manifest, arch):
    """The kernels of a manifest that gpu_pairs wrote."""
    lines = [line.partition(" ") for line in manifest.split("\n")]
    configs, problems = ([rest for word, _, rest in lines if word == asked] for asked in ("config", "problem"))
    found = collections.defaultdict(list)
    for rest in [rest for word, _, rest in lines if word == "pair"]:
        first, second = rest.split()
        problem = problems[int(second) - 1]
        for config in numbers(first):
            if configs[config - 1].split()[1:3] == problem.split()[:2]:  # a range has others as well
                found[config] += [problem]
    return [Kernel(f"{arch} {configs[config - 1]}", 0, listed) for config, listed in found.items()]


def in_turn(kernels):
    """The kernels, in rounds that have one of each kind, the cheapest of it first."""
    kinds = collections.defaultdict(list)
    for kernel in sorted(kernels, key=lambda kernel: kernel.flops):
        kinds[kernel.kind()].append(kernel)
    order = sorted(((turn, kernel.flops, kernel.name), kernel) for listed in kinds.values() for turn, kernel in enumerate(listed))
    return [kernel for _, kernel in order]


class PlayedJudge:
    def __init__(self, tree, folder, cache, most, seconds):
        self.tree, self.folder, self.cache, self.most, self.seconds = tree, folder / "played", cache, most, seconds
        self.folder.mkdir(exist_ok=True)
        self.box = Sandbox(folder, [cache])
        self.test = next(test for test in tree.tests() if test.name == "test_check_gpu")
        self.test.environment.pop("KW_CHECK_ARCH", None)
        self.kernels = self._listed() + self._paired()
        self._index()
        failed = self._failure(in_turn([kernel for kernel in self.kernels if kernel.pairs is None])[:FIRST] +
                               in_turn([kernel for kernel in self.kernels if kernel.pairs])[:FIRST], {})
        if failed:
            sys.exit(f"{failed} fails on the unchanged kernels")

    def _program(self, name):
        return self.tree.build / "tests/check" / name

    def _listed(self):
        said = run(*self.test.command, env={**os.environ, "KW_CHECK_LIST": "1"})
        found = collections.Counter()
        for arch, flops, config in re.findall(r"^kernel (\S+) (\d+) (.*)$", said, re.M):
            found[f"{arch} {config}"] += float(flops)
        return [Kernel(name, flops) for name, flops in found.items()]

    def _paired(self):
        found = []
        for arch in ARCHS:
            asked = subprocess.run([self._program("gpu/gpu_pairs"), arch, "tiny"], env={**os.environ, "KW_PAIRS_EACH": "2"}, capture_output=True, text=True, check=True)
            found += pairs_of(asked.stdout, arch)
        return found

    def _texts(self, kernels, environment):
        """What the compiler is given for them; KW_KERNELS in the environment says which texts."""
        folder = self.folder / "texts"
        subprocess.run(["rm", "-rf", folder], check=True)
        folder.mkdir()
        names = "".join(kernel.name + "\n" for kernel in kernels)
        subprocess.run([self._program("kernel_texts"), folder], input=names, env=environment, text=True, check=True)
        return [folder / f"{number}.c" for number in range(len(kernels))]

    def _index(self):
        """kernel.lines: of each file the lines that the compiler sees, as the bits of a number. Kept for texts that stay the same."""
        kept = self.folder / "lines.json"
        data = json.loads(kept.read_text()) if kept.exists() else {}
        fresh = {}
        for begin in range(0, len(self.kernels), 100):
            part = self.kernels[begin:begin + 100]
            for kernel, path in zip(part, self._texts(part, os.environ)):
                text = path.read_bytes()
                digest = hashlib.sha256(text).hexdigest()
                fresh[digest] = data.get(digest) or self._seen(path)
                kernel.lines = {name: int(bits, 16) for name, bits in fresh[digest].items()}
        kept.write_text(json.dumps(fresh))

    @staticmethod
    def _seen(path):
        seen, name, number = collections.defaultdict(int), "", 0
        for line in run("cc", "-E", path).split("\n"):
            mark = re.match(r'# (\d+) "([^"]*)"', line)
            if mark:
                number, name = int(mark.group(1)), mark.group(2)
            else:
                seen[name] |= bool(line.strip()) << number
                number += 1
        return {name: hex(bits) for name, bits in seen.items() if bits}

    @staticmethod
    def _code(path):
        """A digest of the code that is made of a text; None when it does not compile."""
        made = subprocess.run(["cc", *CODE, "-o", "/dev/stdout", path], capture_output=True)
        return hashlib.sha256(made.stdout).hexdigest() if made.returncode == 0 else None

    def _changed(self, kernels, environment):
        """Those of the kernels whose code is another with the mutant, and how many do not compile."""
        missing = [kernel for kernel in kernels if not kernel.code]
        for kernel, path in zip(missing, self._texts(missing, os.environ)):
            kernel.code = self._code(path)
        codes = [self._code(path) for path in self._texts(kernels, environment)]
        return [kernel for kernel, code in zip(kernels, codes) if code and code != kernel.code], codes.count(None)

    def _failure(self, kernels, environment):
        """What of these is found wrong."""
        flops, tested = sum(kernel.flops for kernel in kernels), [kernel for kernel in kernels if kernel.pairs is None]
        if tested:
            chosen = self.cache / "chosen.txt"
            chosen.write_text("".join(kernel.name + "\n" for kernel in tested))
            more = {**checks(self.cache, "1"), **environment, "KW_CHECK_KERNELS": str(chosen)}
            failed = self.box.first_failure([self.test], 1, lambda _: 120 + flops / 1e7, lambda _: more)
            if failed:
                return failed
        for kernel in kernels:
            arch, _, config = kernel.name.partition(" ")
            for problem in kernel.pairs or []:
                words = [self.tree.build / "kwright", "check", "--device", "emu:" + arch, "--cache-dir", "", "--quiet", "--config", config, problem]
                try:
                    good = subprocess.run(self.box.words + [str(word) for word in words], env={**os.environ, **environment},
                                          capture_output=True, timeout=120).returncode == 0
                except subprocess.TimeoutExpired:
                    return "gpu_check (time)"
                if not good:
                    return f"gpu_check: {arch} {problem}"
        return None

    def verdict(self, name, number):
        """On the mutant that stands in the tree at this line of the file (named as in the repository)."""
        start, environment = time.monotonic(), {"KW_KERNELS": str(self.tree.root / "kernels")}
        name = str(name).removeprefix("kernels/")
        having = [kernel for kernel in self.kernels if kernel.lines.get(name, 0) >> number & 1]
        waiting = in_turn([kernel for kernel in having if kernel.pairs is None]) + in_turn([kernel for kernel in having if kernel.pairs])
        if not waiting:
            return "not played"
        played, ready, asked, chunk = 0, [], 0, FIRST
        while (waiting or ready) and played < self.most and time.monotonic() - start < self.seconds:
            while waiting and len(ready) < chunk:
                part, waiting = waiting[:chunk], waiting[chunk:]
                changed, refused = self._changed(part, {**os.environ, **environment})
                if refused == len(part):
                    return "does not compile"
                ready, asked = ready + changed, asked + len(part)
            now, ready, chunk = ready[:chunk], ready[chunk:], CHUNK
            failed = self._failure(now, environment) if now else None
            played += len(now)
            if failed:
                return f"killed by {failed} ({played} of {len(having)} kernels)"
        if not played:
            return "the same code" if not waiting else f"survived (no other code in the first {asked} of {len(having)} kernels)"
        return f"survived {played} of {len(having)} kernels"
