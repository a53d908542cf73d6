"""numbers_reference.py: what a result must be, for check_numbers.py: types as codes and doubles, the operations by shifted slices and sums
of products in doubles, and what infinities and NaNs make of a result. Nothing here is taken from the library."""
import numpy


# --- types ---

def decode_table(exponent_bits, mantissa_bits, bias, finite_only):
    table = numpy.zeros(256)
    for code in range(256):
        exponent, mantissa = code >> mantissa_bits & (1 << exponent_bits) - 1, code & (1 << mantissa_bits) - 1
        value = (mantissa * 2.0 ** (1 - bias - mantissa_bits) if exponent == 0
                 else (1 + mantissa * 2.0 ** -mantissa_bits) * 2.0 ** (exponent - bias))
        top = exponent == (1 << exponent_bits) - 1
        if top and (not finite_only or mantissa == (1 << mantissa_bits) - 1):
            value = numpy.nan
        table[code] = -value if code & 128 else value
    return table


FP8, BF8 = decode_table(4, 3, 7, True), decode_table(5, 2, 15, False)


def to_bf16(values):
    bits = values.astype(numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bf16(codes):
    return (codes.astype(numpy.uint32) << 16).view(numpy.float32).astype(numpy.float64)


def draw_values(rng, dtype, shape, exact):
    """Codes as they lie in memory and their values in doubles."""
    if dtype == "int8":
        codes = rng.integers(-128, 128, shape, dtype=numpy.int8)
        return codes, codes.astype(numpy.float64)
    values = rng.integers(-2, 3, shape).astype(numpy.float64) if exact else rng.uniform(-1, 1, shape)
    if dtype in ("fp8", "bf8"):
        table = FP8 if dtype == "fp8" else BF8
        wanted = (numpy.array([int(numpy.flatnonzero(table == v)[0]) for v in (-2.0, -1.0, 0.0, 1.0, 2.0)]) if exact
                  else numpy.flatnonzero(numpy.abs(table) <= 1))
        codes = rng.choice(wanted, shape).astype(numpy.uint8)
        return codes, table[codes]
    if dtype == "bf16":
        codes = to_bf16(values)
        return codes, from_bf16(codes)
    codes = values.astype(numpy.float16 if dtype == "fp16" else numpy.float32)
    return codes, codes.astype(numpy.float64)


def encode_special(dtype, value):
    """The code of a NaN or an infinity; None where the type has no such value."""
    if dtype in ("fp8", "bf8"):
        codes = {"fp8": {"nan": 0x7F}, "bf8": {"nan": 0x7E, "inf": 0x7C, "-inf": 0xFC}}[dtype]
        return codes.get(str(value))
    return {"fp32": numpy.float32, "fp16": numpy.float16, "bf16": lambda v: to_bf16(numpy.array([v]))[0]}[dtype](value)


def plant(rng, dtype, codes, values):
    """A few NaNs and infinities among the values, and some zeros."""
    codes, values = codes.reshape(-1), values.reshape(-1)
    zeros = rng.random(values.size) < 0.1
    codes[zeros], values[zeros] = 0, 0
    for _ in range(int(rng.integers(0, 3))):
        value = (numpy.nan, numpy.inf, -numpy.inf)[int(rng.integers(0, 3))]
        code, at = encode_special(dtype, value), int(rng.integers(0, values.size))
        if code is not None:
            codes[at], values[at] = code, value


OUTPUT = {"fp32": "fp32", "bf16": "bf16", "fp16": "fp16", "fp8": "fp16", "bf8": "fp16", "int8": "int32"}
NUMPY = {"fp32": numpy.float32, "bf16": numpy.uint16, "fp16": numpy.float16, "int32": numpy.int32}
# Of a result's type: largest error of rounding relative to the value, and the least step near zero.
ROUNDING = {"fp32": (2.0 ** -24, 2.0 ** -149), "bf16": (2.0 ** -8, 2.0 ** -133), "fp16": (2.0 ** -11, 2.0 ** -24), "int32": (0, 0)}


def rounded(values, dtype):
    if dtype == "bf16":
        return from_bf16(to_bf16(values))
    if dtype == "int32":
        return values
    with numpy.errstate(over="ignore"):
        return values.astype(NUMPY[dtype]).astype(numpy.float64)


def read_result(codes, dtype):
    return from_bf16(codes) if dtype == "bf16" else codes.astype(numpy.float64)


# --- the reference: doubles, tap by tap ---

def conv_views(p, tensors):
    """x as [n, spatial, g, c], w as [g, k, taps, c], y as [n, spatial, g, k]."""
    x, w, y = tensors
    if p.layout.startswith("ng"):
        last = tuple(range(3, 3 + p.ndim))
        x, y = x.transpose((0,) + last + (1, 2)), y.transpose((0,) + last + (1, 2))
        w = w.transpose((0, 1) + last + (2,))
    return x, w, y


def multiply(p, x, w, y):
    """Writes the result's tensor, from the other two."""
    if p.op == "gemm":
        a, b, c = (t if order == "r" else t.transpose(0, 2, 1) for t, order in zip((x, w, y), p.layout))
        c[...] = a @ b
        return
    x, w, y = conv_views(p, (x, w, y))
    out = p.out()
    dilation = [d if f > 1 else 1 for d, f in zip(p.dilation, p.filter)]  # where without effect it may be huge
    stride = [s if o > 1 else 1 for s, o in zip(p.stride, out)]
    extents = [max(pad + i, d * (f - 1) + (o - 1) * s + 1)
               for pad, i, d, f, o, s in zip(p.pad, p.size, dilation, p.filter, out, stride)]
    padded = numpy.zeros((p.n, *extents, p.g, p.c))
    inside = (slice(None), *(slice(pad, pad + i) for pad, i in zip(p.pad, p.size)))
    forward, data = p.op == "conv_fwd", p.op == "conv_bwd_data"
    if not data:
        padded[inside] = x
    if forward:
        y[...] = 0
    for tap in numpy.ndindex(*p.filter):
        at = (slice(None), *(slice(t * d, t * d + (o - 1) * s + 1, s) for t, d, o, s in zip(tap, dilation, out, stride)))
        of = (slice(None), slice(None), *tap)
        if forward:
            y += numpy.einsum("n...gc,gkc->n...gk", padded[at], w[of], optimize=True)
        elif data:
            padded[at] += numpy.einsum("n...gk,gkc->n...gc", y, w[of], optimize=True)
        else:
            pixels = padded[at].reshape(-1, p.g, p.c)
            w[of] = numpy.einsum("pgc,pgk->gkc", pixels, y.reshape(-1, p.g, p.k), optimize=True)
    if data:
        x[...] = padded[inside]


def special_result(p, values, result, gpu):
    """What NaNs and infinities in the two tensors make of the result: masks of elements that must be NaN, +inf, -inf; that have any of them
    among their terms; that have none, but may be NaN because a kernel multiplies the zeros of padding by one, or on a GPU those between
    groups."""
    read = [i for i in range(3) if i != result]
    shape = values[result].shape

    def count(first, second):
        tensors = [None] * 3
        tensors[read[0]], tensors[read[1]], tensors[result] = first.astype(float), second.astype(float), numpy.zeros(shape)
        multiply(p, *tensors)
        return tensors[result] > 0

    a, b = values[read[0]], values[read[1]]
    every = [numpy.ones(a.shape, bool), numpy.ones(b.shape, bool)]
    meets = count(~numpy.isfinite(a), every[1]) | count(every[0], ~numpy.isfinite(b))
    nan = count(numpy.isnan(a), every[1]) | count(every[0], numpy.isnan(b)) | count(numpy.isinf(a), b == 0) | count(a == 0, numpy.isinf(b))
    up, down, a_up, a_down, b_up, b_down = numpy.isposinf, numpy.isneginf, a > 0, a < 0, b > 0, b < 0
    plus = count(up(a), b_up) | count(down(a), b_down) | count(a_up, up(b)) | count(a_down, down(b))
    minus = count(up(a), b_down) | count(down(a), b_up) | count(a_up, down(b)) | count(a_down, up(b))
    near = near_special(p, values, result)
    if gpu and p.op in ("conv_fwd", "conv_bwd_data"):
        pixels = conv_views(p, [meets] * 3)[result]
        at = tuple(range(pixels.ndim - 2, pixels.ndim))
        conv_views(p, [near] * 3)[result][...] |= pixels.any(at, keepdims=True)
    return nan | (plus & minus), plus & ~minus & ~nan, minus & ~plus & ~nan, meets, near


def near_special(p, values, result):
    """Elements of the result with a NaN or an infinity in the weights of their channel, or, of the weights' own gradient, in either image's
    channel; a product of matrices has no padding."""
    near = numpy.zeros(values[result].shape, bool)
    if p.op == "gemm":
        return near
    x, w, y = conv_views(p, [~numpy.isfinite(v) if i != result else near for i, v in enumerate(values)])
    taps = tuple(range(2, 2 + p.ndim))
    if p.op == "conv_fwd":
        y[...] = w.any(taps + (2 + p.ndim,))
    elif p.op == "conv_bwd_data":
        x[...] = w.any(taps + (1,))
    else:
        pixels = tuple(range(p.ndim + 1))
        of_x, of_y = x.any(pixels), y.any(pixels)
        w[...] = (of_x[:, None, :] | of_y[:, :, None]).reshape((p.g, p.k) + (1,) * p.ndim + (p.c,))
    return near


def summands(p):
    if p.op == "gemm":
        return p.k
    taps = int(numpy.prod(p.filter))
    return {"conv_fwd": taps * p.c, "conv_bwd_data": taps * p.k, "conv_bwd_weight": p.n * int(numpy.prod(p.out()))}[p.op]
