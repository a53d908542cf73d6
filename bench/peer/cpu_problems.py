"""cpu_problems.py: the problems of bench/peer/cpu_vs_peer.py, drawn afresh by class from a seed, as the library's problem texts."""
import math
import random

import network_layers
from peer_problems import between

DIRECTIONS = ("conv_fwd", "conv_bwd_data", "conv_bwd_weight")
FLOP_MIN, FLOP_MAX, BYTES_MAX = 2e6, 8e8, 1.5e8
LAYOUTS = {1: "nwgc", 2: "nhwgc", 3: "ndhwgc"}


class Conv:
    """A convolution in the making: what a class does not set is an ordinary 2D layer's."""

    def __init__(self, r):
        self.n, self.g = r.choice((1, 1, 1, 2, 4, 8)), 1
        self.c, self.k = between(r, 16, 512, 16), between(r, 16, 512, 16)
        self.image = [between(r, 7, 112), between(r, 7, 112)]
        if r.random() < 0.6:
            self.image[1] = self.image[0]
        self.taps, self.stride, self.dilation, self.pad = [3, 3], [1, 1], [1, 1], None
        self.flop_max = FLOP_MAX

    def fill(self):
        axes = len(self.image)
        self.stride, self.dilation = (self.stride * axes)[:axes], (self.dilation * axes)[:axes]
        if self.pad is None:
            self.pad = [(t - 1) // 2 * d for t, d in zip(self.taps, self.dilation)]

    def outputs(self):
        zipped = zip(self.image, self.pad, self.dilation, self.taps, self.stride)
        return [(i + 2 * p - d * (t - 1) - 1) // s + 1 for i, p, d, t, s in zipped]

    def fits(self):
        out = self.outputs()
        if min(out) < 1:
            return False
        flop = 2 * self.n * math.prod(out) * self.k * self.c // self.g * math.prod(self.taps)
        size = 4 * self.n * (math.prod(self.image) * self.c + math.prod(out) * self.k)
        return FLOP_MIN <= flop <= self.flop_max and size <= BYTES_MAX

    def text(self, op, dtype):
        def axes(values):
            return "x".join(str(v) for v in values)

        return (f"{op} {dtype} {LAYOUTS[len(self.image)]} n{self.n} g{self.g} c{self.c} k{self.k} i{axes(self.image)} f{axes(self.taps)} "
                f"s{axes(self.stride)} p{axes(self.pad)} d{axes(self.dilation)}")


def ragged(r, low, high):
    """A count of channels that fills no vector."""
    value = between(r, low, high)
    return value + (value % 8 == 0)


def dense(r, p):
    p.taps = [r.choice((3, 3, 3, 5))] * 2
    p.stride = [r.choice((1, 1, 1, 2))]


def pointwise(r, p):
    p.taps, p.stride = [1, 1], [r.choice((1, 1, 1, 1, 2))]
    p.c, p.k = between(r, 16, 1024, 8), between(r, 16, 1024, 8)


def grouped(r, p):
    each, p.stride = r.randint(2, 64), [r.choice((1, 1, 2))]
    p.g = between(r, 2, max(2, 768 // each))
    p.c = p.k = p.g * each
    p.taps = [r.choice((3, 3, 3, 5))] * 2


def uneven(r, p):
    c, k = r.randint(2, 48), r.randint(2, 48)
    p.g, p.stride = between(r, 2, max(2, 512 // max(c, k))), [r.choice((1, 1, 2))]
    p.c, p.k = p.g * c, p.g * (k + (c == k))


def depthwise(r, p):
    p.g = p.c = p.k = r.choice((between(r, 3, 32), between(r, 16, 960, 8), between(r, 16, 960)))
    taps = r.choice((2, 3, 3, 3, 4, 5, 5, 6, 7, 9))
    p.taps, p.stride = r.choice(([taps, taps], [taps, taps], [taps, taps], [1, taps], [taps, 1])), [r.choice((1, 1, 1, 2, 2, 3))]


def few_channels(r, p):
    depthwise(r, p)
    p.g = p.c = p.k = between(r, 2, 48)


def multiplier(r, p):
    p.g = p.c = between(r, 8, 256, r.choice((1, 8)))
    p.k = p.c * r.choice((2, 2, 3, 4, 6))
    p.taps, p.stride = [r.choice((3, 3, 5))] * 2, [r.choice((1, 1, 2))]


def dilated(r, p):
    p.dilation = [r.choice((2, 2, 3, 4, 6))]
    kind = r.random()
    if kind < 0.3:
        p.g = p.c = p.k = between(r, 16, 512)
    elif kind < 0.5:
        grouped(r, p)
        p.stride = [1]


def ragged_channels(r, p):
    p.c, p.k = ragged(r, 5, 400), ragged(r, 5, 400)
    p.taps, p.stride = [r.choice((1, 1, 3, 3, 5))] * 2, [r.choice((1, 1, 1, 2))]


def small_images(r, p):
    p.image = [r.randint(1, 8), r.randint(1, 8)]
    p.taps, p.stride = [r.choice((1, 3, 3, 5))] * 2, [r.choice((1, 1, 2))]
    p.c, p.k = between(r, 32, 1024, r.choice((1, 8, 16))), between(r, 32, 1024, r.choice((1, 8, 16)))


def large_filters(r, p):
    p.c, p.k = between(r, 1, 48), between(r, 4, 96)
    p.taps = [r.randint(7, 31), r.choice((0, 0, r.randint(1, 31)))]
    p.taps[1] = p.taps[1] or p.taps[0]
    p.image, p.stride = [between(r, 16, 128), between(r, 16, 128)], [r.choice((1, 1, 2, 4))]


def first_layers(r, p):
    p.c, p.k, p.taps = r.choice((1, 2, 3, 3, 3, 4)), between(r, 16, 128, 8), [r.choice((3, 3, 4, 5, 7, 11, 16))] * 2
    p.image, p.stride = [between(r, 64, 256)] * 2, [r.choice((1, 2, 2, 3, 4))]


def wide_padding(r, p):
    p.image = [between(r, 3, 24), between(r, 3, 24)]
    p.taps = [r.choice((3, 5, 7))] * 2
    p.pad = [r.randint(3, 12), r.randint(3, 12)]


def line(r, p):
    p.image, p.taps = [between(r, 32, 8192)], [r.choice((1, 3, 5, 9, 15, 31))]
    p.stride, p.dilation = [r.choice((1, 1, 2, 4))], [r.choice((1, 1, 1, 2))]
    if r.random() < 0.25:
        p.g = p.k = p.c


def volume(r, p):
    p.n, p.image = r.choice((1, 1, 2)), [between(r, 4, 24), between(r, 6, 40), between(r, 6, 40)]
    p.taps, p.stride = r.choice(([3, 3, 3], [3, 3, 3], [1, 1, 1], [3, 1, 1], [1, 3, 3])), [r.choice((1, 1, 1, 2))]
    p.c, p.k = between(r, 8, 192, 8), between(r, 8, 192, 8)
    if r.random() < 0.25:
        p.g = p.k = p.c


def network(r, p):
    """A layer of some network, which may have more operations than drawn ones."""
    words = r.choice(network_layers.CONVOLUTIONS[r.choice(tuple(network_layers.CONVOLUTIONS))]).split()
    size = {word[0]: [int(v) for v in word[1:].split("x")] for word in words}
    (p.g,), (p.c,), (p.k,), p.n, p.flop_max = size["g"], size["c"], size["k"], 1, 20 * FLOP_MAX
    p.image, p.taps, p.stride, p.pad, p.dilation = (size[name] for name in "ifspd")
    p.stride, p.dilation = (values * len(p.image) if len(values) == 1 else values for values in (p.stride, p.dilation))


def gemm_sizes(r, kind):
    layout = r.choice(("rcr", "rcr", "rrr"))
    if kind == "network":
        return layout, *r.choice(network_layers.PRODUCTS)
    if kind == "decode":
        return "rcr", r.randint(1, 8), between(r, 256, 8192, 32), between(r, 256, 8192, 32)
    if kind == "few rows":
        return layout, between(r, 9, 96), between(r, 64, 4096), between(r, 64, 4096)
    if kind == "few columns":
        return layout, between(r, 64, 8192), between(r, 1, 32), between(r, 64, 4096)
    if kind == "deep":
        return layout, between(r, 8, 256), between(r, 8, 256), between(r, 2048, 65536, 16)
    if kind == "long rows":
        return layout, between(r, 64, 4096), between(r, 64, 2048), between(r, 1024, 4096, 16)
    if kind == "transposed":
        return r.choice(("crr", "ccr")), between(r, 16, 1024), between(r, 1, 512), between(r, 16, 4096)
    if kind == "odd":
        return r.choice(("rcr", "rrr", "crr", "ccr")), between(r, 33, 900) | 1, between(r, 33, 900) | 1, between(r, 33, 900) | 1
    return layout, between(r, 64, 1024), between(r, 64, 1024), between(r, 64, 1024)


CONVOLUTIONS = {
    "dense": dense, "pointwise": pointwise, "3D": volume, "1D": line, "grouped": grouped, "C/G unlike K/G": uneven,
    "depthwise": depthwise, "multiplier": multiplier, "dilated": dilated, "ragged channels": ragged_channels,
    "small images": small_images, "large filters": large_filters, "first layers": first_layers, "wide padding": wide_padding,
}
GEMMS = ("product: usual", "product: decode", "product: few rows", "product: few columns", "product: deep")
CLASSES = tuple(CONVOLUTIONS) + GEMMS
MORE_CONVOLUTIONS = {"depthwise of few channels": few_channels, "network": network}  # by name alone, as the products
MORE_CLASSES = tuple(MORE_CONVOLUTIONS) + ("product: long rows", "product: transposed", "product: odd", "product: network")


def draw_conv(r, kind):
    while True:
        p = Conv(r)
        (CONVOLUTIONS | MORE_CONVOLUTIONS)[kind](r, p)
        p.fill()
        if p.fits():
            return p


def draw_gemm(r, kind):
    while True:
        layout, m, n, k = gemm_sizes(r, kind.split(": ")[1])
        if kind == "product: network" or FLOP_MIN <= 2 * m * n * k <= FLOP_MAX:
            return f"{layout} b1 m{m} n{n} k{k}"


def types_of(dtype):
    """The type's word and those behind a problem's sizes: uint8 is int8 whose x is unsigned."""
    return ("int8", " x=uint8") if dtype == "uint8" else (dtype, "")


def directions_of(dtype, directions):
    """Integers have no gradients."""
    return [op for op in directions if op == "conv_fwd" or dtype not in ("int8", "uint8")]


def draw(seed, classes, count, dtypes, directions=DIRECTIONS):
    """(class, text) of all problems; the classes in turns, so that a run that is cut short has some of each."""
    out = []
    sources = {kind: random.Random(f"{seed} {kind}") for kind in classes}
    for _ in range(count):
        for kind, r in sources.items():
            is_product = kind.startswith("product: ")
            made = draw_gemm(r, kind) if is_product else draw_conv(r, kind)
            for dtype in dtypes:
                word, more = types_of(dtype)
                if not is_product:
                    out += [(kind, made.text(op, word) + more) for op in directions_of(dtype, directions)]
                else:
                    out.append((kind, f"gemm {word} {made}{more}"))
    return out
