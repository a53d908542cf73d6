#!/usr/bin/env python3
"""mutate.py: plants faults in the project's own texts, one at a time, and looks whether a test notices.

    tools/mutate/mutate.py c|cpu|gpu [--seed N] [--each N] [--rows LIST] [--only WORD] [--operators LIST] [--again LIST] [--jobs N] [--limit S] [--minutes N] [--folder DIR]

c: the library's sources. A build with --coverage says which tests run a line; those are run, the quickest first, and where all pass once
more with the sanitisers of CI. A line that no test runs is judged by those that run its file; when they pass it is "not run", which counts as
a survivor. cpu, gpu: kernel texts, by the tests that check kernels, with KW_KERNELS naming a copy of kernels/. Each operator of operators.py gets --each sites, drawn by --seed. Everything happens in a copy of the tracked
files (--folder, by default build-mutate), and tests run in bubblewrap: the disk is read-only to a mutated program, but for a /tmp of its
own. A mutant of equivalent.txt (file | operator | line | why) counts as neither, nor does one that is the same machine code as the text
that it was made of; another is drawn in its place. The last line is the score; details stand in FOLDER/KIND.csv."""
import argparse
import collections
import csv
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

import operators
from coverage import checks, coverage
from played import PlayedJudge
from tree import ROOT, Sandbox, Tree

HERE = pathlib.Path(__file__).resolve().parent
BUDGET = 120  # seconds of tests for a mutant that none of them finds, and as many of sanitised ones
SLOWER = 4  # what sanitisers make of a second
COMPILED_IN = "kernels/cpu/reference"  # part of the library, which KW_KERNELS does not replace
CHECKS = {"c": ["all"], "cpu": ["test_check", "test_epilogue_cpu", "test_row_groups"],
          "gpu": ["test_check_gpu", "gpu_pairs", "kernel_texts", "kwright"]}


def draw(tree, kind, seed, each):
    """Sites of every operator in an order that the seed draws: (operator, file, match, replacement). The first --each that compile are taken."""
    pattern = {"c": ["src/**/*.c", COMPILED_IN + "/*.c"], "cpu": ["kernels/cpu/**/*.[ch]", "kernels/prelude/cpu.h"],
               "gpu": ["kernels/gpu/**/*.[ch]"]}[kind]
    shared = {"args.h", "resources.h", "sizes.h", "work_params.h", "overlap_layout.h"}  # the host reads them as well
    found = collections.defaultdict(list)
    for path in sorted(path for glob in pattern for path in tree.root.glob(glob)):
        if kind == "cpu" and path.parent == tree.root / COMPILED_IN:
            continue
        if path.name not in shared and not (kind == "gpu" and path.name.endswith(("_ptx.h", "_amd.h")) or path.parent.name == "peak"):
            for name, match, replacement in operators.sites(path.read_text(), kind):
                found[name].append((path.relative_to(tree.root), match, replacement))
    for name in [item[0] for item in operators.OPERATORS]:
        random.Random(f"{seed} {name}").shuffle(found[name])
    return found


def listed(path):
    """(file, operator, line) of each line of a file like equivalent.txt."""
    lines = [line for line in path.read_text().split("\n") if line.count(" | ") > 1 and not line.startswith("#")]
    return {tuple(word.strip() for word in line.split(" | ")[:3]) for line in lines}


class SourceJudge:
    """Of the library's sources: by the tests that run a line, first those that run much of the file in little time; what they let pass by the same
    tests with sanitisers, of which is built what is asked."""

    def __init__(self, tree, sanitised, lines, tests, folder, jobs):
        self.tree, self.sanitised, self.lines, self.folder, self.jobs = tree, sanitised, lines, folder, jobs
        self.tests = [test for test in tests if test.seconds >= 0]

    def covering(self, name, number):
        """The tests that run a line, the best first, and whether any does. Of a line that none runs, or that has no code of its own, as a
        statement's second or a constant, those that run any of the file: a child that ends without a word leaves no counts."""
        of_file = self.lines.get(str(name), {})
        names = of_file.get(number) or set().union(*of_file.values())
        covers = collections.Counter(test for tests in of_file.values() for test in tests)
        chosen = sorted((test for test in self.tests if test.name in names), key=lambda test: (test.seconds + 1) / covers[test.name])
        return chosen, bool(chosen and of_file.get(number, True))

    def _failure(self, tree, tests, slower):
        # What a mutated program leaves among the compiled kernels is for no other.
        kernels, linked = self.folder / "kernels-mutated", set()
        shutil.rmtree(kernels, ignore_errors=True)
        subprocess.run(["cp", "-a", self.folder / "kernels-cache", kernels], check=True)
        return Sandbox(self.folder, [kernels]).first_failure(tests, self.jobs, lambda test: slower * (30 + 10 * test.seconds),
                                                             lambda test: checks(kernels, test.every), lambda test: tree.link(test, linked), BUDGET)

    def _sanitised_failure(self, tests, name, text):
        """Of tests that pass there without the mutant."""
        tests = [test for test in tests if test.seconds < BUDGET]
        if not self.sanitised.make(*{target for test in tests for target in self.sanitised.programs(test)}):
            sys.exit("the unchanged tree does not build: ninja -C " + str(self.sanitised.build))
        with self.sanitised.mutant(name, text):
            failed = self._failure(self.sanitised, tests, SLOWER) if self.sanitised.compile(name) else None
        if failed and self._failure(self.sanitised, [test for test in tests if test.name == failed.split()[0]], SLOWER):
            return self._sanitised_failure([test for test in tests if test.name != failed.split()[0]], name, text)
        return failed + ", sanitised" if failed else None

    def verdict(self, name, number, text):
        """On this text of the file."""
        chosen, is_run = self.covering(name, number)
        with self.tree.mutant(name, text):
            if not self.tree.compile(name):
                return "does not compile"
            failed = self._failure(self.tree, chosen, 1)
            code = None if failed else self.tree.code(name)
        if not failed and code == self.tree.code(name):
            return "the same code"
        failed = failed or (self._sanitised_failure(chosen, name, text) if self.sanitised else None)
        return "killed by " + failed if failed else f"survived {len(chosen)} tests" if is_run else "not run"


