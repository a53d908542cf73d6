"""numbers_problem.py: random legal problems for check_numbers.py. What a kernel's axes demand is followed, so that it has something to do;
all else is drawn: extents of 1 and 2, strides above the filter, padding above the image, uneven and negative padding, strides and dilations
without effect."""


class Problem:
    """Sizes as the text says them; spatial lists have ndim entries."""

    def text(self):
        if self.op == "gemm":
            return f"gemm {self.dtype} {self.layout} b{self.batch} m{self.m} n{self.n} k{self.k}"
        by = "x".join
        pads = by(map(str, self.pad)) + ":" + by(map(str, self.back))
        return (f"{self.op} {self.dtype} {self.layout} n{self.n} g{self.g} c{self.c * self.g} k{self.k * self.g} "
                f"i{by(map(str, self.size))} f{by(map(str, self.filter))} s{by(map(str, self.stride))} p{pads} "
                f"d{by(map(str, self.dilation))}")

    def out(self):
        return [(i + p + b - d * (f - 1) - 1) // s + 1
                for i, p, b, d, f, s in zip(self.size, self.pad, self.back, self.dilation, self.filter, self.stride)]

    def shapes(self):
        """Of x, w, y in memory."""
        if self.op == "gemm":
            sides = [(self.m, self.k), (self.k, self.n), (self.m, self.n)]
            return [(self.batch,) + (side if order == "r" else side[::-1]) for side, order in zip(sides, self.layout)]
        n, g, c, k, size, taps, out = self.n, self.g, self.c, self.k, tuple(self.size), tuple(self.filter), tuple(self.out())
        if self.layout.startswith("ng"):
            return [(n, g, c) + size, (g, k, c) + taps, (n, g, k) + out]
        return [(n,) + size + (g, c), (g, k) + taps + (c,), (n,) + out + (g, k)]

    def legal(self):
        if self.op == "gemm":
            elements = self.m * self.k + self.k * self.n + self.m * self.n
            return self.batch * elements <= 300000 and self.batch * self.m * self.n * self.k <= 6e6
        if any(i + p + b < d * (f - 1) + 1 for i, p, b, d, f in zip(self.size, self.pad, self.back, self.dilation, self.filter)):
            return False
        products = self.n * self.g * self.c * self.k
        for extent in self.filter + self.out():
            products *= extent
        elements = [self.n * self.g * self.c, self.n * self.g * self.k]
        for i, o in zip(self.size, self.out()):
            elements = [elements[0] * i, elements[1] * o]
        return products <= 6e6 and max(elements) <= 200000

    def kinds(self):
        """What is odd about it, for a count of what was met."""
        if self.op == "gemm":
            return {"an extent of 1 or 2": min(self.m, self.n, self.k) <= 2}
        pads = list(zip(self.pad, self.back))
        return {"an extent of 1 or 2": min(self.size) <= 2,
                "stride above filter": any(s > f for s, f in zip(self.stride, self.filter)),
                "padding above image": any(p > i for p, i in zip(self.pad, self.size)),
                "uneven padding": any(p != b for p, b in pads),
                "negative padding": any(b < 0 for _, b in pads),
                "dilation": any(d > 1 and f > 1 for d, f in zip(self.dilation, self.filter)),
                "groups": self.g > 1,
                "1 or 3 axes": self.ndim != 2}


def draw_gemm(rng, p, axes):
    p.layout = axes.get("layout") or rng.choice(["rcr", "rrr", "crr", "ccr"])
    p.batch = rng.choice([1, 1, 2, 3])
    p.m, p.n, p.k = (rng.choice([1, 2, 3, 7, 8, 16, 17, 31, 33, 64, 65, 96, 130]) for _ in range(3))
    for size, pad in (("m", "pad_m"), ("n", "pad_n"), ("k", "pad_k")):
        if axes.get(pad) == "0":
            setattr(p, size, int(axes["tile_" + size]) * rng.choice([1, 2]))


