#!/usr/bin/env python3
"""make_samples.py FOLDER: writes small files in the formats of CK Tile's benchmarks, with times by a made-up rule that published features can learn.

gemm_fp16_rcr.json: the benchmark generator's JSON; gemm_fp8_rcr.log: a log of runs; conv_forward_bf16.csv: the 24 columns. The same every time."""
import json
import math
import os
import sys

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def gemm_kernels(dtype):
    for pipeline in ("compv3", "compv4", "mem"):
        for tile in ((64, 64, 64), (128, 128, 32), (256, 128, 32), (128, 256, 64)):
            name = (f"gemm_universal_{dtype}_rcr_{pipeline}_cshuffle_intrawave_False_False_False_False_"
                    f"{tile[0]}x{tile[1]}x{tile[2]}_2x2x1_32x32x16")
            yield name, pipeline, tile


def gemm_ms(pipeline, tile, m, n, k):
    """Padding of tiles costs, small tiles read more, compv4 gains on depth."""
    blocks = math.ceil(m / tile[0]) * math.ceil(n / tile[1])
    rounds = math.ceil(blocks / 256)
    step = 2.0 * tile[0] * tile[1] * k / (600e6 if pipeline == "mem" else 1000e6)
    reread = (tile[0] + tile[1]) * k * 2 / 60e6
    gain = 0.85 if pipeline == "compv4" and k >= 2048 else 1.0
    return round(0.004 + rounds * max(step * gain, reread) * 1e-2, 6)


SHAPES = [(m, n, k) for m in (1, 16, 128, 1024, 4096) for n in (512, 4096) for k in (256, 2048, 7168)]


def gemm_json():
    results = []
    for name, pipeline, tile in gemm_kernels("fp16"):
        benchmarks = []
        for m, n, k in SHAPES:
            ms = gemm_ms(pipeline, tile, m, n, k)
            valid = not (pipeline == "compv4" and tile[0] == 256 and m == 1)
            benchmarks.append({"kernel_name": name, "m": m, "n": n, "k": k, "avg_time_ms": ms if valid else 0.0,
                               "tflops": round(2.0 * m * n * k / (ms * 1e9), 6) if valid else 0.0, "is_valid": valid,
                               "error": None if valid else "arguments not supported"})
        results.append({"kernel_config": {"name": name, "dtype": "fp16", "layout": "rcr", "pipeline": pipeline, "epilogue": "cshuffle",
                                          "scheduler": "intrawave", "pad_m": False, "pad_n": False, "pad_k": False, "persistent": False,
                                          "tile_m": tile[0], "tile_n": tile[1], "tile_k": tile[2], "warp_m": 2, "warp_n": 2, "warp_k": 1,
                                          "warp_tile_m": 32, "warp_tile_n": 32, "warp_tile_k": 16},
                        "benchmarks": benchmarks})
    return {"metadata": {"dtype": "fp16", "layout": "rcr", "num_kernels": len(results), "num_problems": len(SHAPES), "warmup": 10,
                         "repeat": 50, "timestamp": "made"},
            "problem_sizes": [{"m": m, "n": n, "k": k} for m, n, k in SHAPES], "results": results}


def gemm_log(file):
    file.write("Running 12 kernels\n")
    for i, (m, n, k) in enumerate(SHAPES):
        file.write(f"Shape {i}: M={m} N={n} K={k} dtype=fp8 layout=rcr\n")
        for name, pipeline, tile in gemm_kernels("fp8"):
            ms = gemm_ms(pipeline, tile, m, n, k) * 0.6
            block = {"name": name,
                     "problem": {"split_k": 1, "m": m, "n": n, "k": k, "stride_a": k, "dtype_a": "fp8", "dtype_b": "fp8", "dtype_acc": "fp32",
                                 "dtype_c": "fp16", "layout_a": "RowMajor", "layout_b": "ColumnMajor", "layout_c": "RowMajor"},
                     "perf_result": {"latency(ms)": round(ms, 6), "tflops(TFlops)": round(2.0 * m * n * k / (ms * 1e9), 6),
                                     "bandwidth(GB/s)": round((m * k + k * n + 2 * m * n) / (ms * 1e6), 3)}}
            file.write(json.dumps(block, indent=1) + "\n")
        file.write("done {1 of 1}\n")


def conv_csv(file):
    file.write("kernel,problem_idx,N,C,K,G,Di,Hi,Wi,Z,Y,X,stride_d,stride_h,stride_w,pad_d,pad_h,pad_w,dilation_d,dilation_h,dilation_w,"
               "latency_ms,tflops,non_zero\n")
    index = 0
    for n in (1, 8, 32):
        for c, k in ((64, 64), (64, 256), (256, 512)):
            for hi in (7, 28, 56):
                for f in (1, 3):
                    for pipeline in ("compv3", "compv4", "compv5"):
                        for tile in ((64, 64, 64), (128, 128, 32), (16, 64, 64)):
                            name = f"grouped_conv_forward_bf16_2d_{tile[0]}x{tile[1]}x{tile[2]}_{pipeline}_intrawave" + (
                                "_dsb" if pipeline == "compv4" else "")
                            ms = round(gemm_ms(pipeline, tile, n * hi * hi, k, c * f * f), 6)
                            flops = 2.0 * n * k * hi * hi * c * f * f
                            fails = pipeline == "compv5" and hi == 7 and tile[0] == 128
                            file.write(f"{name},{index},{n},{c},{k},1,1,{hi},{hi},1,{f},{f},1,1,1,0,{f // 2},{f // 2},1,1,1,")
                            file.write("N/A,0,0\n" if fails else f"{ms:.6f},{flops / (ms * 1e9):.6f},{n * k * hi * hi}\n")
                    index += 1


with open(f"{folder}/gemm_fp16_rcr.json", "w") as out:
    json.dump(gemm_json(), out)
    out.write("\n")
with open(f"{folder}/gemm_fp8_rcr.log", "w") as out:
    gemm_log(out)
with open(f"{folder}/conv_forward_bf16.csv", "w") as out:
    conv_csv(out)
