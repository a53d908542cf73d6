#!/usr/bin/env python3
"""check_kills.py: kill -9 at random moments of sweep, tune, build and merge: `make check-kills`.

Each command is started again and again and killed at a random moment of the time that it takes; the next start goes on from what is there.
After every kill: what stood there before still does, nothing stands there twice, files read as they should, no process is left. When a
command comes to its end, its result is that of a run that nobody killed, and its folders hold nothing else. Prints its seed.

  check_kills.py KWRIGHT [SEED [KILLS]]      KILLS of each command (200)
"""
import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TUNED = ["gemm fp32 rcr b1 m4 n8 k8", "gemm fp32 rcr b1 m7 n16 k3", "gemm fp32 rcr b1 m1 n5 k9"]
SWEPT = [f"gemm fp32 m{m} n{n} k8" for m in (1, 2, 3, 5, 7, 8) for n in (3, 8, 16, 17)]
GEMM = "c.op == 'gemm'"
ORPHANS_S = 20  # what a busy machine may take to end a process that was sent SIGKILL
PR_SET_CHILD_SUBREAPER = 36
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SEGMENT = os.path.join(ROOT, "data", "x86-64-v4-bf16-fp32-gemm.jsonl.gz")


class Fault(Exception):
    pass


def need(condition, what):
    if not condition:
        raise Fault(what)