def draw_channels(rng, p, axes):
    p.n = rng.choice([1, 1, 2, 3])
    p.g = rng.choice([1, 1, 1, 2, 3, 5, 16, 17, 33])
    p.c, p.k = (rng.choice([1, 2, 3, 4, 8, 8, 16, 16, 17, 24, 32, 33, 64]) for _ in range(2))
    if "group_c" in axes:
        p.c, p.k = int(axes["group_c"]), int(axes["group_k"])
    elif "taps_h" in axes or "filter_d" in axes:
        p.c = p.k = 1
        p.g = rng.choice([1, 3, 8, 16, 17, 32, 33, 48])
    elif "channels" in axes:
        p.c = p.k = int(axes["channels"])
    if axes.get("copy") == "0":  # conv.direct_bwd_weight: whole tiles
        sizes = {axes["lanes"]: 16 * int(axes["vecs"])}
        p.c, p.k = (max(channels, sizes.get(name, int(axes["tile"]))) for name, channels in (("c", p.c), ("k", p.k)))
    if axes.get("impl") == "dense":
        p.g = 1
    p.g *= max(1, int(axes.get("merge", 1)))


def draw_axis(rng, p, axes, axis):
    """One spatial axis (0 depth, 1 height, 2 width), as entry last of the lists."""
    p.size.append(rng.choice([1, 1, 2, 2, 3, 4, 5, 7, 8, 9, 13, 14, 20]))
    p.filter.append(rng.choice([1, 1, 2, 3, 3, 3, 4, 5, 7]))
    p.stride.append(rng.choice([1, 1, 1, 2, 2, 3, 4, 6]))
    p.dilation.append(rng.choice([1, 1, 1, 2, 3]))
    p.pad.append(rng.choice([0, 0, 1, 1, 2, 3, 5, 9]))
    p.back.append(p.pad[-1] if rng.random() < 0.6 else rng.randint(-2, 5))
    taps = int(axes.get("taps_h" if axis == 1 else "taps_w", 1)) if axis else 1
    if taps > 1:
        p.filter[-1] = max(p.filter[-1], taps)
        p.stride[-1] = int(axes["stride"])
        if p.stride[-1] > 1:
            p.filter[-1], p.dilation[-1] = taps, 1
    if "inst_k" in axes and "slices" in axes:  # conv.direct_block
        p.filter[-1], p.stride[-1], p.dilation[-1] = 3, int(axes["stride"]), 1
    if "filter_d" in axes:  # conv.depthwise_block
        deep = "_d" if axis == 0 else ""
        p.filter[-1], p.stride[-1], p.pad[-1] = int(axes["filter" + deep]), int(axes["stride" + deep]), int(axes["pad" + deep])
        p.dilation[-1] = 1 if axis == 0 else int(axes["dilation"])
        p.back[-1] = p.pad[-1] if rng.random() < 0.6 else rng.randint(-1, 2)
    if axes.get("spec", "").startswith("filter1x1") or "tile_m" in axes and "band" in axes or rng.random() < 0.04:
        p.filter[-1], p.pad[-1], p.back[-1] = 1, 0, 0
        if axes.get("spec") == "filter1x1_stride1_pad0" or p.op == "conv_bwd_data":
            p.stride[-1] = 1
    if axes.get("spec") == "filter3x3":
        p.filter[-1], p.c = 3, 1


def draw_problem(rng, op, dtype, axes):
    """A problem for a kernel; axes: its axes by name, none of a reference kernel's."""
    p = Problem()
    p.op, p.dtype = op, dtype
    if op == "gemm":
        draw_gemm(rng, p, axes)
        return p
    p.ndim = int(axes.get("ndim", rng.choice([1, 2, 2, 2, 3])))
    # Reference kernels and those of CPUs (isa) serve either order.
    first = axes.get("order") == "first" or (not axes and rng.random() < 0.5) or ("isa" in axes and rng.random() < 0.3)
    p.layout = ["ngcw", "ngchw", "ngcdhw"][p.ndim - 1] if first else ["nwgc", "nhwgc", "ndhwgc"][p.ndim - 1]
    draw_channels(rng, p, axes)
    p.size, p.filter, p.stride, p.pad, p.back, p.dilation = [], [], [], [], [], []
    for axis in range(3 - p.ndim, 3):
        draw_axis(rng, p, axes, axis)
    if rng.random() < 0.05:  # without effect: a stride where there is one output, a dilation of one tap
        for i in range(p.ndim):
            if op != "conv_bwd_data" and p.out()[i] == 1:
                p.stride[i] = rng.choice([p.stride[i], 10 ** 9, 2 ** 40])
            if p.filter[i] == 1:
                p.dilation[i] = 2 ** 40
    return p
