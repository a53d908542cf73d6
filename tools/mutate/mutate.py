#!/usr/bin/env python3
"""mutate.py: plants faults in the project's own texts, one at a time, and looks whether a test notices.

    tools/mutate/mutate.py c|cpu|gpu [--seed N] [--each N] [--only WORD] [--jobs N] [--minutes N] [--folder DIR]

c: the library's sources, sanitised as in CI. A build with --coverage says which tests run a line; those are run, the quickest first. A
line that no test runs is "not run", which counts as a survivor. cpu, gpu: kernel texts, by the tests that check kernels, with KW_KERNELS
naming a copy of kernels/. Each operator of operators.py gets --each sites, drawn by --seed. Everything happens in a copy of the tracked
files (--folder, by default build-mutate), and tests run in bubblewrap: the disk is read-only to a mutated program, but for a /tmp of its
own. A mutant of equivalent.txt (file | operator | line | why) counts as neither. The last line is the score; details stand in
FOLDER/KIND.csv."""
import argparse
import collections
import csv
import json
import os
import pathlib
import random
import select
import shutil
import subprocess
import sys
import time

import operators

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **options).stdout


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        properties = {item["name"]: item["value"] for item in entry.get("properties", [])}
        self.environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        self.folder, self.labels = properties.get("WORKING_DIRECTORY", "/"), properties.get("LABELS", [])
        self.seconds = 0.0


