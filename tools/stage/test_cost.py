#!/usr/bin/env python3
"""test_cost.py BUILD [--jobs N] [--only REGEX] [--without REGEX]: processor seconds (user and system, with all children that were waited for)
of each test of a build folder, told on standard error as they end, then dearest first, and their sum. Wall time says nothing where tests
share processors; this does. Exit status 1 when a test fails."""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import time


def properties(test):
    return {p["name"]: p["value"] for p in test.get("properties", [])}


def cost(test):
    said = properties(test)
    env = dict(os.environ)
    env.update(line.split("=", 1) for line in said.get("ENVIRONMENT", []))
    start = time.monotonic()
    child = subprocess.Popen(test["command"], env=env, cwd=said.get("WORKING_DIRECTORY"), stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    child.returncode = code
    seconds = used.ru_utime + used.ru_stime
    print(f"{seconds:8.2f} {test['name']}", file=sys.stderr, flush=True)
    return seconds, time.monotonic() - start, code, test["name"], said.get("SKIP_RETURN_CODE")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="^$")
    said = parser.parse_args()
    listed = json.loads(subprocess.run(["ctest", "--test-dir", said.build, "--show-only=json-v1"], capture_output=True, check=True).stdout)
    tests = [t for t in listed["tests"] if "command" in t and re.search(said.only, t["name"]) and not re.search(said.without, t["name"])]
    tests.sort(key=lambda t: -float(properties(t).get("COST", 0)))
    with concurrent.futures.ThreadPoolExecutor(said.jobs) as pool:
        rows = sorted(pool.map(cost, tests), reverse=True)
    failed = 0
    for used, wall, code, name, skipped in rows:
        bad = code != 0 and code != skipped
        failed += bad
        print(f"{used:8.2f} s of processor time, {wall:8.2f} s  {name}{f'  FAILED: {code}' if bad else ''}")
    print(f"{sum(row[0] for row in rows):8.2f} s of processor time in {len(rows)} tests, {failed} failed")
    return failed > 0


sys.exit(main())
