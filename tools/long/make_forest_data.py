#!/usr/bin/env python3
"""make_forest_data.py: data for the forest's tests and benchmark, made with LightGBM (pip install lightgbm numpy).

  make_forest_data.py test FOLDER    small models with rows and LightGBM's own raw scores (kept in tests/data/forest)
  make_forest_data.py live FOLDER    larger models of every kind, for `make test-forest`, which has LightGBM score them as it runs
  make_forest_data.py bench FOLDER   three models and a pool of 4,608 candidates with 12 problems, for bench_forest

A rows file has a line for each row: the features and, last, the score, all as hexadecimal doubles (nan, inf, -inf by name)."""
import gzip
import math
import os
import re
import struct
import sys

import lightgbm
import numpy

QUIET = {"verbose": -1, "deterministic": True, "force_row_wise": True, "num_threads": 2, "seed": 1}
# Values at which a reader of doubles may go astray; 1e-35 as a float is LightGBM's bound of zero.
AWKWARD = [0.0, -0.0, 5e-324, -5e-324, 1e-36, -1e-36, float(numpy.float32(1e-35)), math.nextafter(float(numpy.float32(1e-35)), 1),
           -float(numpy.float32(1e-35)), 1e-34, 1e300, -1e300, math.inf, -math.inf, math.nan, 2147483647.5, 2147483648.0, -0.5, -1.0, 0.5]


def train(x, y, params, rounds, categorical="auto", group=None):
    data = lightgbm.Dataset(x, y, categorical_feature=categorical, group=group, free_raw_data=False)
    return lightgbm.train({**QUIET, **params}, data, rounds)


def with_infinities(booster):
    """The model as LightGBM reads it when the first threshold of its even trees is -inf, and of its odd ones inf."""
    text = booster.model_to_string()
    head, _, rest = text.partition("\n\nTree=")
    trees, _, tail = ("Tree=" + rest).partition("end of trees")
    trees = ["Tree=" + tree for tree in trees.split("Tree=")[1:]]
    for i, tree in enumerate(trees):
        trees[i] = re.sub(r"\nthreshold=\S+", "\nthreshold=" + ("inf" if i % 2 else "-inf"), tree)
    head = re.sub(r"\ntree_sizes=.*", "\ntree_sizes=" + " ".join(str(len(tree)) for tree in trees), head)
    return lightgbm.Booster(model_str=head + "\n\n" + "".join(trees) + "end of trees" + tail)


def hexadecimal(value):
    return repr(value) if math.isnan(value) or math.isinf(value) else value.hex()


def thresholds_of(booster):
    """Each feature's thresholds, with their neighbours among the doubles."""
    found = [set() for _ in range(booster.num_feature())]
    features = []
    for line in booster.model_to_string().splitlines():
        if line.startswith("split_feature="):
            features = [int(word) for word in line[14:].split()]
        elif line.startswith("threshold="):
            for feature, word in zip(features, line[10:].split()):
                value = float(word)
                found[feature] |= {value, math.nextafter(value, math.inf), math.nextafter(value, -math.inf)}
    return [sorted(values) for values in found]