class KernelJudge:
    """Of kernel texts, by tests that take each Nth row of theirs, for each N of rows in turn. The unchanged texts say how long that takes."""

    def __init__(self, tests, rows, folder, cache, kernels, jobs):
        self.tests, self.cache, self.kernels, self.jobs = tests, cache, kernels, jobs
        self.box, self.limits = Sandbox(folder, [cache]), {}
        for every in rows.split(","):
            start = time.monotonic()
            failed = self._first_failure(every, 1e9)
            if failed:
                sys.exit(f"{failed} fails on the unchanged kernels")
            self.limits[every] = 60 + 5 * (time.monotonic() - start)

    def _first_failure(self, every, limit):
        return self.box.first_failure(self.tests, self.jobs, lambda _: limit,
                                      lambda _: {**checks(self.cache, every), "KW_KERNELS": str(self.kernels)})

    def verdict(self, name, number):
        for every, limit in self.limits.items():
            failed = self._first_failure(every, limit)
            if failed:
                return "killed by " + failed
        return "survived"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("kind", choices=["c", "cpu", "gpu"])
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--each", type=int, default=2, help="mutants of an operator (2)")
    words.add_argument("--rows", default="16,2", help="cpu: each Nth row of the tests that check kernels, for each N in turn (16,2)")
    words.add_argument("--only", default="", help="files whose name has this word")
    words.add_argument("--operators", default="", help="these alone, with commas between them")
    words.add_argument("--again", type=pathlib.Path, help="the mutants of this list of survivors (file | operator | line) instead of drawn ones")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--limit", type=float, default=240, help="c: tests that take longer than so many seconds are left out (240)")
    words.add_argument("--plain", action="store_true", help="c: without the second judgement, by sanitisers, for a machine that has no hour for them")
    words.add_argument("--kernels", type=int, default=36, help="gpu: a mutant survives when so many kernels that it changes are right (36)")
    words.add_argument("--seconds", type=float, default=300, help="gpu: or those that could be played in so many seconds (300)")
    words.add_argument("--minutes", type=float, default=1e9, help="ends before the next mutant after so long")
    words.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-mutate")
    asked = words.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    is_c = asked.kind == "c"
    tree = Tree(folder, "counted" if is_c else "release", asked.jobs)
    if not tree.make(*CHECKS[asked.kind]):
        sys.exit("the unchanged tree does not build: ninja -C " + str(tree.build))
    tests, kernels = tree.tests(), folder / "kernels-cache"
    kernels.mkdir(mode=0o700, exist_ok=True)
    if is_c:
        lines = coverage(tree, tests, folder, kernels, asked.jobs, asked.limit)
        judge = SourceJudge(tree, None if asked.plain else Tree(folder, "sanitised", asked.jobs), lines, tests, folder, asked.jobs)
    elif asked.kind == "gpu":
        judge = PlayedJudge(tree, folder, kernels, asked.kernels, asked.seconds)
    else:
        tests = [test for test in tests if "check" in test.labels and "gpu" not in test.name]
        judge = KernelJudge(tests, asked.rows, folder, kernels, tree.root / "kernels", asked.jobs)
    again = listed(asked.again) if asked.again else None
    known, start, tally, survivors = listed(HERE / "equivalent.txt"), time.monotonic(), collections.Counter(), []
    passed_over = collections.Counter()
    with open(folder / (asked.kind + ".csv"), "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["operator", "file", "line", "text", "verdict"])
        for operator, sites in draw(tree, asked.kind, asked.seed, asked.each).items():
            taken = 0
            if asked.operators and operator not in asked.operators.split(","):
                continue
            for name, match, replacement in sites:
                if (taken == asked.each and not again) or time.monotonic() - start > 60 * asked.minutes:
                    break
                if asked.only not in str(name):
                    continue
                text = (tree.root / name).read_text()
                number = text.count("\n", 0, match.start() + len(match.group(0)) - len(match.group(0).lstrip())) + 1
                line = text.split("\n")[number - 1].strip()
                if (str(name), operator, line) in known or again and (str(name), operator, line) not in again:
                    continue
                mutated = operators.mutated(text, match, replacement)
                if is_c:
                    verdict = judge.verdict(name, number, mutated)
                else:
                    with tree.mutant(name, mutated):
                        verdict = judge.verdict(name, number)
                if verdict in ("does not compile", "the same code", "not played"):
                    passed_over[verdict] += 1
                    continue
                taken += 1
                kind = verdict if verdict == "not run" else verdict.split()[0]
                tally[kind] += 1
                rows.writerow([operator, name, number, line, verdict])
                file.flush()
                print(f"{verdict}: {operator} {name}:{number}: {line}", flush=True)
                survivors += [] if kind == "killed" else [f"{name} | {operator} | {line} | {verdict}"]
    print("\nSurvivors:", *survivors, sep="\n")
    total = sum(tally.values())
    print(f"{asked.kind}, seed {asked.seed}: {total} mutants, {tally['killed']} killed ({100 * tally['killed'] / max(total, 1):.1f} %), "
          f"{tally['survived']} survived, {tally['not run']} on lines that no test runs; "
          f"not counted: {', '.join(f'{count} {what}' for what, count in passed_over.items()) or 'none'}")


if __name__ == "__main__":
    main()
