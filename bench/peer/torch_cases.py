"""torch_cases.py: problems of a CPU drawn by class, with their tensors and PyTorch's ways to do them (bench/peer/cpu_vs_torch.py)."""
import collections

import torch

# line: of our library; writes: which of x, w, y; ways: makers of functions; reference: None, or the exact result.
Case = collections.namedtuple("Case", "name line flops x w y writes ways reference")

TORCH_TYPES = {"bf16": torch.bfloat16, "fp32": torch.float32, "int8": torch.int8, "uint8": torch.uint8}


def values(shape, kind):
    if kind == "int8":
        return torch.randint(-128, 128, shape, dtype=torch.int8)
    if kind == "uint8":
        return torch.randint(0, 256, shape, dtype=torch.uint8)
    return torch.randn(shape).to(TORCH_TYPES[kind])


def words_of(kind):
    """Our type, and what else the line says: uint8 is int8 with x unsigned."""
    return ("int8", " x=uint8") if kind == "uint8" else (kind, "")


def result_type(kind):
    return torch.int32 if kind in ("int8", "uint8") else TORCH_TYPES[kind]


def product(kind, draw, few=False):
    m = draw.choice([1, 4, 8, 16, 50, 77, 128, 197, 384, 512, 1024, 2048, 4096])
    n, k = draw.choice([256, 384, 768, 1000, 1024, 2304, 3072, 4096]), draw.choice([192, 256, 333, 768, 1024, 2048, 3072, 4096])
    while m * n * k > 1 << 33:
        m //= 2
    if few:  # weights of 2 to 64 million values
        m, n, k = draw.randint(1, 8), draw.choice([1024, 2048, 4096, 8192]), draw.choice([2048, 4096, 5120, 8192])
    a, w = values((m, k), kind), values((n, k), "int8" if kind == "uint8" else kind)
    y = torch.empty((m, n), dtype=result_type(kind))
    ours, more = words_of(kind)

    def packed():
        ops = torch.ops.mkldnn
        weight = ops._reorder_linear_weight(w, m) if hasattr(ops, "_reorder_linear_weight") else w.to_mkldnn()
        return lambda: ops._linear_pointwise(a, weight, None, "none", [], "")

    def quantized():
        weight = torch.ops.onednn.qlinear_prepack(w, [m, k])
        scales, zeros = torch.ones(n), torch.zeros(n, dtype=torch.int64)
        return lambda: torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, weight, scales, zeros, None, 1.0, 0, torch.float32, "none", [], "")

    ways = {"int8": [lambda: lambda: torch._int_mm(a, w.t()), quantized], "uint8": [quantized]}.get(
        kind, [lambda: lambda: torch.nn.functional.linear(a, w), packed])
    name = f"m{m} n{n} k{k}"
    return Case(name, f"gemm {ours} rcr {name}{more}", 2.0 * m * n * k, a, w, y, "y", ways, lambda: a.double() @ w.double().t())


