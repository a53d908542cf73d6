"""near.py: judges mutants of C sources where there is no hour for coverage."""
import json
import pathlib
import subprocess
import time

from coverage import checks
from tree import Sandbox

TESTS, LIMIT = 6, 25  # tests of a mutant; seconds of one


class NearJudge:
    """Of C sources without coverage and sanitisers, for a machine that has no hour for those: by the tests nearest to a file among those that
    it is linked into, its folder's first and the golden ones last, as many as --budget seconds allow. What they let pass counts as survived, though others might not."""

    def __init__(self, tree, tests, folder, kernels, budget):
        self.tree, self.tests, self.folder, self.kernels, self.budget = tree, tests, folder, kernels, budget
        self.kept = folder / "near.json"
        self.seconds = json.loads(self.kept.read_text()) if self.kept.exists() else {}
        self.symbols = {}

    def _run(self, test, limit):
        box = Sandbox(self.folder, [self.kernels])
        return box.first_failure([test], 1, lambda _: limit, lambda _: {**checks(self.kernels, "32"), "KW_MEMORY_POINTS": "6"})

    def _names(self, program):
        """The functions in a program or object."""
        if program not in self.symbols:
            said = subprocess.run(["nm", "--defined-only", "-A", program], capture_output=True, text=True).stdout
            self.symbols[program] = {line.split()[-1] for line in said.split("\n") if " T " in line}
        return self.symbols[program]

    def nearest(self, name):
        """The tests that have the file's functions."""
        own, words, found = set(), name.parts[1:-1], []
        for made in self.tree.objects(name):
            own |= self._names(made)
        for test in self.tests:
            programs = [self.tree.build / target for target in self.tree.programs(test) if not target.endswith(".a")]
            if any(own & self._names(program) for program in programs) or not own:
                place = [word for word in pathlib.Path(test.folder).parts if word in words]
                near = (name.stem.split("_")[0] in test.name) + 2 * any(f"/{word}/" in test.command[0] for word in words[:1]) + len(place)
                found.append((-near, self.seconds.get(test.name, 5), test.name, test))
        return [test for _, _, _, test in sorted(found, key=lambda item: item[:3]) if self.seconds.get(test.name, 0) >= 0]

    def known(self, test):
        """How long the test takes without a mutant; -1 when it does not pass in the sandbox, or not in LIMIT seconds."""
        if test.name not in self.seconds:
            self.tree.link(test, set())
            start = time.monotonic()
            failed = self._run(test, LIMIT)
            self.seconds[test.name] = -1 if failed else time.monotonic() - start
            self.kept.write_text(json.dumps(self.seconds))
        return self.seconds[test.name]

    def verdict(self, name, text):
        tests, linked, run_by = self.nearest(name), set(), 0
        wide = [test for test in tests[TESTS:] if test.name.startswith("test_golden_")]
        asked = [test for test in tests[:TESTS] + wide if self.known(test) >= 0]
        start = time.monotonic()
        with self.tree.mutant(name, text):
            if not self.tree.compile(name):
                return "does not compile"
            for test in asked:
                if time.monotonic() - start > self.budget:
                    break
                self.tree.link(test, linked)
                run_by += 1
                failed = self._run(test, 30 + 10 * self.seconds[test.name])
                if failed:
                    return "killed by " + failed
            code = self.tree.code(name)
        if code == self.tree.code(name):
            return "the same code"
        return f"survived {run_by} tests"
