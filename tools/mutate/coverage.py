"""coverage.py: which tests run a line. It is kept beside the build and made again for those tests of which something has changed."""
import json
import os
import shutil
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from tree import Sandbox, run

EVERY = ("32", "512")  # of the rows of tests that check kernels; the second for those that take minutes with the first


def checks(kernels, every):
    """The environment of the tests: those that check kernels take each Nth row of theirs, that of refused memory few points; counts of --coverage
    and what it says of them go where they disturb nobody."""
    return {"KW_CHECK_CACHE": str(kernels), "KW_CHECK_EVERY": every, "KW_MEMORY_POINTS": "6", "GCOV_PREFIX": "/tmp/counts",
            "GCOV_ERROR_FILE": "/dev/null"}


def _lines(tree, counts):
    """file -> {line: whether it was run}, of the counts that one test left."""
    found = {}
    files = [str(path) for path in counts.rglob("*.gcda") if "/src/" in str(path)]
    for path in files:
        os.symlink(path[len(str(counts)):].replace(".gcda", ".gcno"), path.replace(".gcda", ".gcno"))
    for begin in range(0, len(files), 200):
        for line in filter(None, run("gcov", "--json-format", "--stdout", *files[begin:begin + 200], cwd=counts).split("\n")):
            for source in json.loads(line)["files"]:
                lines = found.setdefault(os.path.relpath(os.path.join(tree.build, source["file"]), tree.root), {})
                for item in source["lines"]:
                    lines[str(item["line_number"])] = lines.get(str(item["line_number"]), False) or item["count"] > 0
    return found


def _of_test(tree, test, folder, kernels, limit):
    """What is kept of one test; seconds is -1 where it does not pass in the sandbox."""
    counts = folder / "counts" / test.name
    for every in EVERY:
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir(parents=True)
        start = time.monotonic()
        more = {**checks(kernels, every), "GCOV_PREFIX": str(counts)}
        failed = Sandbox(folder, [counts, kernels]).first_failure([test], 1, lambda _: limit, lambda _: more)
        seconds = time.monotonic() - start
        if not failed or "(time)" not in failed:
            break
    lines = {} if failed else _lines(tree, counts)
    shutil.rmtree(counts, ignore_errors=True)
    return {"seconds": -1 if failed else seconds, "every": every, "lines": lines, "failed": failed}


def coverage(tree, tests, folder, kernels, jobs, limit):
    """file -> line -> names of the tests that run it; a line of code that none runs has none. Tests that fail in the sandbox, or take
    longer than limit seconds there, are left out, and said."""
    kept = folder / "coverage.json"
    data = json.loads(kept.read_text()) if kept.exists() else {}
    lock, number = threading.Lock(), [0]

    def look(test):
        digest = tree.digest(test)
        known = data.get(test.name)
        if not known or known["digest"] != digest:
            known = {**_of_test(tree, test, folder, kernels, limit), "digest": digest}
            with lock:
                data[test.name] = known
                kept.write_text(json.dumps(data))
        with lock:
            number[0] += 1
            said = f"{known['seconds']:.1f} s" if known["seconds"] >= 0 else "does not pass in the sandbox; it is left out"
            print(f"coverage {number[0]}/{len(tests)} {test.name} {said}", file=sys.stderr, flush=True)

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(look, tests))
    found = {}
    for test in tests:
        known = data[test.name]
        test.seconds, test.every = known["seconds"], known["every"]
        for name, lines in known["lines"].items():
            for line, was_run in lines.items():
                names = found.setdefault(name, {}).setdefault(int(line), set())
                if was_run:
                    names.add(test.name)
    return found
