"""peer_problems.py: the problems of bench/peer/gpu_vs_peer.py, drawn afresh by class from a seed, as the library's problem texts."""
import math
import random

CONV_CLASSES = ("dense", "pointwise", "ragged", "first", "grouped", "depthwise")
GEMM_CLASSES = ("squares", "large", "decode", "skinny", "deep", "odd", "fp8")
MORE_CLASSES = ("narrow", "few")  # by name alone: 1x1 layers of few channels, products of 1 to 48 rows or columns in every layout
CLASSES = CONV_CLASSES + GEMM_CLASSES
DIRECTIONS = ("conv_fwd", "conv_bwd_data", "conv_bwd_weight")
BYTES_MAX, FLOP_MAX = 600e6, 4e11


def between(r, low, high, step=1):
    """Uniform in the logarithm, a multiple of step."""
    value = math.exp(r.uniform(math.log(low), math.log(high)))
    return max(step, round(value / step) * step)


def conv_text(op, n, g, c, k, image, taps, stride, pad, dilation=1):
    def axes(values):
        return "x".join(str(v) for v in values)

    layout = "nhwgc" if len(image) == 2 else "ndhwgc"
    count = len(image)
    return (f"{op} bf16 {layout} n{n} g{g} c{c} k{k} i{axes(image)} f{axes(taps)} s{axes([stride] * count)} p{axes(pad)} "
            f"d{axes([dilation] * count)}")


def fits(n, c, k, g, image, taps, stride, pad, dilation):
    out = [(i + 2 * p - dilation * (t - 1) - 1) // stride + 1 for i, t, p in zip(image, taps, pad)]
    if min(out) < 1:
        return False
    pixels, results = n * math.prod(image), n * math.prod(out)
    return 2 * (pixels * c + results * k) <= BYTES_MAX and 2 * results * k * c // g * math.prod(taps) <= FLOP_MAX


def conv_shape(r, kind):
    n, g, stride, dilation = r.choice((1, 1, 2, 4, 8, 16, 32, 64)), 1, 1, 1
    image = [between(r, 7, 128), 0]
    image[1] = image[0] if r.random() < 0.7 else between(r, 7, 128)
    taps = [r.choice((3, 3, 3, 5, 7))] * 2
    c, k = between(r, 32, 1024, 32), between(r, 32, 1024, 32)
    if kind == "dense":
        stride = r.choice((1, 1, 1, 2))
        if r.random() < 0.15:
            image, taps = [between(r, 4, 32), between(r, 7, 48), between(r, 7, 48)], [3, 3, 3]
        elif r.random() < 0.1:
            dilation = 2
    elif kind == "pointwise":
        n, taps, stride = r.choice((1, 4, 16, 32, 64, 128)), [1, 1], r.choice((1, 1, 1, 1, 1, 1, 2))
        c, k = between(r, 32, 2048, 16), between(r, 32, 2048, 16)
    elif kind == "narrow":
        taps, stride, image = [1, 1], r.choice((1, 1, 1, 2)), [between(r, 28, 160)] * 2
        c, k = between(r, 8, 96, r.choice((1, 8, 8))), between(r, 8, 256, r.choice((1, 8, 8)))
    elif kind == "ragged":
        taps = [r.choice((1, 3, 3, 5))] * 2
        c, k = (v + (v % 8 == 0) for v in (between(r, 10, 700), between(r, 10, 700)))
    elif kind == "first":
        c, k, taps = r.choice((1, 3, 3, 3, 4)), between(r, 16, 128, 8), [r.choice((3, 3, 4, 5, 7, 7))] * 2
        image, stride = [between(r, 96, 384)] * 2, 4 if taps[0] == 4 else r.choice((1, 2, 2))
    elif kind == "grouped":
        g, each = r.choice((2, 4, 8, 16, 32, 64)), r.choice((4, 8, 12, 16, 24, 32, 64))
        c, taps, stride = g * each, [3, 3], r.choice((1, 1, 1, 2))
        k = c
    elif kind == "depthwise":
        g = c = k = between(r, 32, 1024, 8)
        stride = r.choice((1, 1, 1, 2))
    pad = [0 if kind == "first" and taps[0] == 4 else (t - 1) // 2 * dilation for t in taps]
    return (n, g, c, k, image, taps, stride, pad, dilation)


def draw_conv(r, kind):
    while True:
        n, g, c, k, image, taps, stride, pad, dilation = conv_shape(r, kind)
        if fits(n, c, k, g, image, taps, stride, pad, dilation):
            return [conv_text(op, n, g, c, k, image, taps, stride, pad, dilation) for op in DIRECTIONS]


def draw_gemm(r, kind):
    layout = r.choice(("rcr", "rcr", "rrr", "crr", "ccr"))
    m, n, k = (between(r, 1024, 8192, 64) for _ in range(3))
    if kind == "decode":
        layout, m, n, k = "rcr", between(r, 1, 64), between(r, 1024, 16384, 128), between(r, 1024, 16384, 128)
    elif kind == "skinny":
        few, many, k = between(r, 8, 128, 8), between(r, 2048, 65536, 8), between(r, 64, 4096, 8)
        m, n = (few, many) if r.random() < 0.5 else (many, few)
    elif kind == "few":
        few, many, k = between(r, 1, 48), between(r, 256, 32768, 8), between(r, 128, 16384, 8)
        m, n = (few, many) if r.random() < 0.5 else (many, few)
    elif kind == "deep":
        m, n, k = between(r, 16, 512, 8), between(r, 16, 512, 8), between(r, 16384, 131072, 64)
    elif kind == "odd":
        m, n, k = (between(r, 64, 4096) | 1 for _ in range(3))
    elif kind == "fp8":
        layout = "rcr"
    fast = kind == "fp8"  # both sides leave sums to the instruction, as cuBLAS does where it is permitted
    return [f"gemm {'fp8' if fast else 'bf16'} {layout} b1 m{m} n{n} k{k}{' fpmath=fast_accum' if fast else ''}"]


def squares():
    return [[f"gemm bf16 {layout} b1 m{s} n{s} k{s}"] for layout in ("rcr", "rrr") for s in (4096, 8192)]


def layers(path):
    """The lines of a problem list, in three directions."""
    out = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.split("#")[0].strip()
            if line:
                text = line.split(":", 1)[1].strip() if ":" in line.split()[0] else line
                out.append(["%s %s" % (op, text.split(" ", 1)[1]) for op in DIRECTIONS])
    return out


def class_of_layer(text):
    words = {w[0]: w[1:] for w in text.split()[3:]}
    if int(words.get("g", 1)) > 1:
        return "layers: depthwise" if words["g"] == words["c"] else "layers: grouped"
    return "layers: pointwise" if set(words["f"]) <= set("1x") else "layers: dense"


def draw(seed, counts, layer_list=None):
    """(class, text) of all problems, the classes in turns, so that a run that is cut short has some of each. counts: of a class, a dict."""
    queues = []
    for kind, count in counts.items():
        r = random.Random(f"{seed} {kind}")
        one = draw_conv if kind in CONV_CLASSES + MORE_CLASSES[:1] else draw_gemm
        made = squares()[:count] if kind == "squares" else [one(r, kind) for _ in range(count)]
        queues.append([(kind, text) for texts in made for text in texts])
    if layer_list:
        queues.append([(class_of_layer(text), text) for texts in layers(layer_list) for text in texts])
    order = [((i + 0.5) / len(q), j, item) for j, q in enumerate(queues) for i, item in enumerate(q)]
    return [item for _, _, item in sorted(order)]