class Place:
    """A folder with all that a command may write: its output, cache, wisdom and temporary files."""

    def __init__(self, kwright, folder):
        self.kwright, self.folder = kwright, folder
        self.list = os.path.join(folder, "problems.txt")
        self.out, self.cache, self.temp = (os.path.join(folder, name) for name in ("out", "cache", "temp"))
        self.wisdom = os.path.join(self.out, "wisdom.txt")
        self.environment = dict(os.environ, KW_CACHE_DIR=self.cache, KW_WISDOM=self.wisdom, TMPDIR=self.temp, HOME=folder)
        self.clear(True)

    def write_list(self, problems):
        with open(self.list, "w", encoding="ascii") as text:
            text.write("\n".join(problems) + "\n")
        return self.list

    def clear(self, cache):
        for folder in [self.out, self.temp] + [self.cache] * cache:
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder, 0o700)

    def start(self, words):
        with open(os.path.join(self.folder, "log"), "wb") as log:
            return subprocess.Popen([self.kwright] + words, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self):
        with open(os.path.join(self.folder, "log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def run(self, words, codes=(0,)):
        done = subprocess.run([self.kwright] + words, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        need(done.returncode in codes, f"{words}: exit code {done.returncode}: {done.stderr.decode(errors='replace')}")
        return done


def files(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, names in os.walk(folder) for name in names)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def store_rows(place, path):
    """The rows of a store that may be half made, by run and place in it; none twice."""
    if not os.path.exists(path):
        return set()
    done = place.run(["db", "export", path, "--format", "jsonl", "--quiet"], (0, 2, 3))
    if done.returncode:
        said = done.stderr.decode(errors="replace")
        need("there is no store" in said and "version" not in said, f"{path}: {said}")
        return set()
    place.run(["db", "check", path])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return [(line["run"], line.get("sequence", 0), line["problem"], line["config"]) for line in lines if line["line"] == "row"]


class Sweep:
    name, keeps_cache = "sweep", True

    def words(self, place):
        return ["sweep", "--set", "tiny", "--filter", GEMM, "--dtype", "fp32", "--problems", place.write_list(SWEPT), "--verify-only",
                "--batch", "1", "--out", os.path.join(place.out, "a.db")]

    def state(self, place):
        rows = store_rows(place, os.path.join(place.out, "a.db"))
        pairs = {row[2:] for row in rows}
        need(len(pairs) == len(rows), f"{len(rows)} rows of {len(pairs)} pairs")
        return set(rows)

    def result(self, place):
        return {row[2:] for row in self.state(place)}, files(place.out), files(place.cache)


class Tune:
    name, keeps_cache = "tune", True

    def words(self, place):
        return ["tune", "--problems", place.write_list(TUNED), "--threads", "1"]

    def state(self, place):
        text = read(place.wisdom).decode() if os.path.exists(place.wisdom) else ""
        need(not text or text.endswith("\n"), "the last line of the wisdom is torn")
        lines = text.splitlines()[1:]
        problems = [line.split("\t")[2] for line in lines]
        need(all(line.count("\t") == 12 for line in lines) and len(set(problems)) == len(problems), f"wisdom: {text}")
        told = json.loads(place.run(["wisdom", "--json"]).stdout)
        need(len(told["entries"]) == len(lines), f"{len(told['entries'])} entries of {len(lines)} lines are read")
        return set(problems)  # their lines may change: what was measured on a busy machine is measured again

    def result(self, place):
        """What the machine was too busy for is told and not kept."""
        told = {problem for problem in TUNED if f"the choice for {problem} is provisional" in place.log()}
        return self.state(place) | told, [name for name in files(place.out) if name != "wisdom.txt"]


class Build:
    name, keeps_cache = "build", False

    def words(self, place):
        return ["build", "--set", "tiny", "--filter", GEMM, "--arch", "x86-64-v3", "--out", os.path.join(place.out, "kernels")]

    def state(self, place):
        """Every object is whole, and is named by nobody or by a whole catalog."""
        found = {(name, read(os.path.join(place.out, name))) for name in files(place.out)}
        for name, data in found:
            if name.endswith(".o"):
                need(data[:4] == b"\x7fELF" and subprocess.run(["nm", os.path.join(place.out, name)], capture_output=True,
                                                                 check=False).returncode == 0, f"{name} is no whole object")
            elif name.endswith("catalog.txt"):
                need(data.endswith(b"\n"), f"{name} is torn")
        return {item for item in found if item[0].endswith(".o")}

    def result(self, place):
        return self.state(place), files(place.out), files(place.cache)


class Merge:
    name, keeps_cache = "merge", False

    def words(self, place):
        return ["merge", "--out", os.path.join(place.out, "m.db"), SEGMENT]

    def state(self, place):
        rows = store_rows(place, os.path.join(place.out, "m.db"))
        need(len(set(rows)) == len(rows), "a row stands there twice")
        return set(rows)

    def result(self, place):
        return self.state(place), files(place.out)


def descendants_end():
    """All processes that came from ours are adopted by us when their parent dies, so waiting for any finds them."""
    end = time.monotonic() + ORPHANS_S
    while True:
        try:
            child, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not child:
            need(time.monotonic() < end, "a process outlives the command by more than a moment")
            time.sleep(0.001)


def kill_at(place, words, moment):
    """Whether it was killed; else it came to its end."""
    process = place.start(words)
    try:
        code = process.wait(moment)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        code = process.wait()
    descendants_end()
    need(code in (0, -signal.SIGKILL), f"{words}: exit code {code}: {place.log()}")
    return code != 0


def check_end(command, place, expected):
    need(command.result(place) == expected, f"another result than of a run that nobody killed: {command.result(place)} for {expected}")
    need(not files(place.temp) and not os.listdir(place.temp), f"left in TMPDIR: {os.listdir(place.temp)}")


def usual_span(command, place, words, cold):
    """Seconds of the middle of three undisturbed runs; the result is theirs."""
    spans, result = [], None
    for _ in range(3):
        place.clear(cold)
        begin = time.monotonic()
        need(not kill_at(place, words, 600), "it was killed")
        spans.append(time.monotonic() - begin)
        need(result in (None, command.result(place)), "two runs have two results")
        result = command.result(place)
    return sorted(spans)[1], result


def check_command(command, kwright, folder, draw, kills):
    place = Place(kwright, folder)
    words = command.words(place)
    cold_span, expected = usual_span(command, place, words, True)
    spans = [cold_span] + [usual_span(command, place, words, False)[0]] * command.keeps_cache
    place.clear(True)
    killed, ends, before, parts, left, begin = 0, 0, set(), 0, 0, time.monotonic()
    while killed < kills:
        if kill_at(place, words, draw.random() * 1.05 * spans[ends % len(spans)]):
            killed += 1
            after = command.state(place)
            need(before <= after, f"lost by kill {killed}: {before - after}")
            before = after
            parts += bool(after)
            left += bool(os.listdir(place.temp))
        else:
            ends += 1
            check_end(command, place, expected)
            place.clear(ends % len(spans) == 0)
            before = set()
    need(not kill_at(place, words, 600), "it was killed")
    need(before <= command.state(place), "lost at the end")
    check_end(command, place, expected)
    print(f"| {command.name} | {killed} | {parts} | {ends + 1} | {cold_span:.2f} s | {left} | 0 | {time.monotonic() - begin:.0f} s |", flush=True)


def main():
    kwright = os.path.abspath(sys.argv[1])
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else int(time.time())
    kills = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    need(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl")
    print(f"seed {seed}: check_kills.py KWRIGHT {seed} {kills}\n")
    print("| command | kills | with results there | came to its end | takes | with temporary files, all swept later | lost, twice or left over | time |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    for index, command in enumerate((Sweep(), Tune(), Build(), Merge())):
        folder = tempfile.mkdtemp(prefix="kills.")
        try:
            check_command(command, kwright, folder, random.Random(seed * 4 + index), kills)
        except Fault as fault:
            print(f"{command.name}: {fault}\n(seed {seed}; {folder} is kept)")
            return 1
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
