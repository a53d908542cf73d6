#!/usr/bin/env python3
"""Parts of larger tensors beside dense ones, the same kernel by its two texts, in turns (bench_epilogue).

bench/pitches.py --seed S [--count N] [--classes ...] [--directions ...] [--dtypes ...] [--layout nhwgc] -- BENCH_EPILOGUE OPTIONS...

Draws N problems of each class, direction and type: x and y become slices of channels of tensors with up to four times as many, or are cut out of
larger images. Prints dense and pitched time, what share of the dense speed the pitched one has, and geometric means. Options behind -- go to
bench_epilogue: --kernels FILE --cache DIR --try N --rounds N --cpu N."""
import argparse
import collections
import math
import random
import re
import subprocess

CLASSES = ("dense", "pointwise", "first", "grouped", "depthwise")


def draw(rng, kind):
    """Channels, filter's side, stride, groups and images' side."""
    side = rng.choice((7, 10, 14, 20, 28, 35, 56))
    stride = rng.choice((1, 1, 1, 2))
    if kind == "first":
        return rng.choice((1, 3, 3, 4)), rng.choice((32, 48, 64, 96)), rng.choice((3, 5, 7)), stride, 1, rng.choice((56, 96, 112))
    if kind == "depthwise":
        c = rng.randrange(3, 40) * 8
        return c, c, rng.choice((3, 3, 5)), stride, c, side
    if kind == "grouped":
        width, groups = rng.choice((4, 5, 8, 12, 16, 32)), rng.choice((4, 8, 16))
        return width * groups, width * groups, 3, stride, groups, side
    c, k = (rng.randrange(2, 33) * 8 for _ in range(2))
    return (c, k, 1, 1, 1, side) if kind == "pointwise" else (c, k, rng.choice((3, 3, 3, 5)), stride, 1, min(side, 28))


def distances(rng, first, c, k, side, out):
    words = ""
    for t, channels, s in (("x", c, side), ("y", k, out)):
        more = rng.choice((2 * channels, 3 * channels, 4 * channels, channels + 8 * rng.randrange(1, 9), channels + rng.randrange(1, 8)))
        how = rng.choice(("slice", "slice", "cut", "both"))
        if channels < 8:  # a few of a few more
            more = channels + rng.randrange(1, 4)
        if first:
            words += f" ld{t}n{more * s * s}" if how != "cut" else f" ld{t}h{s + rng.randrange(1, 5)}"
            continue
        pixel = channels if how == "cut" else more
        words += f" ld{t}w{pixel}" if how != "cut" else ""
        words += f" ld{t}h{pixel * (s + rng.randrange(1, 5))}" if how != "slice" else ""
    return words.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=4)
    parser.add_argument("--classes", nargs="*", default=CLASSES)
    parser.add_argument("--directions", nargs="*", default=["fwd", "bwd_data", "bwd_weight"])
    parser.add_argument("--dtypes", nargs="*", default=["fp32", "bf16", "int8"])
    parser.add_argument("--layout", default="nhwgc")
    parser.add_argument("--epilogue", default="")
    parser.add_argument("--bench", default="build/bench/bench_epilogue")
    parser.add_argument("rest", nargs="*")
    args = parser.parse_args()
    rng, shares = random.Random(args.seed), collections.defaultdict(list)
    for kind in args.classes:
        for direction in args.directions:
            for dtype in args.dtypes:
                for _ in range(args.count):
                    c, k, f, s, g, side = draw(rng, kind)
                    p, n = (f // 2, rng.choice((1, 2)))
                    out = (side + 2 * p - f) // s + 1
                    words = distances(rng, args.layout[1] == "g", c, k, side, out)
                    if kind == "pointwise":  # rule pitches of conv.pointwise: the result is not cut out of larger images
                        words = re.sub(r" ld" + ("x" if direction == "bwd_data" else "y") + r"h\d+", "", " " + words).strip()
                    if dtype == "int8" and direction != "fwd":
                        continue
                    text = f"conv_{direction} {dtype} {args.layout} n{n} g{g} c{c} k{k} i{side}x{side} f{f}x{f} s{s}x{s} p{p}x{p} {args.epilogue}".strip()
                    done = subprocess.run([args.bench, *args.rest, "--epilogue", words, text], capture_output=True, text=True, check=False)
                    row = re.match(r"\s*([\d.]+)\s+([\d.]+) us\s+([\d.]+)  .*\| (.*)", done.stdout)
                    if not row:
                        print(f"none: {text} {words}: {done.stderr.strip()[:200]}", flush=True)
                        continue
                    share = 1 / float(row[3])
                    shares[kind, direction, dtype].append(share)
                    print(f"{float(row[1]):9.1f} {float(row[2]):9.1f} us {share:6.3f}  {text} {words} | {row[4]}", flush=True)
    print("\nclass, direction, type: geometric mean, least, of so many; share of the dense speed")
    for key, of in shares.items():
        print(f"{' '.join(key):28} {math.exp(sum(map(math.log, of)) / len(of)):.3f} {min(of):.3f} {len(of)}")
    every = [share for of in shares.values() for share in of]
    if every:
        below = sum(share < 0.97 for share in every) / len(every)
        print(f"{'all':28} {math.exp(sum(map(math.log, every)) / len(every)):.3f} {min(every):.3f} {len(every)}, {below:.0%} below 0.97")


main()
