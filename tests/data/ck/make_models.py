#!/usr/bin/env python3
"""make_models.py FOLDER: small models in the published folders' format, trained with LightGBM on the made-up times of make_samples.py, each with
scores.txt: problem, kernel and LightGBM's own raw score of the pair, in hexadecimal, under each target. The columns are worked out here once more
from the published formulas, apart from the C text that they test.

gemm55: the older 55 columns, TFLOP/s without logarithm, no log_targets, columns without names, three targets. gemm72: 72, logarithms, three targets.
conv83: backward data, a spec with names alone. conv97: forward in two and three dimensions."""
import gzip
import json
import math
import os
import random
import sys

import lightgbm
import numpy

PIPELINES = {"compv3": 0, "compv4": 1, "compv5": 2, "mem": 3, "preshufflev2": 4, "basic_v1": 5, "compv6": 6}
HARDWARE = {"hw_num_cus": 256, "hw_simds_per_cu": 4, "hw_total_simds": 1024, "hw_shader_engines": 32, "hw_max_clock_mhz": 2400,
            "hw_max_waves_per_cu": 32, "hw_wavefront_size": 64, "hw_lds_capacity": 65536, "hw_l1_cache_kb": 32, "hw_l2_cache_kb": 4096,
            "hw_l3_cache_kb": 262144, "hw_num_xcd": 8}


def log2(value):
    return math.log2(max(value, 1))


def remainder(extent, tile):
    rest = math.fmod(extent, tile)
    return rest / tile if rest > 0 else 1.0


def gemm_columns(problem, kernel, size):
    m, n, k = problem
    tm, tn, tk = kernel["tile"]
    moved = (m * k + k * n + m * n) * size
    lds = (tm * tk + tn * tk) * size
    tiles = [math.ceil(m / tm), math.ceil(n / tn), math.ceil(k / tk)]
    effs = [remainder(m, tm), remainder(n, tn), remainder(k, tk)]
    pads = [kernel["pipeline"] == "mem"] * 3
    needs = [m % tm != 0, n % tn != 0, k % tk != 0]
    small = [m < tm, n < tn, k < tk]
    row = {"M": m, "N": n, "K": k, "split_k": 1, "log2_M": log2(m), "log2_N": log2(n), "log2_K": log2(k), "log2_MNK": log2(m * n * k),
           "arithmetic_intensity": 2.0 * m * n * k / max(moved, 1), "aspect_ratio_mn": m / n, "aspect_ratio_mk": m / k, "aspect_ratio_nk": n / k,
           "layout": 0, "tile_m": tm, "tile_n": tn, "tile_k": tk, "warp_m": 2, "warp_n": 2, "warp_k": 1, "warp_tile_m": 32, "warp_tile_n": 32,
           "warp_tile_k": 16, "pipeline": PIPELINES[kernel["pipeline"]], "scheduler": 0, "epilogue": 1, "pad_m": pads[0], "pad_n": pads[1],
           "pad_k": pads[2], "persistent": 0, "num_warps": 4, "tile_volume": tm * tn * tk, "tile_mn": tm * tn, "lds_usage_estimate": lds,
           "lds_usage_ratio": lds / (32768 if kernel["pipeline"] == "compv4" else 65536), "num_tiles_m": tiles[0], "num_tiles_n": tiles[1],
           "num_tiles_k": tiles[2], "total_output_tiles": tiles[0] * tiles[1], "tile_eff_m": effs[0], "tile_eff_n": effs[1],
           "tile_eff_k": effs[2], "overall_tile_efficiency": effs[0] * effs[1] * effs[2], "cu_utilization": tiles[0] * tiles[1] / 256}
    later = {"ratio_M_to_tile_m": m / tm, "ratio_N_to_tile_n": n / tn, "ratio_K_to_tile_k": k / tk}
    later.update({f"problem_smaller_than_tile_{x}": small[i] for i, x in enumerate("mnk")})
    later["any_dim_too_small"] = any(small)
    later.update({f"needs_padding_{x}": needs[i] for i, x in enumerate("mnk")})
    later.update({f"has_padding_when_needed_{x}": needs[i] and pads[i] for i, x in enumerate("mnk")})
    later.update({f"missing_required_padding_{x}": needs[i] and not pads[i] for i, x in enumerate("mnk")})
    later["missing_any_required_padding"] = any(needs[i] and not pads[i] for i in range(3))
    return row, later