def draw_sizes(draw, taps, shape):
    """Images, extent, c, k, groups."""
    n, image = draw.choice([1, 1, 4, 8]), draw.choice([7, 14, 20, 28, 40, 56])
    if shape == "first":
        return n, draw.choice([112, 160, 224]), 3, draw.choice([32, 64, 96]), 1
    c, k = draw.choice([64, 96, 128, 152, 256, 512]), draw.choice([64, 96, 128, 200, 256, 512])
    if shape == "depthwise":
        return n, image, c, c, c
    groups = draw.choice([2, 4, 8, 32]) if shape == "grouped" else 1
    if groups > 1:
        c, k = [(v + groups - 1) // groups * groups for v in (c, k)]
    while n * image * image * c // groups * k * taps * taps > 1 << 32:
        n = max(n // 2, 1)
        c = c // 2 if n == 1 else c
    return n, image, c, k, groups


def convolution(kind, draw, taps, op="conv_fwd", shape="dense"):
    n, image, c, k, groups = draw_sizes(draw, taps, shape)
    stride = draw.choice([1, 1, 1, 2]) if taps == 3 and op == "conv_fwd" and shape == "dense" else 2 if shape == "first" else 1
    pad = taps // 2
    out = (image + 2 * pad - taps) // stride + 1
    last = torch.channels_last
    x = values((n, c, image, image), kind).to(memory_format=last)
    w = values((k, c // groups, taps, taps), "int8" if kind == "uint8" else kind).to(memory_format=last)
    y = torch.empty((n, k, out, out), dtype=result_type(kind)).to(memory_format=last)
    ours, more = words_of(kind)
    group = f" g{groups}" if groups > 1 else ""
    name = f"n{n}{group} c{c} k{k} i{image}x{image} f{taps}x{taps} s{stride}x{stride} p{pad}x{pad}"
    line, flops = f"{op} {ours} nhwgc {name}{more}", 2.0 * n * k * out * out * c // groups * taps * taps
    dims = ([stride] * 2, [pad] * 2, [1] * 2)

    def packed():
        weight = torch.ops.mkldnn._reorder_convolution_weight(w, dims[1], dims[0], dims[2], groups, list(x.shape))
        return lambda: torch.ops.mkldnn._convolution_pointwise(x, weight, None, dims[1], dims[0], dims[2], groups, "none", [], "")

    def quantized(unsigned=False):
        source = (x.int() + 128).to(torch.uint8).to(memory_format=last) if unsigned else x
        weight = torch.ops.onednn.qconv_prepack(w, torch.ones(k), 1.0, 0, *dims, groups, list(x.shape))
        scales, zeros = torch.ones(k), torch.zeros(k, dtype=torch.int64)
        return lambda: torch.ops.onednn.qconv_pointwise(source, 1.0, 0, weight, scales, zeros, None, *dims, groups, 1.0, 0, torch.float32,
                                                        "none", [], "")

    if op != "conv_fwd":
        y.copy_(values(y.shape, kind))
        wanted = [op == "conv_bwd_data", op == "conv_bwd_weight", False]
        exact = lambda: torch.ops.aten.convolution_backward(y.double(), x0, w0, None, *dims, False, [0, 0], groups, wanted)
        x0, w0 = x.double(), w.double()
        back = lambda: lambda: torch.ops.aten.convolution_backward(y, x1, w1, None, *dims, False, [0, 0], groups, wanted)
        x1, w1 = x.clone(memory_format=last), w.clone(memory_format=last)  # ours writes into x or w
        written = "x" if op == "conv_bwd_data" else "w"
        return Case(name, line, flops, x, w, y, written, [back], lambda: exact()[written == "w"])
    ways = {"int8": [quantized, lambda: quantized(True)], "uint8": [quantized]}.get(
        kind, [lambda: lambda: torch.nn.functional.conv2d(x, w, None, *dims, groups), packed])
    reference = lambda: torch.nn.functional.conv2d(x.double(), w.double(), None, *dims, groups)
    return Case(name, line, flops, x, w, y, "y", ways, reference)


CLASSES = {
    "product": product,
    "few rows": lambda t, d: product(t, d, few=True),
    "pointwise": lambda t, d: convolution(t, d, 1),
    "dense": lambda t, d: convolution(t, d, 3),
    "grouped": lambda t, d: convolution(t, d, 3, shape="grouped"),
    "depthwise": lambda t, d: convolution(t, d, 3, shape="depthwise"),
    "first": lambda t, d: convolution(t, d, 7, shape="first"),
    "pointwise data": lambda t, d: convolution(t, d, 1, "conv_bwd_data"),
    "dense data": lambda t, d: convolution(t, d, 3, "conv_bwd_data"),
    "pointwise weight": lambda t, d: convolution(t, d, 1, "conv_bwd_weight"),
    "dense weight": lambda t, d: convolution(t, d, 3, "conv_bwd_weight"),
}