def rows_for(booster, x, count, random):
    """Rows of the training set, of which half the values are replaced by thresholds and awkward values."""
    rows = x[random.integers(0, len(x), count)].copy()
    known = thresholds_of(booster)
    for row in rows[count // 4:]:
        for i in range(len(row)):
            if random.random() < 0.5:
                pool = known[i] + AWKWARD if random.random() < 0.5 or not known[i] else known[i]
                row[i] = pool[random.integers(0, len(pool))]
    return rows


def write_case(folder, name, booster, x, random, count=160):
    text = booster.model_to_string()
    text = text[:text.index("end of trees") + len("end of trees\n")]
    if name == "numeric":  # one model as it is shipped, compressed
        with open(os.path.join(folder, name + ".lgbm.gz"), "wb") as file:
            file.write(gzip.compress(text.encode(), 9, mtime=0))
    else:
        with open(os.path.join(folder, name + ".lgbm"), "w") as file:
            file.write(text)
    rows = rows_for(booster, x, count, random)
    scores = booster.predict(rows, raw_score=True)
    with open(os.path.join(folder, name + ".rows"), "w") as file:
        for row, score in zip(rows, scores):
            file.write(" ".join(hexadecimal(float(value)) for value in [*row, score]) + "\n")


def make_tests(folder):
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(7)
    x = random.normal(size=(3000, 5))
    x[:, 1] = numpy.round(x[:, 1] * 2)
    x[:, 4] = 2.0 ** random.integers(-3, 12, 3000)
    y = x[:, 0] * x[:, 1] + numpy.sin(x[:, 2] * 2) + numpy.log(x[:, 4]) * (x[:, 3] > 0)
    write_case(folder, "numeric", train(x, y, {"objective": "regression", "num_leaves": 15}, 12), x, random)

    holes = x.copy()
    holes[random.random(holes.shape) < 0.15] = numpy.nan
    write_case(folder, "nan", train(holes, y, {"objective": "regression", "num_leaves": 15}, 8), holes, random)
    zeros = x.copy()
    zeros[random.random(zeros.shape) < 0.2] = 0
    params = {"objective": "regression", "num_leaves": 15, "zero_as_missing": True}
    write_case(folder, "zero_as_missing", train(zeros, y, params, 8), zeros, random)
    params = {"objective": "regression", "num_leaves": 15, "use_missing": False}
    write_case(folder, "no_missing", train(zeros, y, params, 8), holes, random)

    kinds = x.copy()
    kinds[:, 1] = random.integers(0, 70, 3000)
    kinds[:, 3] = random.integers(0, 4, 3000)
    target = y + (kinds[:, 1] % 7) - 2 * (kinds[:, 3] == 2)
    params = {"objective": "regression", "num_leaves": 12, "min_data_per_group": 5, "max_cat_to_onehot": 2, "cat_smooth": 1}
    write_case(folder, "categorical", train(kinds, target, params, 6, [1, 3]), kinds, random)
    kinds[random.random(kinds.shape) < 0.1] = numpy.nan
    write_case(folder, "categorical_nan", train(kinds, target, params, 6, [1, 3]), kinds, random)

    params = {"objective": "lambdarank", "num_leaves": 8, "min_data_in_leaf": 5}
    write_case(folder, "rank", train(x, (y > 0).astype(int) + (y > 2), params, 6, group=[50] * 60), x, random)
    write_case(folder, "constant", train(x, y, {"objective": "regression", "min_data_in_leaf": 4000}, 3), x, random, 8)

    # A feature with more thresholds than a byte counts, and a tree of more leaves.
    line = numpy.sort(random.normal(size=(3000, 1)), axis=0)
    noise = random.normal(size=3000)
    params = {"objective": "regression", "num_leaves": 400, "max_bin": 1500, "min_data_in_leaf": 1, "min_data_in_bin": 1,
              "min_sum_hessian_in_leaf": 0, "learning_rate": 0.5}
    write_case(folder, "many_thresholds", train(line, noise, params, 3), line, random, 990)
    # A chain: each split cuts off one leaf.
    params = {"objective": "regression", "num_leaves": 120, "max_depth": -1, "min_data_in_leaf": 1, "min_data_in_bin": 1,
              "min_sum_hessian_in_leaf": 0}
    write_case(folder, "deep", train(line, numpy.exp(6 * line[:, 0]), params, 2), line, random)

    # Whether a value is missing decides: LightGBM writes inf for "every number goes left". Of the others some become infinite by hand.
    some = x.copy()
    some[random.random(some.shape) < 0.3] = numpy.nan
    gone = numpy.isnan(some).astype(float) @ [5, -3, 2, 7, 1]
    booster = train(some, gone + 0.01 * numpy.nan_to_num(some[:, 0]), {"objective": "regression", "num_leaves": 12}, 6)
    assert "inf" in booster.model_to_string()
    write_case(folder, "infinite", with_infinities(booster), some, random)


def make_live(folder):
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(13)
    x = random.normal(size=(20000, 8))
    x[:, 1] = numpy.round(x[:, 1] * 3)
    x[:, 3] = random.integers(0, 40, len(x))
    x[:, 4] = 2.0 ** random.integers(-3, 12, len(x))
    x[:, 6] = random.integers(0, 300, len(x))
    y = x[:, 0] * x[:, 1] + numpy.sin(2 * x[:, 2]) + numpy.log(x[:, 4]) * (x[:, 5] > 0) + x[:, 3] % 5 - 2 * (x[:, 6] % 11 == 3) + x[:, 7] ** 2
    x[random.random(x.shape) < 0.1] = 0
    holes = x.copy()
    holes[random.random(x.shape) < 0.1] = numpy.nan
    for name, rows, categorical, params in (("numeric", x, [], {}), ("nan", holes, [], {}), ("zero_as_missing", holes, [], {"zero_as_missing": True}),
                                            ("no_missing", holes, [], {"use_missing": False}), ("categorical", x, [3, 6], {}),
                                            ("categorical_nan", holes, [3, 6], {"zero_as_missing": True}), ("fine", x, [], {"max_bin": 4000})):
        params = {"objective": "regression", "num_leaves": 63, "min_data_per_group": 5, "cat_smooth": 1, **params}
        train(rows, y, params, 60, categorical).save_model(os.path.join(folder, name + ".lgbm"))
    params = {"objective": "lambdarank", "num_leaves": 31}
    train(x, (y > 0).astype(int) + (y > 2), params, 60, group=[100] * 200).save_model(os.path.join(folder, "rank.lgbm"))
    params = {"objective": "regression", "num_leaves": 3000, "max_bin": 4000, "min_data_in_leaf": 1, "min_sum_hessian_in_leaf": 0}
    train(x, y, params, 4).save_model(os.path.join(folder, "large.lgbm"))


def candidates():
    """4,608 kernels of a GEMM, 20 features each."""
    rows = []
    for m in (64, 128, 256):
        for n in (64, 128, 256):
            for k in (32, 64):
                for waves_m, waves_n in ((1, 4), (2, 2), (4, 1), (2, 4)):
                    for inst in (16, 32):
                        for pipeline in range(4):
                            for scheduler in range(2):
                                for epilogue in range(2):
                                    for persistent in range(2):
                                        waves = waves_m * waves_n
                                        lds = (m + n) * k * 2 * (2 if pipeline > 1 else 1)
                                        rows.append([m, n, k, waves_m, waves_n, waves, inst, inst * inst, 8 if inst == 32 else 16, pipeline,
                                                     scheduler, epilogue, persistent, m * n, m * k, n * k, m / n, lds, 65536 // lds,
                                                     m * n / waves / inst / inst])
    return numpy.array(rows, float)


def problems(count, random):
    """30 features of a GEMM, then 8 of its target."""
    rows = []
    for _ in range(count):
        m, n, k = (2.0 ** random.uniform(4, 14) // 8 * 8 for _ in range(3))
        words = [m, n, k, m * n, m * k, n * k, m * n * k, m / n, m / k, n / k, m * n * k / (m * k + n * k + m * n), m % 64, n % 64, k % 64,
                 m % 128, n % 128, k % 128, m % 256, n % 256, min(m, n), max(m, n), min(m, n, k), max(m, n, k)]
        words += [math.log2(word + 1) for word in words[:7]]
        unit = random.integers(0, 3)
        rows.append(words + [(110, 228, 304)[unit], 4, (28, 32, 40)[unit], (1700, 2100, 2400)[unit], 64, 65536, 4096, 262144])
    return numpy.array(rows, float)


def pairs(problem, kernels):
    """25 features of a problem and each of the kernels."""
    m, n, k, units, bandwidth = problem[0], problem[1], problem[2], problem[30], problem[37] / 50
    tile_m, tile_n, tile_k, waves, lds = kernels[:, 0], kernels[:, 1], kernels[:, 2], kernels[:, 5], kernels[:, 17]
    along_m, along_n, steps = numpy.ceil(m / tile_m), numpy.ceil(n / tile_n), numpy.ceil(k / tile_k)
    tiles = along_m * along_n
    rounds = numpy.ceil(tiles / units)
    use_m, use_n, use_k = m / (along_m * tile_m), n / (along_n * tile_n), k / (steps * tile_k)
    flops = 2 * tile_m * tile_n * steps * tile_k
    traffic = tiles * steps * (tile_m + tile_n) * tile_k * 2
    time = rounds * flops / (waves * 512)
    return numpy.stack([along_m, along_n, steps, tiles, rounds, use_m, use_n, use_k, use_m * use_n * use_k, tiles / units, tiles / (rounds * units),
                        m / tile_m, n / tile_n, k / tile_k, m % tile_m, n % tile_n, k % tile_k, flops, traffic, traffic / bandwidth, time,
                        flops * tiles / traffic, tiles * waves / units, lds * numpy.minimum(tiles, units), rounds * steps], axis=1)


def speed(problem, kernels, pair, random):
    time = pair[:, 20] * (1 + 0.3 * (kernels[:, 9] == 0)) + pair[:, 19] * 0.02 + 40 * pair[:, 4] + 3 * pair[:, 24] * (1 + 0.2 * kernels[:, 10])
    return numpy.log2(problem[6] / time) + 0.1 * kernels[:, 12] * (pair[:, 4] > 2) + random.normal(0, 0.05, len(kernels))


def write_pool(path, kernels, some, columns):
    """Counts of candidates, problems, kernel, problem and pair features; then the values, each feature's together, as doubles."""
    with open(path, "wb") as file:
        file.write(struct.pack("<5q", len(kernels), len(some), kernels.shape[1], some.shape[1], columns[0].shape[1]))
        file.write(numpy.ascontiguousarray(kernels.T).tobytes())
        for problem, pair in zip(some, columns):
            file.write(problem.tobytes() + numpy.ascontiguousarray(pair.T).tobytes())


def make_bench(folder):
    os.makedirs(folder, exist_ok=True)
    random = numpy.random.default_rng(11)
    kernels = candidates()
    rows, target = [], []
    for problem in problems(500, random):
        some = kernels[random.choice(len(kernels), 100, replace=False)]
        pair = pairs(problem, some)
        rows.append(numpy.concatenate([numpy.tile(problem, (100, 1)), some, pair], axis=1))
        target.append(speed(problem, some, pair, random))
    x, y = numpy.concatenate(rows), numpy.concatenate(target)
    unseen = problems(12, random)
    write_pool(os.path.join(folder, "pool.bin"), kernels, unseen, [pairs(problem, kernels) for problem in unseen])
    for trees, leaves in ((200, 127), (400, 127), (2000, 255)):
        booster = train(x, y, {"objective": "regression", "num_leaves": leaves, "learning_rate": 0.05}, trees)
        booster.save_model(os.path.join(folder, f"model_{trees}x{leaves}.lgbm"))


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("test", "live", "bench"):
        sys.exit(__doc__)
    {"test": make_tests, "live": make_live, "bench": make_bench}[sys.argv[1]](sys.argv[2])
