#!/usr/bin/env python3
"""gpu_pairs.py KWRIGHT MODEL SEED CLASS:COUNT[:TYPE[:FAMILY]] ... > PAIRS: problems drawn by class (bench/peer/peer_problems.py), each with kernels
for bench/peer/gpu_rows.py to time: the best by MODEL and by the estimate, which knows tiles that MODEL never saw, those of families that it
never saw by the estimate too, and some at random, so that what is bad is learned as well. TYPE: bf16, fp16, fp32, tf32; fwd behind a dot takes forward alone. Of FAMILY every kernel is taken that the
estimate has within twice its best one, and problems without one are left out, so that a set can be thinned by best times. Kernels drawn at
random are of half of the set, so that fewer have to be compiled. Runs where there is no GPU: MODEL is asked as if it were of the emulated
device. With MODEL all every kernel that serves a problem is taken, which is what selections are to be held against."""
import collections
import concurrent.futures
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "peer"))
import peer_problems  # noqa: E402  pylint: disable=wrong-import-position

DEVICE, LAUNCH_MAX_NS = "emu:sm_90", 3e6
BEST, ESTIMATED, NEW_BEST, NEW_RANDOM, KERNELS, REACH = 4, 5, 2, 3, 14, 2


def for_the_emulator(model, folder):
    """A copy of the model that names the emulated device as what it was trained on."""
    copy = os.path.join(folder, "model")
    shutil.copytree(model, copy)
    told = subprocess.run([KWRIGHT, "predict", "--device", DEVICE, "--json", "--limit", "1", "gemm bf16 rcr m64 n64 k64"], check=True,
                          capture_output=True, text=True).stdout
    path = os.path.join(copy, "model.spec")
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"(?m)^target .*$", "target " + json.loads(told)["target"], file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return copy


def draw(seed, words):
    """(problem, family of which all are wanted or none) in turns of the classes."""
    out, queues = [], []
    for word in words:
        kind, count, dtype, family = (word.split(":") + ["bf16", ""][len(word.split(":")) - 2:])[:4]
        dtype, _, only = dtype.partition(".")
        texts = [text for _, text in peer_problems.draw(f"{seed} {dtype}", {kind: int(count)}) if not only or text.startswith("conv_" + only)]
        math = " fpmath=tf32" if dtype == "tf32" else ""
        queues.append([(text.replace(" bf16 ", f" {'fp32' if math else dtype} ") + math, family) for text in texts])
    for i in range(max(map(len, queues))):
        out += [queue[i] for queue in queues if i < len(queue)]
    return list(dict.fromkeys(out))


def choose(model, seed, text, whole):
    """(problem, kernels)."""
    told = subprocess.run([KWRIGHT, "predict", "--device", DEVICE, "--model", model or "", "--json", "--limit", "5000", text], check=True,
                          capture_output=True, text=True).stdout
    told = json.loads(told)
    if not model:
        return told["problem"], [k["config"] for k in told["kernels"]]
    kernels = [k for k in told["kernels"] if k["estimate_ns"] < LAUNCH_MAX_NS]
    r, chosen = random.Random(f"{seed} {text}"), []

    def take(some):
        chosen.extend(k["config"] for k in some if k["config"] not in chosen)

    if whole:
        family = [k for k in kernels if k["config"].split()[0] == whole]
        if not family:
            return told["problem"], []
        take([k for k in family if k["estimate_ns"] <= REACH * min(f["estimate_ns"] for f in family)])
    seen = [k for k in kernels if k["predicted_ns"] is not None]
    new = collections.defaultdict(list)
    for kernel in kernels:
        if seen and kernel["predicted_ns"] is None:
            new[kernel["config"].split()[0]].append(kernel)
    pool = [k for k in kernels if zlib.crc32(k["config"].encode()) % 2 == 0]
    take(sorted(seen or kernels, key=lambda k: k["predicted_ns"] or k["estimate_ns"])[:BEST])
    for family in new.values():
        take(sorted(family, key=lambda k: k["estimate_ns"])[:NEW_BEST])
        take(r.sample(family, min(NEW_RANDOM, len(family))))
    take(sorted(kernels, key=lambda k: k["estimate_ns"])[:ESTIMATED])
    take(r.sample(pool, min(len(pool), max(0, KERNELS - len(chosen)))))
    return told["problem"], chosen


def main():
    model, seed, words = sys.argv[2], sys.argv[3], sys.argv[4:]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        model = for_the_emulator(model, folder) if model != "all" else None
        parts = collections.OrderedDict()
        for problem, kernels in pool.map(lambda drawn: choose(model, seed, *drawn), draw(seed, words)):
            parts.setdefault(" ".join(problem.split()[:2]), []).extend(f"{problem}|{k}" for k in kernels)
    for _, lines in sorted(parts.items(), key=lambda part: " bf16" not in part[0]):  # a run that is cut short has these
        print("\n".join(lines))


if __name__ == "__main__":
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    KWRIGHT = sys.argv[1]
    main()