class Sandbox:
    """Runs tests so that what a mutated program deletes or fills is its own."""

    def __init__(self, tree, writable=()):
        home = os.path.expanduser("~")
        self.words = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind", str(tree), str(tree),
                      "--tmpfs", home + "/.cache" if os.path.isdir(home + "/.cache") else "/mnt", "--unshare-pid", "--die-with-parent"]
        for folder in writable:
            self.words += ["--bind", str(folder), str(folder)]

    def start(self, test, more):
        environment = {**os.environ, **test.environment, **more}
        return subprocess.Popen(self.words + ["--chdir", test.folder] + test.command, env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def first_failure(self, tests, jobs, limit, more=None, each=lambda test, seconds: None):
        """The first test that fails, jobs of them at a time; None when all pass."""
        waiting, running, failed = list(tests), {}, None
        while (waiting or running) and not failed:
            while waiting and len(running) < jobs:
                test = waiting.pop(0)
                child = self.start(test, more(test) if more else {})
                running[child.stdout.fileno()] = (child, test, time.monotonic())
            ready, _, _ = select.select(list(running), [], [], 0.2)
            for handle in list(running):
                child, test, start = running[handle]
                text = os.read(handle, 1 << 16) if handle in ready else None
                seconds = time.monotonic() - start
                if text == b"":
                    del running[handle]
                    each(test, seconds)
                    failed = test.name if child.wait() not in (0, 77) else failed
                elif seconds > limit(test):
                    failed = test.name + " (time)"
                elif text and b"[  FAILED  ]" in text:
                    failed = test.name
        for child, _, _ in running.values():
            child.kill()
            child.wait()
        return failed


def checks(folder, every):
    """The environment of the tests: those that check kernels take each Nth row of theirs; counts of --coverage and what it says of them go
    where they disturb nobody."""
    return {"KW_CHECK_CACHE": str(folder / "kernels-cache"), "KW_CHECK_EVERY": every, "GCOV_PREFIX": "/tmp/counts", "GCOV_ERROR_FILE": "/dev/null"}


class Tree:
    """A copy of the tracked files with a build of its own."""

    def __init__(self, folder, kind):
        self.root, self.build = folder / "tree", folder / ("coverage" if kind == "c" else "release")
        names = run("git", "ls-files", cwd=ROOT).split("\n")
        for name in filter(None, names):
            to = self.root / name
            to.parent.mkdir(parents=True, exist_ok=True)
            if not to.exists() or to.read_bytes() != (ROOT / name).read_bytes():
                shutil.copy2(ROOT / name, to)
        flags = ["-DCMAKE_BUILD_TYPE=Debug", "-DKW_SANITIZE=address,undefined", "-DCMAKE_C_FLAGS=--coverage"] if kind == "c" else ["-DCMAKE_BUILD_TYPE=Release"]
        launcher = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        run("cmake", "-G", "Ninja", "-S", self.root, "-B", self.build, *flags, *launcher)

    def make(self, *targets):
        return subprocess.run(["ninja", "-C", str(self.build), *targets], capture_output=True, text=True).returncode == 0

    def tests(self):
        listed = json.loads(run("ctest", "--test-dir", self.build, "--show-only=json-v1"))["tests"]
        return [Test(entry) for entry in listed if entry.get("command")]


def coverage(tree, tests, folder):
    """file -> line -> names of the tests that run it. Tests that fail in the sandbox, or take minutes there, are left out, and said."""
    kept = folder / "coverage.json"
    data = json.loads(kept.read_text()) if kept.exists() else {"seconds": {}, "lines": {}}
    for i, test in enumerate(tests):
        if test.name not in data["seconds"]:
            counts = folder / "counts"
            shutil.rmtree(counts, ignore_errors=True)
            counts.mkdir(parents=True)
            start = time.monotonic()
            more = {**checks(folder, "32"), "GCOV_PREFIX": str(counts)}
            if Sandbox(folder, [counts, folder / "kernels-cache"]).first_failure([test], 1, lambda _: 240, lambda _: more):
                print(f"{test.name} does not pass in the sandbox; it is left out", file=sys.stderr)
                data["seconds"][test.name] = -1
                continue
            data["seconds"][test.name] = time.monotonic() - start
            files = [str(path) for path in counts.rglob("*.gcda") if "/src/" in str(path)]
            for path in files:
                os.symlink(path[len(str(counts)):].replace(".gcda", ".gcno"), path.replace(".gcda", ".gcno"))
            for begin in range(0, len(files), 200):
                text = run("gcov", "--json-format", "--stdout", *files[begin:begin + 200], cwd=folder)
                for line in filter(None, text.split("\n")):
                    for source in json.loads(line)["files"]:
                        name = os.path.relpath(os.path.join(tree.build, source["file"]), tree.root)
                        for item in source["lines"]:
                            if item["count"]:
                                data["lines"].setdefault(name, {}).setdefault(str(item["line_number"]), []).append(test.name)
            print(f"coverage {i + 1}/{len(tests)} {test.name} {data['seconds'][test.name]:.1f} s", file=sys.stderr)
            kept.write_text(json.dumps(data))
    for test in tests:
        test.seconds = data["seconds"].get(test.name, -1)
    return data["lines"]


def draw(tree, kind, seed, each):
    """Sites of every operator in an order that the seed draws: (operator, file, match, replacement). The first --each that compile are taken."""
    pattern = {"c": ["src/**/*.c"], "cpu": ["kernels/cpu/**/*.[ch]", "kernels/prelude/cpu.h"],
               "gpu": ["kernels/gpu/**/*.[ch]"]}[kind]
    shared = {"args.h", "resources.h", "sizes.h", "work_params.h", "overlap_layout.h"}  # the host reads them as well
    found = collections.defaultdict(list)
    for path in sorted(path for glob in pattern for path in tree.root.glob(glob)):
        if path.name not in shared and not (kind == "gpu" and path.name.endswith(("_ptx.h", "_amd.h")) or path.parent.name == "peak"):
            for name, match, replacement in operators.sites(path.read_text(), kind):
                found[name].append((path.relative_to(tree.root), match, replacement))
    for name in [item[0] for item in operators.OPERATORS]:
        random.Random(f"{seed} {name}").shuffle(found[name])
    return found


def equivalent():
    lines = [line for line in (HERE / "equivalent.txt").read_text().split("\n") if line and not line.startswith("#")]
    return {tuple(word.strip() for word in line.split(" | ")[:3]) for line in lines}


def judge_c(tree, box, lines, tests, folder, name, number, jobs):
    """The verdict on the mutant that stands in the tree."""
    if not tree.make("src/all"):
        return "does not compile"
    covering = set(lines.get(str(name), {}).get(str(number), []))
    group = name.parts[1]
    chosen = sorted((test for test in tests if test.name in covering), key=lambda test: (f"/{group}/" not in test.command[0], test.seconds))
    if not chosen:
        return "not run"
    spent = 0.0
    while chosen and spent < 240:
        batch, chosen = chosen[:4], chosen[4:]
        tree.make(*{os.path.relpath(word, tree.build) for test in batch for word in test.command if word.startswith(str(tree.build))}, "kwright")
        failed = box.first_failure(batch, jobs, lambda test: 30 + 10 * test.seconds, lambda _: checks(folder, "32"))
        if failed:
            return "killed by " + failed
        spent += sum(test.seconds for test in batch)
    return "survived"


def judge_kernel(box, tests, kernels, folder, jobs):
    for every in ("16", "1"):
        failed = box.first_failure(tests, jobs, lambda _: 1200, lambda _: {**checks(folder, every), "KW_KERNELS": str(kernels)})
        if failed:
            return "killed by " + failed
    return "survived"


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("kind", choices=["c", "cpu", "gpu"])
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("--each", type=int, default=2, help="mutants of an operator (2)")
    words.add_argument("--only", default="", help="files whose name has this word")
    words.add_argument("--jobs", type=int, default=os.cpu_count())
    words.add_argument("--minutes", type=float, default=1e9, help="ends before the next mutant after so long")
    words.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-mutate")
    asked = words.parse_args()
    folder = asked.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    tree = Tree(folder, asked.kind)
    if not tree.make("all"):
        sys.exit("the unchanged tree does not build: ninja -C " + str(tree.build))
    tests, lines = tree.tests(), {}
    (folder / "kernels-cache").mkdir(mode=0o700, exist_ok=True)
    box = Sandbox(folder, [folder / "kernels-cache"])
    if asked.kind == "c":
        lines = coverage(tree, tests, folder)
        tests = [test for test in tests if test.seconds >= 0]
    else:
        tests = [test for test in tests if "check" in test.labels and ("gpu" in test.name) == (asked.kind == "gpu")]
    known, start, tally, survivors = equivalent(), time.monotonic(), collections.Counter(), []
    with open(folder / (asked.kind + ".csv"), "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["operator", "file", "line", "text", "verdict"])
        for operator, sites in draw(tree, asked.kind, asked.seed, asked.each).items():
            taken = 0
            for name, match, replacement in sites:
                if taken == asked.each or time.monotonic() - start > 60 * asked.minutes:
                    break
                if asked.only not in str(name):
                    continue
                path = tree.root / name
                text = path.read_text()
                number = text.count("\n", 0, match.start() + len(match.group(0)) - len(match.group(0).lstrip())) + 1
                line = text.split("\n")[number - 1].strip()
                if (str(name), operator, line) in known:
                    continue
                try:
                    path.write_text(operators.mutated(text, match, replacement))
                    verdict = (judge_c(tree, box, lines, tests, folder, name, number, asked.jobs) if asked.kind == "c" else
                               judge_kernel(box, tests, tree.root / "kernels", folder, asked.jobs))
                finally:
                    path.write_text(text)
                if verdict == "does not compile":
                    continue
                taken += 1
                kind = "killed" if verdict.startswith("killed") else verdict
                tally[kind] += 1
                rows.writerow([operator, name, number, line, verdict])
                file.flush()
                print(f"{verdict}: {operator} {name}:{number}: {line}", flush=True)
                survivors += [] if kind == "killed" else [f"{name} | {operator} | {line} | {verdict}"]
    tree.make("all")
    print("\nSurvivors:", *survivors, sep="\n")
    total = sum(tally.values())
    print(f"{asked.kind}, seed {asked.seed}: {total} mutants, {tally['killed']} killed ({100 * tally['killed'] / max(total, 1):.1f} %), "
          f"{tally['survived']} survived, {tally['not run']} on lines that no test runs")


if __name__ == "__main__":
    main()