def conv_columns(p, kernel, size):
    n, c, k, g = p["n"], p["c"], p["k"], p["g"]
    (di, hi, wi), (z, y, x), (sd, sh, sw), (pd, ph, pw), (dd, dh, dw) = p["in"], p["filter"], p["stride"], p["pad"], p["dilation"]
    three = di > 1 or z > 1 or pd > 0
    ho, wo = [(i + 2 * q - ((f - 1) * d + 1)) // s + 1 for i, q, f, d, s in ((hi, ph, y, dh, sh), (wi, pw, x, dw, sw))]
    do = (di + 2 * pd - ((z - 1) * dd + 1)) // sd + 1 if three else 1
    sv, fv, ov = (di * hi * wi, z * y * x, do * ho * wo) if three else (hi * wi, y * x, ho * wo)
    flops = 2.0 * n * k * ov * (c / g) * fv
    moved = (n * c * sv + k * (c / g) * fv + n * k * ov) * size
    b, tm, tn = kernel["tile"]  # as their reader calls the three numbers
    gm, gn, gk = n * ov, k, int((c / g) * fv)
    tiles = [math.ceil(gm / tm), math.ceil(gn / tn), math.ceil(gk / b)]
    effs = [remainder(gm, tm), remainder(gn, tn), remainder(gk, b)]
    lds = (tm * b + tn * b) * size
    pipe = kernel["pipeline"]
    row = {"N": n, "C": c, "K": k, "G": g, "Hi": hi, "Wi": wi, "Y": y, "X": x, "stride_h": sh, "stride_w": sw, "pad_h": ph, "pad_w": pw,
           "Ho": ho, "Wo": wo, "log2_N": log2(n), "log2_C": log2(c), "log2_K": log2(k), "log2_G": log2(g), "log2_Hi": log2(hi),
           "log2_Wi": log2(wi), "log2_spatial": log2(sv), "log2_filter": log2(fv), "log2_output": log2(ov),
           "arithmetic_intensity": flops / max(moved, 1), "filter_area": fv, "is_1x1_conv": y == x == 1 and z == 1,
           "is_3x3_conv": y == x == 3 and (not three or z == 3), "channels_per_group": c / g, "aspect_ratio_hw": hi / wi,
           "aspect_ratio_filter": y / x, "is_3d": three, "Di": di, "Z": z, "Do": do, "stride_d": sd, "pad_d": pd, "dilation_h": dh,
           "dilation_w": dw, "log2_channels_per_group": log2(c / g), "log2_output_channels_per_group": log2(k / g),
           "is_depthwise": g == c == k, "group_density": g / c, "is_small_group": c / g < 16 or k / g < 16,
           "channels_product_per_group": (c / g) * (k / g), "batch_group_product": n * g, "is_small_batch_grouped": n < 8 and g > 1,
           "block_size": b, "gemm_m_per_block": tm, "gemm_n_per_block": tn, "pipeline": PIPELINES[pipe], "num_warps": b / 4,
           "tile_volume": tm * tn * b, "tile_mn": tm * tn, "lds_usage_estimate": lds,
           "lds_usage_ratio": lds / (32768 if pipe == "compv4" else 65536), "block_tile_ratio_m": tm / b, "block_tile_ratio_n": tn / b,
           "block_efficiency": min(tm, tn) / max(tm, tn), "is_compv3": pipe == "compv3", "is_compv4": pipe == "compv4",
           "is_compv5": pipe == "compv5", "is_intrawave": 1, "has_dsb": kernel["dsb"], "has_si": 0, "is_basic": 0,
           "is_compv6": pipe == "compv6", "is_mem": pipe == "mem", "gemm_m_output": gm, "gemm_n_output": gn, "gemm_k_output": gk,
           "num_tiles_m": tiles[0], "num_tiles_n": tiles[1], "num_tiles_k": tiles[2], "total_output_tiles": tiles[0] * tiles[1],
           "tile_eff_m": effs[0], "tile_eff_n": effs[1], "tile_eff_k": effs[2], "overall_tile_efficiency": effs[0] * effs[1] * effs[2],
           "cu_utilization": tiles[0] * tiles[1] / 256, "ratio_gemm_m_to_tile_m": gm / tm, "ratio_gemm_n_to_tile_n": gn / tn,
           "ratio_gemm_k_to_tile_k": gk / b, "problem_smaller_than_tile_m": gm < tm, "problem_smaller_than_tile_n": gn < tn,
           "problem_smaller_than_tile_k": gk < b}
    return row, flops, moved


NOT_IN_83 = {"is_3d", "Di", "Z", "Do", "stride_d", "pad_d", "dilation_h", "dilation_w", "is_intrawave", "has_dsb", "has_si", "is_basic",
             "is_compv6", "is_mem"}


def made_ms(blocks, tile, depth, pipeline, size):
    step = tile[0] * tile[1] * depth * 2 / (600e6 if pipeline == "mem" else 900e6)
    return 0.004 + math.ceil(blocks / 256) * max(step * (0.8 if pipeline == "compv4" and depth >= 1024 else 1), size * depth * tile[0] / 3e7) * 1e-2


def gemm_pairs(dtype, size, draw):
    for m in (1, 24, 128, 1000, 4096):
        for n in (512, 1536, 4096):
            for k in (256, 1000, 7168):
                for pipeline in ("compv3", "compv4", "mem"):
                    for tile in ((64, 64, 64), (128, 128, 32), (256, 128, 32), (128, 256, 64)):
                        kernel = {"tile": tile, "pipeline": pipeline}
                        name = (f"gemm_universal_{dtype}_rcr_{pipeline}_cshuffle_intrawave_False_False_False_False_"
                                f"{tile[0]}x{tile[1]}x{tile[2]}_2x2x1_32x32x16")
                        row, later = gemm_columns((m, n, k), kernel, size)
                        ms = made_ms(row["total_output_tiles"], tile, k, pipeline, size) * draw.uniform(0.97, 1.03)
                        yield (f"gemm {dtype} rcr m{m} n{n} k{k}", name, row, later,
                               {"tflops": 2.0 * m * n * k / (ms * 1e9), "latency": ms,
                                "bandwidth": (m * k + k * n + m * n) * size / (ms * 1e6)})


def conv_pairs(op, variant, draw, deep):
    shapes = []
    for n in (1, 8, 32):
        for c, k, g in ((64, 64, 1), (64, 256, 1), (96, 96, 96), (256, 512, 4)):
            for hi in (7, 28, 57):
                for f, s in ((1, 1), (3, 1), (3, 2), (7, 2)):
                    shapes.append({"n": n, "c": c, "k": k, "g": g, "in": (1, hi, hi + 1), "filter": (1, f, f), "stride": (1, s, s),
                                   "pad": (0, f // 2, f // 2), "dilation": (1, 1, 1)})
    for n, di in ((1, 8), (2, 5)) if deep else ():
        for d in (1, 2):
            shapes.append({"n": n, "c": 32, "k": 64, "g": 2, "in": (di, 28, 14), "filter": (3, 3, 3), "stride": (2, 1, 1), "pad": (d, d, d),
                           "dilation": (d, d, d)})
    for p in shapes:
        three = p["in"][0] > 1
        first = 0 if three else 1
        words = [f"{key}{'x'.join(str(v) for v in p[name][first:])}" for key, name in
                 (("i", "in"), ("f", "filter"), ("s", "stride"), ("p", "pad"), ("d", "dilation"))]
        text = f"{op} bf16 nhwgc n{p['n']} g{p['g']} c{p['c']} k{p['k']} {' '.join(words)}".replace("nhwgc", "ndhwgc" if three else "nhwgc")
        for pipeline in ("compv3", "compv4", "compv5", "mem"):
            for tile in ((64, 64, 64), (128, 128, 32), (16, 64, 64)):
                kernel = {"tile": tile, "pipeline": pipeline, "dsb": pipeline == "compv4"}
                name = (f"grouped_conv_{variant}_bf16_{3 if three else 2}d_{tile[0]}x{tile[1]}x{tile[2]}_{pipeline}_intrawave" +
                        ("_dsb" if kernel["dsb"] else ""))
                row, flops, moved = conv_columns(p, kernel, 2)
                ms = made_ms(row["total_output_tiles"], tile, row["gemm_k_output"], pipeline, 2) * draw.uniform(0.97, 1.03)
                yield text, name, row, {}, {"tflops": flops / (ms * 1e9), "latency": ms, "bandwidth": moved / (ms * 1e6)}


def write_model(folder, pairs, names, spec, logs, targets, categorical, named, draw):
    os.makedirs(folder, exist_ok=True)
    rows = [{**row, **later, **HARDWARE} for _, _, row, later, _ in pairs]
    x = numpy.array([[float(row[name]) for name in names] for row in rows])
    shown = draw.sample(range(len(pairs)), 60)
    lines = [f"{pairs[i][0]}|{pairs[i][1]}" for i in shown]
    for target in targets:
        y = numpy.array([pair[4][target] for pair in pairs])
        y = numpy.log1p(y) if target in logs else y
        data = lightgbm.Dataset(x, y, feature_name=list(names) if named else "auto",
                                categorical_feature=[names.index(name) for name in categorical])
        booster = lightgbm.train({"objective": "regression", "num_leaves": 12, "learning_rate": 0.2, "min_data_in_leaf": 5, "verbose": -1,
                                  "feature_fraction": 0.6, "deterministic": True, "force_row_wise": True, "num_threads": 1, "seed": 42,
                                  "min_data_per_group": 5, "cat_smooth": 1.0, "max_cat_to_onehot": 1}, data, 12)
        text = booster.model_to_string()
        with open(f"{folder}/model_{target}.lgbm.gz", "wb") as out:
            out.write(gzip.compress(text.encode(), 9, mtime=0))
        scores = lightgbm.Booster(model_str=text).predict(x[shown], raw_score=True)
        lines = [f"{line}|{float(score).hex()}" for line, score in zip(lines, scores)]
    with open(f"{folder}/feature_spec.json", "w") as out:
        json.dump({**spec, "feature_names": list(names)}, out, indent=1)
        out.write("\n")
    with open(f"{folder}/train_manifest.json", "w") as out:
        json.dump({"warm_start_from": None, "prev_n_estimators": 0, "new_n_estimators": 12, "total_n_estimators": 12, "data_rows": len(pairs),
                   "valid_rows": len(pairs), "unique_shapes": len({pair[0] for pair in pairs}), "timestamp": "made"}, out, indent=1)
        out.write("\n")
    with open(f"{folder}/scores.txt", "w") as out:
        out.write("\n".join(lines) + "\n")


def main():
    root = sys.argv[1]
    draw = random.Random(7)
    three = ["tflops", "latency", "bandwidth"]
    gemm_codes = ["layout", "pipeline", "scheduler", "epilogue"]
    fp8, fp16 = list(gemm_pairs("fp8", 1, draw)), list(gemm_pairs("fp16", 2, draw))
    base, later = list(fp8[0][2]), list(fp8[0][3])
    gemm = {"op_type": "gemm_universal", "arch": "gfx950", "categorical_features": gemm_codes, "targets": three}
    write_model(f"{root}/gemm_universal_fp8_gfx950", fp8, base + list(HARDWARE), {**gemm, "dtype": "fp8"}, [], three, gemm_codes, False, draw)
    write_model(f"{root}/gemm_universal_fp16_gfx950", fp16, base + later + list(HARDWARE),
                {**gemm, "dtype": "fp16", "log_targets": ["bandwidth", "tflops"]}, ["tflops", "bandwidth"], three, gemm_codes, False, draw)
    conv = {"op_type": "grouped_conv", "dtype": "bf16", "arch": "gfx950"}
    data, forward = list(conv_pairs("conv_bwd_data", "bwd_data", draw, False)), list(conv_pairs("conv_fwd", "forward", draw, True))
    columns = list(forward[0][2])
    write_model(f"{root}/grouped_conv_bwd_data_bf16_gfx950", data, [c for c in columns if c not in NOT_IN_83] + list(HARDWARE), conv,
                ["tflops"], ["tflops"], ["pipeline"], True, draw)
    write_model(f"{root}/grouped_conv_forward_bf16_gfx950", forward, columns + list(HARDWARE),
                {**conv, "categorical_features": ["pipeline"], "targets": ["tflops"], "log_targets": ["tflops"]}, ["tflops"], ["tflops"],
                ["pipeline"], True, draw)


main()
